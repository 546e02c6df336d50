"""The numbers that decide the papers' claims: what `claims.yml` calls quantities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import spearmanr

from chaos_utils.analyses import results
from chaos_utils.analyses.agreement import entropy_bins
from chaos_utils.analyses.baan import in_paper, paper_systems
from chaos_utils.analyses.error_distributions import (
    N_VOTES,
    compare_histograms,
    draw_samples,
    share_below,
)
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import calibration, scores
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance, total_variation
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES, Judged
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval
from chaos_utils.scoring.published import TABLE_5, published_models
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
KEYS = ("dataset", "quantity", "case")
_COLUMNS = [*KEYS, "value", "low", "high"]
TEMPERATURE = 2.0  # the one of Baan et al. (2022)
_TENTHS = np.arange(10, 31) / 10  # temperatures among which the one of least ECE is looked for
_CONTESTED = 0.6  # of the votes at most on the most frequent label
_N_BINS = 5  # of entropy
_FEWEST_ERRORS = 10  # items; fewer have no share worth resampling


class Estimate(NamedTuple):
    """A number and the ends of its 95% interval, NaN where there is none."""

    value: float
    low: float = np.nan
    high: float = np.nan


Cases = Mapping[str, Estimate]


@dataclass(frozen=True, eq=False)
class Given:
    """What the quantities of one dataset are computed from."""

    votes: Votes
    systems: Sequence[System]
    n_resamples: int
    n_splits: int
    seed: int

    def mean(
        self, columns: npt.ArrayLike, reduce: Callable[[Floats], Floats] | None = None
    ) -> Estimate:
        """Return a statistic of means over items; without one, the mean of the only column."""
        table = np.asarray(columns, dtype=np.float64)
        table = table.reshape(len(table), -1)
        statistic = reduce or (lambda means: means[..., 0])
        items = np.arange(len(table))
        rng = np.random.default_rng([self.seed, 0])  # as `score` resamples
        (means,) = bootstrap_tables([(items, table)], items, self.n_resamples, rng)
        low, high = percentile_interval(statistic(means))
        return Estimate(float(statistic(table.mean(axis=0))), float(low), float(high))

    def score(
        self, measure: str, judged: Sequence[Judged], weights: npt.ArrayLike | None = None
    ) -> Estimate:
        """Return the mean, or another weighted sum, of a measure over predictions of one cover."""
        found = MEASURES[measure]
        blocks = [found.columns(one) for one in judged]
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        weigh = np.full(len(judged), 1 / len(judged)) if weights is None else np.asarray(weights)
        return self.mean(
            np.concatenate(blocks, axis=1),
            lambda means: sum(
                weight * found.reduce(part)
                for weight, part in zip(weigh, np.split(means, ends, axis=-1), strict=True)
            ),
        )

    @cached_property
    def judged(self) -> dict[str, Judged]:
        """Every system beside the votes, by name."""
        return {one.name: one.aligned_to(self.votes) for one in self.systems}

    @cached_property
    def oracle(self) -> Judged:
        """The votes' own shares as a prediction."""
        return oracle(self.votes).aligned_to(self.votes)

    @cached_property
    def tabulated(self) -> dict[str, dict[int, Judged]]:
        """What Baan et al. (2022) tabulate, by their name for it and by seed."""
        found: dict[str, dict[int, Judged]] = {}
        for name, row in paper_systems().iterrows():
            if row["dataset"] == self.votes.dataset.name and row["origin"] != "reference":
                scaled = partial(_at, temperature=float(row["temperature"]))
                systems = in_paper(self.systems)
                found[str(name)] = {s.seed or 0: scaled(self.judged[s.name]) for s in systems}
        return {name: seeds for name, seeds in found.items() if seeds}

    @property
    def first_seeds(self) -> dict[str, Judged]:
        """The first seed of what is `tabulated`, by name."""
        return {name: next(iter(seeds.values())) for name, seeds in self.tabulated.items()}

    @cached_property
    def crowd_errors(self) -> Floats | None:
        """DistCE of H1 and H2 by split and item, shape (2, n_splits, n_items)."""
        if self.votes.n_votes.min() <= 2 * N_VOTES:
            return None
        human, seeds = self.votes.shares, range(self.seed, self.seed + self.n_splits)
        draws = [draw_samples(self.votes, seed)[0] for seed in seeds]
        errors = [[total_variation(human, one.probabilities) for one in pair] for pair in draws]
        return np.array(errors).transpose(1, 0, 2)

    def in_bins(self, human: Floats) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which items are in the first and in the last of five entropy bins, if any."""
        if len(human) < _N_BINS:
            none = np.zeros(len(human), dtype=bool)
            return none, none
        bins = entropy_bins(entropy(human, unit="bits"), _N_BINS).of_item
        return bins == 0, bins == bins.max()


Quantity = Callable[[Given], Cases]
OF_VOTES: dict[str, Quantity] = {}
OF_SYSTEMS: dict[str, Quantity] = {}


def _at(judged: Judged, temperature: float = TEMPERATURE) -> Judged:
    same = temperature == 1
    return judged if same else replace(judged, model=temper(judged.model, temperature))


def _tabled(found: Mapping[str, Quantity], given: Given) -> pd.DataFrame:
    rows = [
        (given.votes.dataset.name, quantity, case, *estimate)
        for quantity, cases in found.items()
        for case, estimate in cases(given).items()
    ]
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(_COLUMNS[3:], float))


@recorded(
    keys=KEYS, published=("nie2020_table2", "nie2020_table5", "nie2020_table7", "baan2022_table2")
)
def vote_numbers(votes: Votes, *, n_resamples: int, n_splits: int, seed: int) -> pd.DataFrame:
    """Compute the quantities of the votes alone, `OF_VOTES`.

    ``case`` says which of several, empty for the only one; ``low`` and ``high`` are NaN where there
    is no interval of 95%. What the votes lack something for has no row. The items are resampled,
    and H1 and H2 drawn `n_splits` times.
    """
    return _tabled(OF_VOTES, Given(votes, (), n_resamples, n_splits, seed))


@recorded(keys=KEYS, published=("baan2022_table1", "baan2022_systems"))
def system_numbers(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, n_splits: int, seed: int
) -> pd.DataFrame:
    """Compute the quantities of systems beside votes, `OF_SYSTEMS`, as `vote_numbers` does."""
    return _tabled(OF_SYSTEMS, Given(votes, systems, n_resamples, n_splits, seed))


@derived(keys=KEYS, published=("nie2020_table2", "nie2020_table5", "nie2020_entropy_bins"))
def paper_numbers() -> pd.DataFrame:
    """Compute the quantities of the papers' own tables, `of_papers`, as `vote_numbers` does."""
    parts = []
    for quantity, values in of_papers().items():
        cases = values.index.get_level_values(1) if values.index.nlevels > 1 else ""
        datasets = values.index.get_level_values(0)
        parts.append(
            pd.DataFrame(
                {"dataset": datasets, "quantity": quantity, "case": cases, "value": values.array}
            )
        )
    table = pd.concat(parts)
    datasets = [one.name for one in in_order(set(table["dataset"]) - {""})]
    table = in_order_of(table, "dataset", datasets)
    return table.astype({"value": float}).reindex(columns=_COLUMNS)


def _among(found: dict[str, Quantity], compute: Quantity) -> Quantity:
    found[compute.__name__] = compute
    return compute


_of_votes, _of_systems = partial(_among, OF_VOTES), partial(_among, OF_SYSTEMS)


# Votes


@_of_votes
def size(given: Given) -> Cases:
    """All votes, and the items that have them."""
    return {"votes": Estimate(given.votes.counts.sum()), "items": Estimate(len(given.votes))}


def _changed(given: Given) -> Floats:
    return 100.0 * (given.votes.majority != given.votes.old_label)


@_of_votes
def change_rate(given: Given) -> Cases:
    """Per cent of items whose stated majority is not the old label."""
    return {"": given.mean(_changed(given))} if given.votes.has_old_labels else {}


@_of_votes
def change_rate_full_dev(given: Given) -> Cases:
    """The same as a percentage of the development set that the items were chosen from."""
    printed = read_published("nie2020_table2").dropna().set_index("dataset")
    votes = given.votes
    if votes.dataset.name not in printed.index or not votes.is_released:
        return {}
    share = len(votes) / float(printed.loc[votes.dataset.name, "full_dev_size"])
    return {"": given.mean(share * _changed(given))}


@_of_votes
def mean_entropy(given: Given) -> Cases:
    """Mean entropy of the votes, in bits."""
    return {"": given.mean(entropy(given.votes.shares, unit="bits"))}


@_of_votes
def thirds(given: Given) -> Cases:
    """Share of items in the middle third of the entropy's range against the emptier outer third."""
    bits = entropy(given.votes.shares, unit="bits").round(10)
    third = np.floor(3 * bits / np.log2(given.votes.dataset.n_classes)).clip(0, 2)
    columns = third[:, np.newaxis] == np.arange(3)
    return {
        "middle minus outer": given.mean(columns, lambda m: m[..., 1] - m[..., [0, 2]].min(-1)),
        "outer minus middle": given.mean(columns, lambda m: m[..., [0, 2]].min(-1) - m[..., 1]),
    }


@_of_votes
def contested(given: Given) -> Cases:
    """Share of items on which at most 60% agree."""
    return {"": given.mean(majority_share(given.votes.counts) <= _CONTESTED)}


@_of_votes
def label_count_gap(given: Given) -> Cases:
    """Largest distance of a label's printed count of votes from the file's."""
    table = read_published("nie2020_table7").query("statistic == 'new_raw_count'")
    printed = table.set_index("dataset").drop(columns="statistic")
    votes = given.votes
    if votes.dataset.name not in printed.index or votes.dataset.n_classes != printed.shape[1]:
        return {}
    theirs = printed.loc[votes.dataset.name].to_numpy()
    return {"": Estimate(int(np.abs(votes.counts.sum(axis=0) - theirs).max()))}


@_of_votes
def chance_gap(given: Given) -> Cases:
    """Chance's JSD, KL and accuracies minus those printed."""
    printed = _table_5("chance")
    votes = given.votes
    if votes.dataset.name not in printed.index or not votes.has_old_labels:
        return {}
    even = np.full_like(votes.shares, 1 / votes.dataset.n_classes)
    by_item = {
        "jsd": jensen_shannon_distance(votes.shares, even, unit="nats"),
        "kl": np.log(votes.dataset.n_classes) - entropy(votes.shares, unit="nats"),
        "old_accuracy": votes.old_label == np.bincount(votes.old_label).argmax(),
        "new_accuracy": votes.majority == np.bincount(votes.majority).argmax(),
    }
    theirs = printed.loc[votes.dataset.name]
    return {name: given.mean(by_item[name] - float(theirs[name])) for name in TABLE_5}


@_of_votes
def guess_in_last_bin(given: Given) -> Cases:
    """Share of the most frequent majority label in the last of five entropy bins."""
    _, last = given.in_bins(given.votes.shares)
    gold = given.votes.majority[last]
    return {"": Estimate(float(np.bincount(gold).max() / len(gold)))} if len(gold) else {}


@_of_votes
def oracle_ece(given: Given) -> Cases:
    """ECE of the votes' own shares, and how far it is from 1 − their mean majority share."""
    gap = MEASURES["ece"].value(given.oracle) - 1 + given.votes.shares.max(axis=1).mean()
    own = given.score("ece", [given.oracle])
    return {"": own, "gap": Estimate(abs(round(float(gap), 12)))}


@_of_votes
def oracle_classwise_ece(given: Given) -> Cases:
    """Class-wise ECE of the votes' own shares in per cent, divided by binned or by all items."""
    return {by: _classwise(given, given.oracle, by) for by in ("binned", "all")}


@_of_votes
def crowd_dist_ce(given: Given) -> Cases:
    """Mean DistCE of twenty votes per item over splits, and the share of them below the printed."""
    if given.crowd_errors is None:
        return {}
    printed = read_published("baan2022_table2").dropna(subset="dist_ce").set_index("system")
    found: dict[str, Estimate] = {}
    for name, errors in zip(("h1", "h2"), given.crowd_errors.mean(axis=2), strict=True):
        below = share_below(errors, float(printed.loc[name, "dist_ce"]))
        found |= {name: _over_splits(errors), f"{name} below": Estimate(below)}
    return found


@_of_votes
def majority_advantage(given: Given) -> Cases:
    """Expected score against single votes: of the majority alone, minus of the votes' own shares.

    Expected total variation of m to one vote drawn from h is 1 − Σ h m.
    """
    human = given.votes.shares
    majority = np.eye(human.shape[1])[human.argmax(axis=1)]
    brier = [scores.brier_of_votes(human, one) for one in (majority, human)]
    return {
        "tvd": given.mean((human * human).sum(axis=1) - human.max(axis=1)),
        "brier": given.mean(brier[0] - brier[1]),
    }


def classwise_columns(judged: Judged) -> Floats:
    """Return columns whose means give class-wise ECE, against the first majority, class by bin.

    Gaps first, each hit minus probability in its bin; then 1 in the bin, 0 elsewhere.
    """
    probabilities, hits = calibration.classwise_hits(judged.model, judged.first_majority)
    bins = BAAN_BINS.assign(probabilities)[..., np.newaxis] == np.arange(BAAN_BINS.n_bins)
    gaps = bins * (hits - probabilities)[..., np.newaxis]
    return np.stack([gaps, bins], axis=1).reshape(len(probabilities), -1)


def classwise_percent(means: Floats, *, divide_by: str) -> Floats:
    """Return class-wise ECE in per cent from means of `classwise_columns`, along the last axis.

    `divide_by` is as in `classwise_calibration_error`.
    """
    cells = means.reshape(*means.shape[:-1], 2, -1, BAAN_BINS.n_bins)
    gaps = np.abs(cells[..., 0, :, :]).sum(axis=-1)
    if divide_by == "binned":
        gaps = gaps / np.maximum(cells[..., 1, :, :].sum(axis=-1), 1e-12)
    percent: Floats = 100 * gaps.mean(axis=-1)
    return percent


def _classwise(given: Given, judged: Judged, divide_by: str) -> Estimate:
    return given.mean(classwise_columns(judged), partial(classwise_percent, divide_by=divide_by))


def _over_splits(values: Floats) -> Estimate:
    low, high = percentile_interval(values)
    return Estimate(float(values.mean()), float(low), float(high))


# Systems


@_of_systems
def oracle_excess(given: Given) -> Cases:
    """The oracle's ECE minus a system's, on the items of the system."""
    return {
        name: given.score("ece", [replace(one, model=one.human), one], (1, -1))
        for name, one in given.judged.items()
    }


@_of_systems
def printed_gap(given: Given) -> Cases:
    """A value minus that of Table 1 in Baan et al. (2022), for released votes and predictions."""
    if not given.votes.is_released or not given.tabulated:
        return {}
    found: dict[str, Estimate] = {}
    for row in read_published("baan2022_table1").to_dict("records"):
        seeds = given.tabulated.get(row["system"], {0: given.oracle})
        judged = seeds.get(0 if np.isnan(row["seed"]) else int(row["seed"]))
        if judged is None:
            return {}
        last = [scores.top_label(p, ties="last") for p in (judged.model, judged.human)]
        values = {name: MEASURES[name].value(judged) for name in _TABLE_1}
        values["accuracy"] = float((last[0] == last[1]).mean())
        for name, value in values.items():
            case = f"{row['system']} seed {row['seed']:g} {name}".replace(" seed nan", "")
            found[case] = Estimate(round(value - row[name], 12))
    return found


_TABLE_1 = ("ece", "rank_cs", "ent_ce", "dist_ce")


def _scaling_gain(given: Given, measure: str) -> Cases:
    return {
        name: given.score(measure, [one, _at(one)], (1, -1)) for name, one in given.judged.items()
    }


# A measure at T = 1 minus the same at T = 2.
OF_SYSTEMS |= {
    f"scaling_gain_{measure}": partial(_scaling_gain, measure=measure)
    for measure in ("ece", "dist_ce", "ent_ce")
}


@_of_systems
def rank_range(given: Given) -> Cases:
    """Largest difference of RankCS between temperatures from 0.5 to 4."""
    measure, at = MEASURES["rank_cs"], (0.5, 1.0, TEMPERATURE, 4.0)
    values = {n: [measure.value(_at(one, t)) for t in at] for n, one in given.judged.items()}
    return {name: Estimate(round(float(np.ptp(found)), 12)) for name, found in values.items()}


@_of_systems
def least_ece_temperature(given: Given) -> Cases:
    """Temperature, to a tenth, of least ECE on the very items: mean over seeds, then each seed."""
    seeds = given.tabulated.get("roberta", {})
    blocks = [[MEASURES["ece"].columns(_at(one, t)) for t in _TENTHS] for one in seeds.values()]
    if not blocks:
        return {}
    # Shapes (n_items, n_seeds, n_temperatures, n_columns), and without the first for means.
    columns = np.array(blocks).transpose(2, 0, 1, 3)

    def best(means: Floats, which: slice) -> Floats:
        errors = MEASURES["ece"].reduce(means.reshape(*means.shape[:-1], *columns.shape[1:]))
        return _TENTHS[errors[..., which, :].mean(axis=-2).round(10).argmin(axis=-1)]

    table = columns.reshape(len(columns), -1)
    each = {
        f"seed {seed}": Estimate(float(best(table.mean(axis=0), slice(k, k + 1))))
        for k, seed in enumerate(seeds)
    }
    return {"": given.mean(table, partial(best, which=slice(None))), **each}


def _mean_over_seeds(given: Given, measure: str) -> Cases:
    return {
        name: given.score(measure, list(seeds.values())) for name, seeds in given.tabulated.items()
    }


OF_SYSTEMS |= {
    f"mean_over_seeds_{measure}": partial(_mean_over_seeds, measure=measure)
    for measure in ("ece", "dist_ce")
}


@_of_systems
def excess_over_crowd(given: Given) -> Cases:
    """A system's DistCE minus that of twenty people, as it is and at T = 2."""
    if given.crowd_errors is None:
        return {}
    crowd = given.crowd_errors[0].mean(axis=0)  # each item's, over the splits
    found: dict[str, Estimate] = {}
    for system in given.systems:
        rows = system.rows_in(given.votes)
        for name, t in ((system.name, 1.0), (f"{system.name} at T = {TEMPERATURE:g}", TEMPERATURE)):
            one = _at(given.judged[system.name], t)
            found[name] = given.mean(total_variation(one.human, one.model) - crowd[rows])
    return found


@_of_systems
def histogram_kl_gain(given: Given) -> Cases:
    """KL of H1's histogram of errors from the unscaled model's, minus that from the scaled one's.

    For the first seed, over the splits for which both are finite; and the share of the others.
    """
    if given.crowd_errors is None or not given.tabulated:
        return {}
    errors = [total_variation(one.human, one.model) for one in given.first_seeds.values()]
    raw, scaled = (
        np.array([compare_histograms(h1, error)["kl"] for h1 in given.crowd_errors[0]])
        for error in errors
    )
    finite = np.isfinite(raw) & np.isfinite(scaled)
    gain = {"": _over_splits((raw - scaled)[finite])} if finite.any() else {}
    return gain | {"infinite": Estimate(float(np.mean(~finite)))}


@_of_systems
def classwise_ece(given: Given) -> Cases:
    """Class-wise ECE in per cent: each seed's by binned items, the first one's by all items."""
    found: dict[str, Estimate] = {}
    for name, first in given.first_seeds.items():
        for seed, one in given.tabulated[name].items():
            found[f"{name} seed {seed}"] = _classwise(given, one, "binned")
        found[f"{name} by all"] = _classwise(given, first, "all")
    return found


@_of_systems
def entropy_error(given: Given) -> Cases:
    """H(model) − H(human) in nats of the first seed: mean, and median."""
    found: dict[str, Estimate] = {}
    for name, one in given.first_seeds.items():
        errors = calibration.entropy_error(one.human, one.model)
        found |= {name: given.mean(errors), f"{name} median": Estimate(float(np.median(errors)))}
    return found


@_of_systems
def accuracy_lost(given: Given) -> Cases:
    """A system's accuracy in the first of five entropy bins minus that in the last."""
    found: dict[str, Estimate] = {}
    for name, one in given.judged.items():
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
        found[""] = given.mean(columns, lambda m: m[..., 0] / m[..., 1])
    return found


# The papers' tables


def _table_5(model: str) -> pd.DataFrame:
    """Return a row of Table 5 by dataset."""
    return read_published("nie2020_table5").query("model == @model").set_index("dataset")


@cache
def of_papers() -> dict[str, pd.Series]:
    """Return the quantities of the papers' own tables, by dataset and, where of several, case.

    Of JSD and KL: the smallest ratio of a model's to the estimated human's, the best model's, that
    of chance, Spearman's correlation with new accuracy and its p; of accuracies and JSD, what the
    names say.
    """
    models = published_models().set_index(["dataset", "model"])
    human, chance = _table_5("est-human"), _table_5("chance")
    by_dataset, jsd = models.groupby("dataset"), models["jsd"]
    apart = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])

    def rank(one: str, other: str, what: str) -> pd.Series:
        pairs = by_dataset[[one, other]]
        return pairs.apply(lambda group: float(getattr(spearmanr(group), what)))

    sizes = results.size_effects().rows.set_index(["dataset", "family"])
    best = [by_dataset[name].idxmax().str[1] for name in ("old_accuracy", "new_accuracy")]
    gained = models["new_accuracy"] - models["old_accuracy"]
    found = {
        "largest_jsd": pd.Series(
            {("", u): jensen_shannon_distance(*apart, unit=u)[0] for u in ("nats", "bits")}
        ),
        "printed_change_rate": read_published("nie2020_table2").set_index("dataset")[
            "change_rate_percent"
        ],
        "human_lead": human["new_accuracy"] - by_dataset["new_accuracy"].max(),
        # The lowest JSD of the other models minus a model's own: above 0 for the best one.
        "jsd_lead": pd.Series({at: jsd[at[0]].drop(at[1]).min() - jsd[at] for at in jsd.index}),
        "larger_accuracy": sizes["change_new_accuracy"],
        "larger_jsd": sizes["change_jsd"],
        "accuracy_gained": gained,
        "accuracy_lost_to_new": -gained,
        "old_new_rho": rank("old_accuracy", "new_accuracy", "statistic"),
        "same_best": (best[0] == best[1]).astype(int),
    }
    for name in ("jsd", "kl"):
        found |= {
            f"human_ratio_{name}": by_dataset[name].min() / human[name],
            f"best_{name}": models[name].loc[by_dataset[name].idxmin()],
            f"chance_{name}": chance[name],
            f"accuracy_rho_{name}": rank("new_accuracy", name, "statistic"),
            f"accuracy_p_{name}": rank("new_accuracy", name, "pvalue"),
        }
    bins = read_published("nie2020_entropy_bins").sort_values(["dataset", "model", "bin"])
    by_model = bins.groupby(["dataset", "model"])
    for name, column, sign in (("accuracy_fall", "new_accuracy", -1), ("jsd_rise", "jsd", 1)):
        ends = by_model[column]
        found[name] = sign * (ends.last() - ends.first())
        found[f"{name}_by_step"] = (
            (sign * ends.diff()).groupby([bins["dataset"], bins["model"]]).min()
        )
    accuracy = by_model["new_accuracy"]
    found["best_in_first_bin"] = accuracy.first().groupby("dataset").max()
    found["mean_in_last_bin"] = accuracy.last().groupby("dataset").mean()
    return found


def quantities() -> tuple[str, ...]:
    """Return the names of all quantities."""
    return tuple(dict.fromkeys([*OF_VOTES, *OF_SYSTEMS, *of_papers()]))
