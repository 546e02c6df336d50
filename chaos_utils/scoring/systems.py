"""Which systems there are: released ones, the reader's own, baselines, references."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.votes import Opinions
from chaos_utils.evaluation.runs import in_order, kind_of
from chaos_utils.scoring.predictions import Predictions, join, read_predictions
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.runs import committed_runs

Floats = npt.NDArray[np.float64]
_BAAN_FOLDER = "calibration-on-disagreement-data/predictions"
_BAAN_RUNS = {
    "snli": {"RoBERTa-base": ("roberta-base", 3), "BERT-base": ("bert-base-uncased", 2)},
    "mnli": {"RoBERTa-base": ("roberta-base", 3)},
}


def load_systems(
    opinions: Opinions, predictions: Sequence[str] = (), *, trained: bool = True
) -> list[Predictions]:
    """Return every system whose predictions on a task are at hand.

    Parameters
    ----------
    opinions : Opinions
        The task.
    predictions : sequence of str
        Files of the reader's own, in any format that `read_predictions` takes, relative
        to where the reader is. A file without an item of this task is passed over.
    trained : bool
        Whether the project's own runs are among them.

    Returns
    -------
    list of Predictions
        For the released votes, the predictions that Baan et al. (2022) released, where
        they are at hand, and those of the project's own runs; for the synthetic sample,
        simulated models; then the reader's own. None of them need cover every item.

    Raises
    ------
    ChaosError
        If a file has faults, or two systems have one name.
    """
    systems = []
    if opinions.source.synthetic:
        systems = synthetic_systems(opinions)
    elif opinions.is_released:
        systems = released_systems(opinions)
        systems += trained_systems(opinions) if trained else []
    for file in predictions:
        path = paths.from_reader(file)
        systems += read_predictions(path, [opinions], allow_missing=True, allow_others=True)
    names = [system.model for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise ChaosError(
                "Two systems have the same name.", found=name, todo="rename one of them"
            )
    return systems


def released_systems(opinions: Opinions) -> list[Predictions]:
    """Return the predictions that Baan et al. (2022) released on a task, where at hand.

    Each system's development and test parts are joined. The models were trained on SNLI, so
    MNLI is out of their distribution; 30 of its 1,599 items have no prediction.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    list of Predictions
        One a model and seed; empty for a task that none was released on.

    Raises
    ------
    ChaosError
        If a file is not the published one, or has faults.
    """
    task = opinions.task.name
    systems = []
    for title, (name, n_seeds) in _BAAN_RUNS.get(task, {}).items():
        for seed in range(n_seeds):
            files = [
                f"{_BAAN_FOLDER}/{task.upper()}_{split}_{name}_{seed}.json"
                for split in ("dev", "test")
            ]
            if all(sources.find(file) for file in files):
                parts = [
                    part
                    for file in files
                    for part in read_predictions(
                        sources.locate(file, "released"), [opinions], allow_missing=True
                    )
                ]
                systems.append(join(parts, f"{title}, seed {seed}"))
    return systems


def trained_systems(opinions: Opinions) -> list[Predictions]:
    """Return the models that this project trained in the ordinary way, on all pairs at hand.

    Runs on parts of the data, on soft labels and the like stand in chapters of their own.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    list of Predictions
        One a run that predicts items of the task.

    Raises
    ------
    ChaosError
        If a run's files are not those of its record.
    """
    runs = [run for run in in_order(committed_runs()) if kind_of(run) == "plain"]
    found = [run.predictions_on(opinions) for run in runs]
    return [system for system in found if system is not None]


def synthetic_systems(opinions: Opinions) -> list[Predictions]:
    """Return three simulated models for the synthetic sample: noisy, and too sure.

    Each sharpens the human distribution and blurs it with seeded noise, so that it errs
    in the way that fine-tuned models do.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    list of Predictions
        The same at every call.
    """
    systems = []
    for seed in range(3):
        rng = np.random.default_rng([2022, seed])
        noise = rng.normal(scale=1.2, size=opinions.shares.shape)
        powers = np.exp(1.6 * np.log(opinions.shares + 0.02) + noise)
        shares = powers / powers.sum(axis=1, keepdims=True)
        systems.append(computed(f"synthetic model, seed {seed}", opinions, shares))
    return systems


def computed(model: str, opinions: Opinions, probabilities: npt.ArrayLike) -> Predictions:
    """Return predictions for all items of a task that were computed here.

    Parameters
    ----------
    model : str
        Name of the system.
    opinions : Opinions
    probabilities : array of shape (n_items, n_classes)
        Rows sum to 1; items in the order of the opinions.

    Returns
    -------
    Predictions
        Labels are first argmaxes.
    """
    values = np.array(probabilities, dtype=np.float64)
    predicted = values.argmax(axis=1)
    return Predictions(model, opinions.task, opinions.uids, values, predicted)


def oracle(opinions: Opinions) -> Predictions:
    """Return the human distribution as a prediction: what a perfect model would say.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    Predictions
    """
    return computed("oracle", opinions, opinions.shares)


def uniform(opinions: Opinions) -> Predictions:
    """Return the uniform guess: chance, for JSD and KL, in Nie et al. (2020).

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    Predictions
    """
    k = opinions.task.n_classes
    return computed("uniform", opinions, np.full((len(opinions), k), 1 / k))


def class_prior(opinions: Opinions, seed: int = 0, n_folds: int = 10) -> Predictions:
    """Return the frequencies of the old labels, each item's from the other folds' items.

    Parameters
    ----------
    opinions : Opinions
    seed : int
        Of the folds.
    n_folds : int
        At least 1; with a single fold, the result is uniform.

    Returns
    -------
    Predictions
    """
    folds = np.random.default_rng(seed).permutation(len(opinions)) % n_folds
    shares = np.empty_like(opinions.shares)
    for fold in range(n_folds):
        counts = np.bincount(opinions.old_label[folds != fold], minlength=shares.shape[1])
        # A dataset of one fold has no other items to learn from.
        shares[folds == fold] = counts / counts.sum() if counts.any() else 1 / len(counts)
    return computed("class prior", opinions, shares)


def original_votes(opinions: Opinions) -> Predictions:
    """Return the few original votes' shares as a prediction; αNLI has one vote an item.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    Predictions
    """
    shares = opinions.old_votes / opinions.old_votes.sum(axis=1, keepdims=True)
    return computed("original votes", opinions, shares)


def old_label(opinions: Opinions) -> Predictions:
    """Return the old label, certain of itself.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    Predictions
        One-hot.
    """
    one_hot = np.eye(opinions.task.n_classes)[opinions.old_label]
    return computed("old label", opinions, one_hot)


def at_temperature(system: Predictions, temperature: float, suffix: str = "") -> Predictions:
    """Return a system with its distributions sharpened (T < 1) or flattened (T > 1).

    Parameters
    ----------
    system : Predictions
    temperature : float
        Above 0.
    suffix : str
        Is added to the system's name.

    Returns
    -------
    Predictions
        With the same labels.
    """
    shares = temper(system.probabilities, temperature)
    return replace(system, model=system.model + suffix, probabilities=shares)
