"""What models are trained for: three-way pairs, the choice between two stories, or any votes."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.validation import StrictModel
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.dataset import TASKS_FILE, package_yaml


class CorpusFile(StrictModel):
    """A file of a corpus; `name` and `title` are the corpus's, in tables and for readers."""

    split: Literal["train", "dev", "test"]
    name: str
    title: str
    file: str  # as the labels, one of `known_files`
    labels: str = ""  # where they do not stand in the file itself


class Task(StrictModel):
    """What a model is trained for: pairs of texts, a choice of two stories, or any votes."""

    name: str
    title: str
    kind: Literal["pairs", "stories", "votes"]
    corpora: tuple[CorpusFile, ...]  # a story's development set is ChaosNLI itself
    own_labels: tuple[str, ...] = ()  # where each dataset has its own

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that such a model answers."""
        return tuple(one.name for one in known_datasets() if one.task == self.name)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of every array."""
        answered = (one.labels for one in known_datasets() if one.task == self.name)
        return next(answered, self.own_labels)

    @property
    def files(self) -> list[str]:
        """Every file, labels too, by its name among `known_files`."""
        return [name for one in self.corpora for name in (one.file, one.labels) if name]

    def files_of(self, split: str) -> list[CorpusFile]:
        """Return the files of a split: ``train``, ``dev`` or ``test``."""
        return [one for one in self.corpora if one.split == split]


@cache
def tasks() -> Mapping[str, Task]:
    """Return every task by name."""
    content = package_yaml(TASKS_FILE)
    found = {name: Task.model_validate({"name": name} | one) for name, one in content.items()}
    return MappingProxyType(found)


def get_task(name: str) -> Task:
    """Return the task of that name; a ChaosError names the closest when there is none."""
    if name not in tasks():
        expected = did_you_mean(name, tasks())
        raise ChaosError("Unknown task to train on.", found=repr(name), expected=expected)
    return tasks()[name]
