"""Errors of systems from several sides: classes, ranks and entropy."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import agrees, published_beside, rows_about
from chaos_utils.analyses.error_distributions import (
    SYSTEM,
    check_system,
    histogram,
    lineup,
    title,
)
from chaos_utils.analyses.evidence import Material
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.calibration import entropy_error
from chaos_utils.metrics.divergence import entropy
from chaos_utils.report.columns import Column, Row
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
N_BINS = 25  # with 100 votes per item, four shares fall into each bin
PEOPLE = "people"  # beside the systems in histograms
_PART = ("view", "part")
_PAPER = ("baan2022_other", "baan2022_systems")


def check_systems(material: Material, system: str) -> None:
    """Fail where there is no system at all, or a reader names one that predicts no dataset."""
    if not any(one.given_systems is None or one.has_systems for one in material):
        raise ChaosError(
            "This chapter shows the errors of a system, and no system's predictions are available.",
            where=", ".join(dataset.title for dataset in material.datasets),
            todo="pass -p predictions=FILE",
        )
    check_system(material, system)


@recorded(keys=(*SYSTEM, *_PART), published=_PAPER)
def error_views(
    votes: Votes, systems: Sequence[System], *, system: str, temperature: float
) -> pd.DataFrame:
    """Summarise errors for each class, for each human rank, and of entropy.

    Errors are model minus human; those of entropy are in nats. One row for each system, ``view``
    and ``part``: a label; ``1st``, the label with most votes (ties in the order of labels);
    entropy. ``published``, from Appendix B of Baan et al. (2022), is one number for mean and median
    of the entropy error, and the differences are ours minus theirs.
    """
    table = published_beside(votes, "baan2022_other")
    published = table[table["quantity"] == "signed_ent_ce"]
    rows = []
    for one in lineup(systems, system=system, temperature=temperature, trained=False):
        theirs = rows_about(published, one.keys)["value"]
        judged = one.aligned_to(votes)
        for view, part, _, _, error in views(votes.dataset, judged.human, judged.model):
            means = {"mean": error.mean(), "median": np.median(error)}
            value = theirs.iloc[0] if view == "entropy" and len(theirs) else np.nan
            row = {"view": view, "part": part, "n_items": len(error), **means}
            row |= {"mean_absolute": np.abs(error).mean(), "published": value}
            rows.append(one.keys | row | {f"difference_{n}": m - value for n, m in means.items()})
    if not rows:
        return pd.DataFrame(columns=[*SYSTEM, *_PART])
    table = pd.DataFrame(rows).astype({"seed": "Int64"})
    return in_order_of(table, "part", table["part"].unique())


def views(
    dataset: Dataset, human: Floats, model: Floats
) -> Iterator[tuple[str, str, Floats, Floats, Floats]]:
    """Yield ``view``, ``part``, and items' human values, model values and errors."""
    for k, label in enumerate(dataset.labels):
        yield "class", label, human[:, k], model[:, k], model[:, k] - human[:, k]
    ranked = np.argsort(-human, axis=1, kind="stable")
    by_rank = [np.take_along_axis(shares, ranked, axis=1).T for shares in (human, model)]
    for k, (of_people, of_system) in enumerate(zip(*by_rank, strict=True), start=1):
        yield "rank", ordinal(k), of_people, of_system, of_system - of_people
    of_people, of_system = (entropy(shares, unit="nats") for shares in (human, model))
    yield "entropy", "entropy", of_people, of_system, entropy_error(human, model)


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``3rd``, ``4th`` and so on."""
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


@recorded(keys=(*SYSTEM, *_PART, "side", "bin_low"))
def view_histograms(
    votes: Votes, systems: Sequence[System], *, system: str, temperature: float
) -> pd.DataFrame:
    """Count items by what people and systems give, and by the errors, in the same views.

    One row for each bin of a system, ``view``, ``part`` and ``side``, see `histogram`. The side
    ``marginal`` is of the values themselves and has `PEOPLE` too, on all items that a system shown
    predicts; ``signed`` and ``absolute`` are of the errors.
    """
    chosen = lineup(systems, system=system, temperature=temperature, trained=False)
    if not chosen:
        return pd.DataFrame(columns=[*SYSTEM, *_PART])
    covered = votes.shares[np.unique(np.concatenate([one.rows_in(votes) for one in chosen]))]
    everyone = [(PEOPLE, "reference", 1.0, covered, covered)]
    for one in chosen:
        judged = one.aligned_to(votes)
        everyone.append((one.name, one.origin, one.temperature, judged.human, judged.model))
    found = []
    for name, origin, at, human, model in everyone:
        of_system = dict(zip(SYSTEM, (votes.dataset.name, name, origin, at), strict=True))
        for view, part, _, values, error in views(votes.dataset, human, model):
            limit = math.log(votes.dataset.n_classes) if view == "entropy" else 1.0
            edges = np.linspace(0, limit, N_BINS + 1)
            around = np.linspace(-limit, limit, 2 * N_BINS)  # an odd number of bins: one around 0
            sides = {"marginal": (values, edges)}
            if name != PEOPLE:
                sides |= {"signed": (error, around), "absolute": (np.abs(error), edges)}
            row = of_system | {"view": view, "part": part}
            found += [histogram(row | {"side": one}, *shown) for one, shown in sides.items()]
    return pd.concat(found, ignore_index=True)


def _part(row: Row) -> str:
    return f"{row['part']} label" if row["view"] == "rank" else row["part"]


def _is_off(row: Row) -> bool:
    known = not math.isnan(row["published"])
    return known and not agrees(row["mean"], row["published"])


COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("error of", _part),
    Column("system", title),
    Column("paper", "published", 2, signed=True, group="mean"),
    Column("here", "mean", 3, signed=True, group="mean"),
    Column("Δ", "difference_mean", 3, signed=True, group="mean", bold=_is_off),
    Column("median", "median", 3, signed=True),
    Column("mean absolute", "mean_absolute", 3),
]
