"""Numbers that decide claims of the papers and that no chapter computes, mostly with p-values."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import FIXED_TEMPERATURE, PAPER, paper_systems
from chaos_utils.analyses.conventions import UNITS
from chaos_utils.analyses.error_distributions import N_BINS, N_VOTES, draw_released_samples
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.metrics.divergence import Floats, entropy, jensen_shannon_distance, total_variation
from chaos_utils.metrics.measures import MEASURES, take_items
from chaos_utils.metrics.resampling import bootstrap_means, paired_p_value, percentile_interval
from chaos_utils.metrics.scores import brier_of_votes
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.scoring.scores import available, score
from chaos_utils.scoring.system import System, shared_rows
from chaos_utils.scoring.systems import oracle

Estimate = Mapping[str, float]  # a value, with its interval and p-value where it has any
KEYS = ("dataset", "quantity", "case")
_NUMBERS = ("value", "low", "high", "p")
NOTICEABLE = 0.05  # share of items
_CONTESTED = 0.6  # of the votes at most on the most frequent label
HALF = 0.5  # of the errors that all systems make
MUCH_WORSE = 2  # times the DistCE of twenty people
_N_PARTS = 5  # of the entropy's range
_FEWEST_ERRORS = 10  # items; fewer have no share worth resampling
_GAINS = ("ece", "sq_ce", "rank_cs", "ent_ce", "dist_ce")


def _first(means: Floats) -> Floats:
    return means[..., 0]


def _ratio(means: Floats) -> Floats:
    return means[..., 0] / means[..., 1]


def _estimate(
    columns: npt.ArrayLike,
    statistic: Callable[[Floats], Floats] = _first,
    *,
    above: float = 0,
    n_resamples: int,
    seed: int,
) -> Estimate:
    """Return a statistic of the columns' means over items, by default the mean of the first column.

    The two-sided p-value is that of the statistic being equal to `above`; the interval is of 95%.
    """
    table = np.asarray(columns, dtype=np.float64)
    table = table.reshape(len(table), -1)
    rng = np.random.default_rng([seed, 0])  # as `score` resamples
    draws = statistic(bootstrap_means(table, n_resamples, rng))
    low, high = percentile_interval(draws)
    value, p = statistic(table.mean(axis=0)), paired_p_value(draws - above)
    return {
        name: float(number) for name, number in zip(_NUMBERS, (value, low, high, p), strict=True)
    }


def _as_table(estimates: Mapping[tuple[str, str], Estimate]) -> pd.DataFrame:
    rows = [
        {"quantity": quantity, "case": case, **estimate}
        for (quantity, case), estimate in estimates.items()
    ]
    columns = [*KEYS[1:], *_NUMBERS]
    return pd.DataFrame(rows).reindex(columns=columns).astype(dict.fromkeys(_NUMBERS, float))


@cached_analysis(keys=KEYS)
def vote_numbers(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Compute what claims about the votes alone need.

    * ``shape``: whether the shares of items in five equal parts of the entropy's range have a
      ``peak`` or a ``valley``, see `_peak`;
    * ``contested``: the share of items on which at most 60% agree;
    * ``oracle_gap``: how far the ECE of the vote shares is from 1 − their mean majority share;
    * ``majority_advantage``: the expected score against single votes of a system that predicts the
      majority label alone, minus the score of the vote shares: by the Brier score (``brier``), and
      by total variation (``tvd``), whose expectation against a vote drawn from h is 1 − Σ h m for
      a model m. ``tvd_all`` is by total variation from all votes together, which is 0 for their
      shares.
    """
    estimate = partial(_estimate, n_resamples=n_resamples, seed=seed)
    vote_shares = votes.shares
    entropies = entropy(vote_shares, unit="bits").round(10)
    part = np.floor(_N_PARTS * entropies / np.log2(votes.dataset.n_classes)).clip(0, _N_PARTS - 1)
    is_in_part = part[:, np.newaxis] == np.arange(_N_PARTS)
    largest, majority = (
        vote_shares.max(axis=1),
        np.eye(vote_shares.shape[1])[vote_shares.argmax(axis=1)],
    )
    oracle_ece = MEASURES["ece"].value(oracle(votes).aligned_to(votes))
    brier = brier_of_votes(vote_shares, majority) - brier_of_votes(vote_shares, vote_shares)
    estimates = {
        ("shape", "peak"): estimate(is_in_part, _peak),
        ("shape", "valley"): estimate(is_in_part, lambda shares: _peak(-shares)),
        ("contested", ""): estimate(majority_share(votes.counts) <= _CONTESTED, above=NOTICEABLE),
        ("oracle_gap", ""): {"value": abs(round(float(oracle_ece - 1 + largest.mean()), 12))},
        ("majority_advantage", "tvd"): estimate((vote_shares * vote_shares).sum(axis=1) - largest),
        ("majority_advantage", "tvd_all"): estimate(1 - largest),
        ("majority_advantage", "brier"): estimate(brier),
    }
    return _as_table(estimates)


def _peak(shares: Floats) -> Floats:
    """Return how clearly shares rise to one inner peak, and fall from there.

    For each inner part as peak, take the smallest of the steps up before it and the steps down
    after it; return the largest of these. It is above 0 if there is such a peak, and below 0 for
    shares that only rise, or only fall.
    """
    steps = np.diff(shares, axis=-1)
    smallest_steps = [
        np.concatenate([steps[..., :k], -steps[..., k:]], axis=-1).min(axis=-1)
        for k in range(1, _N_PARTS - 1)
    ]
    peaks: Floats = np.max(smallest_steps, axis=0).round(12)
    return peaks


def _scale(system: System) -> System:
    """Return the system at T = 2, under a name of its own."""
    return system.at_temperature(FIXED_TEMPERATURE, f"{system.name} at T = {FIXED_TEMPERATURE:g}")


def _systems_of(paper: str, systems: Sequence[System]) -> list[System]:
    """Leave out the released systems of other papers, which a paper's claims are not about."""
    return [system for system in systems if system.paper == paper or system.origin != "released"]


@cached_analysis(keys=("dataset", "system", "reference", "measure"))
def gains(votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Return differences in score, for each system of Baan et al. (2022).

    The system minus the same at T = 2, and the oracle minus the system. Systems that were not
    released are included: those of a reader, and simulated ones.
    """
    columns = ["dataset", "system", "origin", "reference", "measure", *_NUMBERS]
    plain = _systems_of(PAPER, systems)
    if not plain:
        return pd.DataFrame(columns=columns)
    scaled, perfect = [_scale(system) for system in plain], oracle(votes)
    pairs = [
        (system.name, scaled_system.name)
        for system, scaled_system in zip(plain, scaled, strict=True)
    ]
    pairs += [(perfect.name, system.name) for system in plain]
    table = score(
        votes, [*plain, *scaled, perfect], measures=available(votes, _GAINS), comparisons=pairs,
        n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    return table.loc[table["reference"] != "", columns]


@cached_analysis(keys=KEYS)
def system_numbers(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compute what claims about the errors of systems, and of twenty people, need.

    * ``ratio_to_people``: a system's DistCE over that of twenty people, both from the votes outside
      the people's samples; for each system as it is and at T = 2;
    * ``histogram_kl_gain``: the KL from the people's histogram of errors against all votes to the
      histogram of the first of the paper's models, minus the same with the model at T = 2;
    * ``shared_errors``: of the items that all systems get wrong, the share with more than the
      median entropy; in the cases ``items`` and ``systems``, the number of these.

    The first two are for the systems of Baan et al. (2022), the last for those of Nie et al.
    (2020), each with the systems that were not released.
    """
    estimate = partial(_estimate, n_resamples=n_resamples, seed=seed)
    estimates = _shared_errors(votes, _systems_of("nie2020", systems), estimate)
    models = _systems_of(PAPER, systems)
    if not models or votes.n_votes.min() <= 2 * N_VOTES:
        return _as_table(estimates)
    (h1, _), judges = draw_released_samples(votes, models)
    people_batch = h1.aligned_to(judges["outside_both"])
    people_errors = total_variation(people_batch.human, people_batch.model)
    for system in (variant for base in models for variant in (base, _scale(base))):
        rows = system.rows_in(votes)
        errors = total_variation(people_batch.human[rows], system.aligned_to(votes).model)
        columns = np.column_stack([errors, people_errors[rows]])
        estimates["ratio_to_people", system.name] = estimate(columns, _ratio, above=MUCH_WORSE)
    if paper_models := paper_systems(models):
        model = paper_models[0]
        batches = [system.aligned_to(votes) for system in (h1, model, _scale(model))]
        distances = [total_variation(batch.human, batch.model) for batch in batches]
        distances[0] = distances[0][model.rows_in(votes)]
        edges = np.linspace(0, 1, N_BINS + 1)[1:-1]
        bins = [np.digitize(values, edges)[:, np.newaxis] for values in distances]
        in_bin = np.concatenate([bin_index == np.arange(N_BINS) for bin_index in bins], axis=1)
        estimates["histogram_kl_gain", ""] = estimate(in_bin, _histogram_gain)
    return _as_table(estimates)


def _histogram_gain(means: Floats) -> Floats:
    """Return KL(people ‖ raw) − KL(people ‖ scaled) of three histograms, one after the other."""
    people, raw, scaled = np.split(means, 3, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = people * np.log(scaled / raw)
        return np.where(people > 0, terms, 0).sum(axis=-1)  # NaN if both are empty


def _shared_errors(
    votes: Votes, systems: Sequence[System], estimate: Callable[..., Estimate]
) -> dict[tuple[str, str], Estimate]:
    """Return ``shared_errors`` of `system_numbers`, on the items that all systems cover."""
    if not systems:
        return {}
    rows = shared_rows(votes, systems)
    batches = [
        take_items(system.aligned_to(votes), np.isin(system.rows_in(votes), rows))
        for system in systems
    ]
    entropies = entropy(votes.shares[rows], unit="bits").round(10)
    all_wrong = np.all([batch.predicted != batch.majority for batch in batches], axis=0)
    numbers = {"items": int(all_wrong.sum()), "systems": len(batches)}
    estimates: dict[tuple[str, str], Estimate] = {
        ("shared_errors", case): {"value": n} for case, n in numbers.items()
    }
    if all_wrong.sum() >= _FEWEST_ERRORS:
        columns = np.column_stack([all_wrong & (entropies > np.median(entropies)), all_wrong])
        estimates["shared_errors", ""] = estimate(columns, _ratio, above=HALF)
    return estimates


@derived_table(keys=("dataset", "model"), published=("nie2020_entropy_bins",))
def bin_changes() -> pd.DataFrame:
    """Return how far each model's accuracy falls, and its JSD rises, over the five entropy bins.

    Columns that end with ``_by_step`` have the smallest of the steps from one bin to the next.
    """
    bins = read_published("nie2020_entropy_bins").sort_values(["dataset", "model", "bin"])
    by_model = bins.groupby(["dataset", "model"])
    changes = {}
    for name, column, sign in (("accuracy_fall", "new_accuracy", -1), ("jsd_rise", "jsd", 1)):
        steps = sign * by_model[column].diff()
        changes[name] = sign * (by_model[column].last() - by_model[column].first())
        changes[f"{name}_by_step"] = steps.groupby([bins["dataset"], bins["model"]]).min()
    return pd.DataFrame(changes).reset_index()


@derived_table(keys=("dataset", "items"))
def least_ece(by_temperature: pd.DataFrame) -> pd.DataFrame:
    """Return the temperature of the lowest mean ECE over systems, for each kind of items."""
    keys = ["dataset", "items"]
    if not len(by_temperature):
        return pd.DataFrame(columns=keys)
    means = by_temperature.groupby([*keys, "temperature"])["ece"].mean().reset_index()
    means["ece"] = means["ece"].round(10)
    return means.loc[means.groupby(keys, sort=False)["ece"].idxmin()]


@derived_table(keys=("unit",))
def largest_jsd() -> pd.DataFrame:
    """Return the largest possible JSD by the unit of its logarithms."""
    disjoint = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    rows = [(unit, jensen_shannon_distance(*disjoint, unit=unit)[0]) for unit in UNITS]
    return pd.DataFrame(rows, columns=["unit", "value"])
