"""Errors of systems from several sides: classes, ranks and entropy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.baan import published_beside, rows_about
from chaos_utils.metrics.calibration import entropy_error
from chaos_utils.metrics.divergence import entropy
from chaos_utils.scoring.system import System


def error_views(all_votes: Sequence[Votes], chosen: dict[str, list[System]]) -> pd.DataFrame:
    """Errors of systems on every item: for each class, for each human rank, and of entropy.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    chosen : dict
        As `lineup` gives it.

    Returns
    -------
    DataFrame
        One row for each item, system, view and part: the system's keys,
        ``view`` (``class``, ``rank``, ``entropy``), ``part`` (a label; ``1st`` is the label
        with most votes, ties in the order of labels; ``entropy``), ``uid``, ``human``,
        ``model`` (shares, or entropies in nats) and ``error``, model minus human.
    """
    parts = [
        table
        for votes in all_votes
        for system in chosen[votes.dataset.name]
        for table in _views_of(votes, system)
    ]
    if not parts:
        raise ChaosError(
            "This chapter shows the errors of a system, and no system's predictions are available.",
            where=", ".join(votes.dataset.title for votes in all_votes),
            todo="pass -p predictions=FILE",
        )
    return pd.concat(parts, ignore_index=True).astype({"seed": "Int64"})


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``3rd``, ``4th`` and so on."""
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _views_of(votes: Votes, system: System) -> list[pd.DataFrame]:
    judged = system.aligned_to(votes)
    h, m = judged.human, judged.model
    ranked = np.argsort(-h, axis=1, kind="stable")
    by_rank = [np.take_along_axis(shares, ranked, axis=1) for shares in (h, m)]
    sides = [
        ("class", label, h[:, k], m[:, k], m[:, k] - h[:, k])
        for k, label in enumerate(votes.dataset.labels)
    ]
    sides += [
        ("rank", ordinal(k + 1), human, model, model - human)
        for k, (human, model) in enumerate(zip(*(shares.T for shares in by_rank), strict=True))
    ]
    of_people, of_system = (entropy(shares, unit="nats") for shares in (h, m))
    sides.append(("entropy", "entropy", of_people, of_system, entropy_error(h, m)))
    return [
        pd.DataFrame(
            system.keys
            | {
                "view": view,
                "part": part,
                "uid": [votes.uids[i] for i in system.rows_in(votes)],
                "human": human,
                "model": model,
                "error": error,
            }
        )
        for view, part, human, model, error in sides
    ]


def summarise_views(all_votes: Sequence[Votes], views: pd.DataFrame) -> pd.DataFrame:
    """Mean, median and mean absolute error of every part, beside appendix B of Baan et al.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset; the paper's numbers stand beside the votes that they are about alone.
    views : DataFrame
        As `error_views` gives it.

    Returns
    -------
    DataFrame
        One row for each system, view and part: ``n_items``, ``mean``,
        ``median``, ``mean_absolute``, ``published`` (the paper gives one number for mean
        and median of the signed entropy error) and ``difference_mean``,
        ``difference_median`` (ours minus theirs).
    """
    published = {}
    for votes in all_votes:
        table = published_beside(votes, "baan2022_other")
        published[votes.dataset.name] = table[table["quantity"] == "signed_ent_ce"]
    rows = []
    keys = [name for name in views.columns if name not in ("uid", "human", "model", "error")]
    for key, errors in views.groupby(keys, sort=False, dropna=False)["error"]:
        row = dict(zip(keys, key, strict=True))
        theirs = rows_about(published[row["dataset"]], row)
        known = row["view"] == "entropy" and len(theirs)
        value = float(theirs["value"].iloc[0]) if known else np.nan
        row |= {
            "n_items": len(errors),
            "mean": errors.mean(),
            "median": errors.median(),
            "mean_absolute": errors.abs().mean(),
            "published": value,
        }
        row |= {f"difference_{what}": row[what] - value for what in ("mean", "median")}
        rows.append(row)
    return pd.DataFrame(rows).astype({"seed": "Int64"})
