"""Whom to name as the author of what the book makes, and the licence that it is under."""

from pathlib import Path

import yaml

from chaos_utils.errors import ChaosError

LICENCE = "https://creativecommons.org/licenses/by/4.0/"
LICENCE_NAME = "CC BY 4.0"


def read_authors(path: Path) -> tuple[str, ...]:
    """Return the authors that CITATION.cff names, as they are printed.

    Parameters
    ----------
    path : Path
        CITATION.cff.

    Returns
    -------
    tuple of str

    Raises
    ------
    ChaosError
        If a field is missing.
    """
    content = yaml.safe_load(path.read_text("utf-8"))
    try:
        return tuple(
            person.get("name") or f"{person['given-names']} {person['family-names']}"
            for person in content["authors"]
        )
    except KeyError as fault:
        raise ChaosError("A field is missing.", where=path.name, expected=str(fault)) from fault
