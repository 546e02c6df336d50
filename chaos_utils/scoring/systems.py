"""Which systems there are: released ones, the reader's own, baselines, references."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.inputs import Input, merged, of_predictions
from chaos_utils.datasets import sources
from chaos_utils.datasets.dataset import Dataset, ReleasedSystem
from chaos_utils.datasets.published.tables import published_rows
from chaos_utils.datasets.splits import folds_of, has_several_groups, item_groups, one_text_error
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.skill import leave_one_out_mean
from chaos_utils.scoring.logit_rows import read_logit_rows
from chaos_utils.scoring.predictions import join, read_predictions
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.recalibration import mean_of_other_folds
from chaos_utils.scoring.scores import EvaluationRequest, score_rows
from chaos_utils.scoring.system import Origin, System, check_names, votes_of
from chaos_utils.scoring.training_records import (
    PREDICTIONS_FILE,
    Run,
    committed_runs,
    of_most_items,
)

READS = ("predictions",)
_AGREES = 5.5e-5  # with a number of four decimals
_SAME = 1e-6  # of probabilities that stand in two files


def load_systems(
    votes: Votes, predictions: Sequence[str] = (), *, trained: bool = True
) -> list[System]:
    """Return every system whose predictions on a dataset are available.

    For the released votes, the predictions that the dataset's YAML names, where they are available,
    and those of the project's own runs (if `trained`); for the synthetic sample, simulated models;
    then the reader's own. They need not cover every item.

    Parameters
    ----------
    predictions : sequence of str
        Files of the reader's own, in any format that `read_predictions` takes, relative to where
        the reader is. A file without an item of this dataset is passed over. Their origin is
        ``yours``, also where a run of this project wrote them.
    """
    systems = []
    if votes.source.synthetic:
        systems = synthetic_systems(votes)
    elif votes.is_released:
        systems = released_systems(votes)
        systems += trained_systems(votes) if trained else []
    systems += own_systems(votes, predictions)
    check_names(systems)
    return systems


def own_systems(votes: Votes, files: Sequence[str]) -> list[System]:
    """Read a reader's own files; one without an item of the dataset gives nothing."""
    systems = []
    for file in files:
        path = paths.from_reader(file)
        own = read_predictions(path, [votes], allow_missing=True, allow_others=True)
        systems += [replace(system, origin="yours") for system in own]
    return systems


def refuse_unused(
    files: Sequence[str], all_votes: Sequence[Votes], systems: Sequence[System]
) -> None:
    """Raise a ChaosError if one of a reader's files fits none of these datasets, or two.

    `systems` are what was read from the files, on any of the datasets.
    """
    used = Counter(
        Path(file.name).name
        for each in all_votes
        for file in {file for s in systems if s.dataset == each.dataset for file in s.inputs}
    )
    for path in map(paths.from_reader, files):
        if used[path.name] != 1:
            read_predictions(path, all_votes, allow_missing=True)


def released_systems(votes: Votes) -> list[System]:
    """Return the released predictions that a dataset's YAML names, where available.

    Each system's parts are joined. The models of Baan et al. (2022) were trained on SNLI, so MNLI
    is out of their distribution; 30 of its 1,599 items have no prediction. A file of several models
    keeps their names; if it is another one than was published, their rows must agree with those of
    Table 5 of Nie et al. (2020). Where the same predictions stand in two files, these must agree.
    """
    systems = []
    for released, seed, files in _released_files(votes.dataset):
        of_files = _read_released(votes, released, files)
        other_form = sources.find(released.other_form) if released.other_form else None
        if other_form is not None and released.other_form not in files:
            again = _read_released(votes, released, {released.other_form: other_form})
            _check_alike(released, [*files.values(), other_form], of_files[0], again[0])
        for name in released.models or (released.family,):
            parts = [
                system
                for some in of_files
                for system in some
                if system.name == name or released.family
            ]
            system = join(parts, name if seed is None else f"{name}, seed {seed}")
            systems.append(
                replace(
                    system,
                    origin="released",
                    family=name,
                    seed=seed,
                    trained_on=released.trained_on,
                    paper=released.paper,
                    caution=released.caution,
                )
            )
    return systems


def _read_released(
    votes: Votes, known: ReleasedSystem, files: Mapping[str, Path]
) -> list[list[System]]:
    """Return the systems in each file; a ChaosError if it is not what was published."""
    by_file = [
        read_logit_rows(path, votes, known.rows_of)
        if known.rows_of and name in known.files
        else read_predictions(path, [votes], allow_missing=True)
        for name, path in files.items()
    ]
    for (name, path), some in zip(files.items() if known.models else (), by_file, strict=False):
        by_name = {system.name: system for system in some}
        if missing := [model for model in known.models if model not in by_name]:
            raise ChaosError(
                "The file lacks predictions of a model on these items.",
                where=path,
                found=", ".join(by_name) or "none",
                expected=", ".join(missing),
            )
        try:
            sources.check(sources.get(name), path)
        except ChaosError:
            if not all(_agrees_with_table_5(votes, by_name[model]) for model in known.models):
                raise
    return by_file


def _check_alike(
    known: ReleasedSystem, files: Sequence[Path], some: Sequence[System], others: Sequence[System]
) -> None:
    """Raise a ChaosError if two files say different things of the same items."""
    other = {system.name: system for system in others}
    for system in some:
        if system.name in known.models:
            theirs = other[system.name]
            place = {uid: i for i, uid in enumerate(theirs.uids)}
            rows = theirs.probabilities[[place[uid] for uid in system.uids if uid in place]]
            if len(rows) != len(system) or np.abs(rows - system.probabilities).max() > _SAME:
                raise ChaosError(
                    f"Two files of the same predictions on {system.dataset.title} disagree.",
                    where=", ".join(map(str, files)),
                    found=f"other predictions of {system.name}",
                    expected="the same in both files",
                    todo="remove the file that is not the published one: `chaos data verify`",
                )


def _agrees_with_table_5(votes: Votes, system: System) -> bool:
    """Return whether a model's scores are those that were published, to four decimals."""
    theirs = {
        name: float(row[name])
        for row in published_rows("nie2020_table5")
        for name in TABLE_5
        if (row["dataset"], row["model"]) == (votes.dataset.name, system.name)
    }
    ours = score_rows(votes, [system], EvaluationRequest(TABLE_5)) if theirs else []
    near = [abs(row["value"] - theirs[row["measure"]]) < _AGREES for row in ours]
    return len(system) == len(votes) and bool(near) and all(near)


def _released_files(
    dataset: Dataset,
) -> Iterator[tuple[ReleasedSystem, int | None, dict[str, Path]]]:
    """Yield what was released on a dataset, its seed and its files by name, where available."""
    for released in dataset.systems:
        for seed, names in released.parts.items():
            files = _found(names)
            if len(files) < len(names):
                names = (released.other_form,) if released.other_form else names
                files = _found(names)
            if len(files) == len(names):
                if not released.models:  # whose scores were published otherwise
                    for name, path in files.items():
                        sources.check(sources.get(name), path)
                yield released, seed, files


def _found(names: Sequence[str]) -> dict[str, Path]:
    return {name: path for name in names if (path := sources.find(name)) is not None}


def trained_systems(votes: Votes) -> list[System]:
    """Return the models that this project trained in the ordinary way, on as many pairs as it has.

    Other runs on parts of the data, on soft labels and the like stand in chapters of their own.
    """
    found = [run.predictions_on(votes) for run in _trained_on(votes.dataset)]
    return [system for system in found if system is not None]


def _trained_on(dataset: Dataset) -> list[Run]:
    """Return the runs whose task the dataset is part of: no others predict its items."""
    runs = of_most_items(committed_runs())
    return [run for run in runs if dataset.name in get_task(run.settings.task).datasets]


def inputs_of_systems(dataset: Dataset, *, trained: bool = True) -> tuple[Input, ...]:
    """Return the files that `load_systems` reads for the released votes on a dataset.

    Nothing is parsed to find them but the records of runs.
    """
    found = [path for _, _, files in _released_files(dataset) for path in files.values()]
    released = [of_predictions(path) for path in found]
    runs = _trained_on(dataset) if trained else []
    return merged(released, *(run.inputs_of(PREDICTIONS_FILE) for run in runs))


def synthetic_systems(votes: Votes) -> list[System]:
    """Return three simulated models for the synthetic sample: noisy, and too sure.

    Each sharpens the human distribution and blurs it with seeded noise, so that it errs in the way
    that fine-tuned models do.
    """
    systems = []
    for seed in range(3):
        rng = np.random.default_rng([2022, seed])
        noise = rng.normal(scale=1.2, size=votes.shares.shape)
        powers = np.exp(1.6 * np.log(votes.shares + 0.02) + noise)
        shares = powers / powers.sum(axis=1, keepdims=True)
        one = computed(f"synthetic model, seed {seed}", votes, shares, origin="simulated")
        systems.append(replace(one, family="synthetic model", seed=seed))
    return systems


def computed(
    name: str, votes: Votes, probabilities: npt.ArrayLike, *, origin: Origin = "baseline"
) -> System:
    """Return predictions for all items of a dataset that were computed here, in their order."""
    values = np.array(probabilities, dtype=np.float64)
    return System(name, votes.dataset, votes.uids, values, values.argmax(axis=1), origin=origin)


def oracle(votes: Votes) -> System:
    """Return the human distribution as a prediction: what a perfect model would say."""
    return computed("oracle", votes, votes.shares, origin="reference")


def uniform(votes: Votes) -> System:
    """Return the uniform guess: chance, for JSD and KL, in Nie et al. (2020)."""
    k = votes.dataset.n_classes
    return computed("uniform guess", votes, np.full((len(votes), k), 1 / k))


def baselines(votes: Votes) -> list[System]:
    """Return the guesses that need no model, those that the votes have what they need for.

    ``uniform guess`` and ``base rate``; ``class prior``, ``mean vote given the old label`` and
    ``old label`` with old labels; ``original votes`` with old votes. Where all items share a text,
    those that are fitted on other items are not there.
    """
    guesses, is_fitted = [uniform(votes)], has_several_groups(votes)
    if votes.has_old_labels and is_fitted:
        guesses.append(class_prior(votes))
    if is_fitted:
        guesses.append(base_rate(votes))
    if votes.has_old_labels:
        guesses += [mean_vote_given_old_label(votes)] if is_fitted else []
        guesses.append(old_label(votes))
    return guesses + ([original_votes(votes)] if votes.has_old_votes else [])


def guesses_by_votes(votes: Votes) -> list[System]:
    """Return the uniform guess, and the base rate where one can be formed."""
    return [uniform(votes), *([base_rate(votes)] if has_several_groups(votes) else [])]


def class_prior(votes: Votes) -> System:
    """Return the frequencies of the old labels, each item's from the other of ten folds by text.

    A ChaosError where all items share a text.
    """
    one_hot = np.eye(votes.dataset.n_classes)[votes.old_label]
    all_alike = np.zeros(len(votes), dtype=np.int64)
    means, _ = mean_of_other_folds(one_hot, all_alike, _folds(votes))
    return computed("class prior", votes, means)


def base_rate(votes: Votes) -> System:
    """Return how often each label is given overall: the mean vote shares of all other texts' items.

    Fitted on votes, though never on an item's own: models that learned from labels have not seen
    any of them. Items that share a text are left out together; a ChaosError where all share one.
    """
    shares = leave_one_out_mean(votes.shares, item_groups([votes])[0])
    if np.isnan(shares).any():
        raise one_text_error(votes)
    return replace(
        computed("base rate", votes, shares),
        trained_on=(votes_of(votes.dataset),),
        out_of_fold=True,
        notes=("the mean of the votes of other items",),
    )


def mean_vote_given_old_label(votes: Votes) -> System:
    """Return the mean vote shares of those items of the other folds that have the same old label.

    Of ten folds by text, or one for each text where these are fewer; a ChaosError where all items
    share one. Where the others have no item of an old label, its items get their mean vote, and a
    note says how many these are.
    """
    folds = _folds(votes)
    means, n_without = mean_of_other_folds(votes.shares, votes.old_label, folds)
    notes = [f"fitted on the votes of other items, in {len(set(folds.tolist()))} folds by text"]
    if n_without:
        notes.append(
            f"the mean vote on all other items for {counted(n_without, 'item')} whose old label no "
            "item of another fold has"
        )
    return replace(
        computed("mean vote given the old label", votes, means),
        trained_on=(votes_of(votes.dataset),),
        out_of_fold=True,
        notes=tuple(notes),
    )


def _folds(votes: Votes) -> Ints:
    """Return the fold of each item; a ChaosError where all items share a text."""
    folds = folds_of(item_groups([votes])[0])
    if (folds == folds[:1]).all():
        raise one_text_error(votes)
    return folds


def original_votes(votes: Votes) -> System:
    """Return the few original votes' shares as a prediction; αNLI has one vote per item."""
    shares = votes.old_votes / votes.old_votes.sum(axis=1, keepdims=True)
    one = computed("original votes", votes, shares)
    return replace(one, n_answers=int(votes.old_votes.sum(axis=1).max()))


def old_label(votes: Votes) -> System:
    """Return the old label, certain of itself."""
    one_hot = np.eye(votes.dataset.n_classes)[votes.old_label]
    return computed("old label", votes, one_hot)
