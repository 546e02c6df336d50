"""How files word a dataset's labels: as it does, in another case, or as the reader says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.words import words_of

SAY_SO = "--answers A=entailment,B=neutral"

_LETTERED = re.compile(r"(?<=^\w)[.:)]\s+")
_WHOLE = re.compile(r"\A(\d+)\.0*\Z")
_NEXT_ANSWER = re.compile(r",(?=[^,=]*=)")  # labels may hold commas


def answers_of(text: str) -> dict[str, str]:
    """Return the labels that an option names, by the answers that stand for them."""
    answers: dict[str, str] = {}
    for pair in _NEXT_ANSWER.split(text):
        answer, equals, label = (part.strip() for part in pair.partition("="))
        if not (answer and equals and label) or answer in answers:
            raise ChaosError(
                "An answer is named twice." if answer in answers else "An answer has no label.",
                where="--answers", found=repr(pair),
                expected=f"each answer once, with its label, such as {SAY_SO}",
            )  # fmt: skip
        answers[answer] = label
    return answers


def _plain_words(text: str) -> str:
    """Return the words of an answer; a whole number loses its decimals."""
    return _WHOLE.sub(r"\1", words_of(text, " ", marks_inside=True))


@dataclass(frozen=True, slots=True)
class LabelMapping:
    """Which words stand for which label of a dataset.

    Codes stand for labels only if the reader does not say what answers mean: a letter may be a code
    and an answer.
    """

    dataset: Dataset
    answers: Mapping[str, str] = field(default_factory=dict)
    _label_of_name: dict[str, int] = field(init=False, default_factory=dict)
    _label_of_words: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = {name: k for k, name in enumerate(self.dataset.labels)}
        names |= {name.replace(" ", "_"): k for name, k in names.items()}
        labels = {name: self.dataset.label_index(label) for name, label in self.answers.items()}
        self._label_of_name.update(names | {name: k for name, k in labels.items() if k is not None})
        for text, k in self._label_of_name.items():
            words = _plain_words(text) or text
            is_ambiguous = self._label_of_words.get(words, k) != k
            self._label_of_words[words] = -1 if is_ambiguous else k

    def label(self, text: object) -> int | None:
        """Return the label that an answer stands for, from 0; None where it stands for none.

        A letter and a word, as in ``A. entailment``, must stand for one label.
        """
        index = self._label_of(text)
        if index is None and isinstance(text, str):
            parts = {self._label_of(part) for part in _LETTERED.split(text.strip(), maxsplit=1)}
            index = next(iter(parts)) if len(parts) == 1 else None
        return index

    def _label_of(self, text: object) -> int | None:
        """Return the label by exact word, then by code, then by words alone; None for no label."""
        word = text.strip() if isinstance(text, str) else text
        if isinstance(word, bool | int | float):  # as text, since True equals 1
            word = str(word)
        index = self._label_of_name.get(word) if isinstance(word, str) else None
        if index is None and not self.answers:
            index = self.dataset.label_index(word)
            if index is None and isinstance(word, str) and _WHOLE.fullmatch(word):
                index = self.dataset.label_index(_plain_words(word))
        if index is None and isinstance(word, str):
            index = self._label_of_words.get(_plain_words(word))
        return None if index == -1 else index

    def columns(self, names: Sequence[str], where: object) -> list[str | None]:
        """Return the column of each label, None for a label without one; `where` is the file."""
        column_of_label: list[str | None] = [None] * self.dataset.n_classes
        exact = set(self._label_of_name)
        for name in sorted(names, key=lambda name: name not in exact):  # exact names first
            k = self.label(name)
            if k is not None and column_of_label[k] is None:
                column_of_label[k] = name
            elif k is not None and (name in exact) == (column_of_label[k] in exact):
                raise ChaosError(
                    f"Two columns are for the label {self.dataset.labels[k]!r}.", where=where,
                    found=f"{column_of_label[k]!r} and {name!r}",
                    expected="one column for each label",
                    todo="rename or remove one of them",
                )  # fmt: skip
        return column_of_label


def check_answers(answers: Mapping[str, str], datasets: Sequence[Dataset]) -> None:
    """Raise a ChaosError if an answer stands for a label that no dataset has."""
    for answer, label in answers.items():
        if all(dataset.label_index(label) is None for dataset in datasets):
            known = dict.fromkeys(name for dataset in datasets for name in dataset.labels)
            raise ChaosError(
                "An answer stands for no label.", where="--answers", found=f"{answer}={label}",
                expected=did_you_mean(label, known),
            )  # fmt: skip
