"""Errors item by item, of systems and of samples of human votes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.baan import published_beside, rows_about
from chaos_utils.metrics.calibration import expected_calibration_error
from chaos_utils.metrics.divergence import kl_divergence, total_variation
from chaos_utils.metrics.measures import BAAN_BINS
from chaos_utils.metrics.resampling import percentile_interval, split_votes
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed, load_systems

Floats = npt.NDArray[np.float64]
N_VOTES = 20  # in each of H1 and H2
N_BINS = 30  # of the histograms of item errors, on [0, 1]
PSEUDO_COUNT = 0.5  # is added to every bin of a smoothed histogram
_DIGITS = 10  # errors are rounded so far before binning, or equal ones part at an edge
_MEASURES = ("ece", "dist_ce", "kl", "kl_smoothed", "tvd")
_PUBLISHED = {"ece": "ece", "dist_ce": "dist_ce", "kl": "kl_from_h1"}


def lineup(
    all_votes: Sequence[Votes],
    predictions: Sequence[str],
    *,
    system: str,
    temperature: float,
    trained: bool = False,
) -> dict[str, list[System]]:
    """Choose what is shown: one system as it is and flattened, then our own and the reader's.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    predictions : sequence of str
        Files of the reader's own.
    system : str
        Its name; when empty, the first on the first dataset that has one.
    temperature : float
        Above 0; at 1 the system is listed once.
    trained : bool
        Whether systems that this project trained are listed beside the one chosen.

    Returns
    -------
    dict
        For every dataset name, its systems; none where the chosen one does not predict that
        dataset and the reader brings nothing, or where no system is available.
    """
    if not temperature > 0:
        raise ChaosError("The temperature must be above 0.", found=temperature)
    available = {votes.dataset.name: load_systems(votes, predictions) for votes in all_votes}
    names = list(dict.fromkeys(s.name for systems in available.values() for s in systems))
    if system and system not in names:
        raise ChaosError("No such system.", found=system, expected=did_you_mean(system, names))
    name = system or next(iter(names), "")
    shown = ("trained", "yours") if trained else ("yours",)
    chosen: dict[str, list[System]] = {}
    for dataset, systems in available.items():
        found = [one for one in systems if one.name == name]
        both = [one.at_temperature(t) for one in found for t in dict.fromkeys([1.0, temperature])]
        others = [one for one in systems if one.name != name and one.origin in shown]
        chosen[dataset] = both + others
    return chosen


def draw_samples(votes: Votes, seed: int) -> tuple[list[System], dict[str, Votes]]:
    """Draw H1 and H2, disjoint samples of 20 of each item's votes.

    Parameters
    ----------
    votes : Votes
        More than 40 per item.

    Returns
    -------
    samples : list of System
        H1 and H2.
    judges : dict of Votes
        What they may be judged by: ``all`` votes, those ``outside_h1``, or ``outside_both``.
    """
    fewest = int(votes.n_votes.min())
    if fewest <= 2 * N_VOTES:
        raise ChaosError(
            f"Two samples of {N_VOTES} votes and a rest need more votes per item.",
            where=votes.dataset.title,
            found=f"an item with {fewest} votes",
            expected=f"more than {2 * N_VOTES}",
        )
    h1, h2, rest = split_votes(votes.counts, (N_VOTES, N_VOTES), np.random.default_rng(seed))
    samples = [
        computed(name, votes, counts / N_VOTES, origin="reference")
        for name, counts in (("H1", h1), ("H2", h2))
    ]
    outside = {"outside_h1": h2 + rest, "outside_both": rest}
    judges = {name: replace(votes, counts=counts) for name, counts in outside.items()}
    return samples, {"all": votes} | judges


def sample_errors(votes: Votes, systems: Sequence[System], seed: int) -> pd.DataFrame:
    """Compute DistCE of every item, for H1 and H2 and for systems, against all votes.

    Returns, for each system and item, the system's keys, ``uid`` and ``dist_ce``; `seed` is that
    of `draw_samples`.
    """
    samples, _ = draw_samples(votes, seed)
    parts = [
        pd.DataFrame(
            system.keys
            | {
                "uid": [votes.uids[i] for i in system.rows_in(votes)],
                "dist_ce": _item_errors(votes, system),
            }
        )
        for system in (*samples, *systems)
    ]
    return pd.concat(parts, ignore_index=True).astype({"seed": "Int64"})


def _item_errors(votes: Votes, system: System) -> Floats:
    judged = system.aligned_to(votes)
    return total_variation(judged.human, judged.model)


def errors_by_draw(
    votes: Votes, systems: Sequence[System], *, n_seeds: int, first_seed: int
) -> pd.DataFrame:
    """Judge samples of human votes, and systems, for many draws of the samples.

    All are judged against all votes, which contain the samples, and against votes that do not.
    Labels of a reference are the first of those with most of its votes.

    Parameters
    ----------
    n_seeds : int
        At least 2.
    first_seed : int
        The seeds of `draw_samples` are this and the following.

    Returns
    -------
    DataFrame
        One row for each draw (its seed), system (its keys), ``measure`` and ``reference``:
        ``value``. The measures ``ece`` and ``dist_ce`` have the references ``all``,
        ``outside_both`` (votes in neither H1 nor H2) and, for H1, ``outside_h1``. The others
        compare the histogram of H1's item errors against all votes with that of another:
        ``kl`` (nats, KL(H1 ‖ ·), 30 bins on [0, 1], as released by Baan et al. (2022):
        infinite where the other has an empty bin), ``kl_smoothed`` (one half added to every
        bin), ``tvd``.
    """
    if n_seeds < 2:
        raise ChaosError("A spread needs at least two seeds.", where="n_seeds", found=n_seeds)
    rows = []
    for seed in range(first_seed, first_seed + n_seeds):
        samples, judges = draw_samples(votes, seed)
        everyone = [*samples, *systems]
        for found in (_judge(everyone, judges), _compare(everyone, votes)):
            for system, measure, reference, value in found:
                row = {"measure": measure, **system.keys, "reference": reference, "value": value}
                rows.append({"draw": seed} | row)
    return pd.DataFrame(rows).astype({"seed": "Int64"})


_Found = Iterator[tuple[System, str, str, float]]


def _judge(systems: Sequence[System], judges: dict[str, Votes]) -> _Found:
    for system in systems:
        for name, votes in judges.items():
            if name == "outside_h1" and system.name != "H1":
                continue
            judged = system.aligned_to(votes)
            gold = judged.first_majority
            yield system, "ece", name, expected_calibration_error(judged.model, gold, BAAN_BINS)
            error = float(total_variation(judged.human, judged.model).mean())
            yield system, "dist_ce", name, error


def _compare(systems: Sequence[System], votes: Votes) -> _Found:
    first, *others = [_item_errors(votes, system) for system in systems]
    for system, errors in zip(systems[1:], others, strict=True):
        for measure, value in compare_histograms(first, errors).items():
            yield system, measure, "all", value


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


def share_below(values: npt.ArrayLike, value: float) -> float:
    """Return the share of values below another; those equal to it count half."""
    found = np.asarray(values, dtype=np.float64)
    return float(((found < value) + 0.5 * (found == value)).mean())


def summarise_draws(votes: Votes, by_draw: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over draws, and where Table 2 of Baan et al. (2022) lies among them.

    Parameters
    ----------
    votes : Votes
        The paper's numbers stand beside those that they are about alone.
    by_draw : DataFrame
        As `errors_by_draw` gives it.

    Returns
    -------
    DataFrame
        One row for each measure, system and reference: ``n_seeds``,
        ``infinite_share``; over the draws with a finite value ``mean``, ``sd``, and the
        ends ``low`` and ``high`` of their middle 95%. For the paper's notebook and its
        text: ``published_…``, ``difference_…`` (mean minus published) and
        ``percentile_…``, the percentage of these draws below the published value. Spread
        and percentile are NaN where the value does not depend on the draw.
    """
    published = published_beside(votes, "baan2022_table2")
    keys = [name for name in by_draw.columns if name not in ("draw", "value")]
    rows = []
    for key, group in by_draw.groupby(keys, sort=False, dropna=False):
        row = dict(zip(keys, key, strict=True))
        values = group["value"].to_numpy()
        finite = values[np.isfinite(values)]
        varies = len(np.unique(finite)) > 1
        low, high = percentile_interval(finite) if varies else (np.nan, np.nan)
        row |= {
            "n_seeds": len(values),
            "infinite_share": 1 - len(finite) / len(values),
            "mean": finite.mean() if len(finite) else np.nan,
            "sd": finite.std(ddof=1) if varies else np.nan,
            "low": float(low),
            "high": float(high),
        }
        theirs = rows_about(published, row)
        in_notebook = theirs["source"] == "released notebook"
        for source, of_source in (("notebook", in_notebook), ("text", ~in_notebook)):
            value = np.nan
            if row["reference"] == "all" and row["measure"] in _PUBLISHED and of_source.any():
                value = float(theirs.loc[of_source, _PUBLISHED[row["measure"]]].iloc[0])
            known = varies and not np.isnan(value)
            row |= {
                f"published_{source}": value,
                f"difference_{source}": row["mean"] - value,
                f"percentile_{source}": 100 * share_below(finite, value) if known else np.nan,
            }
        rows.append(row)
    table = pd.DataFrame(rows).astype({"seed": "Int64"})
    order = {name: i for i, name in enumerate(_MEASURES)}
    return table.sort_values(
        "measure", key=lambda column: column.map(order), kind="stable", ignore_index=True
    )
