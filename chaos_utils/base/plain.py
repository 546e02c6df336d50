"""The project of a book without data of others: its notebooks make their data, or bring their own.

``project: chaos_utils.base.plain:PlainBook`` in ``_config.yml`` chooses it.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.project import Licence, Project, Say
from chaos_utils.base.yaml_files import read_yaml

if TYPE_CHECKING:
    import pandas as pd


class PlainBook(Project):
    """A book that shows no groups, needs no data, and is under one licence, which it must state."""

    def licences(self) -> Mapping[str, Licence]:
        """Return the licence that CITATION.cff states, for text and for code."""
        name = read_yaml(paths.project() / "CITATION.cff").get("license")
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9.+-]+", name):
            raise ChaosError(
                "The book does not state its licence.",
                where="CITATION.cff, license",
                found=name,
                expected="one SPDX identifier, such as CC-BY-4.0 (https://spdx.org/licenses)",
            )
        licence = Licence(f"https://spdx.org/licenses/{name}.html", name, "The whole book.")
        return {"text": licence, "code": licence}

    def prepare(
        self, *, sample: bool, strict: bool, dry_run: bool, say: Say, progress: bool
    ) -> str | None:
        """Return None: there is nothing to prepare, and no sample."""
        if sample:
            raise ChaosError("This book has no sample.", todo="build it without --sample")
        return None

    def inputs_of(self, data: str) -> Mapping[str, Path]:
        """Return no files."""
        return {}

    def readable(self, patterns: Collection[str], *, sample: bool) -> Mapping[str, Path]:
        """Return no files."""
        return {}

    def refuse_unavailable(
        self, values: Mapping[str, object], defaults: Mapping[str, object] | None
    ) -> None:
        """Refuse nothing."""

    def place_of(self, entry: Input) -> Path | None:
        """Return the file of that name in the checkout."""
        return paths.project() / entry.name

    def source_of(self, entry: Input) -> None:
        """Return None: no input is others'."""

    def group(self, name: str) -> NoReturn:
        """Refuse every name."""
        raise ChaosError("This book has no groups.", found=name)

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Refuse every name."""
        return [self.group(name) for name in names]

    def groups(self) -> tuple[()]:
        """Return no names."""
        return ()

    def definitions(self) -> Mapping[str, str]:
        """Return no definitions."""
        return {}

    def shows_other_data(self, inputs: Collection[Input], parameters: Mapping[str, object]) -> bool:
        """Return False: the book has no data that a reader could exchange."""
        return False

    def cautions(self, rows: "pd.DataFrame") -> dict[str, str]:
        """Return none."""
        return {}

    def neutral_title(self, id: str) -> str:
        """Return an empty text: findings always hold."""
        return ""

    def after_record(self, tables: Path) -> None:
        """Make nothing."""

    def before_release(self, site: Path) -> None:
        """Remove nothing."""
