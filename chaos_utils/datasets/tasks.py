"""The tasks that models are trained for: pairs, the choice between two stories, or any votes."""

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
    file: str  # one of `known_files`
    labels: str = ""  # the file of the labels, if it is a second one


class Task(StrictModel):
    """The task of a model: to judge texts or pairs, or to choose between two stories."""

    name: str
    title: str
    kind: Literal["pairs", "stories", "votes"]
    corpora: tuple[CorpusFile, ...]  # a story's development set is ChaosNLI itself
    own_labels: tuple[str, ...] = ()  # where each dataset has its own

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets with this task."""
        return tuple(one.name for one in known_datasets() if one.task == self.name)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of every array."""
        answered = (one.labels for one in known_datasets() if one.task == self.name)
        return next(answered, self.own_labels)

    @property
    def files(self) -> list[str]:
        """Names of all files, also those of labels, as in `known_files`."""
        return [name for corpus in self.corpora for name in (corpus.file, corpus.labels) if name]

    def files_of(self, split: str) -> list[CorpusFile]:
        """Return the files of a split: ``train``, ``dev`` or ``test``."""
        return [one for one in self.corpora if one.split == split]


@cache
def tasks() -> Mapping[str, Task]:
    """Return every task by name."""
    content = package_yaml(TASKS_FILE)
    by_name = {
        name: Task.model_validate({"name": name} | fields) for name, fields in content.items()
    }
    return MappingProxyType(by_name)


def get_task(name: str) -> Task:
    """Return the task of that name; a ChaosError names the closest when there is none."""
    if name not in tasks():
        expected = did_you_mean(name, tasks())
        raise ChaosError("Unknown task to train on.", found=repr(name), expected=expected)
    return tasks()[name]
