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
    """Questions about a votes file; `keys` are the columns that the keys of JSON objects make."""

    def __init__(
        self, path: Path, columns: Columns, faults: Faults, keys: Sequence[str] = ()
    ) -> None:
        self.path, self.columns, self.faults = path, columns, faults
        self.keys = {"keys": list(keys)} if keys else {}

    def layout(self, reader: Reader) -> Layout:
        """Return the layout of a reader, with the labels that it finds."""
        if reader["format"] == "chaosnli":
            return self._in_chaosnlis_format()
        return layout_by(self.columns, reader | self.keys, self.faults)

    def _in_chaosnlis_format(self) -> Layout:
        """Return the layout of a file in ChaosNLI's format; its counters name the labels."""
        frame = self.columns.frame
        codes, usual, row = order_of(frame, self.faults)
        others = tuple(name for name in frame.names if name not in FIELDS | _STATED)
        names = names_of(codes, frame)
        layout = Layout({"format": "chaosnli"}, tuple(codes), others, names=names)
        if codes != usual:
            counter, count = (frame.column(name)[row] for name in _COUNTERS)
            doubt = (
                f"{_COUNTERS[1]!r} is in the order {', '.join(codes)}, as {_COUNTERS[0]!r} "
                f"tells, and not in that of the format, {', '.join(usual)}: on "
                f"{frame.place(row)}, {count} beside {counter}"
            )
            self._ask("labels", [doubt], self._texts(layout, [{"labels": codes}]))
        return layout

    def refuse(self, candidate: Candidate, weaker: Sequence[Candidate] = ()) -> NoReturn:
        """Raise a ChaosError that says why the file is not read, and shows its possible readings.

        If these are fewer than two, the surest of the `weaker` that is clear is added.
        """
        if candidate.refusal:
            raise self.faults.fatal(*candidate.refusal)
        reasons, texts = [candidate.reason], list[str]()
        for reader in candidate.readers:
            more, yaml_files = self._readings(self.layout(reader))
            reasons += [reason for reason in more if reason not in reasons]
            texts += yaml_files
        if len(texts) < 2:
            reason, text = self._second_best(weaker, texts)
            reasons += reason
            texts += text
        self._ask("columns", reasons, texts, candidate.todo)

    def _second_best(
        self, weaker: Sequence[Candidate], texts: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the reason and the YAML text of the surest clear reading that is not in `texts`.

        Both lists are empty where there is none.
        """
        for candidate in filter(attrgetter("is_clear"), weaker):
            with suppress(ChaosError):
                yaml_files = self._readings(self.layout(candidate.readers[0]))[1]
                if yaml_files and yaml_files[0] not in texts:
                    return [f"or {candidate.reason}?"], yaml_files[:1]
        return [], []

    def _ask(
        self, what: str, doubts: Sequence[str], texts: Sequence[str], todo: str = ""
    ) -> NoReturn:
        """Raise a ChaosError about `what` is in doubt; `texts` are the YAML texts to choose from.

        `doubts` are the questions, and `todo` is added to the advice.
        """
        if not texts:
            raise self.faults.fatal(
                f"The {what} of this votes file are not recognised.",
                "; ".join(doubts),
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
            "; ".join(doubts),
            ("one of these YAML files:\n" if several else "this YAML file:\n")
            + "# or\n".join(texts),
            ("save the one that is meant" if several else "save it, if this is what you mean,")
            + f" beside the votes{todo}",
        )

    def check_people(self, reader: Reader) -> None:
        """Ask about votes whose annotator is called gold or majority, and may be no person."""
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
        """Ask about a text column that differs within a few items, but not within the others."""
        reader = dict(layout.reader)
        frame = rows_of(self.columns.frame, reader, self.faults)
        candidate = several_texts_of_one(self.columns, frame, reader, layout.others, layout.labels)
        if candidate:
            self.refuse(candidate)

    def check_labels(self, layout: Layout) -> None:
        """Ask about labels that may mean something other than what is written."""
        if are_lists(layout.labels):
            raise self.faults.fatal(
                "The labels look like whole lists of labels.",
                shorten(layout.labels[0]),
                "lists in JSON, or separated by commas, or a row per vote",
                "correct the file, or name another column: --label",
            )
        doubts, texts = self._readings(layout)
        if doubts:
            self._ask("labels", doubts, texts)

    def _readings(self, layout: Layout) -> tuple[Sequence[str], list[str]]:
        """Return the doubts about the labels, and a YAML text for each possible reading."""
        literal: dict[str, Any] = {"labels": list(layout.labels)}
        is_free = len(layout.labels) > MOST_LABELS or layout.rating
        if is_free or layout.format == "chaosnli":
            return (), self._texts(layout, [literal])
        if layout.format == "wide":
            return self._wide_readings(layout, literal)
        alternative = other_reading(layout.votes, partial(self._seems_no_answer, layout))
        doubts = alternative.doubts if alternative else ()
        readings = [literal]
        if alternative:
            readings = [{"labels": alternative.labels, "reader": alternative.reader}, literal]
        if layout.several:  # labels that are lists cannot be read literally
            doubts = ("some answers are lists: one person may choose several labels?", *doubts)
            reader = {"separator": ","} | (alternative.reader if alternative else {})
            readings = [readings[0] | {"reader": reader}]
        return doubts, self._texts(layout, readings)

    def _wide_readings(
        self, layout: Layout, literal: dict[str, Any]
    ) -> tuple[Sequence[str], list[str]]:
        """Return `_readings` of counts: a column may count those who gave no answer."""
        column_of = {layout.names.get(name, name): name for name in layout.labels}
        blank = [column_of[name] for name in no_votes(list(column_of))]
        labels = [name for name in layout.labels if name not in blank]
        if not blank or len(labels) < 2:
            return (), self._texts(layout, [literal])
        doubt = f"no answers, or votes for a label: {listed(blank)}?"
        return (doubt,), self._texts(layout, [{"labels": labels}, literal])

    def _texts(self, layout: Layout, readings: Sequence[dict[str, Any]]) -> list[str]:
        """Return the YAML text of each reading whose labels are few enough and make a dataset."""
        texts = []
        for reading in readings:
            with suppress(ChaosError):
                if 2 <= len(reading["labels"]) <= FEW_LABELS:
                    texts.append(yaml_of(to_dataset(self.path, layout, reading)))
        return texts

    def _seems_no_answer(self, layout: Layout, name: str) -> bool:
        """Return whether the votes on the items suggest that a label stands for no answer.

        That is, the label is frequent (or below 0), and people agree on it no better than by
        chance. A number such as -1 may also be most of the answers, but all on no item. In a table
        with a column per vote, all items may have the label equally often.
        """
        share = layout.votes[name] / sum(layout.votes.values())
        is_table = layout.format == "columns"
        is_rare = share < _OFTEN and not name.startswith("-")
        if is_rare or (share <= 1 / 2 and not (is_code(name) or is_table)):
            return False
        n_label, n_answers = self._numbers_by_item(layout.reader, name)
        if len(n_answers) < _MANY_ROWS:
            return False
        n_pairs = (n_answers * (n_answers - 1)).sum()
        disagreement = 2 * (n_label * (n_answers - n_label)).sum() / max(n_pairs, 1)
        by_chance = bool(1 - disagreement / (2 * share * (1 - share)) <= _BY_CHANCE)
        if is_code(name):
            return by_chance or bool(share > 1 / 2 and (n_label < n_answers).all())
        is_padding = is_table and not (np.ptp(n_label) or np.ptp(n_answers))
        return bool(is_padding or (share > 1 / 2 and by_chance))

    def _numbers_by_item(self, reader: Mapping[str, Any], name: str) -> tuple[Any, Any]:
        """Return how often each item has this label, and its number of answers; shape (items,)."""

        def is_label(value: Any) -> bool:
            return as_identifier(unwrap_single(value)) == name

        frame = rows_of(self.columns.frame, reader, self.faults)
        if reader["format"] == "long":
            if not (isinstance(reader["label"], str) and reader["item"]):
                return np.empty(0), np.empty(0)
            items, cells = frame.key(reader["item"]), frame.column(reader["label"])
            filled = (items.codes >= 0) & (cells.codes >= 0)
            item = items.codes[filled]
            n_label = np.bincount(item, cells.map(is_label, float)[filled])
            n_answers = np.bincount(item)
        elif isinstance(reader["labels"], str):
            lists = frame.column(reader["labels"]).map(lambda value: as_list(value) or [])
            n_label = np.array([sum(map(is_label, labels)) for labels in lists])
            n_answers = np.array(list(map(len, lists)))
        else:
            columns = [frame.column(column) for column in reader["labels"]]
            n_label = np.sum([cells.map(is_label, float) for cells in columns], axis=0)
            n_answers = np.sum(
                [cells.map(lambda value: value not in (None, ""), float) for cells in columns], 0
            )
        return n_label[n_answers > 0], n_answers[n_answers > 0]
