"""All systems: released systems, the reader's own, baselines and references."""

import re
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
from chaos_utils.scoring.submitted import inputs_of_submitted, submitted_systems
from chaos_utils.scoring.system import Origin, System, check_names, votes_of
from chaos_utils.scoring.training_records import (
    PREDICTIONS_FILE,
    Run,
    committed_runs,
    of_most_items,
)

READS = ("predictions",)
BASELINES = ("uniform guess", "class prior", "base rate", "mean vote given the old label",
             "old label", "original votes")  # fmt: skip
_AGREES = 5.5e-5  # largest difference from a number of four decimals
_OPTION = re.compile("--(?:answers|asked|filter|scorer)")  # of `chaos evaluate`, not of a notebook
_SAME = 1e-6  # largest difference between the same probabilities in two files


def load_systems(
    votes: Votes, predictions: Sequence[str] = (), *, trained: bool = True, submitted: bool = False
) -> list[System]:
    """Return every system whose predictions on a dataset are available.

    For the released votes, the predictions that the dataset's YAML names, where they are available,
    those of the project's own runs (if `trained`) and those that others submitted (if `submitted`);
    for the synthetic sample, simulated models; then the reader's own. They need not cover every
    item.

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
        systems += submitted_systems(votes) if submitted else []
    systems += own_systems(votes, predictions)
    check_names(systems)
    return systems


def own_systems(votes: Votes, files: Sequence[str]) -> list[System]:
    """Read a reader's own files; a file without an item of the dataset is passed over."""
    systems = []
    for file in files:
        own = _read_for_notebook(file, [votes], allow_others=True)
        systems += [replace(system, origin="yours") for system in own]
    return systems


def _read_for_notebook(
    file: str, all_votes: Sequence[Votes], *, allow_others: bool = False
) -> list[System]:
    """Read a file of a reader's own; a notebook has no options for reading it, and says so."""
    path = paths.from_reader(file)
    try:
        return read_predictions(path, all_votes, allow_missing=True, allow_others=allow_others)
    except ChaosError as fault:
        raise fault.advising(_in_a_notebook) from fault


def _in_a_notebook(advice: str) -> str:
    """Return the advice of the reader of predictions for a notebook, which lacks its options."""
    for missing in (" (--allow-missing)", ", and pass --allow-missing"):  # allowed here anyway
        advice = advice.replace(missing, "")
    advice = advice.replace("--data VOTES", "-p data=VOTES")
    options = list(dict.fromkeys(_OPTION.findall(advice)))
    if not options:
        return advice
    return (
        f"{advice} (`chaos run` lacks {' and '.join(options)}: correct the file, or use "
        "`chaos evaluate`)"
    )


def refuse_unused(
    files: Sequence[str], all_votes: Sequence[Votes], systems: Sequence[System]
) -> None:
    """Raise a ChaosError if one of a reader's files fits none of these datasets, or two.

    `systems` are all systems that were read from the files.
    """
    used = Counter(
        Path(file.name).name
        for votes in all_votes
        for file in {file for s in systems if s.dataset == votes.dataset for file in s.inputs}
    )
    for file in files:
        if used[paths.from_reader(file).name] != 1:
            _read_for_notebook(file, all_votes)


def released_systems(votes: Votes) -> list[System]:
    """Return the released predictions that a dataset's YAML names, where available.

    Each system's parts are joined. The models of Baan et al. (2022) were trained on SNLI, so MNLI
    is out of their distribution; 30 of its 1,599 items have no prediction. Models in a file
    of several keep their names; if it is not the published file, their scores must agree with Table
    5 of Nie et al. (2020). If the same predictions are in two files, the files must agree.
    """
    systems = []
    for released, seed, files in _released_files(votes.dataset):
        systems_by_file = _read_released(votes, released, files)
        other_form = sources.find(released.other_form) if released.other_form else None
        if other_form is not None and released.other_form not in files:
            again = _read_released(votes, released, {released.other_form: other_form})
            paths_read = [*files.values(), other_form]
            _check_alike(released, paths_read, systems_by_file[0], again[0])
        for name in released.models or (released.family,):
            parts = [
                system
                for file_systems in systems_by_file
                for system in file_systems
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
    votes: Votes, released: ReleasedSystem, files: Mapping[str, Path]
) -> list[list[System]]:
    """Return the systems in each file; raise a ChaosError if a file is not as published."""
    by_file = [
        read_logit_rows(path, votes, released.rows_of)
        if released.rows_of and name in released.files
        else read_predictions(path, [votes], allow_missing=True)
        for name, path in files.items()
    ]
    for (name, path), file_systems in zip(
        files.items() if released.models else (), by_file, strict=False
    ):
        by_name = {system.name: system for system in file_systems}
        if missing := [model for model in released.models if model not in by_name]:
            raise ChaosError(
                "The file lacks a model's predictions on these items.",
                where=path,
                found=", ".join(by_name) or "none",
                expected=", ".join(missing),
            )
        try:
            sources.check(sources.get(name), path)
        except ChaosError:
            if not all(_agrees_with_table_5(votes, by_name[model]) for model in released.models):
                raise
    return by_file


def _check_alike(
    released: ReleasedSystem,
    files: Sequence[Path],
    first_systems: Sequence[System],
    second_systems: Sequence[System],
) -> None:
    """Raise a ChaosError if predictions in two files differ on the same items."""
    second_by_name = {system.name: system for system in second_systems}
    for system in first_systems:
        if system.name in released.models:
            twin = second_by_name[system.name]
            row_of_uid = {uid: row for row, uid in enumerate(twin.uids)}
            rows = twin.probabilities[[row_of_uid[uid] for uid in system.uids if uid in row_of_uid]]
            if len(rows) != len(system) or np.abs(rows - system.probabilities).max() > _SAME:
                raise ChaosError(
                    f"Two files of the same predictions on {system.dataset.title} disagree.",
                    where=", ".join(map(str, files)),
                    found=f"different predictions of {system.name}",
                    expected="the same in both files",
                    todo="remove the file that is not the published one: `chaos data verify`",
                )


def _agrees_with_table_5(votes: Votes, system: System) -> bool:
    """Return whether a model's scores agree with the published scores, to four decimals."""
    published = {
        name: float(row[name])
        for row in published_rows("nie2020_table5")
        for name in TABLE_5
        if (row["dataset"], row["model"]) == (votes.dataset.name, system.name)
    }
    rows = score_rows(votes, [system], EvaluationRequest(TABLE_5)) if published else []
    near = [abs(row["value"] - published[row["measure"]]) < _AGREES for row in rows]
    return len(system) == len(votes) and bool(near) and all(near)


def _released_files(
    dataset: Dataset,
) -> Iterator[tuple[ReleasedSystem, int | None, dict[str, Path]]]:
    """Yield each system released on a dataset, its seed and its files by name, if available."""
    for released in dataset.systems:
        for seed, names in released.parts.items():
            files = _available_files(names)
            if len(files) < len(names):
                names = (released.other_form,) if released.other_form else names
                files = _available_files(names)
            if len(files) == len(names):
                if not released.models:  # models have published scores to compare instead
                    for name, path in files.items():
                        sources.check(sources.get(name), path)
                yield released, seed, files


def _available_files(names: Sequence[str]) -> dict[str, Path]:
    return {name: path for name in names if (path := sources.find(name)) is not None}


def trained_systems(votes: Votes) -> list[System]:
    """Return the models that this project trained in the ordinary way, on as many pairs as it has.

    Runs on parts of the data, on soft labels and the like have chapters of their own.
    """
    systems = [run.predictions_on(votes) for run in _runs_trained_on(votes.dataset)]
    return [system for system in systems if system is not None]


def _runs_trained_on(dataset: Dataset) -> list[Run]:
    """Return the runs whose task includes the dataset: only they predict its items."""
    runs = of_most_items(committed_runs())
    return [run for run in runs if dataset.name in get_task(run.settings.task).datasets]


def inputs_of_systems(
    dataset: Dataset, *, trained: bool = True, submitted: bool = False
) -> tuple[Input, ...]:
    """Return the files that `load_systems` reads for the released votes on a dataset.

    Only the records of runs and of submissions are parsed to find them.
    """
    paths_found = [path for _, _, files in _released_files(dataset) for path in files.values()]
    released = [of_predictions(path) for path in paths_found]
    runs = _runs_trained_on(dataset) if trained else []
    others = inputs_of_submitted() if submitted else ()
    return merged(released, others, *(run.inputs_of(PREDICTIONS_FILE) for run in runs))


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
        system = computed(f"synthetic model, seed {seed}", votes, shares, origin="simulated")
        systems.append(replace(system, family="synthetic model", seed=seed))
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
    """Return the baselines, which need no model, as far as the votes allow them.

    ``uniform guess`` and ``base rate``; ``class prior``, ``mean vote given the old label`` and
    ``old label`` with old labels; ``original votes`` with old votes. If all items share a text,
    baselines that are fitted on other items are left out.
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
    """Return the uniform guess, and the base rate unless all items share a text."""
    return [uniform(votes), *([base_rate(votes)] if has_several_groups(votes) else [])]


def class_prior(votes: Votes) -> System:
    """Return the frequencies of old labels, for each item in the other nine of ten folds by text.

    Raises a ChaosError if all items share a text.
    """
    one_hot = np.eye(votes.dataset.n_classes)[votes.old_label]
    all_alike = np.zeros(len(votes), dtype=np.int64)
    means, _ = mean_of_other_folds(one_hot, all_alike, _folds(votes))
    return computed("class prior", votes, means)


def base_rate(votes: Votes) -> System:
    """Return how often each label is given overall: the mean vote shares of items of other texts.

    It is fitted on votes, though never on an item's own; models trained on labels have seen none.
    Items that share a text are left out together. Raises a ChaosError if all items share a text.
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
    """Return the mean vote shares of items of other folds that have the same old label.

    There are ten folds by text, or one for each text if texts are fewer. If no item of another fold
    has an item's old label, the item gets the mean vote on all items of other folds, and a note
    says how many such items there are. Raises a ChaosError if all items share a text.
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
    """Return the fold of each item; raise a ChaosError if all items share a text."""
    folds = folds_of(item_groups([votes])[0])
    if (folds == folds[:1]).all():
        raise one_text_error(votes)
    return folds


def original_votes(votes: Votes) -> System:
    """Return the few original votes' shares as a prediction; αNLI has one vote per item."""
    shares = votes.old_votes / votes.old_votes.sum(axis=1, keepdims=True)
    system = computed("original votes", votes, shares)
    return replace(system, n_answers=int(votes.old_votes.sum(axis=1).max()))


def old_label(votes: Votes) -> System:
    """Return the old label as a prediction with probability 1."""
    one_hot = np.eye(votes.dataset.n_classes)[votes.old_label]
    return computed("old label", votes, one_hot)
