"""What is asked about a votes file: an error that shows what may be meant, as YAML files."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.cells import as_identifier, as_list, unwrap_single
from chaos_utils.datasets.chaosnli import FIELDS, names_of, order_of
from chaos_utils.datasets.faults import Faults, listed, shorten
from chaos_utils.datasets.labels import are_lists, is_code, no_votes, other_reading
from chaos_utils.datasets.people import NO_VOTER
from chaos_utils.datasets.recognition.candidates import NAME_THEM, Candidate, Reader
from chaos_utils.datasets.recognition.columns import FEW_LABELS, Columns
from chaos_utils.datasets.recognition.item_keys import several_texts_of_one
from chaos_utils.datasets.recognition.readings import (
    Layout,
    layout_by,
    rows_of,
    to_dataset,
    yaml_of,
)
from chaos_utils.datasets.texts import annotators_of
from chaos_utils.datasets.words import words_of

MOST_LABELS = 1000
_MANY_ROWS = 20
_OFTEN = 0.2  # of all answers: from here on it is asked whether a label is one
_BY_CHANCE = 0.05  # of agreement: up to here it is as good as none
_COUNTERS = ("label_counter", "label_count")
_STATED = {"entropy", "old_label", "old_labels"}  # beside the fields that ChaosNLI's must have


class Questions:
    """A votes file about which may be asked; `keys` are the columns that its objects' keys make."""

    def __init__(
        self, path: Path, columns: Columns, faults: Faults, keys: Sequence[str] = ()
    ) -> None:
        self.path, self.columns, self.faults = path, columns, faults
        self.keys = {"keys": list(keys)} if keys else {}

    def layout(self, reader: Reader) -> Layout:
        """Return a reader with the labels that it finds."""
        if reader["format"] == "chaosnli":
            return self._in_chaosnlis_format()
        return layout_by(self.columns, reader | self.keys, self.faults)

    def _in_chaosnlis_format(self) -> Layout:
        """Return what a file in this format holds, whose labels are those of its counters."""
        frame = self.columns.frame
        codes, usual, row = order_of(frame, self.faults)
        others = tuple(name for name in frame.names if name not in FIELDS | _STATED)
        names = names_of(codes, frame)
        layout = Layout({"format": "chaosnli"}, tuple(codes), others, names=names)
        if codes != usual:
            counter, count = (frame.column(name)[row] for name in _COUNTERS)
            why = (
                f"{_COUNTERS[1]!r} is in the order {', '.join(codes)}, as {_COUNTERS[0]!r} "
                f"tells, and not in that of the format, {', '.join(usual)}: on "
                f"{frame.place(row)}, {count} beside {counter}"
            )
            self._ask("labels", [why], self._texts(layout, [{"labels": codes}]))
        return layout

    def refuse(self, candidate: Candidate, others: Sequence[Candidate] = ()) -> NoReturn:
        """Say why nothing is read, and show the ways in which the file may be meant.

        Where these are fewer than two, the surest of the `others` that is clear is one as well.
        """
        if candidate.refusal:
            raise self.faults.fatal(*candidate.refusal)
        reasons, texts = [candidate.reason], list[str]()
        for reader in candidate.readers:
            more, yaml_files = self._readings(self.layout(reader))
            reasons += [reason for reason in more if reason not in reasons]
            texts += yaml_files
        if len(texts) < 2:
            reason, text = self._second_best(others, texts)
            reasons += reason
            texts += text
        self._ask("columns", reasons, texts, candidate.todo)

    def _second_best(
        self, others: Sequence[Candidate], texts: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the surest clear reading that is none of these, and its reason; or nothing."""
        for candidate in filter(attrgetter("is_clear"), others):
            with suppress(ChaosError):
                yaml_files = self._readings(self.layout(candidate.readers[0]))[1]
                if yaml_files and yaml_files[0] not in texts:
                    return [f"or {candidate.reason}?"], yaml_files[:1]
        return [], []

    def _ask(self, what: str, why: Sequence[str], texts: Sequence[str], todo: str = "") -> NoReturn:
        """Refuse a file in which something may mean two things, or nothing that can be shown."""
        if not texts:
            raise self.faults.fatal(
                f"The {what} of this votes file are not recognised.",
                "; ".join(why),
                todo=NAME_THEM
                if what == "columns"
                else "correct the file: one spelling for each "
                "label, and empty cells for no answer; or describe the dataset in a YAML file",
            )
        several = len(texts) > 1
        raise self.faults.fatal(
            "It is unclear who the annotators in this file are."
            if what == "annotators"
            else f"It is unclear what the {what} in this file mean.",
            "; ".join(why),
            ("one of these YAML files:\n" if several else "this YAML file:\n")
            + "# or\n".join(texts),
            ("save the one that is meant" if several else "save it, if this is what you mean,")
            + f" beside the votes{todo}",
        )

    def check_people(self, reader: Reader) -> None:
        """Ask about votes by whoever is called gold or majority, and may be no person."""
        if reader["format"] not in ("long", "columns"):
            return
        people = annotators_of(self.columns.frame, reader)
        doubtful = sorted(name for name in people if NO_VOTER.fullmatch(words_of(name)))
        if doubtful and len(people) > len(doubtful):
            self._ask(
                "annotators",
                ["a person's votes, or labels made of others' votes: those by "
                 f"{listed(doubtful)}?"],
                self._readings(self.layout(reader))[1][-1:],
                ", or remove these votes",
            )  # fmt: skip

    def check_texts(self, layout: Layout) -> None:
        """Ask about a text that differs within a few items, and is one within all others."""
        reader = dict(layout.reader)
        frame = rows_of(self.columns.frame, reader, self.faults)
        candidate = several_texts_of_one(self.columns, frame, reader, layout.others, layout.labels)
        if candidate:
            self.refuse(candidate)

    def check_labels(self, layout: Layout) -> None:
        """Ask about labels that may be meant otherwise than they stand."""
        if are_lists(layout.labels):
            raise self.faults.fatal(
                "The labels look like whole lists of labels.",
                shorten(layout.labels[0]),
                "lists in JSON, or separated by commas, or a row per vote",
                "correct the file, or name another column: --label",
            )
        why, texts = self._readings(layout)
        if why:
            self._ask("labels", why, texts)

    def _readings(self, layout: Layout) -> tuple[Sequence[str], list[str]]:
        """Return what is in doubt about the labels, and the YAML files that they may be."""
        as_they_stand: dict[str, Any] = {"labels": list(layout.labels)}
        is_free = len(layout.labels) > MOST_LABELS or layout.rating
        if is_free or layout.format == "chaosnli":
            return (), self._texts(layout, [as_they_stand])
        if layout.format == "wide":
            spelled = {layout.names.get(name, name): name for name in layout.labels}
            blank = [spelled[name] for name in no_votes(list(spelled))]
            labels = [name for name in layout.labels if name not in blank]
            if not blank or len(labels) < 2:
                return (), self._texts(layout, [as_they_stand])
            why = f"no answers, or votes for a label: {listed(blank)}?"
            return (why,), self._texts(layout, [{"labels": labels}, as_they_stand])
        other = other_reading(layout.votes, partial(self._is_apart, layout))
        reasons = other.why if other else ()
        meant = {"labels": other.labels, "reader": other.reader} if other else as_they_stand
        if layout.several:
            reasons = ("some answers are lists: one person may choose several labels?", *reasons)
            meant |= {"reader": {"separator": ","} | (other.reader if other else {})}
        both = [meant] if layout.several or not other else [meant, as_they_stand]
        return reasons, self._texts(layout, both)

    def _texts(self, layout: Layout, readings: Sequence[dict[str, Any]]) -> list[str]:
        """Return YAML files with these labels, where they are few and make a dataset."""
        texts = []
        for reading in readings:
            with suppress(ChaosError):
                if 2 <= len(reading["labels"]) <= FEW_LABELS:
                    texts.append(yaml_of(to_dataset(self.path, layout, reading)))
        return texts

    def _is_apart(self, layout: Layout, name: str) -> bool:
        """Return whether a label looks like no answer by where it stands.

        People agree on where no better than by chance, and it is given often (or below 0); or, if
        it is a number such as -1, it is most of the answers, and never all of those on an item.
        """
        share = layout.votes[name] / sum(layout.votes.values())
        is_table = layout.format == "columns"
        rare = share < _OFTEN and not name.startswith("-")
        if rare or (share <= 1 / 2 and not (is_code(name) or is_table)):
            return False
        given, n = self._by_item(layout.reader, name)
        if len(n) < _MANY_ROWS:
            return False
        differ = 2 * (given * (n - given)).sum() / max((n * (n - 1)).sum(), 1)
        by_chance = bool(1 - differ / (2 * share * (1 - share)) <= _BY_CHANCE)
        if is_code(name):
            return by_chance or bool(share > 1 / 2 and (given < n).all())
        is_padded = is_table and not (np.ptp(given) or np.ptp(n))
        return bool(is_padded or (share > 1 / 2 and by_chance))

    def _by_item(self, reader: Mapping[str, Any], name: str) -> tuple[Any, Any]:
        """Return how often each item has this label, and how many answers it has."""

        def is_it(value: Any) -> bool:
            return as_identifier(unwrap_single(value)) == name

        frame = rows_of(self.columns.frame, reader, self.faults)
        if reader["format"] == "long":
            if not (isinstance(reader["label"], str) and reader["item"]):
                return np.empty(0), np.empty(0)
            items, cells = frame.key(reader["item"]), frame.column(reader["label"])
            filled = (items.codes >= 0) & (cells.codes >= 0)
            at = items.codes[filled]
            given, n = np.bincount(at, cells.map(is_it, float)[filled]), np.bincount(at)
        elif isinstance(reader["labels"], str):
            lists = frame.column(reader["labels"]).map(lambda value: as_list(value) or [])
            given = np.array([sum(map(is_it, labels)) for labels in lists])
            n = np.array(list(map(len, lists)))
        else:
            columns = [frame.column(column) for column in reader["labels"]]
            given = np.sum([cells.map(is_it, float) for cells in columns], axis=0)
            n = np.sum(
                [cells.map(lambda value: value not in (None, ""), float) for cells in columns], 0
            )
        return given[n > 0], n[n > 0]
