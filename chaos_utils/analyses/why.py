"""Why people disagree: what others have published about items of ChaosNLI, beside its votes.

The files are read by `datasets.auxiliary_data` and joined by uid. Their texts go into no
table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.datasets.auxiliary_data import AMBIENT, TAXONOMY, UNLI, VARIERR, AuxiliaryData
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.divergence import (
    Floats,
    entropy,
    jensen_shannon_distance,
)
from chaos_utils.metrics.resampling import bootstrap_means, holm, percentile_interval
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row, number, with_ends
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.system import System, shared_rows

READS = (
    "varierr/*", "nli_disagreement_taxonomy/*", "livenli/*", "ambient/crowdworker*", "unli/*",
)  # fmt: skip

Booleans = npt.NDArray[np.bool_]

NONE = "none of the ten"
# Ten reasons and none, as Jiang and de Marneffe (2022) call them in their file and as we do.
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "Lexical": "lexical",
        "Implicature": "implicature",
        "Presupposition": "presupposition",
        "Probabilistic": "probabilistic",
        "Imperfection": "imperfection",
        "Coreference": "coreference",
        "Temporal": "temporal",
        "Interrogative": "interrogative",
        "Accommodating": "accommodating",
        "High Overlap": "high overlap",
        "N/A": NONE,
    }
)
STATUSES = ("plausible", "error", "not given")
PEOPLE = "people"
FEWEST_ITEMS = 20  # items; below it, a reason is not drawn
_FEWEST_VALUES = 2  # items that an interval needs


def explained_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the inputs that VariErr and the taxonomy can be joined to.

    Where files of these are missing, recorded tables are shown. Votes on other items are left out,
    as are synthetic votes.
    """
    explained = [
        part
        for part in inputs.with_auxiliary_data(VARIERR, TAXONOMY)
        if part.given_votes is None or part.recordable or _is_explained(part)
        if not part.synthetic
    ]
    return replace(inputs, dataset_inputs=tuple(explained))


def _is_explained(dataset_inputs: DatasetInputs) -> bool:
    """Return whether the taxonomy has at least one of the items of a reader's votes."""
    (votes,) = dataset_inputs.votes or ()
    available = VARIERR.available and TAXONOMY.available
    return available and not set(votes.uids).isdisjoint(TAXONOMY.read()["uid"])


def _votes_on(votes: Votes, uids: "pd.Series[str]") -> Votes:
    """Return the votes on some items, in the order of the votes."""
    return part_of(votes, np.flatnonzero(np.isin(votes.uids, uids)))


def _interval(values: Floats, level: float) -> tuple[float, float, float]:
    """Return a mean over items and its interval by Student's t."""
    from scipy import stats

    mean = float(values.mean())
    if len(values) < _FEWEST_VALUES:
        return mean, np.nan, np.nan
    half_width = stats.t.ppf((1 + level) / 2, len(values) - 1) * stats.sem(values)
    return mean, mean - half_width, mean + half_width


# Errors against variation


@cached_analysis(keys=("dataset", "judges", "status", "holder"))
def errors(
    votes: Votes,
    systems: Sequence[System],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    companion: AuxiliaryData = VARIERR,
) -> pd.DataFrame:
    """Say how much of the votes, and of the systems' probability, is on labels called errors.

    * ``status``: a label of an item is ``plausible`` if one of VariErr's four annotators gave it
      with a reason that holds, an ``error`` if they gave it only with reasons that do not hold, and
      else ``not given``;
    * ``judges``: who decides whether a reason holds: its ``authors``, on a second look, or their
      ``peers``, of whom more than half must accept it;
    * ``holder``: people, or a family of systems: the mean of its seeds, on the items that all of
      them predict.

    ``n_labels`` counts the labels with this status. ``n_majority`` of them are majority labels; the
    others are minority labels:

    * ``each``: the mean share of the votes, or of probability, that a minority label of this status
      has; ``share``: the share of all votes that labels of this status have;
    * ``minority_labels``: the share of all minority labels that have this status;
      ``minority_share``: the share of all votes for minority labels that these have, with
      ``minority_low`` and ``minority_high``;
    * ``excess``: ``minority_share`` minus ``minority_labels``;
    * ``given_labels``, ``given_share``, ``given_excess``: the same three among the minority labels
      that somebody gave, NaN for ``not given``.

    Intervals of ``minority_share`` and of both differences are by the bootstrap over items.
    """
    rows = companion.read()
    validated = rows.assign(authors=~rows["error"], peers=rows["peers_agree"] > rows["peers"] / 2)
    validated = validated.groupby(["uid", "label"])[["authors", "peers"]].any()
    records = []
    for holder, part, shares_by_seed in _holders(_votes_on(votes, rows["uid"]), systems):
        shares = np.mean(shares_by_seed, axis=0)
        minority = np.arange(shares.shape[1]) != part.majority[:, None]
        minority_shares = shares * minority
        for judges in validated:
            status = _statuses(part, validated[judges])
            is_given = minority & (status != "not given")
            for name in STATUSES:
                is_status = status == name
                item_columns = [
                    minority_shares * is_status, minority_shares, is_status & minority, minority,
                    minority_shares * is_given, is_given,
                ]  # fmt: skip
                sums = np.column_stack([values.sum(axis=1) for values in item_columns])
                means = bootstrap_means(sums, n_resamples, np.random.default_rng(seed))
                draws = _minority_shares(means, is_given=name != "not given")
                point = _minority_shares(sums.mean(axis=0), is_given=name != "not given")
                ends = {key: percentile_interval(draws[key], confidence) for key in draws}
                records.append(
                    {
                        "judges": judges,
                        "status": name,
                        "holder": holder,
                        "n_items": len(part),
                        "n_labels": is_status.sum(),
                        "n_majority": (is_status & ~minority).sum(),
                        "minority_labels": float(point["minority_labels"]),
                        "each": minority_shares[is_status & minority].mean(),
                        "share": (shares * is_status).sum() / len(part),
                        "minority_share": float(point["minority_share"]),
                        "minority_low": float(ends["minority_share"][0]),
                        "minority_high": float(ends["minority_share"][1]),
                        "given_labels": float(point["given_labels"]),
                        "given_share": float(point["given_share"]),
                        **_with_interval("excess", point, ends),
                        **_with_interval("given_excess", point, ends),
                    }
                )
    return pd.DataFrame(records)


def _minority_shares(means: Floats, *, is_given: bool) -> dict[str, Floats]:
    """Return the columns of `errors` from ``minority_labels`` on, for means over items.

    The last axis of `means` has the six columns that `errors` sums up for each item.
    """
    votes, all_votes, labels, all_labels, given_votes, given_labels = means.T
    missing = np.full(means.shape[:-1], np.nan)
    shares = {
        "minority_labels": labels / all_labels,
        "minority_share": votes / all_votes,
        "given_labels": labels / given_labels if is_given else missing,
        "given_share": votes / given_votes if is_given else missing,
    }
    shares["excess"] = shares["minority_share"] - shares["minority_labels"]
    shares["given_excess"] = shares["given_share"] - shares["given_labels"]
    return shares


def _with_interval(
    name: str, point: Mapping[str, Floats], ends: Mapping[str, tuple[Floats, Floats]]
) -> dict[str, float]:
    low, high = ends[name]
    return {name: float(point[name]), f"{name}_low": float(low), f"{name}_high": float(high)}


def _statuses(part: Votes, holds_by_label: "pd.Series[bool]") -> npt.NDArray[np.str_]:
    """Return the status of each label, shape (n_items, n_labels).

    `holds_by_label` says by uid and label whether a reason holds, for labels that were given.
    """
    holds = holds_by_label.unstack("label").reindex(index=part.uids, columns=part.dataset.labels)
    return holds.map({True: "plausible", False: "error"}.get).fillna("not given").to_numpy()


def _holders(votes: Votes, systems: Sequence[System]) -> Iterator[tuple[str, Votes, list[Floats]]]:
    """Yield name, votes and shares of people, then of each family of systems.

    The votes are those on the items that all seeds of a family predict. The shares, a list with an
    array for each seed, are those that votes or systems give to each label.
    """
    yield PEOPLE, votes, [votes.shares]
    families: dict[str, list[System]] = {}
    for system in systems:
        families.setdefault(system.family, []).append(system)
    for family, seeds in families.items():
        rows = shared_rows(votes, seeds)
        if len(rows):
            part = part_of(votes, rows)
            yield family, part, [seed_system.aligned_to(part).model for seed_system in seeds]


# Reasons


def _quantities(
    votes: Votes, systems: Sequence[System], rows: pd.DataFrame
) -> Iterator[tuple[str, str, Floats, Booleans]]:
    """Yield holder, quantity, values of the items with reasons, and which reasons each item has.

    Quantities of people are the entropy in bits and the share of each label; those of a family are
    the JSD, and each label's share minus people's. A family's values are means over its seeds. The
    reasons have the shape (n_items, n_reasons), in the order of `REASONS`.
    """
    has_reason = (
        pd.crosstab(rows["uid"], rows["reason"]).reindex(columns=[*REASONS], fill_value=0) > 0
    )
    for holder, part, shares_by_seed in _holders(_votes_on(votes, rows["uid"]), systems):
        item_reasons = has_reason.loc[list(part.uids)].to_numpy()
        shares = np.mean(shares_by_seed, axis=0)
        if holder == PEOPLE:
            yield holder, "entropy", entropy(shares, unit="bits"), item_reasons
        else:
            distances = [
                jensen_shannon_distance(part.shares, seed_shares, unit="nats")
                for seed_shares in shares_by_seed
            ]
            yield holder, "jsd", np.mean(distances, axis=0), item_reasons
            shares = shares - part.shares
        for k, label in enumerate(part.dataset.labels):
            yield holder, label, shares[:, k], item_reasons


@cached_analysis(keys=("dataset", "holder", "quantity", "reason"))
def reasons(
    votes: Votes,
    systems: Sequence[System],
    *,
    confidence: float,
    companion: AuxiliaryData = TAXONOMY,
) -> pd.DataFrame:
    """Say how people disagree, and how far systems are from them, by reason.

    * ``holder``: people, or a family of systems on the items that all its seeds predict;
    * ``quantity``: ``entropy`` (bits), ``jsd`` (the mean of a family's seeds), or a label: people's
      share of it, or a family's share minus people's;
    * ``mean``: the mean over the ``n_items`` items with this reason (an item may have several),
      with ``low`` and ``high`` by Student's t;
    * ``overall``: the mean over the ``n_coded`` items that have at least one of the ten reasons.
    """
    records = []
    for holder, quantity, values, item_reasons in _quantities(votes, systems, companion.read()):
        coded_values = values[~item_reasons[:, -1]]
        about = {"holder": holder, "quantity": quantity}
        overall = {"overall": coded_values.mean(), "n_coded": len(coded_values)}
        for name, has_reason in zip(REASONS.values(), item_reasons.T, strict=True):
            if not has_reason.any():
                continue
            mean, low, high = _interval(values[has_reason], confidence)
            if holder == PEOPLE:  # no entropy or share is below 0
                low = max(low, 0.0)
            row = {"reason": name, "n_items": has_reason.sum()}
            records.append(about | row | {"mean": mean, "low": low, "high": high} | overall)
    return pd.DataFrame(records)


@cached_analysis(keys=("dataset", "holder", "quantity"))
def explained(
    votes: Votes, systems: Sequence[System], *, companion: AuxiliaryData = TAXONOMY
) -> pd.DataFrame:
    """Say how much of the variance between items their reasons explain.

    For each ``holder`` and ``quantity`` of `reasons`: the ``mean`` over the ``n_items`` with at
    least one of the ten reasons; ``by_reason``, the share of the variance between items that a
    regression on the reasons explains, adjusted for their number; ``p`` of its F test, and
    ``p_holm``, adjusted for all rows. ``lowest`` and ``highest`` are the reasons with the smallest
    and the largest mean, of those with at least `FEWEST_ITEMS` items; ``low`` and ``high`` are
    these means.
    """
    records = []
    for holder, quantity, values, item_reasons in _quantities(votes, systems, companion.read()):
        is_coded = ~item_reasons[:, -1]
        values, item_reasons = values[is_coded], item_reasons[is_coded, :-1]
        by_reason, p = _regress(values, item_reasons.astype(float))
        row: dict[str, Any] = {
            "holder": holder,
            "quantity": quantity,
            "n_items": len(values),
            "mean": values.mean(),
            "by_reason": by_reason,
            "p": p,
        }
        by_reason_name = zip(REASONS.values(), item_reasons.T, strict=False)
        frequent = {
            name: values[has_reason]
            for name, has_reason in by_reason_name
            if has_reason.sum() >= FEWEST_ITEMS
        }
        means = pd.Series({name: values.mean() for name, values in frequent.items()})
        if len(means):
            row |= {"lowest": means.idxmin(), "low": means.min()}
            row |= {"highest": means.idxmax(), "high": means.max()}
        records.append(row)
    table = pd.DataFrame(records)
    return table.assign(p_holm=holm(table["p"]))


def _regress(values: Floats, has: Floats) -> tuple[float, float]:
    """Return the adjusted R² of a regression on the reasons, and p of its F test."""
    from scipy import stats

    x = np.column_stack([np.ones(len(has)), has])
    weights, _, rank, _ = np.linalg.lstsq(x, values, rcond=None)
    residual = ((values - x @ weights) ** 2).sum() / (len(values) - rank)
    total = ((values - values.mean()) ** 2).sum()
    f = (total / residual - (len(values) - rank)) / (rank - 1)
    p = stats.f.sf(f, rank - 1, len(values) - rank)
    return float(1 - residual / (total / (len(values) - 1))), float(p)


# Readings of an ambiguous sentence


@cached_analysis(keys=("dataset", "shown", "majority"))
def readings(
    votes: Votes, *, confidence: float, companion: AuxiliaryData = AMBIENT
) -> pd.DataFrame:
    """Count pairs by the size of their majority, as they are written and on each reading.

    * ``shown``: the pair ``as written``, ``a reading`` of it, or ``a distractor``: a sentence that
      is no reading;
    * ``share``: the share of these with a ``majority`` of so many votes, of ``n_votes``.

    The other columns are the same for each size of majority: ``n_shown`` counts what is shown;
    ``bits`` is the mean entropy; ``apart`` is the chance that two people differ; ``removed`` is the
    mean over pairs of the entropy as written minus the entropy as shown, with the ends of its
    interval by Student's t.
    """
    rows = companion.read()
    counts = rows[list(votes.dataset.labels)].to_numpy()
    size, majority = int(counts.sum(axis=1).max()), counts.max(axis=1)
    kinds = {"as written": rows["reading"] == 0, "a distractor": rows["distractor"]}
    rows["shown"] = np.select(list(kinds.values()), list(kinds), "a reading")
    rows["bits"] = entropy(counts / counts.sum(axis=1, keepdims=True), unit="bits")
    rows["apart"] = quadratic_entropy(counts)
    means = rows.pivot_table(index="uid", columns="shown", values="bits")
    sizes = np.arange(-(-size // votes.dataset.n_classes), size + 1)
    tables = []
    for shown, group in rows.groupby("shown", sort=False):
        entropy_drops = (means["as written"] - means[shown]).dropna().to_numpy()
        interval = (np.nan,) * 3 if shown == "as written" else _interval(entropy_drops, confidence)
        has_size = majority[group.index, np.newaxis] == sizes
        table = pd.DataFrame({"majority": sizes, "share": has_size.mean(axis=0)})
        table[["removed", "removed_low", "removed_high"]] = interval
        about = group[["bits", "apart"]].mean()
        tables.append(table.assign(shown=shown, n_shown=len(group), n_votes=size, **about))
    return pd.concat(tables, ignore_index=True)


# A stated probability

_N_VOTES = (1, 2, 3)  # that a stated probability is compared with


def stated_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return those of the inputs that are released, to whose items UNLI's pairs are joined."""
    parts = inputs.with_auxiliary_data(UNLI)
    return replace(inputs, dataset_inputs=tuple(part for part in parts if part.recordable))


@cached_analysis(keys=("dataset", "predictor"))
def stated(
    votes: Votes,
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    companion: AuxiliaryData = UNLI,
) -> pd.DataFrame:
    """Say what a stated probability, and what a few votes, say of the share of the first label.

    ``correlation`` is that over items with the share of all votes that this label, entailment, has;
    intervals, ``_low`` to ``_high``, are by the bootstrap over items. A ``predictor`` is
    ``stated``, the probability that people gave to the hypothesis, the mean of a few; or the share
    of the label among so many votes, which are others than those that judge: expected from all
    votes, without bias. ``votes_worth``, of ``stated`` alone, is the number of votes with the same
    correlation, infinite if there is none. ``n_items`` have both.
    """
    pairs = companion.read(votes.dataset.name)
    probability = pairs[pairs["uid"] != ""].set_index("uid")["probability"]
    part = _votes_on(votes, probability.index)
    x = probability[list(part.uids)].to_numpy()
    counts, n = part.counts[:, 0].astype(float), part.n_votes
    share = counts / n
    # Means of these give all correlations; the last is the square of what all people would say.
    columns = np.column_stack([x, x**2, share, share**2, x * share, counts * (counts - 1)])
    columns[:, -1] /= n * (n - 1)
    draws = _correlations(bootstrap_means(columns, n_resamples, np.random.default_rng(seed)))
    point = _correlations(columns.mean(axis=0))
    ends = {name: percentile_interval(values, confidence) for name, values in draws.items()}

    def estimate(column: str, name: str) -> dict[str, float]:
        low, high = map(float, ends[name])
        return {column: float(point[name]), f"{column}_low": low, f"{column}_high": high}

    rows = pd.DataFrame(
        {"predictor": name, "n_items": len(part)} | estimate("correlation", name)
        for name in ("stated", *map(str, _N_VOTES))
    )
    worth = estimate("votes_worth", "votes_worth")
    return rows.join(pd.DataFrame([worth]))  # the first row's alone


def _correlations(means: Floats) -> dict[str, Floats]:
    """Return the correlations of `stated`, and the votes worth as much, from means over items."""
    x, xx, share, squares, products, without_bias = np.moveaxis(means, -1, 0)
    spread, of_share = np.sqrt(xx - x**2), np.sqrt(squares - share**2)
    between, within = without_bias - share**2, share - without_bias
    of_stated = (products - x * share) / (spread * of_share)
    found = {"stated": of_stated}
    for k in _N_VOTES:
        found[str(k)] = between / np.sqrt(between + within / k) / of_share
    # k votes have this correlation where between² / (r² of_share²) − between is within / k.
    left = (between / (of_stated * of_share)) ** 2 - between
    found["votes_worth"] = np.divide(
        within, left, out=np.full(np.shape(left), np.inf), where=left > 0
    )
    return found


_PREDICTOR_NAMES = {
    "stated": "mean of a few people’s stated probabilities",
    "1": "one other person’s vote",
    "2": "two other people’s votes",
    "3": "three other people’s votes",
}
STATED_COLUMNS = [
    Column("known about the item", "predictor", names=_PREDICTOR_NAMES),
    with_ends("correlation with the share of entailment", "correlation", 2),
    with_ends("worth in votes", "votes_worth", 1),
    Column("items", "n_items", 0),
]


_STATUS_NAMES = {
    "plausible": "given, and an explanation holds",
    "error": "given, and no explanation holds",
    "not given": "given by none of the four",
}
ERROR_COLUMNS = [
    Column("judged by", "judges"),
    Column("label", "status", names=_STATUS_NAMES),
    Column("labels", "n_labels", 0),
    Column("share of one minority label, %", "each", 1, percent=True),
    Column("labels", "minority_labels", 1, percent=True, group="of the minority, %"),
    Column(
        "votes", "minority_share", 1, "minority_low", "minority_high", percent=True,
        group="of the minority, %",
    ),
    Column("labels", "given_labels", 1, percent=True, group="of the minority, given labels, %"),
    Column("votes", "given_share", 1, percent=True, group="of the minority, given labels, %"),
]  # fmt: skip


_QUANTITIES = {"entropy": "entropy, bits", "jsd": "JSD"}


def _quantity_name(row: Row) -> str:
    name = str(row["quantity"])
    return _QUANTITIES.get(name, name if row["holder"] == PEOPLE else f"{name}, above people’s")


def _extreme(end: str) -> Callable[[Row], str]:
    return lambda row: f"{row[f'{end}est']} ({number(row[end], 2)})"


EXPLAINED_COLUMNS = [
    Column("of", "holder", names=SYSTEM_NAMES),
    Column("what", _quantity_name),
    Column("mean", "mean", 2),
    Column("lowest", _extreme("low"), group="mean by reason"),
    Column("highest", _extreme("high"), group="mean by reason"),
    Column("by reason, %", "by_reason", 1, percent=True),
    Column("p", lambda row: "< 0.001" if row["p_holm"] < 0.0005 else f"{row['p_holm']:.3f}"),
]
