"""What a run reads, checked before anything is computed."""

from dataclasses import dataclass, replace

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, merged
from chaos_utils.datasets import corpora, splits
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.training.dev_scores import balanced_subset
from chaos_utils.training.settings import Settings

_HELD_OUT = 0.05  # of αNLI's training stories: its development set is ChaosNLI-α
_HELD_OUT_SEED = 0  # one for all runs, so that they are chosen on the same stories


@dataclass(frozen=True, slots=True)
class Data:
    """What a run trains on, chooses on, tests on and predicts, and the votes behind the last.

    No training item shares its premise or story with one of ChaosNLI, nor with a development item
    where ChaosNLI's votes are trained on; development items are others than ChaosNLI's. Nothing
    is chosen on the test items, and there may be none.
    """

    train: Corpus
    dev: Corpus
    tests: Corpus
    chaosnli: Corpus
    votes: list[Votes]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files behind all of it."""
        corpora = (self.train, self.dev, self.tests, self.chaosnli)
        return merged(*(corpus.inputs for corpus in corpora))


def load_data(settings: Settings) -> Data:
    """Read and check everything that a run needs, for settings as `complete` returns them."""
    task, data = settings.task, settings.data
    chaosnli, votes = corpora.load_chaosnli(task, data)
    on_votes = settings.train == "chaosnli"
    dev = splits.without(corpora.load_corpus(task, "dev", data), chaosnli)
    tests = corpora.load_corpus(task, "test", data)
    has_dev = bool(get_task(task).files_of("dev"))
    train = chaosnli if on_votes and has_dev else corpora.load_corpus(task, "train", data)
    if not has_dev:
        train, dev = splits.hold_out(train, _HELD_OUT, _HELD_OUT_SEED)
    if on_votes:
        train, dev = chaosnli, splits.without_groups(dev, chaosnli)
        if settings.loss == "hard":
            majority = np.concatenate([one.majority for one in votes])
            train = replace(train, targets=np.eye(chaosnli.targets.shape[1])[majority])
    else:
        splits.refuse_contamination(train, chaosnli)
        if settings.max_train_examples:
            train = splits.subset(train, settings.max_train_examples, settings.seed)
    for name, corpus, least in (("training", train, 2), ("development", dev, 1)):
        if len(np.unique(corpus.gold)) < least:
            raise ChaosError(
                f"The {name} items are too few.",
                found=f"{len(corpus)} items with {len(np.unique(corpus.gold))} different labels",
                expected="items with different labels" if least > 1 else "at least one item",
                todo="check the files of the parameter data",
            )
    if settings.dev_examples:
        dev, tests = (balanced_subset(part, settings.dev_examples) for part in (dev, tests))
    return Data(train, dev, tests, chaosnli, votes)
