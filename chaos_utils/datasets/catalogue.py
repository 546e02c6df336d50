"""The three tasks of ChaosNLI: labels in order, file names, text fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from chaos_utils.base.errors import ChaosError, did_you_mean


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes
    ----------
    name : str
        Short name, as in the ``task`` column of every table.
    title : str
        Its dataset in ChaosNLI, for axes and headings.
    short : str
        The dataset that it was taken from, for prose and tables.
    labels : tuple of str
        Label names in this project's order, which is also the order of ``label_count``.
    codes : tuple of str
        The labels as ChaosNLI spells them in ``label_counter`` (integers become strings).
    text_fields : tuple of str
        The fields of an item's text, in reading order.
    file : str
        ChaosNLI's file, relative to a data folder.
    n_old_labels : tuple of int
        How many original labels an item may carry; empty when only the gold label was released.
    """

    name: str
    title: str
    short: str
    labels: tuple[str, ...]
    codes: tuple[str, ...]
    text_fields: tuple[str, ...]
    file: str
    n_old_labels: tuple[int, ...]

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.labels)

    def label_index(self, label: object) -> int | None:
        """Return the position of a label given as code, full name or integer, else None.

        Parameters
        ----------
        label : object
            As a data file has it, such as ``e`` or ``entailment``; on αNLI 1 or ``1``.

        Returns
        -------
        int or None
            From 0, in the order of `labels`.
        """
        if isinstance(label, bool) or not isinstance(label, str | int):
            return None
        text = str(label)
        for spelling in (self.codes, self.labels):
            if text in spelling:
                return spelling.index(text)
        return None


_NLI_LABELS = ("entailment", "neutral", "contradiction")
_NLI_CODES = ("e", "n", "c")
_NLI_FIELDS = ("premise", "hypothesis")

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "snli": Task(
            name="snli",
            title="ChaosNLI-SNLI",
            short="SNLI",
            labels=_NLI_LABELS,
            codes=_NLI_CODES,
            text_fields=_NLI_FIELDS,
            file="chaosNLI_v1.0/chaosNLI_snli.jsonl",
            n_old_labels=(4, 5),
        ),
        "mnli": Task(
            name="mnli",
            title="ChaosNLI-MNLI",
            short="MNLI",
            labels=_NLI_LABELS,
            codes=_NLI_CODES,
            text_fields=_NLI_FIELDS,
            file="chaosNLI_v1.0/chaosNLI_mnli_m.jsonl",
            n_old_labels=(4, 5),
        ),
        "alphanli": Task(
            name="alphanli",
            title="ChaosNLI-αNLI",
            short="αNLI",
            labels=("hypothesis 1", "hypothesis 2"),
            codes=("1", "2"),
            text_fields=("obs1", "hyp1", "hyp2", "obs2"),
            file="chaosNLI_v1.0/chaosNLI_alphanli.jsonl",
            n_old_labels=(),
        ),
    }
)


def get_task(name: str) -> Task:
    """Return the task of that name.

    Parameters
    ----------
    name : {'snli', 'mnli', 'alphanli'}

    Returns
    -------
    Task

    Raises
    ------
    ChaosError
        If there is none; the message names the closest.
    """
    if name not in TASKS:
        raise ChaosError("Unknown task.", found=repr(name), expected=did_you_mean(name, TASKS))
    return TASKS[name]
