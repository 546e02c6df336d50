"""How good is good: errors of systems beside those of small samples of human votes."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import (
    agrees,
    in_paper,
    prediction_files,
    published_beside,
    rows_about,
)
from chaos_utils.analyses.evidence import Material
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.calibration import expected_calibration_error
from chaos_utils.metrics.divergence import kl_divergence, total_variation
from chaos_utils.metrics.measures import BAAN_BINS
from chaos_utils.metrics.resampling import percentile_interval, split_votes
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import MISSING, Column, Row
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
N_VOTES = 20  # in each of H1 and H2
RELEASED_SEED = 1  # of the draw in the notebook that Baan et al. (2022) released
TEMPERATURE = 2.0  # of its scaled model
N_BINS = 30  # of the histograms of item errors, on [0, 1]
PSEUDO_COUNT = 0.5  # is added to every bin of a smoothed histogram
DIGITS = 10  # values are rounded so far before binning, or equal ones part at an edge
SYSTEM = ("dataset", "system", "origin", "temperature")
_KEYS = ("measure", *SYSTEM, "reference")
_MEASURES = {
    "ece": "ECE",
    "dist_ce": "mean DistCE",
    "kl": "KL(H1 ‖ ·)",
    "kl_smoothed": "KL(H1 ‖ ·), smoothed",
    "tvd": "TVD of histograms",
}
_REFERENCES = {"all": "all", "outside_h1": "not in H1", "outside_both": "in neither"}
_PUBLISHED = {"ece": "ece", "dist_ce": "dist_ce", "kl": "kl_from_h1"}
_PAPER = ("baan2022_table2", "baan2022_systems")


# Which systems are shown


def lineup(
    systems: Iterable[System], *, system: str, temperature: float, trained: bool
) -> list[System]:
    """Choose what is shown: one system as it is and flattened, then our own and the reader's.

    The one is the first where `system` is empty, and missing where it does not predict the dataset;
    at a temperature of 1 it is listed once. Those that this project trained are there if `trained`.
    """
    if not temperature > 0:
        raise ChaosError("The temperature must be above 0.", found=temperature)
    several = list(systems)
    name = system or next((one.name for one in several), "")
    shown = ("trained", "yours") if trained else ("yours",)
    found = [one for one in several if one.name == name]
    both = [one.at_temperature(t) for one in found for t in dict.fromkeys([1.0, temperature])]
    return both + [one for one in several if one.name != name and one.origin in shown]


def check_system(material: Material, system: str) -> None:
    """Fail where a reader names a system that predicts no dataset."""
    if not system:
        return
    names = list(dict.fromkeys(one.name for one in material.systems))
    if system not in names:
        raise ChaosError("No such system.", found=system, expected=did_you_mean(system, names))


def _keys(system: System) -> dict[str, object]:
    return {name: system.keys[name] for name in SYSTEM}


def title(row: Row) -> str:
    """Return what a row's system is called in a table."""
    return unbroken(system_title(row["system"], row["origin"], row["temperature"]))


def unbroken(name: str) -> str:
    """Let a system's name break after its commas alone."""
    together = str.maketrans({"-": "\u2011", " ": "\u00a0"})  # hyphen and space without a break
    return name.translate(together).replace(",\u00a0", ", ")


# Samples of votes


def draw_samples(votes: Votes, seed: int) -> tuple[list[System], dict[str, Votes]]:
    """Draw H1 and H2, disjoint samples of 20 of each item's votes, which are more than 40.

    Beside them: what they may be judged by, ``all`` votes, those ``outside_h1`` or
    ``outside_both``.
    """
    _check_votes(votes)
    h1, h2, rest = split_votes(votes.counts, (N_VOTES, N_VOTES), np.random.default_rng(seed))
    return _samples(votes, h1, h2, rest)


def _check_votes(votes: Votes) -> None:
    fewest = int(votes.n_votes.min())
    if fewest <= 2 * N_VOTES:
        raise ChaosError(
            f"Two samples of {N_VOTES} votes and a rest need more votes per item.",
            where=votes.dataset.title,
            found=f"an item with {fewest} votes",
            expected=f"more than {2 * N_VOTES}",
        )


def _samples(votes: Votes, h1: Ints, h2: Ints, rest: Ints) -> tuple[list[System], dict[str, Votes]]:
    samples = [
        computed(name, votes, counts / N_VOTES, origin="reference")
        for name, counts in (("H1", h1), ("H2", h2))
    ]
    outside_h1, outside_both = (replace(votes, counts=counts) for counts in (h2 + rest, rest))
    return samples, {"all": votes, "outside_h1": outside_h1, "outside_both": outside_both}


def draw_released_samples(
    votes: Votes, systems: Iterable[System] = ()
) -> tuple[list[System], dict[str, Votes]]:
    """Draw H1 and H2 as the notebook that Baan et al. (2022) released does.

    One generator, item after item: the item's votes in the order of the labels are shuffled; the
    first 20 are H1, the next 20 H2. Items come as in the released predictions of the paper's model,
    those on the test half of the development set first, where these are available; else as in the
    votes. What is returned is as for `draw_samples`.
    """
    _check_votes(votes)
    rng = np.random.default_rng(RELEASED_SEED)
    samples = np.zeros((2, *votes.counts.shape), dtype=np.int64)
    labels = np.arange(votes.dataset.n_classes)
    for row in _released_order(votes, systems):
        of_item = np.repeat(labels, votes.counts[row])
        chosen = of_item[rng.permutation(len(of_item))[: 2 * N_VOTES]].reshape(2, N_VOTES)
        samples[:, row] = (chosen[..., np.newaxis] == labels).sum(axis=1)
    h1, h2 = samples
    return _samples(votes, h1, h2, votes.counts - h1 - h2)


def _released_order(votes: Votes, systems: Iterable[System]) -> list[int]:
    rows = {uid: row for row, uid in enumerate(votes.uids)}
    found: list[int] = []
    if votes.is_released:
        first: System | None = next(iter(in_paper(systems)), None)
        for path in reversed(prediction_files(votes, first) if first else []):
            uids = (json.loads(line)["uid"] for line in path.read_text("utf-8").splitlines())
            found += [rows[uid] for uid in uids if uid in rows]
    return found if len(found) == len(rows) else list(rows.values())


def counted(values: npt.ArrayLike, edges: Floats) -> Ints:
    """Return how many values fall into each bin, whatever the last digits of them and its edges."""
    given = np.asarray(values, dtype=np.float64)
    found: Ints = np.histogram(given.round(DIGITS), edges.round(DIGITS))[0]
    return found


def histogram(keys: Row, values: Floats, edges: Floats) -> pd.DataFrame:
    """Return rows for a histogram: keys, ``bin_low``, ``bin_high``, ``n``, ``n_items``, ``mean``.

    The last two are of all the values, so that the mean can be marked.
    """
    counts = counted(values, edges)
    bins = {"bin_low": edges[:-1].round(DIGITS), "bin_high": edges[1:].round(DIGITS), "n": counts}
    return pd.DataFrame(dict(keys) | bins | {"n_items": len(values), "mean": values.mean()})


@recorded(keys=(*SYSTEM, "bin_low"))
def error_histograms(
    votes: Votes, systems: Sequence[System], *, system: str, temperature: float, seed: int
) -> pd.DataFrame:
    """Count items by their DistCE against all votes, for H1 and H2 and for the systems of `lineup`.

    One row for each system and bin, see `histogram`.
    """
    chosen = lineup(systems, system=system, temperature=temperature, trained=True)
    samples, _ = draw_samples(votes, seed)
    edges = np.linspace(0, 1, N_BINS + 1)
    parts = [histogram(_keys(one), _item_errors(votes, one), edges) for one in (*samples, *chosen)]
    return pd.concat(parts, ignore_index=True)


def _item_errors(votes: Votes, system: System) -> Floats:
    judged = system.aligned_to(votes)
    return total_variation(judged.human, judged.model)


# The draw of the released notebook


@recorded(keys=_KEYS, published=_PAPER)
def released_draw(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Judge the notebook's own H1 and H2 (`draw_released_samples`), beside what it printed.

    One row for each ``measure`` (``ece``, ``dist_ce``, ``kl``: KL(H1 ‖ ·) of `compare_histograms`),
    each of H1, H2 and the first of the paper's models at temperatures 1 and 2, and each
    ``reference``: ``all`` votes, or those ``outside_both``. Columns: the system's keys, ``value``,
    ``published`` (NaN where nothing was), and ``agrees``: whether the value is the published one to
    the digits printed (<NA> where nothing was).
    """
    published = published_beside(votes, "baan2022_table2")
    published = published[published["source"] == "released notebook"]
    models = [one.at_temperature(t) for one in in_paper(systems)[:1] for t in (1.0, TEMPERATURE)]
    samples, judges = draw_released_samples(votes, systems)
    rows = []
    for reference in ("all", "outside_both"):
        judge = judges[reference]
        of_h1 = _item_errors(judge, samples[0])
        for system in (*samples, *models):
            values = {measure: value for measure, _, value in _judge(system, {reference: judge})}
            if system.name != "H1":
                values["kl"] = compare_histograms(of_h1, _item_errors(judge, system))["kl"]
            theirs = rows_about(published, system.keys).query("reference == @reference")
            for measure, value in values.items():
                printed = theirs[_PUBLISHED[measure]].dropna()
                one = float(printed.iloc[0]) if len(printed) else np.nan
                same = agrees(value, one) if len(printed) else None
                rows.append(
                    {"measure": measure, **system.keys, "reference": reference}
                    | {"value": value, "published": one, "agrees": same}
                )
    table = pd.DataFrame(rows).astype({"seed": "Int64", "agrees": "boolean"})
    return in_order_of(table, "measure", _MEASURES)


# Many draws


@recorded(keys=_KEYS, published=_PAPER)
def error_divergence(
    votes: Votes,
    systems: Sequence[System],
    *,
    system: str,
    temperature: float,
    n_seeds: int,
    seed: int,
) -> pd.DataFrame:
    """Judge H1 and H2, and systems, over many draws, beside Table 2 of Baan et al. (2022).

    One row for each ``measure`` and ``reference`` of `errors_by_draw` and each system. Over the
    draws with a finite value: ``mean``, ``sd``, and the ends of their middle 95%. For the paper's
    notebook and its text: ``difference_…`` (mean minus published) and ``percentile_…``, the
    percentage of these draws below the published value. Spread and percentile are NaN where the
    value does not depend on the draw.
    """
    chosen = lineup(systems, system=system, temperature=temperature, trained=True)
    return summarise_draws(votes, errors_by_draw(votes, chosen, n_seeds=n_seeds, first_seed=seed))


def errors_by_draw(
    votes: Votes, systems: Sequence[System], *, n_seeds: int, first_seed: int
) -> pd.DataFrame:
    """Judge H1, H2 and systems for many draws of the samples, which have the seeds from the first.

    Each draw, system, ``measure`` and ``reference`` has a ``value``. ``ece`` and ``dist_ce`` are
    against ``all`` votes, which contain the samples, and against those ``outside_both`` or, for H1,
    ``outside_h1``; gold labels are the first of those with most of these votes. The measures of
    `compare_histograms` compare H1's item errors against all votes with those of another.
    """
    if n_seeds < 2:
        raise ChaosError("A spread needs at least two seeds.", where="n_seeds", found=n_seeds)
    rows = []
    for seed in range(first_seed, first_seed + n_seeds):
        samples, judges = draw_samples(votes, seed)
        of_h1 = _item_errors(votes, samples[0])
        for system in (*samples, *systems):
            found = list(_judge(system, judges))
            if system.name != "H1":
                compared = compare_histograms(of_h1, _item_errors(votes, system))
                found += [(measure, "all", value) for measure, value in compared.items()]
            rows += [
                {"draw": seed, "measure": measure, **system.keys, "reference": name, "value": value}
                for measure, name, value in found
            ]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _judge(system: System, judges: dict[str, Votes]) -> Iterator[tuple[str, str, float]]:
    for name, votes in judges.items():
        if name != "outside_h1" or system.name == "H1":
            judged = system.aligned_to(votes)
            gold = judged.first_majority
            yield "ece", name, expected_calibration_error(judged.model, gold, BAAN_BINS)
            yield "dist_ce", name, float(total_variation(judged.human, judged.model).mean())


def compare_histograms(one: npt.ArrayLike, other: npt.ArrayLike) -> dict[str, float]:
    """Compare the distributions of two sets of item errors, in [0, 1], by their histograms.

    ``kl``: KL(one ‖ other) in nats, unsmoothed, up to infinity; errors fall into bins as floating
    point leaves them, as in the code that Baan et al. (2022) released. ``kl_smoothed``: the same
    with one half added to every bin. ``tvd``: total variation distance of the histograms. For these
    two, errors are rounded to ten digits first, so that equal errors share a bin.
    """
    # Not rounded on purpose: the paper's KL is that of its code, whose errors part at edges.
    raw = [np.histogram(errors, N_BINS, (0, 1))[0] for errors in (one, other)]
    counts = [counted(errors, np.linspace(0, 1, N_BINS + 1)) for errors in (one, other)]
    raw, even, smoothed = (
        [(n + more)[np.newaxis] / (n + more).sum() for n in pair]
        for pair, more in ((raw, 0.0), (counts, 0.0), (counts, PSEUDO_COUNT))
    )
    return {
        "kl": float(kl_divergence(*raw, unit="nats", floor=0)[0]),
        "kl_smoothed": float(kl_divergence(*smoothed, unit="nats", floor=0)[0]),
        "tvd": float(total_variation(*even)[0]),
    }


def share_below(values: npt.ArrayLike, value: float) -> float:
    """Return the share of values below another; those equal to it count half."""
    found = np.asarray(values, dtype=np.float64)
    return float(((found < value) + 0.5 * (found == value)).mean())


def summarise_draws(votes: Votes, by_draw: pd.DataFrame) -> pd.DataFrame:
    """Return mean and spread of `errors_by_draw`, beside Table 2 of Baan et al. (2022)."""
    published = published_beside(votes, "baan2022_table2")
    keys = [name for name in by_draw.columns if name not in ("draw", "value")]
    rows = []
    for key, group in by_draw.groupby(keys, sort=False, dropna=False):
        row = dict(zip(keys, key, strict=True))
        values = group["value"].to_numpy().round(DIGITS)
        finite = values[np.isfinite(values)]
        varies = len(np.unique(finite)) > 1
        low, high = percentile_interval(finite) if varies else (np.nan, np.nan)
        row |= {"n_seeds": len(values), "infinite_share": 1 - len(finite) / len(values)}
        row["mean"] = finite.mean() if len(finite) else np.nan
        row["sd"] = finite.std(ddof=1) if varies else np.nan
        row |= {"low": float(low), "high": float(high)}
        theirs = rows_about(published, row)
        theirs = theirs[theirs["reference"] == row["reference"]]
        in_notebook = theirs["source"] == "released notebook"
        for source, of_source in (("notebook", in_notebook), ("text", ~in_notebook)):
            value = np.nan
            if row["measure"] in _PUBLISHED and of_source.any():
                value = float(theirs.loc[of_source, _PUBLISHED[row["measure"]]].iloc[0])
            known = varies and not np.isnan(value)
            row |= {
                f"published_{source}": value,
                f"difference_{source}": row["mean"] - value,
                f"percentile_{source}": 100 * share_below(finite, value) if known else np.nan,
            }
        rows.append(row)
    return in_order_of(pd.DataFrame(rows).astype({"seed": "Int64"}), "measure", _MEASURES)


def beside_published(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `error_divergence`, one for each value of the paper's notebook and text.

    With ``source``, ``published``, ``difference`` and ``percentile``; rows without a published
    value stay, once.
    """
    parts = []
    for source in ("notebook", "text"):
        names = {f"{what}_{source}": what for what in ("published", "difference", "percentile")}
        parts.append(table.rename(columns=names).assign(source=source))
    known = [part[part["published"].notna()] for part in parts]
    has_none = table["published_notebook"].isna() & table["published_text"].isna()
    alone = parts[0][has_none].assign(source=None)
    found = pd.concat([known[0], known[1], alone])[list(alone.columns)]
    return found.sort_index(kind="stable")


def _as_printed(row: Row) -> str:
    value = row["published"]
    return MISSING if math.isnan(value) else f"{value:g}"


def _difference(row: Row) -> float:
    return float(row["value"] - row["published"])


def _source(row: Row) -> str:
    return row["source"] or MISSING


RELEASED_COLUMNS = [
    Column("measure", "measure", names=_MEASURES),
    Column("of", title),
    Column("against votes", "reference", names=_REFERENCES),
    Column("paper", _as_printed),
    Column("here", "value", 4),
    Column("Δ", _difference, 4, signed=True, bold=lambda row: row["agrees"] is False),
]
COLUMNS = [
    Column("measure", "measure", names=_MEASURES),
    Column("of", title),
    Column("against votes", "reference", names=_REFERENCES),
    Column("in the paper’s", _source),
    Column("paper", _as_printed),
    Column("here [95%]", "mean", 3, low="low", high="high"),
    Column("Δ", "difference", 3, signed=True),
    Column("percentile", "percentile", 0),
]
