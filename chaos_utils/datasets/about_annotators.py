"""What annotators are, by a second file: their fields, joined by their identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.dataset import AboutAnnotators
from chaos_utils.datasets.faults import Faults, wrong_value_message
from chaos_utils.datasets.frame import IDENTIFIERS, Column, FileContent, read_frame
from chaos_utils.datasets.labels import answer_of

_KEY = "annotator"  # the column that the keys of an object become


@dataclass(frozen=True, slots=True)
class People:
    """What a second file says of annotators."""

    about: AboutAnnotators
    sha256: str
    position: dict[str, int]  # of an annotator among the values of each field, by the identifier
    fields: dict[str, list[str]]
    faults: Faults

    def fields_of(self, annotators: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], str]:
        """Return the fields of annotators, by their identifiers in the file of votes, and a remark.

        The remark says how many the second file lacks, if it may lack some; else they are a
        ChaosError, which names nobody.
        """
        names = [name.removeprefix(self.about.prefix) for name in annotators]
        n_missing, remark = sum(name not in self.position for name in names), ""
        if n_missing:
            lack = f"{n_missing:,} of {counted(len(names), 'annotator')}"
            if not self.about.incomplete:
                raise self.faults.fatal(
                    "The file about annotators lacks some of those who voted.",
                    lack,
                    "all of them, with identifiers as in the file of votes after `prefix`",
                    "correct `about_annotators` in YAML, or say `incomplete: true` there",
                )
            remark = f"{lack} are missing from the file about annotators"
        rows = [self.position.get(name, -1) for name in names]
        return {
            name: tuple("" if row < 0 else values[row] for row in rows)
            for name, values in self.fields.items()
        }, remark


def read_people(path: Path, about: AboutAnnotators, todo: str) -> People:
    """Read the file about annotators; `todo` is what a reader can do about its faults."""
    content = FileContent.of(path)
    expected = "what annotators are: a row each, or a JSON object by annotator"
    faults = Faults(path, "annotators", expected=expected, todo=todo)
    key = about.key or _KEY
    frame = read_frame(content, faults, keys=() if about.key else (key,))
    frame.require([key, *about.fields], faults, "correct `about_annotators` in YAML")
    people = frame.key(key)
    n_unnamed = int((people.codes < 0).sum())
    if n_unnamed:
        raise faults.fatal(
            f"The column {key!r} does not name each annotator.",
            f"{counted(n_unnamed, 'row')} without an identifier",
        )
    fields = {}
    for name in about.fields:
        cells = frame.column(name)
        problem = partial(_wrong, name, cells, IDENTIFIERS)
        faults.rows(np.flatnonzero(cells.has_other), frame.place, problem)
        cells = _known(cells.identifiers, about.missing)
        problem = partial(_wrong, name, cells, "what an earlier row says of this annotator")
        faults.rows(np.flatnonzero(~cells.is_same_within(people)), frame.place, problem)
        fields[name] = [cells[row] or "" for row in people.first.tolist()]
    faults.check()
    position = {name: k for k, name in enumerate(people.values)}
    return People(about, content.sha256, position, fields, faults)


def _known(cells: Column, missing: Sequence[str]) -> Column:
    """Return the cells without those that say nothing."""
    empty = set(map(answer_of, missing))
    return cells.renamed([None if answer_of(value) in empty else value for value in cells.values])


def _wrong(name: str, cells: Column, expected: str, row: int) -> str:
    return wrong_value_message(name, cells[row], expected)
