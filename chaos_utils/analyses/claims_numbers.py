"""What decides claims of the papers and no chapter computes: mostly numbers with a p-value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import spearmanr
from scipy.stats import t as student

from chaos_utils.analyses.agreement import LEVEL, entropy_bins
from chaos_utils.analyses.baan import FIXED_TEMPERATURE, digits_of, in_paper
from chaos_utils.analyses.conventions import UNITS
from chaos_utils.analyses.error_distributions import (
    N_BINS,
    N_VOTES,
    draw_released_samples,
)
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import scores
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance, total_variation
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.resampling import (
    bootstrap_tables,
    holm,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.scoring.published import TABLE_5, published_models
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
KEYS = ("dataset", "quantity", "case")
_COLUMNS = [*KEYS, "value", "low", "high", "p"]
NOTICEABLE = 0.05  # share of items
_CONTESTED = 0.6  # of the votes at most on the most frequent label
HALF = 0.5  # of the errors that all systems make
MUCH_WORSE = 2  # times the DistCE of twenty people
_N_PARTS = 5  # of the entropy's range, and entropy bins
_FEWEST_ERRORS = 10  # items; fewer have no share worth resampling


class Estimate(NamedTuple):
    """A number, the ends of its 95% interval, and a p-value; NaN where there are none.

    The p-value, two-sided, is that of the number being what it is to lie above, 0 by default; the
    interval is its inversion.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan


Cases = Mapping[str, Estimate]


@dataclass(frozen=True, eq=False)
class Given:
    """What the quantities of one dataset are computed from."""

    votes: Votes
    systems: Sequence[System]
    n_resamples: int
    seed: int

    def mean(
        self,
        columns: npt.ArrayLike,
        reduce: Callable[[Floats], Floats] | None = None,
        *,
        above: float = 0,
    ) -> Estimate:
        """Return a statistic of means over items; without one, the mean of the only column.

        `above` is what it is to lie above.
        """
        table = np.asarray(columns, dtype=np.float64)
        table = table.reshape(len(table), -1)
        statistic = reduce or (lambda means: means[..., 0])
        items = np.arange(len(table))
        rng = np.random.default_rng([self.seed, 0])  # as `score` resamples
        (means,) = bootstrap_tables([(items, table)], items, self.n_resamples, rng)
        drawn = statistic(means)
        low, high = percentile_interval(drawn)
        p = paired_p_value(drawn - above)
        return Estimate(float(statistic(table.mean(axis=0))), float(low), float(high), float(p))

    def gain(self, measure: str, first: Judged, second: Judged) -> Estimate:
        """Return what a measure of one prediction is above that of another of the same items."""
        found = MEASURES[measure]
        columns = np.concatenate([found.columns(first), found.columns(second)], axis=1)

        def difference(means: Floats) -> Floats:
            one, other = np.split(means, 2, axis=-1)
            return found.reduce(one) - found.reduce(other)

        return self.mean(columns, difference)

    @cached_property
    def judged(self) -> dict[str, Judged]:
        """Every system beside the votes, by name."""
        return {one.name: one.aligned_to(self.votes) for one in self.systems}

    @cached_property
    def people(self) -> tuple[Judged, Judged] | None:
        """Twenty votes of each item, H1, beside all its votes and beside those of neither sample.

        As the released notebook draws them.
        """
        if self.votes.n_votes.min() <= 2 * N_VOTES:
            return None
        (h1, _), judges = draw_released_samples(self.votes, self.systems)
        return h1.aligned_to(judges["all"]), h1.aligned_to(judges["outside_both"])

    def in_bins(self, human: Floats) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which items are in the first and in the last of five entropy bins, if any."""
        if len(human) < _N_PARTS:
            none = np.zeros(len(human), dtype=bool)
            return none, none
        bins = entropy_bins(entropy(human, unit="bits"), _N_PARTS).of_item
        return bins == 0, bins == bins.max()


Quantity = Callable[[Given], Cases]
OF_VOTES: dict[str, Quantity] = {}
OF_SYSTEMS: dict[str, Quantity] = {}


def _at(judged: Judged, temperature: float = FIXED_TEMPERATURE) -> Judged:
    same = temperature == 1
    return judged if same else replace(judged, model=temper(judged.model, temperature))


def _tabled(found: Mapping[str, Quantity], given: Given) -> pd.DataFrame:
    rows = [
        (given.votes.dataset.name, quantity, case, *estimate)
        for quantity, cases in found.items()
        for case, estimate in cases(given).items()
    ]
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(_COLUMNS[3:], float))


@recorded(keys=KEYS, published=("nie2020_table5",))
def vote_numbers(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Compute the quantities of the votes alone, `OF_VOTES`.

    ``case`` says which of several, empty for the only one; ``low``, ``high`` and ``p`` are as in
    `Estimate`, from resampled items. What the votes lack something for has no row.
    """
    return _tabled(OF_VOTES, Given(votes, (), n_resamples, seed))


@recorded(keys=KEYS)
def system_numbers(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compute the quantities of systems beside votes, `OF_SYSTEMS`, as `vote_numbers` does.

    Of released systems, those of the papers alone: their claims are about no others.
    """
    chosen = [one for one in systems if one.paper or one.origin != "released"]
    return _tabled(OF_SYSTEMS, Given(votes, chosen, n_resamples, seed))


def _among(found: dict[str, Quantity], compute: Quantity) -> Quantity:
    found[compute.__name__] = compute
    return compute


_of_votes, _of_systems = partial(_among, OF_VOTES), partial(_among, OF_SYSTEMS)


# Votes


@_of_votes
def mean_entropy(given: Given) -> Cases:
    """Mean entropy of the votes, in bits."""
    return {"": given.mean(entropy(given.votes.shares, unit="bits"))}


@_of_votes
def shape(given: Given) -> Cases:
    """Whether the shares of items in five equal parts of the entropy's range have a peak, or a dip.

    ``peak``: the smallest of the steps up before an inner part and the steps down after it, for the
    inner part where this is largest. Above 0, shares rise to one peak inside and fall from there;
    shares that only rise, or only fall, are below. ``valley``: the same upside down.
    """
    bits = entropy(given.votes.shares, unit="bits").round(10)
    part = np.floor(_N_PARTS * bits / np.log2(given.votes.dataset.n_classes))
    columns = part.clip(0, _N_PARTS - 1)[:, np.newaxis] == np.arange(_N_PARTS)
    return {name: given.mean(columns, partial(_peak, sign=s)) for name, s in _SHAPES.items()}


_SHAPES = {"peak": 1, "valley": -1}


def _peak(shares: Floats, sign: int) -> Floats:
    steps = sign * np.diff(shares, axis=-1)
    turned = [
        np.concatenate([steps[..., :k], -steps[..., k:]], axis=-1).min(axis=-1)
        for k in range(1, _N_PARTS - 1)
    ]
    found: Floats = np.max(turned, axis=0).round(12)
    return found


@_of_votes
def contested(given: Given) -> Cases:
    """Share of items on which at most 60% agree."""
    few = majority_share(given.votes.counts) <= _CONTESTED
    return {"": given.mean(few, above=NOTICEABLE)}


@_of_votes
def chance(given: Given) -> Cases:
    """Chance's JSD, KL and accuracies, which are the shares of the most frequent labels."""
    votes = given.votes
    if not votes.has_old_labels:
        return {}
    even = np.full_like(votes.shares, 1 / votes.dataset.n_classes)
    by_item = {
        "jsd": jensen_shannon_distance(votes.shares, even, unit="nats"),
        "kl": np.log(votes.dataset.n_classes) - entropy(votes.shares, unit="nats"),
        "old_accuracy": votes.old_label == np.bincount(votes.old_label).argmax(),
        "new_accuracy": votes.majority == np.bincount(votes.majority).argmax(),
    }
    return {name: Estimate(float(np.mean(by_item[name]))) for name in TABLE_5}


@_of_votes
def chance_gap(given: Given) -> Cases:
    """The same, rounded as the paper's are, minus those printed."""
    printed = _table_5("chance")
    if given.votes.dataset.name not in printed.index:
        return {}
    theirs = printed.loc[given.votes.dataset.name]
    return {
        name: Estimate(round(one.value, digits_of(theirs[name])) - float(theirs[name]))
        for name, one in chance(given).items()
    }


@_of_votes
def guess_in_last_bin(given: Given) -> Cases:
    """Share of the most frequent majority label in the last of five entropy bins."""
    _, last = given.in_bins(given.votes.shares)
    gold = given.votes.majority[last]
    return {"": Estimate(float(np.bincount(gold).max() / len(gold)))} if len(gold) else {}


@_of_votes
def oracle_gap(given: Given) -> Cases:
    """How far the ECE of the votes' own shares is from 1 − their mean majority share."""
    own = oracle(given.votes).aligned_to(given.votes)
    gap = _value("ece", own) - 1 + given.votes.shares.max(axis=1).mean()
    return {"": Estimate(abs(round(float(gap), 12)))}


@_of_votes
def majority_advantage(given: Given) -> Cases:
    """Expected score against single votes: of the majority alone, minus of the votes' own shares.

    Expected total variation of m to one vote drawn from h is 1 − Σ h m. The case ``tvd_all`` is by
    total variation from all votes together, which is 0 for their shares.
    """
    human = given.votes.shares
    majority = np.eye(human.shape[1])[human.argmax(axis=1)]
    brier = [scores.brier_of_votes(human, one) for one in (majority, human)]
    return {
        "tvd": given.mean((human * human).sum(axis=1) - human.max(axis=1)),
        "tvd_all": given.mean(1 - human.max(axis=1)),
        "brier": given.mean(brier[0] - brier[1]),
    }


# Systems


def _value(measure: str, judged: Judged) -> float:
    return MEASURES[measure].value(judged)


@_of_systems
def oracle_excess(given: Given) -> Cases:
    """The oracle's ECE minus a system's, on the items of the system."""
    return {
        name: Estimate(_value("ece", replace(one, model=one.human)) - _value("ece", one))
        for name, one in given.judged.items()
    }


def _scaling_gain(given: Given, measure: str) -> Cases:
    def gain(one: Judged) -> Estimate:
        if MEASURES[measure].has_interval:
            return given.gain(measure, one, _at(one))
        return Estimate(_value(measure, one) - _value(measure, _at(one)))

    return {name: gain(one) for name, one in given.judged.items()}


# A measure at T = 1 minus the same at T = 2.
OF_SYSTEMS |= {
    f"scaling_gain_{measure}": partial(_scaling_gain, measure=measure)
    for measure in ("ece", "sq_ce", "dist_ce", "ent_ce")
}


@_of_systems
def rank_range(given: Given) -> Cases:
    """Largest difference of RankCS between temperatures from 0.5 to 4."""
    measure, at = MEASURES["rank_cs"], (0.5, 1.0, FIXED_TEMPERATURE, 4.0)
    values = {n: [measure.value(_at(one, t)) for t in at] for n, one in given.judged.items()}
    return {name: Estimate(round(float(np.ptp(found)), 12)) for name, found in values.items()}


@_of_systems
def ratio_to_people(given: Given) -> Cases:
    """A system's DistCE over that of twenty people, both to the votes outside their samples.

    Each system as it is and at T = 2.
    """
    if given.people is None:
        return {}
    _, h1 = given.people
    of_people = total_variation(h1.human, h1.model)
    found: dict[str, Estimate] = {}
    for system in given.systems:
        rows = system.rows_in(given.votes)
        for name, t in (
            (system.name, 1.0),
            (f"{system.name} at T = {FIXED_TEMPERATURE:g}", FIXED_TEMPERATURE),
        ):
            errors = total_variation(h1.human[rows], _at(given.judged[system.name], t).model)
            columns = np.column_stack([errors, of_people[rows]])
            found[name] = given.mean(columns, lambda m: m[..., 0] / m[..., 1], above=MUCH_WORSE)
    return found


@_of_systems
def histogram_kl_gain(given: Given) -> Cases:
    """KL of H1's histogram of errors from the unscaled model's, minus that from the scaled one's.

    Of the first of the paper's models; errors are to all votes.
    """
    models = in_paper(given.systems)
    if given.people is None or not models:
        return {}
    h1, _ = given.people
    rows, first = models[0].rows_in(given.votes), given.judged[models[0].name]
    edges = np.linspace(0, 1, N_BINS + 1)
    blocks = []
    for errors in (
        total_variation(h1.human, h1.model)[rows],
        total_variation(first.human, first.model),
        total_variation(first.human, _at(first).model),
    ):
        blocks.append(np.digitize(errors, edges[1:-1])[:, np.newaxis] == np.arange(N_BINS))

    def gain(means: Floats) -> Floats:
        people, raw, scaled = np.split(means, 3, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = people * np.log(scaled / raw)
            return np.where(people > 0, terms, 0).sum(axis=-1)  # not defined where both lack a bin

    return {"": given.mean(np.concatenate(blocks, axis=1), gain)}


@_of_systems
def accuracy_lost(given: Given) -> Cases:
    """Accuracy in the first of five entropy bins minus that in the last, of untested systems.

    Those of Nie et al. (2020) are among the paper's own numbers.
    """
    found: dict[str, Estimate] = {}
    untested = {one.name for one in given.systems if one.paper != "nie2020"}
    for name, one in given.judged.items():
        if name not in untested:
            continue
        first, last = given.in_bins(one.human)
        if first.any():
            correct = (one.predicted == one.majority).astype(np.float64)
            columns = np.column_stack([correct * first, first, correct * last, last])
            found[name] = given.mean(
                columns, lambda m: m[..., 0] / m[..., 1] - m[..., 2] / m[..., 3]
            )
    return found


@_of_systems
def shared_errors(given: Given) -> Cases:
    """Of the items that all systems get wrong, the share with more than the median entropy.

    Then how many items and systems these are. Where the systems' items differ, those that Baan et
    al. (2022) tabulate are taken.
    """
    judged = list(given.judged.values())
    if any(len(one.human) != len(judged[0].human) for one in judged):
        judged = [given.judged[one.name] for one in in_paper(given.systems)]
    if not judged:
        return {}
    bits = entropy(judged[0].human, unit="bits").round(10)
    wrong = np.all([one.predicted != one.majority for one in judged], axis=0)
    found = {"items": Estimate(int(wrong.sum())), "systems": Estimate(len(judged))}
    if wrong.sum() >= _FEWEST_ERRORS:
        columns = np.column_stack([wrong & (bits > np.median(bits)), wrong])
        found[""] = given.mean(columns, lambda m: m[..., 0] / m[..., 1], above=HALF)
    return found


# The papers' tables


def _table_5(model: str) -> pd.DataFrame:
    """Return a row of Table 5 by dataset."""
    return read_published("nie2020_table5").query("model == @model").set_index("dataset")


@derived(keys=("dataset", "model"), published=("nie2020_entropy_bins",))
def bin_changes() -> pd.DataFrame:
    """Return how far each model's accuracy falls, and its JSD rises, over the five entropy bins.

    ``…_by_step`` is the smallest of the steps from one bin to the next.
    """
    bins = read_published("nie2020_entropy_bins").sort_values(["dataset", "model", "bin"])
    by_model = bins.groupby(["dataset", "model"])
    found = {}
    for name, column, sign in (("accuracy_fall", "new_accuracy", -1), ("jsd_rise", "jsd", 1)):
        steps = sign * by_model[column].diff()
        found[name] = sign * (by_model[column].last() - by_model[column].first())
        found[f"{name}_by_step"] = steps.groupby([bins["dataset"], bins["model"]]).min()
    return pd.DataFrame(found).reset_index()


@derived(keys=("dataset", "items"))
def least_ece(by_temperature: pd.DataFrame) -> pd.DataFrame:
    """Return the temperature of the lowest mean ECE over systems, for each kind of items."""
    keys = ["dataset", "items"]
    if not len(by_temperature):
        return pd.DataFrame(columns=keys)
    means = by_temperature.groupby([*keys, "temperature"])["ece"].mean().reset_index()
    means["ece"] = means["ece"].round(10)
    return means.loc[means.groupby(keys, sort=False)["ece"].idxmin()]


@derived(keys=("quantity", "case"), published=("nie2020_table5",))
def limits() -> pd.DataFrame:
    """Return the largest JSD by unit, and the ρ that counts, of one correlation and of all."""
    apart = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    n = int(published_models().groupby("dataset").size().max())
    levels = {"one": LEVEL, "all": LEVEL / len(correlations())}
    rows = [
        *(("largest_jsd", u, jensen_shannon_distance(*apart, unit=u)[0]) for u in UNITS),
        *(("rho_needed", case, rho_needed(n, level)) for case, level in levels.items()),
    ]
    return pd.DataFrame(rows, columns=["quantity", "case", "value"])


@derived(keys=("dataset", "measure"), published=("nie2020_table5",))
def correlations() -> pd.DataFrame:
    """Return Spearman's correlation of new accuracy with JSD and KL over the published models.

    ``low`` and ``high`` (95%) are by Fisher's transformation with the variance of Fieller et al.
    (1957), ``p`` is that of t, adjusted for all of them by Holm.
    """
    rows = []
    for dataset, group in published_models().groupby("dataset"):
        for measure in ("jsd", "kl"):
            rho, p = spearmanr(group["new_accuracy"], group[measure])
            reach = 1.96 * np.sqrt(1.06 / (len(group) - 3))
            low, high = np.tanh(np.arctanh(rho) + np.array([-reach, reach]))
            rows.append((dataset, measure, rho, low, high, p))
    found = pd.DataFrame(rows, columns=["dataset", "measure", "value", "low", "high", "p"])
    return found.assign(p=holm(found["p"].to_numpy()))


def rho_needed(n: int, level: float) -> float:
    """Return how large a rank correlation over n models must be to have p below a level (t)."""
    t = float(student.isf(level / 2, n - 2))
    return float(t / np.sqrt(t * t + n - 2))
