"""Why people disagree: what others found out about items of ChaosNLI, beside its votes.

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

from chaos_utils.analyses.cached_analysis import cached_analysis
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.datasets.auxiliary_data import AMBIENT, TAXONOMY, VARIERR, AuxiliaryData
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.divergence import (
    Floats,
    entropy,
    jensen_shannon_distance,
)
from chaos_utils.metrics.resampling import bootstrap_means, holm, percentile_interval
from chaos_utils.report.columns import Column, Row, number
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.system import System, shared_rows

READS = ("varierr/*", "nli_disagreement_taxonomy/*", "livenli/*", "ambient/crowdworker*")

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

    Where their files are missing, its tables are recorded ones. Votes on other items are left out,
    and so are synthetic ones.
    """
    explained = [
        part
        for part in inputs.with_auxiliary_data(VARIERR, TAXONOMY)
        if part.given_votes is None or part.recordable or _is_explained(part)
        if not part.synthetic
    ]
    return replace(inputs, dataset_inputs=tuple(explained))


def _is_explained(dataset_inputs: DatasetInputs) -> bool:
    """Return whether the taxonomy has one of the items; it has those of the released votes."""
    (votes,) = dataset_inputs.votes or ()
    available = VARIERR.available and TAXONOMY.available
    return available and not set(votes.uids).isdisjoint(TAXONOMY.read()["uid"])


def _shared(votes: Votes, uids: "pd.Series[str]") -> Votes:
    """Return the votes on some items, in the order of the votes."""
    return part_of(votes, np.flatnonzero(np.isin(votes.uids, uids)))


def _interval(values: Floats, level: float) -> tuple[float, float, float]:
    """Return a mean over items and its interval by Student's t."""
    from scipy import stats

    mean = float(values.mean())
    if len(values) < _FEWEST_VALUES:
        return mean, np.nan, np.nan
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * stats.sem(values)
    return mean, mean - half, mean + half


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

    A label of an item is ``plausible`` if one of VariErr's four annotators gave it with a reason
    that holds, an ``error`` if they gave it with none that holds, or ``not given``. ``judges`` say
    whose word decides: that of its ``authors``, on a second look, or that of its ``peers``, of whom
    more than half must accept the reason.

    ``holder`` is people or a family of systems (the mean of its seeds, on the items that all of
    them predict); ``n_labels`` of these items; ``n_majority``, how many of them are the majority of
    the votes; ``each``, the mean share of those that are not, and ``minority_labels``, their share
    of all such labels; ``share`` of all votes, and
    ``minority_share`` of those against the majority, with the ends of its bootstrap interval over
    items. ``excess`` is the latter minus ``minority_labels``; ``given_labels``, ``given_share`` and
    ``given_excess`` are the same among the labels that somebody gave, NaN for ``not given``. Both
    differences have their interval over items.
    """
    rows = companion.read()
    validated = rows.assign(authors=~rows["error"], peers=rows["peers_agree"] > rows["peers"] / 2)
    validated = validated.groupby(["uid", "label"])[["authors", "peers"]].any()
    records = []
    for holder, part, shares_by_seed in _holders(_shared(votes, rows["uid"]), systems):
        shares = np.mean(shares_by_seed, axis=0)
        minority = np.arange(shares.shape[1]) != part.majority[:, None]
        against = shares * minority
        for judges in validated:
            status = _statuses(part, validated[judges])
            is_given = minority & (status != "not given")
            for name in STATUSES:
                is_status = status == name
                of_items = [against * is_status, against, is_status & minority, minority,
                            against * is_given, is_given]  # fmt: skip
                sums = np.column_stack([values.sum(axis=1) for values in of_items])
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
                        "each": against[is_status & minority].mean(),
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
    """From means by item to shares: of the minority's labels and votes, and of those given."""
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
    """Return which of `STATUSES` each label has, from whether a reason holds, by uid and label."""
    holds = holds_by_label.unstack("label").reindex(index=part.uids, columns=part.dataset.labels)
    return holds.map({True: "plausible", False: "error"}.get).fillna("not given").to_numpy()


def _holders(votes: Votes, systems: Sequence[System]) -> Iterator[tuple[str, Votes, list[Floats]]]:
    """Yield who gives each label of an item a share: people, then each family of systems.

    Each with the votes on its items, a family's those that all its seeds predict, and with the
    shares, a family's by seed.
    """
    yield PEOPLE, votes, [votes.shares]
    families: dict[str, list[System]] = {}
    for system in systems:
        families.setdefault(system.family, []).append(system)
    for family, several in families.items():
        rows = shared_rows(votes, several)
        if len(rows):
            part = part_of(votes, rows)
            yield family, part, [seed_system.aligned_to(part).model for seed_system in several]


# Reasons


def _quantities(
    votes: Votes, systems: Sequence[System], rows: pd.DataFrame
) -> Iterator[tuple[str, str, Floats, Booleans]]:
    """Yield values of the items with reasons: who has them, what they are, they, and the reasons.

    People's entropy in bits and their share of each label; each family's JSD, and by how much its
    share of a label is above people's. A family's values are the means of its seeds'.
    """
    coded = pd.crosstab(rows["uid"], rows["reason"]).reindex(columns=[*REASONS], fill_value=0) > 0
    for holder, part, shares_by_seed in _holders(_shared(votes, rows["uid"]), systems):
        has = coded.loc[list(part.uids)].to_numpy()
        shares = np.mean(shares_by_seed, axis=0)
        if holder == PEOPLE:
            yield holder, "entropy", entropy(shares, unit="bits"), has
        else:
            far = [
                jensen_shannon_distance(part.shares, seed_shares, unit="nats")
                for seed_shares in shares_by_seed
            ]
            yield holder, "jsd", np.mean(far, axis=0), has
            shares = shares - part.shares
        for place, label in enumerate(part.dataset.labels):
            yield holder, label, shares[:, place], has


@cached_analysis(keys=("dataset", "holder", "quantity", "reason"))
def reasons(
    votes: Votes,
    systems: Sequence[System],
    *,
    confidence: float,
    companion: AuxiliaryData = TAXONOMY,
) -> pd.DataFrame:
    """Say how people disagree, and how far systems are from them, by reason.

    ``holder`` is people or a family of systems, on the items that all its seeds predict; the
    ``quantity`` is ``entropy`` (bits), ``jsd`` (mean of a family's seeds), or a label: people's
    share of it, or how much more of it a family has. ``n_items`` of the reason (an item may have
    several), their ``mean`` with the ends of its interval by Student's t, and
    ``overall``, the mean of the ``n_coded`` items that have at least one of the ten reasons.
    """
    records = []
    for holder, quantity, values, has in _quantities(votes, systems, companion.read()):
        coded = values[~has[:, -1]]
        about = {"holder": holder, "quantity": quantity}
        overall = {"overall": coded.mean(), "n_coded": len(coded)}
        for name, has_reason in zip(REASONS.values(), has.T, strict=True):
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
    """Say how much of what differs between items goes with their reasons.

    For each ``holder`` and ``quantity`` of `reasons`: the ``mean`` over the ``n_items`` with at
    least one of the ten reasons; ``by_reason``, the share of the variance between items that a
    regression on the reasons explains, adjusted for their number; ``p`` of its F test, and
    ``p_holm``, adjusted for all rows. ``lowest`` and ``highest`` are the reasons with the extreme
    means, among those of at least `FEWEST_ITEMS` items, and ``low`` and ``high`` these means.
    """
    records = []
    for holder, quantity, values, has in _quantities(votes, systems, companion.read()):
        coded = ~has[:, -1]
        values, has = values[coded], has[coded, :-1]
        by_reason, p = _regress(values, has.astype(float))
        row: dict[str, Any] = {
            "holder": holder,
            "quantity": quantity,
            "n_items": len(values),
            "mean": values.mean(),
            "by_reason": by_reason,
            "p": p,
        }
        of_each = zip(REASONS.values(), has.T, strict=False)
        often = {
            name: values[has_reason]
            for name, has_reason in of_each
            if has_reason.sum() >= FEWEST_ITEMS
        }
        means = pd.Series({name: values.mean() for name, values in often.items()})
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

    For each size of ``majority`` (votes): the ``share`` of pairs ``shown`` as written, on one of
    their readings, or on a sentence that is none (a distractor). Repeated for each: ``n_shown``,
    their mean entropy in ``bits``, and ``apart``, the chance that two people differ; ``removed`` is
    the mean difference over pairs of the entropy as written and on their readings, with the ends of
    its interval by Student's t.
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
        less = (means["as written"] - means[shown]).dropna().to_numpy()
        removed = (np.nan,) * 3 if shown == "as written" else _interval(less, confidence)
        of_these = majority[group.index, np.newaxis] == sizes
        table = pd.DataFrame({"majority": sizes, "share": of_these.mean(axis=0)})
        table[["removed", "removed_low", "removed_high"]] = removed
        about = group[["bits", "apart"]].mean()
        tables.append(table.assign(shown=shown, n_shown=len(group), n_votes=size, **about))
    return pd.concat(tables, ignore_index=True)


_STATUS_NAMES = {
    "plausible": "given, and an explanation holds",
    "error": "given, and no explanation holds",
    "not given": "given by none of the four",
}
ERROR_COLUMNS = [
    Column("judged by", "judges"),
    Column("label", "status", names=_STATUS_NAMES),
    Column("labels", "n_labels", 0),
    Column("a minority label has, %", "each", 1, percent=True),
    Column("labels", "minority_labels", 1, percent=True, group="of the minority, %"),
    Column(
        "votes", "minority_share", 1, "minority_low", "minority_high", percent=True,
        group="of the minority, %",
    ),
    Column("labels", "given_labels", 1, percent=True, group="of it, on labels that were given, %"),
    Column("votes", "given_share", 1, percent=True, group="of it, on labels that were given, %"),
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
