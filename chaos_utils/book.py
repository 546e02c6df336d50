"""What the machinery may ask of this book: the answers of `base.project.Project`.

Nothing imports this module: `base.project` finds it by its name, and it is a source of every
chapter. So it imports no analysis and no system: each chapter would then depend on all of them.
"""

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import OWN, Input
from chaos_utils.base.modules import PACKAGE, source_root
from chaos_utils.base.project import Group, Licence, Project, Say, Source
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets import loading, sources
from chaos_utils.datasets.catalogue import (
    book_datasets,
    bundled_datasets,
    digests_of_datasets,
    in_order,
    known_datasets,
    known_files,
    prediction_files,
    shorts_of,
    vote_files,
)
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import datasets_of, find_votes, find_votes_on, may_be_recorded
from chaos_utils.datasets.published.tables import FOLDER as PUBLISHED
from chaos_utils.datasets.sources import find

if TYPE_CHECKING:
    import pandas as pd

TITLES = Path(__file__).parent / "titles.yml"  # of figures and tables, without findings
MEANINGS = Path(__file__).parent / "meanings.yml"  # of columns of their data
_LICENCES = {
    "text": Licence(
        "https://creativecommons.org/licenses/by/4.0/",
        "CC BY 4.0",
        "Text, figures, tables, their data, and results.",
    ),
    "items": Licence(
        "https://creativecommons.org/licenses/by-nc/4.0/",
        "CC BY-NC 4.0",
        "Texts of items, wherever they are shown, and votes by item.",
        results=("tables/annotations.examples",),
    ),
    "code": Licence("https://spdx.org/licenses/MIT", "MIT", "Code."),
}


def group_of(dataset: Dataset) -> Group:
    """Return a dataset as the machinery sees it."""
    release = dataset.release
    return Group(
        name=dataset.name,
        title=dataset.short,
        source=Source(release.title, release.credit, release.homepage, release.licence),
        labels=tuple((label.name, label.colour) for label in dataset.classes),
        texts=dict(zip(dataset.text_fields, dataset.text_titles, strict=True)),
    )


class Book(Project):
    """The living book of collective human opinions."""

    def licences(self) -> Mapping[str, Licence]:
        return _LICENCES

    def prepare(
        self, *, sample: bool, strict: bool, dry_run: bool, say: Say, progress: bool
    ) -> str:
        """Find or fetch the data, and return ``auto`` or ``sample``.

        Where data is not available and cannot be fetched, the chapters show recorded tables; with
        `strict`, that is an error instead. A dry run fetches nothing. `say` is called with the name
        of each file that is fetched, and with a message about files that are missing.
        """
        if sample:
            return "sample"
        for name in (*vote_files(), *prediction_files()):
            if (path := find(name)) is not None:
                sources.check(sources.get(name), path)
        if dry_run:
            return "auto"
        names = [*vote_files(), *prediction_files(other_forms=False)]
        try:
            sources.fetch(names, say=lambda text: say(f"fetching {text}"), progress=progress)
        except ChaosError as fault:
            if strict:
                raise
            missing = [name for name in names if find(name) is None]
            say(f"{fault}\n")
            say(
                f"{len(missing)} of {len(names)} published files are not available: pages that "
                "need them show the numbers recorded in results/tables/."
            )
        return "auto"

    def libraries(self) -> tuple[str, ...]:
        return ("scipy.stats", "scipy.optimize", "scipy.interpolate", "seaborn")

    def inputs_of(self, data: str) -> Mapping[str, Path]:
        """Return the files of votes, without those of the book's datasets that are missing."""
        if may_be_recorded(data):
            available = [one for one in datasets_of(data) if not loading.is_missing(one)]
            all_files = [find_votes_on(dataset.name) for dataset in available]
        else:
            all_files = find_votes(data)
        paths: dict[str, Path] = {}
        for files in all_files:
            paths |= dict(zip(files.names, files.paths, strict=True))
            if files.described_by is not None:
                paths[f"{OWN}{files.described_by.name}"] = files.described_by
        return paths

    def readable(self, patterns: Collection[str], *, sample: bool) -> Mapping[str, Path]:
        """Return the files of these names; ``votes`` and ``predictions`` are all of each kind."""
        package = source_root() / PACKAGE
        available = {
            f"{PACKAGE}/{path.relative_to(package).as_posix()}": path
            for path in package.glob("*/*/*.csv")
        }
        if not sample:
            available |= {name: path for name in known_files() if (path := find(name))}
        names_by_kind = {
            "votes": [file.name for dataset in bundled_datasets() for file in dataset.files],
            "predictions": prediction_files(),
        }
        names = {
            name
            for pattern in patterns
            for name in names_by_kind.get(pattern) or fnmatch.filter(available, pattern)
        }
        return {name: available[name] for name in names & available.keys()}

    def refuse_unavailable(
        self, values: Mapping[str, object], defaults: Mapping[str, object] | None
    ) -> None:
        """Raise a ChaosError if the votes are missing, or predictions that are not recorded."""
        data = values.get("data")
        if isinstance(data, str) and not may_be_recorded(data):
            find_votes(data)
        elif isinstance(data, str) and defaults is not None:
            loading.check_available(values, defaults)

    def place_of(self, entry: Input) -> Path | None:
        kind, _, name = entry.name.partition("/")
        if kind == "published":
            return PUBLISHED / name
        if kind == "predictions":
            files = [file for file in prediction_files() if Path(file).name == name]
            return find(files[0]) if files else None
        return find(entry.name)

    def source_of(self, entry: Input) -> Source | None:
        by_digest = {file.sha256: file for file in known_files().values() if file.sha256}
        if (file := by_digest.get(entry.sha256)) is None:
            return None
        release, url = file.release, file.mirror or file.url
        return Source(
            release.title, release.credit, release.homepage, release.licence, file.name, url
        )

    def groups(self, names: Iterable[str] | None = None) -> list[Group]:
        return list(map(group_of, book_datasets() if names is None else in_order(names)))

    def listed(self, names: Iterable[str]) -> str:
        return shorts_of(names)

    def definitions(self) -> Mapping[str, str]:
        return digests_of_datasets()

    def cautions(self, rows: "pd.DataFrame") -> dict[str, str]:
        """Return what must be said of the released systems that the rows name, by their names.

        A caution that names datasets concerns rows on these alone.
        """
        cautions: dict[str, str] = {}
        for dataset in known_datasets():
            for system in dataset.systems:
                if not system.caution:
                    continue
                named = {
                    other.name
                    for other in known_datasets()
                    if re.search(rf"(?<!\w){re.escape(other.short)}(?!\w)", system.caution)
                }
                texts = _texts_on(rows, named or {dataset.name})
                names = system.models or (system.family,)
                found = (name for name in names if any(name in text for text in texts))
                cautions |= dict.fromkeys(found, system.caution)
        return cautions

    def shows_other_data(self, inputs: Collection[Input], parameters: Mapping[str, object]) -> bool:
        """Return whether votes are a reader's, or synthetic, or of a dataset not in the book."""
        return any(entry.synthetic or entry.is_own for entry in inputs) or any(
            dataset.name == parameters.get("data") and not dataset.in_book
            for dataset in bundled_datasets()
        )

    def neutral_title(self, id: str) -> str:
        return read_yaml(TITLES).get(id) or ""

    def meanings(self, id: str) -> Mapping[str, str]:
        meanings = read_yaml(MEANINGS)
        return {**meanings["shared"], **meanings.get(id, {})}

    def after_record(self, tables: Path) -> None:
        """Renew the scores that `chaos evaluate` shows beside a reader's."""
        import_module("chaos_utils.analyses.references").write_package_data(tables)

    def before_release(self, site: Path) -> None:
        """Remove the datasets of others that are not the book's from the explorer."""
        import_module("chaos_utils.pages.explorer").leave_out_other_datasets(site)


def _texts_on(rows: "pd.DataFrame", datasets: Collection[str]) -> set[str]:
    """Return the texts in rows on one of the datasets, or on a pool that has one."""
    if "dataset" in rows:
        concerned = {
            name for name in rows["dataset"].unique() if {*str(name).split("+")} & {*datasets}
        }
        rows = rows[rows["dataset"].isin(concerned)]
    return {cell for name in rows for cell in rows[name].array if isinstance(cell, str)}
