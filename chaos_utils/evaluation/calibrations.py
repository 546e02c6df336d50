"""Calibration to a majority label beside calibration to people: `System` in, tables out.

`votes` are the votes on a dataset, and `cases` what `line_up` gives for them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.calibration import classwise_calibration_error as classwise_error
from chaos_utils.metrics.calibration import hits_of, reliability_curve
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import BAAN_BINS as BINS
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.scores import top_label
from chaos_utils.scoring.recalibration import (
    cross_fit_temperatures,
    fit_temperature,
    fit_temperature_to_ece,
    temper,
)
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
FIXED_TEMPERATURE = 2.0  # in the released code of Baan et al. (2022)
TABLE_1 = ("accuracy", "ece", "rank_cs", "ent_ce", "dist_ce")
BY_TEMPERATURE = ("ece", "ece_votes", "dist_ce", "ent_ce", "kl")
# The models of the paper's tables; for the synthetic sample, simulated ones play them.
_MAIN = ("RoBERTa-base", "synthetic model")
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A system at a `temperature`, as a row of the paper's tables.

    `system` is ``roberta``, ``roberta-ts`` (at T = 2) or ``oracle``; a reader's system
    keeps its name, with ``-ts`` at T = 2. `model` names the predictions' own system;
    `seed` is None where there is one run alone; `predictions` are at the temperature.
    """

    system: str
    model: str
    seed: int | None
    temperature: float
    predictions: System

    def keys(self, votes: Votes) -> dict[str, Any]:
        """Return the first columns of this case's rows in every table."""
        return {
            "dataset": votes.dataset.name,
            "system": self.system,
            "model": self.model,
            "seed": self.seed,
            "temperature": self.temperature,
        }


def line_up(votes: Votes, systems: Sequence[System]) -> list[Case]:
    """Set up the paper's comparison: each system as it is, then at T = 2; last, the oracle.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        As `load_systems` gives them. Of those that were released or simulated, the ones
        that the paper's tables show are taken; of our own and the reader's, all.

    Raises
    ------
    ChaosError
        If none remains, or a reader's system has the name of one of the paper's rows.
    """
    base = [
        Case("roberta", one.name, int(one.name.rsplit(" ", 1)[1]), 1.0, one)
        for one in systems
        if one.source is None and one.name.startswith(_MAIN)
    ]
    # Only our own and a reader's systems were read from one file, and have a source.
    own = [Case(one.name, one.name, None, 1.0, one) for one in systems if one.source]
    if not base and not own:
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are at hand.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    for case in own:
        if case.system in ("roberta", "roberta-ts", "oracle"):
            raise ChaosError(
                "A system has the name of a row of the paper's table.",
                found=case.system,
                todo="rename it",
            )
    cases = []
    for group in (base, own):
        cases += [*group, *map(_scaled, group)]
    everyone = oracle(votes)
    return [*cases, Case("oracle", everyone.name, None, 1.0, everyone)]


def _scaled(case: Case) -> Case:
    scaled = case.predictions.at_temperature(FIXED_TEMPERATURE)
    return Case(f"{case.system}-ts", case.model, case.seed, FIXED_TEMPERATURE, scaled)


def with_seed(cases: Sequence[Case], seed: int) -> list[Case]:
    """Return the cases of one `seed`, which must be there if any is, and those that have none."""
    known = sorted({case.seed for case in cases if case.seed is not None})
    if known and seed not in known:
        expected = "one of: " + ", ".join(map(str, known))
        raise ChaosError("No model was trained with this seed.", found=seed, expected=expected)
    return [case for case in cases if case.seed in (None, seed)]


def human_calibration(votes: Votes, cases: Sequence[Case]) -> pd.DataFrame:
    """Compute Table 1 of Baan et al. (2022), published beside reproduced.

    Accuracy takes the last of tied labels, for prediction and gold alike; ECE the first,
    with 10 bins (a, b]; EntCE is in nats.

    Returns
    -------
    DataFrame
        One row a case: ``dataset``, ``system``, ``seed``, ``accuracy``, ``ece``,
        ``rank_cs``, ``ent_ce``, ``dist_ce``; ``published_…`` (NaN where the paper has no
        such row) and ``difference_…`` (ours minus theirs) of each; ``rank_cs_ties``
        (RankCS that minds ties), ``model``, ``temperature``, ``n_items``.
    """
    published = read_published("baan2022_table1")
    theirs = {
        (row["system"], None if np.isnan(row["seed"]) else int(row["seed"])): row
        for row in published.to_dict("records")
    }
    rows = []
    for case in cases:
        judged = case.predictions.aligned_to(votes)
        label, gold = (top_label(p, ties="last") for p in (judged.model, judged.human))
        keys = case.keys(votes)
        row: dict[str, Any] = {name: keys.pop(name) for name in ("dataset", "system", "seed")}
        row["accuracy"] = float((label == gold).mean())
        row |= _values(judged, TABLE_1[1:])
        known = theirs.get((case.system, case.seed), {})
        for name in TABLE_1:
            row[f"published_{name}"] = known.get(name, np.nan)
            row[f"difference_{name}"] = row[name] - row[f"published_{name}"]
        rows.append(row | _values(judged, ["rank_cs_ties"]) | keys | {"n_items": len(judged.human)})
    return _tidy(rows)


def _values(judged: Judged, measures: Sequence[str]) -> dict[str, float]:
    return {name: MEASURES[name].value(judged) for name in measures}


def _tidy(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def rounded_values(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the two-digit values of the paper's section 5.2 with means over seeds.

    Takes a `table` of `human_calibration`; returns ``quantity``, ``system``, ``value``,
    ``published`` and ``agrees``: whether the value rounds to the published one.
    """
    published = read_published("baan2022_other").rename(columns={"value": "published"})
    wanted = published.loc[published["where"] == "section 5.2", ["quantity", "system", "published"]]
    means = table.melt(["system"], list(TABLE_1), "quantity").groupby(["system", "quantity"]).mean()
    found = wanted.merge(means.reset_index(), on=["system", "quantity"])
    return found.assign(agrees=found["value"].round(2) == found["published"])


def reliability(votes: Votes, cases: Sequence[Case]) -> pd.DataFrame:
    """Compute reliability diagrams against the majority label, in ten bins (a, b].

    Returns, for each case and bin, the case's keys, ``bin_low``, ``bin_high``, ``n``,
    ``confidence`` and ``hits`` (means over the bin's items; NaN in an empty bin).
    """
    tables = []
    for case in cases:
        judged = case.predictions.aligned_to(votes)
        curve = reliability_curve(*hits_of(judged.model, judged.first_majority), BINS)
        columns = {
            "bin_low": BINS.edges[:-1],
            "bin_high": BINS.edges[1:],
            "n": curve.counts,
            "confidence": curve.confidence,
            "hits": curve.hits,
        }
        tables.append(pd.DataFrame(case.keys(votes) | columns))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


def item_distances(votes: Votes, cases: Sequence[Case]) -> pd.DataFrame:
    """Compute DistCE, in [0, 1], item by item: the case's keys, ``uid``, ``dist_ce``."""
    tables = []
    for case in cases:
        judged = case.predictions.aligned_to(votes)
        distances = total_variation(judged.human, judged.model)
        columns = {
            "uid": [votes.uids[i] for i in case.predictions.rows_in(votes)],
            "dist_ce": distances,
        }
        tables.append(pd.DataFrame(case.keys(votes) | columns))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


def classwise_errors(votes: Votes, cases: Sequence[Case]) -> pd.DataFrame:
    """Compute class-wise ECE against the majority label under both denominators.

    Returns, for each case, its keys; ``classwise_ece_binned`` (gaps divided by the items
    that fall into a bin, as in the released code) and ``classwise_ece_all`` (by all items);
    ``n_without_bin`` (probabilities of exactly 0, over all classes); ``published_percent`` of
    Appendix D, and ``agrees``: whether the first value rounds to it (<NA> where there is none).
    """
    other = read_published("baan2022_other")
    theirs = other[other["quantity"] == "classwise_ece_percent"].set_index("system")["value"]
    rows = []
    for case in cases:
        judged = case.predictions.aligned_to(votes)
        m, gold = judged.model, judged.first_majority
        binned = classwise_error(m, gold, BINS, divide_by="binned")
        published = float(theirs.get(case.system, np.nan))
        errors = {
            "classwise_ece_binned": binned,
            "classwise_ece_all": classwise_error(m, gold, BINS, divide_by="all"),
            "n_without_bin": int((m == 0).sum()),
            "published_percent": published,
            "agrees": pd.NA if np.isnan(published) else round(100 * binned) == published,
        }
        rows.append(case.keys(votes) | errors)
    return _tidy(rows).astype({"agrees": "boolean"})


def two_targets(votes: Votes, cases: Sequence[Case]) -> pd.DataFrame:
    """Compute ``ece`` (majority label) and ``ece_votes`` (vote shares), in [0, 1], of each case."""
    rows = []
    for case in cases:
        values = _values(case.predictions.aligned_to(votes), ["ece", "ece_votes"])
        rows.append(case.keys(votes) | values)
    return _tidy(rows)


def temperature_choices(
    votes: Votes, cases: Sequence[Case], n_folds: int, seed: int
) -> pd.DataFrame:
    """Fit a temperature to each system in each way, and score it there.

    Parameters
    ----------
    votes : Votes
        The dataset.
    cases : sequence of Case
        As `line_up` gives them; those that `fitted_cases` names are fitted.
    n_folds : int
        For the cross-fitted temperature.
    seed : int
        Deals the folds, the same for all systems.

    Returns
    -------
    DataFrame
        One row for each system and choice (``none``, ``fixed``, ``oracle_nll``,
        ``oracle_ece``, ``outside`` where released predictions outside ChaosNLI are at
        hand, ``cross_fitted``): keys as in other tables; ``choice``; ``n_fitted`` (items
        that it was fitted on; for cross-fitting, the fewest of any fold);
        ``temperature`` (mean over items), ``temperature_low`` and ``temperature_high``
        (over folds); ``ece``, ``ece_votes``, ``dist_ce``, ``ent_ce``, ``kl``.

    A ChaosError is raised for fewer folds than two, or more than items.
    """
    rows = []
    for case in fitted_cases(cases):
        judged = case.predictions.aligned_to(votes)
        n_items = len(judged.model)
        if not 2 <= n_folds <= n_items:
            expected = f"2 to {n_items}, the number of items"
            raise ChaosError("This number of folds cannot be.", found=n_folds, expected=expected)
        fits = _fit_all(votes, case, judged, n_folds, seed)
        for choice, (n_fitted, temperatures) in fits.items():
            values = np.broadcast_to(temperatures, n_items)
            row = case.keys(votes) | {"choice": choice, "n_fitted": n_fitted}
            row["temperature"] = float(values.mean())
            row |= {"temperature_low": values.min(), "temperature_high": values.max()}
            scaled = replace(judged, model=temper(judged.model, values))
            rows.append(row | _values(scaled, BY_TEMPERATURE))
    return _tidy(rows)


def fitted_cases(cases: Sequence[Case]) -> list[Case]:
    """Return the systems that a temperature is fitted to: those at T = 1 but the oracle."""
    return [case for case in cases if case.temperature == 1 and case.system != "oracle"]


def _fit_all(
    votes: Votes, case: Case, judged: Judged, n_folds: int, seed: int
) -> dict[str, tuple[int, Floats | float]]:
    m, gold, n = judged.model, judged.first_majority, len(judged.model)
    found: dict[str, tuple[int, Floats | float]] = {
        "none": (0, 1.0),
        "fixed": (0, FIXED_TEMPERATURE),
        "oracle_nll": (n, fit_temperature(m, gold)),
        "oracle_ece": (n, fit_temperature_to_ece(m, gold, BINS)),
    }
    path = _development_file(votes, case)
    if path is not None:
        probabilities, labels = read_outside(path, votes)
        found["outside"] = (len(labels), fit_temperature(probabilities, labels))
    folds = cross_fit_temperatures(m, judged.human, n_folds, np.random.default_rng(seed))
    found["cross_fitted"] = (n - -(-n // n_folds), folds)
    return found


def _development_file(votes: Votes, case: Case) -> Path | None:
    """Return the released development predictions of a model, which reach past ChaosNLI."""
    if case.predictions.source or not votes.is_released:
        return None
    run = f"{votes.dataset.name.upper()}_dev_roberta-base_{case.seed}"
    name = f"calibration-on-disagreement-data/predictions/{run}.json"
    return sources.locate(name, "released") if sources.find(name) else None


def read_outside(path: Path, votes: Votes) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Read released predictions on items that are *not* among those with a hundred votes.

    Parameters
    ----------
    path : Path
        JSON lines with ``uid``, ``true`` (the gold label) and ``probs``, both in the
        file's own class order, which a temperature does not depend on.
    votes : Votes
        The items to leave out.

    Returns
    -------
    probabilities, gold : ndarray of float64, shape (n, 3), and of int, shape (n,)
        Rows sum to 1; positions in the file's class order.

    Raises
    ------
    ChaosError
        If a line is not what it should be, an item occurs twice, or none is left.
    """
    inputs.record(f"predictions/{path.name}", inputs.digest(path))
    inside = set(votes.uids)
    rows: dict[str, tuple[list[float], int]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            uid, label, values = entry["uid"], entry["true"], entry["probs"]
            sound = isinstance(uid, str) and uid not in rows and len(values) == 3
            sound = sound and min(values) >= 0 and abs(sum(values) - 1) <= _SUM_TOLERANCE
            sound = sound and label in range(3)
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            raise ChaosError(
                "A line of the released predictions is not sound.",
                where=f"{path}, line {number}",
                found=line[:100],
                expected="JSON with a new uid, true from 0 to 2, and probs: three probabilities "
                "that sum to 1",
                todo="remove the file and run `chaos data fetch`",
            )
        rows[uid] = (values, label)
    outside = [row for uid, row in rows.items() if uid not in inside]
    if not outside:
        raise ChaosError("Every item of these predictions is in ChaosNLI.", where=path)
    probabilities = np.array([values for values, _ in outside], dtype=np.float64)
    gold = np.array([label for _, label in outside], dtype=np.int64)
    return probabilities / probabilities.sum(axis=1, keepdims=True), gold


def temperature_curves(
    votes: Votes, cases: Sequence[Case], choices: pd.DataFrame, grid: Floats
) -> pd.DataFrame:
    """Score each system at every temperature of a `grid`, shape (n,), and add the chosen ones.

    Takes the `choices` that `temperature_choices` gives. Returns one row for each system,
    temperature and measure: keys, ``choice`` (empty on the grid), ``measure``, ``value``.
    """
    if len(grid) == 0:
        raise ChaosError("There is no temperature to compute the measures at.", found=0)
    rows = []
    for case in fitted_cases(cases):
        for temperature in grid.tolist():
            scaled = case.predictions.at_temperature(temperature).aligned_to(votes)
            keys = case.keys(votes) | {"temperature": temperature, "choice": ""}
            rows.append(keys | _values(scaled, BY_TEMPERATURE))
    chosen = choices[choices["choice"] != "none"]
    columns = ["dataset", "system", "model", "seed", "temperature", "choice", *BY_TEMPERATURE]
    table = pd.concat([_tidy(rows), chosen], ignore_index=True)[columns]
    return table.melt(id_vars=columns[:6], var_name="measure", value_name="value")
