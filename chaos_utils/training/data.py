"""What a run reads, checked before anything is computed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.inputs import Input, merged
from chaos_utils.datasets import corpora, splits
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import VoteFiles, find_votes, read_votes
from chaos_utils.datasets.splits import Ints
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.training.dev_scores import balanced_subset
from chaos_utils.training.settings import VOTES, Settings

_HELD_OUT = 0.05  # of αNLI's training stories: its development set is ChaosNLI-α
_HELD_OUT_SEED = 0  # one for all runs, so that they are chosen on the same stories


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Which of the training items are predicted by a model that has seen none of their group.

    `of_items` are the folds' numbers from 0, and -1 for what no model leaves out. Items of one of
    the `groups` share a text, a story or an image.
    """

    of_items: Ints
    groups: Ints

    @property
    def number(self) -> int:
        """How many folds there are: as many models are trained."""
        return int(self.of_items.max()) + 1


@dataclass(frozen=True, slots=True)
class Data:
    """What a run trains on, chooses on, tests on and predicts, and the votes behind the last.

    Of votes that are trained on, the folds say what is predicted by which model. Else no training
    item shares its premise or story with one that is predicted; development items are others than
    ChaosNLI's, and share no premise with what is trained on where that is ChaosNLI. Nothing is
    chosen on the test items. There may be none of these, nor of development items.
    """

    train: Corpus
    dev: Corpus
    tests: Corpus
    predicted: Corpus
    votes: list[Votes]
    folds: Folds | None = None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files behind all of it."""
        corpora = (self.train, self.dev, self.tests, self.predicted)
        return merged(*(corpus.inputs for corpus in corpora))


def load_data(settings: Settings) -> Data:
    """Read and check everything that a run needs, for settings as `complete` returns them."""
    data = _of_own_votes(settings) if settings.on_own_votes else _of_task(settings)
    given = data.train.targets > 0 if settings.on_votes else np.eye(2)[:0]
    n_labels = int(given.any(axis=0).sum()) or len(np.unique(data.train.gold))
    if n_labels < 2:
        raise _too_few("training", data.train, n_labels)
    return data


def _of_task(settings: Settings) -> Data:
    """Read what a run on a task's corpora needs, or on ChaosNLI's votes."""
    task, data = settings.task, settings.data
    chaosnli, votes = corpora.load_chaosnli(task, data)
    dev = splits.without(corpora.load_corpus(task, "dev", data), chaosnli)
    tests = corpora.load_corpus(task, "test", data)
    has_dev, folds = bool(get_task(task).files_of("dev")), None
    train = chaosnli if settings.on_votes and has_dev else corpora.load_corpus(task, "train", data)
    if not has_dev:
        train, dev = splits.hold_out(train, _HELD_OUT, _HELD_OUT_SEED)
    if settings.on_votes:
        train, folds = _learnt(chaosnli, votes, settings), _folds(votes, settings)
        dev = splits.without_groups(dev, chaosnli)
    else:
        splits.refuse_contamination(train, chaosnli)
        if settings.max_train_examples:
            train = splits.subset(train, settings.max_train_examples, settings.seed)
    if not len(dev):
        raise _too_few("development", dev, 0)
    if settings.dev_examples:
        dev, tests = (balanced_subset(part, settings.dev_examples) for part in (dev, tests))
    return Data(train, dev, tests, chaosnli, votes, folds)


def _too_few(name: str, items: Corpus, n_labels: int) -> ChaosError:
    return ChaosError(
        f"The {name} items are too few.",
        found=f"{counted(len(items), 'item')} with {counted(n_labels, 'different label')}",
        expected="items with different labels" if len(items) else "at least one item",
        todo="check the files of the parameter data, or the votes",
    )


def _of_own_votes(settings: Settings) -> Data:
    """Read what a run on the votes of one dataset needs: its items alone, which are predicted."""
    votes = load_own_votes(settings)
    task = get_task(VOTES).model_copy(update={"own_labels": votes.dataset.labels})
    items, folds = corpora.from_votes([votes], task), _folds([votes], settings)
    nothing = items.take(())
    predicted = items.take(np.flatnonzero(folds.of_items >= 0))
    train = _learnt(items, [votes], settings)
    return Data(train, nothing, nothing, predicted, [votes], folds)


def _learnt(items: Corpus, votes: Sequence[Votes], settings: Settings) -> Corpus:
    """Return items with the targets that the loss asks for: shares, or majority labels."""
    if settings.loss != "hard":
        return items
    majority = np.concatenate([one.majority for one in votes])
    return replace(items, targets=np.eye(items.targets.shape[1])[majority])


def _folds(votes: Sequence[Votes], settings: Settings) -> Folds:
    groups = np.concatenate(splits.item_groups(votes))
    if len(votes) == 1 and not splits.has_several_groups(votes[0]):
        raise splits.one_text_error(votes[0])
    if settings.held_out:
        of_items = splits.held_out_part(groups, settings.held_out)
    else:
        of_items = splits.grouped_folds(groups, settings.n_folds, settings.seed)
    folds = Folds(of_items, groups)
    trained_on = (len(set(groups[of_items != fold].tolist())) for fold in range(folds.number))
    if settings.patience and min(trained_on) < 2:
        raise ChaosError(
            "A fold has no item left to decide when to stop.",
            found="one different text to train on",
            expected="at least two, if patience is not 0",
            todo="take more items, or patience=0",
        )
    return folds


def load_predicted_votes(settings: Settings) -> list[Votes]:
    """Return the votes on what a run predicts: ChaosNLI's of its task, or those of one dataset."""
    if settings.on_own_votes:
        return [load_own_votes(settings)]
    return corpora.load_chaosnli(settings.task, settings.data)[1]


def load_own_votes(settings: Settings) -> Votes:
    """Return the votes of the one dataset that `train` names, whose texts are those to be read."""
    names = [one.name for one in known_datasets()]
    if settings.train not in names and not paths.from_reader(settings.train).exists():
        raise ChaosError(
            "Nothing to train on has this name.",
            where=f"train={settings.train}",
            expected=did_you_mean(settings.train, ["corpora", "chaosnli", *names])
            + " or a votes file",
        )
    found = find_votes(settings.train)
    if len(found) > 1:
        raise ChaosError(
            "A run is trained on the votes of one dataset.",
            where=f"train={settings.train}",
            found=", ".join(one.dataset.name for one in found),
            expected="one of these, or its file",
        )
    files, named = found[0], tuple(filter(None, (settings.text, settings.pair)))
    if files.content and not files.dataset.text_fields:  # which nothing describes
        files = replace(files, dataset=_with_texts(files, named))
    votes = read_votes(files)
    fields = _text_fields(votes, named)
    dataset = votes.dataset.model_copy(update={"text_fields": fields})
    return replace(votes, dataset=dataset)


def _with_texts(files: VoteFiles, named: Sequence[str]) -> Dataset:
    """Return a votes file's dataset with texts: the columns that were named, or look like such."""
    from chaos_utils.datasets.findings import text_columns  # slow to import

    assert files.content is not None
    columns = files.content[1].names
    _check_named(named, columns, files.names[0])
    fields = named or tuple(text_columns(files.paths[0]))
    if not fields:
        raise _no_texts(files.names[0], ", ".join(columns))
    reader = files.dataset.reader.model_copy(update={"texts": {name: name for name in fields}})
    update = {"text_fields": fields, "text_titles": fields, "reader": reader}
    return files.dataset.model_copy(update=update)


def _text_fields(votes: Votes, named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields of the text, or of the pair, in the order in which they are read."""
    fields = votes.dataset.text_fields
    if not fields or not votes.texts:
        raise _no_texts(votes.source.name, "votes alone")
    _check_named(named, fields, votes.source.name)
    if not named and len(fields) > 2:
        raise ChaosError(
            "It is not clear which texts to read.",
            where=votes.source.name,
            found=", ".join(fields),
            expected="one text, or a pair",
            todo=f"name them: --text {fields[0]}, or --text {fields[0]} --pair {fields[1]}",
        )
    return named or fields


def _check_named(named: Sequence[str], fields: Sequence[str], where: str) -> None:
    for name in named:
        if name not in fields:
            raise ChaosError(
                "These votes have no such text.",
                where=where,
                found=repr(name),
                expected=did_you_mean(name, fields),
                todo=f"name one or two of: {', '.join(fields)}",
            )


def _no_texts(where: str, found: str) -> ChaosError:
    return ChaosError(
        "These votes have no texts to learn from.",
        where=where,
        found=found,
        expected="a text for each item, in a column beside the votes",
        todo="add it; if it exists, name it: --text COLUMN, or `texts` in a dataset's YAML "
        "file, which `chaos dataset init` writes",
    )


def notes_on(data: Data) -> list[str]:
    """Return what a reader must know of the votes that are learnt: a sentence each."""
    if data.train.task.name != VOTES:
        return []
    labels, targets, fields = data.train.task.labels, data.train.targets, data.votes[0].dataset
    texts = " with ".join(map(repr, fields.text_fields))
    unseen = [labels[k] for k in np.flatnonzero(targets.sum(axis=0) == 0)]
    return [
        f"reading {texts} of {len(data.train):,} items; there are no development items",
        *(f"no item is {name!r}: nothing teaches the model this label" for name in unseen),
    ]
