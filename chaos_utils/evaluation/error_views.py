"""Errors of systems from several sides: classes, ranks and entropy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.errors import PUBLISHED_NAMES, Entry, is_released_snli
from chaos_utils.metrics.calibration import entropy_error
from chaos_utils.metrics.divergence import entropy


def error_views(all_votes: Sequence[Votes], chosen: dict[str, list[Entry]]) -> pd.DataFrame:
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
        One row for each item, entry, view and part: ``dataset``, ``system``, ``temperature``,
        ``view`` (``class``, ``rank``, ``entropy``), ``part`` (a label; ``1st`` is the label
        with most votes, ties in the order of labels; ``entropy``), ``uid``, ``human``,
        ``model`` (shares, or entropies in nats) and ``error``, model minus human.

    Raises
    ------
    ChaosError
        If there is no entry on any dataset.
    """
    parts = [
        table
        for votes in all_votes
        for entry in chosen[votes.dataset.name]
        for table in _views_of(votes, entry)
    ]
    if not parts:
        raise ChaosError(
            "This chapter shows the errors of a system, and no system's predictions are at hand.",
            where=", ".join(votes.dataset.title for votes in all_votes),
            todo="pass -p predictions=FILE",
        )
    return pd.concat(parts, ignore_index=True)


def _views_of(votes: Votes, entry: Entry) -> list[pd.DataFrame]:
    system = entry.predictions
    judged = system.aligned_to(votes)
    h, m = judged.human, judged.model
    ranked = np.argsort(-h, axis=1, kind="stable")
    by_rank = [np.take_along_axis(shares, ranked, axis=1) for shares in (h, m)]
    sides = [
        ("class", label, h[:, k], m[:, k], m[:, k] - h[:, k])
        for k, label in enumerate(votes.dataset.labels)
    ]
    sides += [
        ("rank", rank, by_rank[0][:, k], by_rank[1][:, k], by_rank[1][:, k] - by_rank[0][:, k])
        for k, rank in enumerate(("1st", "2nd", "3rd")[: votes.dataset.n_classes])
    ]
    of_people, of_system = (entropy(shares, unit="nats") for shares in (h, m))
    sides.append(("entropy", "entropy", of_people, of_system, entropy_error(h, m)))
    return [
        pd.DataFrame(
            {
                "dataset": votes.dataset.name,
                "system": system.name,
                "temperature": entry.temperature,
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
        The datasets; the paper's numbers stand beside the released SNLI votes alone.
    views : DataFrame
        As `error_views` gives it.

    Returns
    -------
    DataFrame
        One row for each dataset, system, temperature, view and part: ``n_items``, ``mean``,
        ``median``, ``mean_absolute``, ``published`` (the paper gives one number for mean
        and median of the signed entropy error) and ``difference_mean``,
        ``difference_median`` (ours minus theirs).
    """
    table = read_published("baan2022_other")
    signed = table[table["quantity"] == "signed_ent_ce"].set_index("system")["value"]
    released = {votes.dataset.name for votes in all_votes if is_released_snli(votes)}
    rows = []
    keys = ["dataset", "system", "temperature", "view", "part"]
    for key, errors in views.groupby(keys, sort=False)["error"]:
        dataset, system, temperature, view, _ = key
        name = PUBLISHED_NAMES.get((system, temperature))
        known = view == "entropy" and dataset in released and name in signed
        value = float(signed[name]) if known else np.nan
        row = dict(zip(keys, key, strict=True)) | {
            "n_items": len(errors),
            "mean": errors.mean(),
            "median": errors.median(),
            "mean_absolute": errors.abs().mean(),
            "published": value,
        }
        row |= {f"difference_{what}": row[what] - value for what in ("mean", "median")}
        rows.append(row)
    return pd.DataFrame(rows)
