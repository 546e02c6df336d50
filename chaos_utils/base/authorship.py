"""Whom to name as the author of what the book makes, and the licence that it is under."""

from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml

LICENCE = "https://creativecommons.org/licenses/by/4.0/"
LICENCE_NAME = "CC BY 4.0"


def read_citation(path: Path) -> dict[str, Any]:
    """Return what CITATION.cff says."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ChaosError(
            "This cannot be read.", where=path.name, expected="a line `name: value` each"
        )
    return content


def read_authors(path: Path) -> tuple[str, ...]:
    """Return the authors that CITATION.cff names, as they are printed."""
    content = read_citation(path)
    try:
        return tuple(
            person.get("name") or f"{person['given-names']} {person['family-names']}"
            for person in content["authors"]
        )
    except KeyError as fault:
        raise ChaosError("A field is missing.", where=path.name, expected=str(fault)) from fault
    except (TypeError, AttributeError) as fault:
        raise ChaosError(
            "The authors cannot be read.",
            where=path.name,
            expected="a list of `name`, or of `given-names` and `family-names`",
        ) from fault
