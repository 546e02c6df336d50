"""Calibration to a majority label beside calibration to people: `System` in, tables out.

`votes` are the votes on a dataset, and `systems` what `line_up` gives for them. Each table begins
with `System.keys`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.baan import in_paper, published_beside, rows_about
from chaos_utils.metrics.calibration import classwise_calibration_error as classwise_error
from chaos_utils.metrics.calibration import hits_of, reliability_curve
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import BAAN_BINS as BINS
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.scores import top_label
from chaos_utils.scoring.recalibration import (
    cross_fit_temperatures,
    fit_temperature,
    fit_temperature_to_ece,
)
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
FIXED_TEMPERATURE = 2.0  # in the released code of Baan et al. (2022)
TABLE_1 = ("accuracy", "ece", "rank_cs", "ent_ce", "dist_ce")
BY_TEMPERATURE = ("ece", "ece_votes", "dist_ce", "ent_ce", "kl")
_SUM_TOLERANCE = 1e-3


def line_up(votes: Votes, systems: Sequence[System]) -> list[System]:
    """Set up the paper's comparison: each system as it is, then at T = 2; last, the oracle.

    Parameters
    ----------
    systems : sequence of System
        As `load_systems` gives them. Of those that were released or simulated, the ones
        that the paper's tables show are taken; of our own and the reader's, all.
    """
    groups = (in_paper(systems), [one for one in systems if one.origin in ("trained", "yours")])
    if not any(groups):
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are available.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    everyone = oracle(votes)
    found = []
    for group in groups:
        if any(one.name == everyone.name for one in group):
            raise ChaosError(
                "A system has the name of a reference.", found=everyone.name, todo="rename it"
            )
        found += [*group, *(one.at_temperature(FIXED_TEMPERATURE) for one in group)]
    return [*found, everyone]


def with_seed(systems: Sequence[System], seed: int) -> list[System]:
    """Return, of a family with several seeds, the systems of one; of the others, all."""
    seeds: dict[tuple[str, str], set[int | None]] = {}
    for one in systems:
        seeds.setdefault((one.origin, one.family), set()).add(one.seed)
    known = {seed for found in seeds.values() if len(found) > 1 for seed in found}
    if known and seed not in known:
        expected = "one of: " + ", ".join(sorted(map(str, known)))
        raise ChaosError("No model was trained with this seed.", found=seed, expected=expected)
    return [one for one in systems if one.seed == seed or len(seeds[one.origin, one.family]) == 1]


def human_calibration(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute Table 1 of Baan et al. (2022), published beside reproduced.

    Accuracy takes the last of tied labels, for prediction and gold alike; ECE the first,
    with 10 bins (a, b]; EntCE is in nats.

    Returns
    -------
    DataFrame
        One row per system: its keys, ``accuracy``, ``ece``, ``rank_cs``, ``ent_ce``,
        ``dist_ce``; ``published_…`` (NaN where the paper has no such row) and
        ``difference_…`` (ours minus theirs) of each; ``rank_cs_ties`` (RankCS that minds ties),
        ``n_items``.
    """
    published = published_beside(votes, "baan2022_table1")
    rows = []
    for system in systems:
        judged = system.aligned_to(votes)
        label, gold = (top_label(p, ties="last") for p in (judged.model, judged.human))
        row: dict[str, Any] = dict(system.keys)
        row["accuracy"] = float((label == gold).mean())
        row |= _values(votes, system, TABLE_1[1:])
        theirs = rows_about(published, system.keys)
        for name in TABLE_1:
            row[f"published_{name}"] = float(theirs[name].iloc[0]) if len(theirs) else np.nan
            row[f"difference_{name}"] = row[name] - row[f"published_{name}"]
        row |= _values(votes, system, ["rank_cs_ties"])
        rows.append(row | {"n_items": len(judged.human)})
    return _tidy(rows)


def _values(
    votes: Votes, system: System, measures: Sequence[str], *, in_sample: bool = False
) -> dict[str, float]:
    table = score(votes, [system], measures=measures, in_sample=in_sample)
    return dict(zip(table["measure"], table["value"], strict=True))


def _tidy(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def rounded_values(votes: Votes, table: pd.DataFrame) -> pd.DataFrame:
    """Compare the two-digit values of the paper's section 5.2 with means over seeds.

    Takes a `table` of `human_calibration`; returns ``quantity``, ``family``, ``temperature``,
    ``value``, ``published`` and ``agrees``: whether the value rounds to the published one.
    """
    known = published_beside(votes, "baan2022_other").rename(columns={"value": "published"})
    known = known[known["where"] == "section 5.2"]
    keys = ["origin", "family", "temperature", "quantity"]
    values = table.melt(keys[:-1], list(TABLE_1), "quantity")
    means = values.groupby(keys)["value"].mean().reset_index()
    found = known[[*keys, "published"]].merge(means, on=keys).drop(columns="origin")
    return found.assign(agrees=found["value"].round(2) == found["published"])


def reliability(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute reliability diagrams against the majority label, in ten bins (a, b].

    Returns, for each system and bin, the system's keys, its ``ece``, ``bin_low``, ``bin_high``,
    ``n``, ``confidence`` and ``hits`` (means over the bin's items; NaN in an empty bin).
    """
    tables = []
    for system in systems:
        judged = system.aligned_to(votes)
        curve = reliability_curve(*hits_of(judged.model, judged.first_majority), BINS)
        columns = {
            "ece": MEASURES["ece"].value(judged),
            "bin_low": BINS.edges[:-1],
            "bin_high": BINS.edges[1:],
            "n": curve.counts,
            "confidence": curve.confidence,
            "hits": curve.hits,
        }
        tables.append(pd.DataFrame(system.keys | columns))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


def item_distances(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute DistCE, in [0, 1], item by item: the system's keys, ``uid``, ``dist_ce``."""
    tables = []
    for system in systems:
        judged = system.aligned_to(votes)
        columns = {
            "uid": [votes.uids[i] for i in system.rows_in(votes)],
            "dist_ce": total_variation(judged.human, judged.model),
        }
        tables.append(pd.DataFrame(system.keys | columns))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


def classwise_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute class-wise ECE against the majority label under both denominators.

    Returns, for each system, its keys; ``classwise_ece_binned`` (gaps divided by the items
    that fall into a bin, as in the released code) and ``classwise_ece_all`` (by all items);
    ``n_without_bin`` (probabilities of exactly 0, over all classes); ``published_percent`` of
    Appendix D, and ``agrees``: whether the first value rounds to it (<NA> where there is none).
    """
    known = published_beside(votes, "baan2022_other")
    known = known[known["quantity"] == "classwise_ece_percent"]
    rows = []
    for system in systems:
        judged = system.aligned_to(votes)
        m, gold = judged.model, judged.first_majority
        binned = classwise_error(m, gold, BINS, divide_by="binned")
        theirs = rows_about(known, system.keys)["value"]
        published = float(theirs.iloc[0]) if len(theirs) else np.nan
        errors = {
            "classwise_ece_binned": binned,
            "classwise_ece_all": classwise_error(m, gold, BINS, divide_by="all"),
            "n_without_bin": int((m == 0).sum()),
            "published_percent": published,
            "agrees": pd.NA if np.isnan(published) else round(100 * binned) == published,
        }
        rows.append(system.keys | errors)
    return _tidy(rows).astype({"agrees": "boolean"})


def two_targets(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute ``ece`` (majority label) and ``ece_votes`` (vote shares), in [0, 1], of each."""
    return _tidy(system.keys | _values(votes, system, ["ece", "ece_votes"]) for system in systems)


def temperature_choices(
    votes: Votes, systems: Sequence[System], n_folds: int, seed: int
) -> pd.DataFrame:
    """Fit a temperature to each system in each way, and score it there.

    Parameters
    ----------
    votes : Votes
        The dataset.
    systems : sequence of System
        As `line_up` gives them; those that `to_fit` names are fitted.
    n_folds : int
        For the cross-fitted temperature.
    seed : int
        Deals the folds, the same for all systems.

    Returns
    -------
    DataFrame
        One row for each system and choice (``none``, ``fixed``, ``oracle_nll``,
        ``oracle_ece``, ``outside`` where predictions outside the dataset were released,
        ``cross_fitted``): keys as in other tables; ``choice``; ``n_fitted`` (items
        that it was fitted on; for cross-fitting, the fewest of any fold);
        ``temperature`` (mean over items), ``temperature_low`` and ``temperature_high``
        (over folds); ``ece``, ``ece_votes``, ``dist_ce``, ``ent_ce``, ``kl``.
    """
    rows = []
    for system in to_fit(systems):
        n_items = len(system.rows_in(votes))
        if not 2 <= n_folds <= n_items:
            expected = f"2 to {n_items}, the number of items"
            raise ChaosError("This number of folds cannot be.", found=n_folds, expected=expected)
        for choice, n_fitted, values, scaled in fits(votes, system, n_folds, seed):
            row = scaled.keys | {"choice": choice, "n_fitted": n_fitted}
            row["temperature"] = float(np.mean(values))
            row |= {"temperature_low": np.min(values), "temperature_high": np.max(values)}
            # An oracle temperature is shown because it was fitted on what judges it.
            in_sample = choice.startswith("oracle")
            rows.append(row | _values(votes, scaled, BY_TEMPERATURE, in_sample=in_sample))
    return _tidy(rows)


def to_fit(systems: Sequence[System]) -> list[System]:
    """Return the systems that a temperature is fitted to: those as they are, but references."""
    return [one for one in systems if one.temperature == 1 and one.origin != "reference"]


def fits(
    votes: Votes, system: System, n_folds: int, seed: int
) -> Iterator[tuple[str, int, Floats | float, System]]:
    """Yield each choice, the items fitted on, the temperatures, and the system there."""
    judged = system.aligned_to(votes)
    m, gold, n = judged.model, judged.first_majority, len(judged.model)
    found: list[tuple[str, int, Floats | float]] = [
        ("none", 0, 1.0),
        ("fixed", 0, FIXED_TEMPERATURE),
        ("oracle_nll", n, fit_temperature(m, gold)),
        ("oracle_ece", n, fit_temperature_to_ece(m, gold, BINS)),
    ]
    path = outside_file(votes, system)
    if path is not None:
        probabilities, labels = read_outside(path, votes)
        found.append(("outside", len(labels), fit_temperature(probabilities, labels)))
    folds = cross_fit_temperatures(m, judged.human, n_folds, np.random.default_rng(seed))
    found.append(("cross_fitted", n - -(-n // n_folds), folds))
    # In the order of the votes, as the cross-fitted temperatures are.
    uids = tuple(votes.uids[row] for row in system.rows_in(votes))
    system = replace(system, uids=uids, probabilities=m, predicted=judged.predicted)
    on_votes = (*system.trained_on, votes_of(votes.dataset))
    for choice, n_fitted, temperatures in found:
        scaled = system.at_temperature(temperatures)
        if choice in ("oracle_nll", "oracle_ece", "cross_fitted"):
            crossed = choice == "cross_fitted"
            scaled = replace(scaled, trained_on=on_votes, out_of_fold=crossed)
        yield choice, n_fitted, temperatures, scaled


def outside_file(votes: Votes, system: System) -> Path | None:
    """Return the released predictions of a system that reach past the dataset's own items."""
    for known in votes.dataset.systems:
        if system.origin == "released" and known.family == system.family and known.outside:
            name = known.outside.format(seed=system.seed)
            return sources.locate(name, "released") if sources.find(name) else None
    return None


def read_outside(path: Path, votes: Votes) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Read released predictions on items that are *not* among those of the votes.

    Parameters
    ----------
    path : Path
        JSON lines with ``uid``, ``true`` (the gold label) and ``probs``, both in the
        file's own class order, which a temperature does not depend on.
    votes : Votes
        The items to leave out.

    Returns
    -------
    probabilities, gold : ndarray of float64, shape (n, k), and of int, shape (n,)
        Rows sum to 1; positions in the file's class order.
    """
    inputs.record(f"predictions/{path.name}", inputs.digest(path))
    inside, k = set(votes.uids), votes.dataset.n_classes
    rows: dict[str, tuple[list[float], int]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            uid, label, values = entry["uid"], entry["true"], entry["probs"]
            sound = isinstance(uid, str) and uid not in rows and len(values) == k
            sound = sound and min(values) >= 0 and abs(sum(values) - 1) <= _SUM_TOLERANCE
            sound = sound and label in range(k)
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            raise ChaosError(
                "A line of the released predictions is not sound.",
                where=f"{path}, line {number}",
                found=line[:100],
                expected=f"JSON with a new uid, true from 0 to {k - 1}, and probs: {k} "
                "probabilities that sum to 1",
                todo="remove the file and run `chaos data fetch`",
            )
        rows[uid] = (values, label)
    outside = [row for uid, row in rows.items() if uid not in inside]
    if not outside:
        raise ChaosError(f"Every item of these is in {votes.dataset.title}.", where=path)
    probabilities = np.array([values for values, _ in outside], dtype=np.float64)
    gold = np.array([label for _, label in outside], dtype=np.int64)
    return probabilities / probabilities.sum(axis=1, keepdims=True), gold


def temperature_curves(
    votes: Votes, systems: Sequence[System], choices: pd.DataFrame, grid: Floats
) -> pd.DataFrame:
    """Score each system at every temperature of a `grid`, shape (n,), and add the chosen ones.

    Takes the `choices` that `temperature_choices` gives. Returns one row for each system,
    temperature and measure: keys, ``choice`` (empty on the grid), ``measure``, ``value``.
    """
    if len(grid) == 0:
        raise ChaosError("There is no temperature to compute the measures at.", found=0)
    rows = []
    for system in to_fit(systems):
        for temperature in grid.tolist():
            scaled = system.at_temperature(temperature)
            values = _values(votes, scaled, BY_TEMPERATURE)
            rows.append(scaled.keys | {"choice": ""} | values)
    chosen = choices[choices["choice"] != "none"]
    keys = [*systems[0].keys, "choice"]
    table = pd.concat([_tidy(rows), chosen], ignore_index=True)[[*keys, *BY_TEMPERATURE]]
    return table.melt(id_vars=keys, var_name="measure", value_name="value")
