"""Errors item by item, of systems and of samples of human votes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.calibration import expected_calibration_error
from chaos_utils.metrics.divergence import kl_divergence, total_variation
from chaos_utils.metrics.measures import BAAN_BINS
from chaos_utils.metrics.resampling import percentile_interval, split_votes
from chaos_utils.metrics.scores import top_label
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import load_systems

Floats = npt.NDArray[np.float64]
N_VOTES = 20  # in each of H1 and H2
N_BINS = 30  # of the histograms of item errors, on [0, 1]
PSEUDO_COUNT = 0.5  # is added to every bin of a smoothed histogram
_DIGITS = 10  # errors are rounded so far before binning, or equal ones part at an edge
_KEYS = ["measure", "system", "temperature", "reference"]
# (system, temperature) here, and what the tables of Baan et al. (2022) call it
PUBLISHED_NAMES: dict[tuple[str, float | None], str] = {
    ("H1", None): "h1",
    ("H2", None): "h2",
    ("RoBERTa-base, seed 0", 1.0): "roberta",
    ("RoBERTa-base, seed 0", 2.0): "roberta-ts",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A system at a temperature.

    Attributes
    ----------
    predictions : System
        Flattened by the temperature already.
    temperature : float
        1 for the system as it is.
    """

    predictions: System
    temperature: float


def lineup(
    all_votes: Sequence[Votes],
    predictions: Sequence[str],
    *,
    system: str,
    temperature: float,
    trained: bool = False,
) -> dict[str, list[Entry]]:
    """Choose what is shown: one system as it is and flattened, then our own and the reader's.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    predictions : sequence of str
        Files of the reader's own.
    system : str
        Name of the system; when empty, the first at hand on the first dataset that has one.
    temperature : float
        Above 0; at 1 the system is listed once.
    trained : bool
        Whether systems that this project trained are listed beside the one chosen.

    Returns
    -------
    dict
        For every dataset name, its entries; none where the system does not predict that
        dataset and the reader brings nothing, or where no system is at hand.

    Raises
    ------
    ChaosError
        If the system is not at hand on any dataset, or the temperature is not above 0.
    """
    if not temperature > 0:
        raise ChaosError("The temperature must be above 0.", found=temperature)
    at_hand = {o.dataset.name: load_systems(o, predictions) for o in all_votes}
    names = list(dict.fromkeys(s.name for systems in at_hand.values() for s in systems))
    if system and system not in names:
        raise ChaosError("No such system.", found=system, expected=did_you_mean(system, names))
    name = system or next(iter(names), "")
    chosen: dict[str, list[Entry]] = {}
    for opinions in all_votes:
        entries: list[Entry] = []
        for candidate in at_hand[opinions.dataset.name]:
            if candidate.name == name:
                both = dict.fromkeys([1.0, temperature])
                entries = [Entry(candidate.at_temperature(t), t) for t in both] + entries
            elif candidate.origin == "yours" or (trained and candidate.origin == "trained"):
                entries.append(Entry(candidate, 1.0))
        chosen[opinions.dataset.name] = entries
    return chosen


def sample_errors(opinions: Votes, entries: Sequence[Entry], seed: int) -> pd.DataFrame:
    """DistCE of every item, for two disjoint samples of its votes and for systems.

    Parameters
    ----------
    opinions : Votes
        A dataset whose items have more than 40 votes each.
    entries : sequence of Entry
        Systems on that dataset.
    seed : int
        Seed of the samples.

    Returns
    -------
    DataFrame
        One row for each item and contender: ``dataset``, ``uid``, ``system`` (H1 and H2 are
        the samples), ``temperature`` (NaN for these), ``dist_ce`` against all votes.
    """
    samples, references = _draw(opinions, seed)
    parts = [
        pd.DataFrame(
            {
                "dataset": opinions.dataset.name,
                "uid": [opinions.uids[i] for i in contender.rows],
                "system": contender.system,
                "temperature": contender.temperature,
                "dist_ce": total_variation(references["all"][contender.rows], contender.shares),
            }
        )
        for contender in [*samples, *_contenders(opinions, entries)]
    ]
    return pd.concat(parts, ignore_index=True)


def errors_by_seed(
    opinions: Votes, entries: Sequence[Entry], *, n_seeds: int, first_seed: int
) -> pd.DataFrame:
    """Judge samples of human votes, and systems, for many draws of the samples.

    For each seed, H1 and H2 are disjoint samples of 20 of every item's votes. Both are
    judged against all votes, which contain them, and against votes that do not. Labels of
    a reference are the first of those with most of its votes.

    Parameters
    ----------
    opinions : Votes
        A dataset whose items have more than 40 votes each.
    entries : sequence of Entry
        Systems on that dataset.
    n_seeds : int
        At least 2.
    first_seed : int
        The seeds are this and the following.

    Returns
    -------
    DataFrame
        One row for each seed and ``measure``, ``system``, ``temperature`` (NaN for H1 and
        H2), ``reference``: ``value``. The measures ``ece`` and ``dist_ce`` have the
        references ``all``, ``outside_both`` (votes in neither H1 nor H2) and, for H1,
        ``outside_h1``. The others compare the histogram of H1's item errors against all
        votes with that of another: ``kl`` (nats, KL(H1 ‖ ·), 30 bins on [0, 1], as
        released by Baan et al. (2022): infinite where the other has an empty bin),
        ``kl_smoothed`` (one half added to every bin), ``tvd``.

    Raises
    ------
    ChaosError
        If an item has too few votes, or `n_seeds` is below 2.
    """
    if n_seeds < 2:
        raise ChaosError("A spread needs at least two seeds.", where="n_seeds", found=n_seeds)
    systems = _contenders(opinions, entries)
    tables = []
    for seed in range(first_seed, first_seed + n_seeds):
        samples, references = _draw(opinions, seed)
        rows = [*_judge(samples, systems, references), *_compare(samples, systems, references)]
        table = pd.DataFrame(rows, columns=[*_KEYS, "value"])
        table.insert(0, "seed", seed)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True, slots=True)
class _Contender:
    system: str
    temperature: float
    shares: Floats
    rows: npt.NDArray[np.int64]  # its items' places in the opinions


def _contenders(opinions: Votes, entries: Sequence[Entry]) -> list[_Contender]:
    return [
        _Contender(
            entry.predictions.name,
            entry.temperature,
            entry.predictions.aligned_to(opinions).model,
            entry.predictions.rows_in(opinions),
        )
        for entry in entries
    ]


def _draw(opinions: Votes, seed: int) -> tuple[list[_Contender], dict[str, Floats]]:
    """Return H1 and H2, and what they may be judged against."""
    fewest = int(opinions.counts.sum(axis=1).min())
    if fewest <= 2 * N_VOTES:
        raise ChaosError(
            f"Two samples of {N_VOTES} votes and a rest need more votes an item.",
            where=opinions.dataset.title,
            found=f"an item with {fewest} votes",
            expected=f"more than {2 * N_VOTES}",
        )
    h1, h2, rest = split_votes(opinions.counts, (N_VOTES, N_VOTES), np.random.default_rng(seed))
    everything = np.arange(len(opinions))
    samples = [
        _Contender(name, np.nan, votes / N_VOTES, everything)
        for name, votes in (("H1", h1), ("H2", h2))
    ]
    outside = {"outside_h1": h2 + rest, "outside_both": rest}
    references = {name: votes / votes.sum(axis=1, keepdims=True) for name, votes in outside.items()}
    return samples, {"all": opinions.shares} | references


def _judge(
    samples: Sequence[_Contender], systems: Sequence[_Contender], references: dict[str, Floats]
) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for contender in [*samples, *systems]:
        for name, shares in references.items():
            if name == "outside_h1" and contender.system != "H1":
                continue
            target = shares[contender.rows]
            gold = top_label(target, ties="first")
            ece = expected_calibration_error(contender.shares, gold, BAAN_BINS)
            dist_ce = float(total_variation(target, contender.shares).mean())
            key = (contender.system, contender.temperature, name)
            found += [("ece", *key, ece), ("dist_ce", *key, dist_ce)]
    return found


def _compare(
    samples: Sequence[_Contender], systems: Sequence[_Contender], references: dict[str, Floats]
) -> list[tuple[object, ...]]:
    first, *others = [
        (contender, total_variation(references["all"][contender.rows], contender.shares))
        for contender in [*samples, *systems]
    ]
    found: list[tuple[object, ...]] = []
    for contender, errors in others:
        for measure, value in compare_histograms(first[1], errors).items():
            found.append((measure, contender.system, contender.temperature, "all", value))
    return found


def compare_histograms(one: npt.ArrayLike, other: npt.ArrayLike) -> dict[str, float]:
    """Compare the distributions of two sets of item errors by their histograms.

    Parameters
    ----------
    one, other : array_like of float, shapes (n,) and (m,)
        Errors in [0, 1].

    Returns
    -------
    dict
        ``kl``: KL(one ‖ other) in nats, unsmoothed, in [0, inf]; errors fall into bins as
        floating point leaves them, as in the code that Baan et al. (2022) released.
        ``kl_smoothed``: the same with one half added to every bin. ``tvd``: total variation
        distance of the histograms, in [0, 1]. For these two, errors are rounded to ten
        digits first, so that equal errors share a bin.
    """
    raw = [np.histogram(errors, N_BINS, (0, 1))[0] for errors in (one, other)]
    edges = np.linspace(0, 1, N_BINS + 1).round(_DIGITS)
    counts = [
        np.histogram(np.round(np.asarray(errors, dtype=np.float64), _DIGITS), edges)[0]
        for errors in (one, other)
    ]
    return {
        "kl": _kl(raw[0], raw[1]),
        "kl_smoothed": _kl(counts[0] + PSEUDO_COUNT, counts[1] + PSEUDO_COUNT),
        "tvd": float(total_variation(*(_normalised(n) for n in counts))[0]),
    }


def _kl(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> float:
    return float(kl_divergence(_normalised(one), _normalised(other), unit="nats", floor=0)[0])


def _normalised(counts: npt.NDArray[np.generic]) -> Floats:
    values = np.asarray(counts, dtype=np.float64)[np.newaxis]
    return values / values.sum()


def summarise_seeds(opinions: Votes, by_seed: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over seeds, and where Table 2 of Baan et al. (2022) lies among them.

    Parameters
    ----------
    opinions : Votes
        The dataset; the paper's numbers stand beside the released SNLI votes alone.
    by_seed : DataFrame
        As `errors_by_seed` gives it.

    Returns
    -------
    DataFrame
        One row for each measure, system, temperature and reference: ``n_seeds``,
        ``infinite_share``; over the seeds with a finite value ``mean``, ``sd``, and the
        ends ``low`` and ``high`` of their middle 95%. For the paper's notebook and its
        text: ``published_…``, ``difference_…`` (mean minus published) and
        ``percentile_…``, the percentage of these seeds below the published value. Spread
        and percentile are NaN where the value does not depend on the seed.
    """
    published = _published_table_2() if is_released_snli(opinions) else {}
    rows = []
    for key, group in by_seed.groupby(_KEYS, sort=False, dropna=False):
        measure, system, temperature, reference = key
        values = group["value"].to_numpy()
        finite = values[np.isfinite(values)]
        varies = len(np.unique(finite)) > 1
        low, high = percentile_interval(finite) if varies else (np.nan, np.nan)
        row = {"dataset": opinions.dataset.name} | dict(zip(_KEYS, key, strict=True))
        row |= {
            "n_seeds": len(values),
            "infinite_share": 1 - len(finite) / len(values),
            "mean": finite.mean() if len(finite) else np.nan,
            "sd": finite.std(ddof=1) if varies else np.nan,
            "low": float(low),
            "high": float(high),
        }
        name = PUBLISHED_NAMES.get((system, None if np.isnan(temperature) else temperature), "")
        for source in ("notebook", "text"):
            value = np.nan
            if reference == "all":
                value = published.get((measure, name, source), np.nan)
            below = ((finite < value) + 0.5 * (finite == value)).mean() if varies else np.nan
            row |= {
                f"published_{source}": value,
                f"difference_{source}": row["mean"] - value,
                f"percentile_{source}": np.nan if np.isnan(value) else 100 * below,
            }
        rows.append(row)
    order = {name: i for i, name in enumerate(("ece", "dist_ce", "kl", "kl_smoothed", "tvd"))}
    table = pd.DataFrame(rows)
    return table.sort_values(
        "measure", key=lambda column: column.map(order), kind="stable", ignore_index=True
    )


def is_released_snli(opinions: Votes) -> bool:
    """Return whether these are the votes that the paper's numbers on systems are of.

    Parameters
    ----------
    opinions : Votes

    Returns
    -------
    bool
    """
    return opinions.dataset.name == "snli" and opinions.is_released


def _published_table_2() -> dict[tuple[str, str, str], float]:
    """Published values by measure, the paper's name of the system, and place."""
    found = {}
    for row in read_published("baan2022_table2").to_dict("records"):
        place = "notebook" if row["source"] == "released notebook" else "text"
        for measure, column in (("ece", "ece"), ("dist_ce", "dist_ce"), ("kl", "kl_from_h1")):
            found[measure, row["system"], place] = row[column]
    return found
