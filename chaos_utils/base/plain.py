"""The project of a book that shows nothing of others: its notebooks make its data, or bring it.

``project_class: chaos_utils.base.plain:PlainBook`` in ``_config.yml`` chooses it.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.project import Group, Licence, Project
from chaos_utils.base.yaml_files import read_yaml

if TYPE_CHECKING:
    import pandas as pd


class PlainBook(Project):
    """A book under one licence, which it must state, and without groups of others' items."""

    def licences(self) -> Mapping[str, Licence]:
        """Return the licence that CITATION.cff states, for text and for code."""
        stated: Any = read_yaml(paths.project() / "CITATION.cff")
        name = stated.get("license") if isinstance(stated, dict) else None
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9.+-]+", name):
            raise ChaosError(
                "The book does not state its licence.",
                where="CITATION.cff, license",
                found=name,
                expected="one identifier of https://spdx.org/licenses, such as CC-BY-4.0",
            )
        licence = Licence(f"https://spdx.org/licenses/{name}", name, "The whole book.")
        return {"text": licence, "code": licence}

    def source_of(self, entry: Input) -> None:
        """Return None: no input is others'."""

    def groups(self, names: Iterable[str] | None = None) -> list[Group]:
        """Return none; every name is unknown."""
        if unknown := list(names or ()):
            raise ChaosError("This book has no groups of items.", found=", ".join(unknown))
        return []

    def listed(self, names: Iterable[str]) -> str:
        """Return the names as they are."""
        return ", ".join(names)

    def cautions(self, rows: "pd.DataFrame") -> dict[str, str]:
        """Return none."""
        return {}

    def shows_other_data(self, inputs: Collection[Input], parameters: Mapping[str, object]) -> bool:
        """Return whether a reader brought an input."""
        return any(entry.is_own for entry in inputs)

    def neutral_title(self, id: str) -> str:
        """Return none: captions stay as they are."""
        return ""
