"""Why people disagree: what others found out about items of ChaosNLI, beside its votes.

The files are companions of the votes (`datasets.companions`), joined by uid. Their texts go into no
table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.inputs import Input, digest
from chaos_utils.datasets import companions, sources
from chaos_utils.datasets.companions import LABELS
from chaos_utils.datasets.registry import registry
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.divergence import (
    Floats,
    entropy,
    jensen_shannon_distance,
    total_variation,
)
from chaos_utils.metrics.resampling import bootstrap_means, holm, percentile_interval, split_votes
from chaos_utils.report.columns import Column, Row, number
from chaos_utils.scoring.judging import part_of
from chaos_utils.scoring.system import System

READS = ("varierr/*", "nli_disagreement_taxonomy/*", "livenli/*", "ambient/crowdworker*")

Booleans = npt.NDArray[np.bool_]

# As Jiang and de Marneffe (2022) name and sort them, and as their file has them.
REASONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Lexical": ("lexical", "meaning"),
        "Implicature": ("implicature", "meaning"),
        "Presupposition": ("presupposition", "meaning"),
        "Probabilistic": ("probabilistic", "meaning"),
        "Imperfection": ("imperfection", "meaning"),
        "Coreference": ("coreference", "guidelines"),
        "Temporal": ("temporal", "guidelines"),
        "Interrogative": ("interrogative", "guidelines"),
        "Accommodating": ("accommodating", "annotators"),
        "High Overlap": ("high overlap", "annotators"),
    }
)
NO_REASON = "N/A"
STATUSES = ("plausible", "error", "not given")
NONE = "none of the ten"
PEOPLE = "people"
FEW = 20  # items; below it, a reason is not drawn
_FEWEST = 2  # items that an interval needs


@dataclass(frozen=True, slots=True)
class Companion:
    """What is read beside votes: the files whose names start so."""

    start: str
    read: Callable[[], pd.DataFrame]

    @property
    def files(self) -> list[str]:
        """Their names in the registry."""
        return [name for name in registry() if name.startswith(self.start)]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Those that are available."""
        found = ((name, sources.find(name)) for name in self.files)
        return tuple(Input(name, digest(path)) for name, path in found if path is not None)


VARIERR = Companion("varierr/", companions.read_varierr)
TAXONOMY = Companion("nli_disagreement_taxonomy/", companions.read_taxonomy)
LIVENLI = Companion("livenli/", companions.read_livenli)
AMBIENT = Companion("ambient/crowdworker", companions.read_ambient)


def joined(material: Material) -> Material:
    """Return the evidence that companions can be joined to.

    Where their files are missing, it has no votes: its tables are then recorded ones. Votes on
    other items are left out, and so are synthetic ones.
    """
    if material.synthetic:
        return replace(material, evidence=())
    missing = any(len(one.inputs) < len(one.files) for one in (VARIERR, TAXONOMY, LIVENLI))
    found: list[Evidence] = []
    for one in material:
        if one.given_votes is None or (missing and one.recordable):
            found.append(replace(one, given_votes=None, given_systems=None))
        elif not missing and (one.recordable or _are_explained(one)):
            found.append(one)
    return replace(material, evidence=tuple(found))


def _are_explained(evidence: Evidence) -> bool:
    """Return whether the taxonomy has one of the items; it has those of the released votes."""
    (votes,) = evidence.votes or ()
    return not set(votes.uids).isdisjoint(TAXONOMY.read()["uid"])


def _shared(votes: Votes, uids: "pd.Series[str]") -> Votes:
    """Return the votes on some items, in the order of the votes."""
    wanted = set(uids)
    return part_of(votes, np.array([k for k, uid in enumerate(votes.uids) if uid in wanted]))


def _interval(values: Floats, level: float) -> tuple[float, float, float]:
    """Return a mean over items and its interval by Student's t."""
    from scipy import stats

    mean = float(values.mean())
    if len(values) < _FEWEST:
        return mean, np.nan, np.nan
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * stats.sem(values)
    return mean, mean - half, mean + half


# Errors against variation


@recorded(keys=("dataset", "judges", "status", "holder"))
def errors(
    votes: Votes,
    systems: Sequence[System],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    companion: Companion,
) -> pd.DataFrame:
    """Say how much of the votes, and of the systems' probability, is on labels called errors.

    A label of an item is ``plausible`` if one of VariErr's four annotators gave it with a reason
    that holds, an ``error`` if they gave it with none that holds, or ``not given``. ``judges`` say
    whose word decides: that of its ``authors``, on a second look, or that of its ``peers``, of whom
    more than half must accept the reason.

    ``holder`` is people or a family of systems (the mean of its seeds, on the items that all of
    them predict); ``n_labels`` of these items; ``n_majority``, how many of them are the majority of
    the votes, and ``n_minority`` that are not, with ``each``, the mean share of the latter, and
    ``minority_labels``, their share of all such labels; ``share`` of all votes, and
    ``minority_share`` of those against the majority, with the ends of its bootstrap interval over
    items.
    """
    rows = companion.read()
    given = pd.DataFrame(
        {
            "uid": rows["uid"],
            "label": rows["label"],
            "authors": ~rows["error"],
            "peers": rows["peers_agree"] > rows["peers"] / 2,
        }
    )
    given = given.groupby(["uid", "label"]).any()
    found = []
    for holder, held, several in _holders(_shared(votes, rows["uid"]), systems):
        shares = np.mean(several, axis=0)
        minority = np.arange(shares.shape[1]) != held.majority[:, None]
        against = shares * minority
        for judges in ("authors", "peers"):
            status = _statuses(held, given[judges])
            for place, name in enumerate(STATUSES):
                here = status == place
                sums = np.column_stack([(against * here).sum(axis=1), against.sum(axis=1)])
                means = bootstrap_means(sums, n_resamples, np.random.default_rng(seed))
                low, high = percentile_interval(means[:, 0] / means[:, 1], confidence)
                found.append(
                    {
                        "dataset": votes.dataset.name,
                        "judges": judges,
                        "status": name,
                        "holder": holder,
                        "n_items": len(held),
                        "n_labels": here.sum(),
                        "n_majority": (here & ~minority).sum(),
                        "n_minority": (here & minority).sum(),
                        "minority_labels": (here & minority).sum() / minority.sum(),
                        "each": against[here & minority].mean(),
                        "share": (shares * here).sum() / len(held),
                        "minority_share": sums[:, 0].sum() / sums[:, 1].sum(),
                        "minority_low": float(low),
                        "minority_high": float(high),
                    }
                )
    return pd.DataFrame(found)


def _statuses(held: Votes, given: "pd.Series[bool]") -> npt.NDArray[np.int64]:
    """Return each label's place in `STATUSES`, from whether a reason holds, by uid and label."""
    status = np.full(held.counts.shape, STATUSES.index("not given"))
    for (uid, label), holds in given.items():
        if uid in held.uids:
            place = held.index(uid), held.dataset.labels.index(label)
            status[place] = STATUSES.index("plausible" if holds else "error")
    return status


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
        rows = reduce(np.intersect1d, (one.rows_in(votes) for one in several))
        if len(rows):
            held = part_of(votes, rows)
            yield family, held, [one.aligned_to(held).model for one in several]


# Reasons


def _quantities(
    votes: Votes, systems: Sequence[System], rows: pd.DataFrame
) -> Iterator[tuple[str, str, Floats, Booleans]]:
    """Yield values of the items with reasons: who has them, what they are, they, and the reasons.

    People's entropy in bits and their share of each label; each family's JSD, and by how much its
    share of a label is above people's. A family's values are the means of its seeds'.
    """
    pairs = set(zip(rows["uid"], rows["reason"], strict=True))
    names = [*REASONS, NO_REASON]
    for holder, held, several in _holders(_shared(votes, rows["uid"]), systems):
        has = np.array([[(uid, name) in pairs for name in names] for uid in held.uids])
        shares = np.mean(several, axis=0)
        if holder == PEOPLE:
            yield holder, "entropy", entropy(shares, unit="bits"), has
        else:
            far = [jensen_shannon_distance(held.shares, one, unit="nats") for one in several]
            yield holder, "jsd", np.mean(far, axis=0), has
            shares = shares - held.shares
        for place, label in enumerate(held.dataset.labels):
            yield holder, label, shares[:, place], has


@recorded(keys=("dataset", "holder", "quantity", "reason"))
def reasons(
    votes: Votes, systems: Sequence[System], *, confidence: float, companion: Companion
) -> pd.DataFrame:
    """Say how people disagree, and how far systems are from them, by reason.

    ``holder`` is people or a family of systems, on the items that all its seeds predict; the
    ``quantity`` is ``entropy`` (bits), ``jsd`` (mean of a family's seeds), or a label: people's
    share of it, or how much more of it a family has. ``kind`` of the reason, its ``n_items`` (an
    item may have several), their ``mean`` with the ends of its interval by Student's t, and
    ``overall``, the mean of the ``n_coded`` items that have at least one of the ten reasons.
    """
    rows = []
    for holder, quantity, values, has in _quantities(votes, systems, companion.read()):
        coded = ~has[:, -1]
        for code, here in zip([*REASONS, NO_REASON], has.T, strict=True):
            if not here.any():
                continue
            name, kind = REASONS.get(code, (NONE, ""))
            mean, low, high = _interval(values[here], confidence)
            if holder == PEOPLE:  # no entropy or share is below 0
                low = max(low, 0.0)
            rows.append(
                {
                    "dataset": votes.dataset.name,
                    "holder": holder,
                    "quantity": quantity,
                    "reason": name,
                    "kind": kind,
                    "n_items": here.sum(),
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "overall": values[coded].mean(),
                    "n_coded": coded.sum(),
                }
            )
    return pd.DataFrame(rows)


@recorded(keys=("dataset", "holder", "quantity"))
def explained(votes: Votes, systems: Sequence[System], *, companion: Companion) -> pd.DataFrame:
    """Say how much of what differs between items goes with their reasons.

    For each ``holder`` and ``quantity`` of `reasons`: the ``mean`` over the ``n_items`` with at
    least one of the ten reasons; ``by_reason``, the share of the variance between items that a
    regression on the reasons explains, adjusted for their number; ``p`` of its F test, and
    ``p_holm``, adjusted for all rows. ``lowest`` and ``highest`` are the reasons with the extreme
    means, among those of at least `FEW` items, and ``low`` and ``high`` these means.
    """
    names = np.array([name for name, _ in REASONS.values()])
    rows = []
    for holder, quantity, all_values, all_has in _quantities(votes, systems, companion.read()):
        coded = ~all_has[:, -1]
        values, has = all_values[coded], all_has[coded, :-1]
        often = has.sum(axis=0) >= FEW
        by_reason, p = _adjusted(values, has.astype(float))
        means = np.array([values[here].mean() for here in has.T[often]])
        ends = [means.argmin(), means.argmax()] if often.any() else []
        row = {
            "dataset": votes.dataset.name,
            "holder": holder,
            "quantity": quantity,
            "n_items": len(values),
            "mean": values.mean(),
            "by_reason": by_reason,
            "p": p,
        }
        for end, place in zip(("low", "high"), ends, strict=False):
            row |= {f"{end}est": names[often][place], end: means[place]}
        rows.append(row)
    table = pd.DataFrame(rows)
    return table.assign(p_holm=holm(table["p"]))


def _adjusted(values: Floats, has: Floats) -> tuple[float, float]:
    """Return the adjusted R² of a regression on the reasons, and p of its F test."""
    from scipy import stats

    x = np.column_stack([np.ones(len(has)), has])
    weights, _, rank, _ = np.linalg.lstsq(x, values, rcond=None)
    left = ((values - x @ weights) ** 2).sum() / (len(values) - rank)
    total = ((values - values.mean()) ** 2).sum()
    f = (total / left - (len(values) - rank)) / (rank - 1)
    p = stats.f.sf(f, rank - 1, len(values) - rank)
    return float(1 - left / (total / (len(values) - 1))), float(p)


# People who explain


@recorded(keys=("dataset", "crowd"))
def explaining(
    votes: Votes,
    *,
    n_draws: int,
    confidence: float,
    seed: int,
    companion: Companion,
) -> pd.DataFrame:
    """Compare LiveNLI's people, who explain and may name several labels, with the votes.

    For those who explained and, beside them, as many of those who voted (means over draws):
    ``n_items`` and ``n_people`` on each; ``bits``, the mean entropy of their shares; ``tvd``, from
    the votes that were not drawn; ``several``, the share of answers that name several labels;
    ``farther``, how much larger the TVD of those who explained is; each with the ends of its
    interval by Student's t over items.
    """
    rows = companion.read()
    held = _shared(votes, rows["uid"])
    here = rows[rows["uid"].isin(held.uids)]
    labels = list(held.dataset.labels)
    by_item = here.groupby("uid")
    answers = by_item[labels].mean().loc[list(held.uids)].to_numpy()
    size = int(by_item.size().min())
    several = here[labels].max(axis=1).lt(1).groupby(here["uid"]).mean()[list(held.uids)].to_numpy()
    rng = np.random.default_rng(seed)
    n_rest = int(held.n_votes.min()) - size
    draws = [split_votes(held.counts, (size, n_rest), rng)[:2] for _ in range(n_draws)]
    drawn = [(few / size, rest / n_rest) for few, rest in draws]
    compared = {
        "explained": {
            "bits": entropy(answers, unit="bits"),
            "tvd": np.mean([total_variation(rest, answers) for _, rest in drawn], axis=0),
            "several": several,
        },
        "voted": {
            "bits": np.mean([entropy(few, unit="bits") for few, _ in drawn], axis=0),
            "tvd": np.mean([total_variation(rest, few) for few, rest in drawn], axis=0),
        },
    }
    farther = compared["explained"]["tvd"] - compared["voted"]["tvd"]
    compared["explained"]["farther"] = farther
    found = []
    for crowd, values in compared.items():
        row: dict[str, object] = {"dataset": votes.dataset.name, "crowd": crowd,
                                  "n_items": len(held), "n_people": size}  # fmt: skip
        for name in ("bits", "tvd", "several", "farther"):
            ends = _interval(values[name], confidence) if name in values else (np.nan,) * 3
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        found.append(row)
    return pd.DataFrame(found)


# Readings of an ambiguous sentence


@recorded(keys=("dataset", "shown", "majority"))
def readings(votes: Votes, *, confidence: float, companion: Companion) -> pd.DataFrame:
    """Count pairs by the size of their majority, as they are written and on each reading.

    For each size of ``majority`` (votes): the ``share`` of pairs ``shown`` as written, on one of
    their readings, or on a sentence that is none (a distractor). Repeated for each: ``n_shown``,
    their mean entropy in ``bits``, and ``apart``, the chance that two people differ; ``removed`` is
    the mean difference over pairs of the entropy as written and on their readings, with the ends of
    its interval by Student's t.
    """
    rows = companion.read()
    counts = rows[list(votes.dataset.labels)].to_numpy()
    rows["bits"] = entropy(counts / counts.sum(axis=1, keepdims=True), unit="bits")
    rows["apart"] = quadratic_entropy(counts)
    rows["majority"] = counts.max(axis=1)
    rows["shown"] = "a reading"
    rows.loc[rows["distractor"], "shown"] = "a distractor"
    rows.loc[rows["reading"] == 0, "shown"] = "as written"
    means = rows.pivot_table(index="uid", columns="shown", values="bits")
    size = int(counts.sum(axis=1).max())
    fewest = -(-size // len(LABELS))
    found = []
    for shown, some in rows.groupby("shown", sort=False):
        ends = (np.nan,) * 3
        if shown != "as written":
            ends = _interval((means["as written"] - means[shown]).dropna().to_numpy(), confidence)
        for majority in range(fewest, size + 1):
            found.append(
                {
                    "dataset": votes.dataset.name,
                    "shown": shown,
                    "majority": majority,
                    "share": (some["majority"] == majority).mean(),
                    "n_shown": len(some),
                    "n_votes": size,
                    "bits": some["bits"].mean(),
                    "apart": some["apart"].mean(),
                    "removed": ends[0],
                    "removed_low": ends[1],
                    "removed_high": ends[2],
                }
            )
    return pd.DataFrame(found)


_STATUS_NAMES = {
    "plausible": "given, and an explanation holds",
    "error": "given, and no explanation holds",
    "not given": "given by none of the four",
}
ERROR_COLUMNS = [
    Column("judged by", "judges"),
    Column("label", "status", names=_STATUS_NAMES),
    Column("labels", "n_labels", 0),
    Column("of them the majority", "n_majority", 0),
    Column("a minority label has, %", "each", 1, percent=True),
    Column("of all votes, %", "share", 1, percent=True),
    Column("of minority labels, %", "minority_labels", 1, percent=True),
    Column(
        "of minority votes, %", "minority_share", 1, "minority_low", "minority_high", percent=True
    ),
]


_QUANTITIES = {"entropy": "entropy, bits", "jsd": "JSD"}


def _what(row: Row) -> str:
    name = str(row["quantity"])
    return _QUANTITIES.get(name, name if row["holder"] == PEOPLE else f"{name}, above people’s")


def _p(row: Row) -> str:
    return "< 0.001" if row["p_holm"] < 0.0005 else f"{row['p_holm']:.3f}"


def _extreme(end: str) -> Callable[[Row], str]:
    return lambda row: f"{row[f'{end}est']} ({number(row[end], 2)})"


EXPLAINED_COLUMNS = [
    Column("of", "holder"),
    Column("what", _what),
    Column("mean", "mean", 2),
    Column("lowest", _extreme("low"), group="mean by reason"),
    Column("highest", _extreme("high"), group="mean by reason"),
    Column("by reason, %", "by_reason", 1, percent=True),
    Column("p", _p),
]
EXPLAINING_COLUMNS = [
    Column(
        "ten people per item",
        "crowd",
        names={"explained": "who explained (LiveNLI)", "voted": "who voted (ChaosNLI)"},
    ),
    Column("entropy, bits", "bits", 2, "bits_low", "bits_high"),
    Column("TVD from the votes", "tvd", 3, "tvd_low", "tvd_high"),
    Column("several labels, %", "several", 0, "several_low", "several_high", percent=True),
]
