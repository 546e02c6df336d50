"""Errors of systems from several sides: classes, ranks and entropy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Opinions
from chaos_utils.evaluation.errors import PUBLISHED_NAMES, Entry, is_released_snli, rows_of
from chaos_utils.metrics.calibration import entropy_error
from chaos_utils.metrics.divergence import entropy


def error_views(datasets: Sequence[Opinions], chosen: dict[str, list[Entry]]) -> pd.DataFrame:
    """Errors of systems on every item: for each class, for each human rank, and of entropy.

    Parameters
    ----------
    datasets : sequence of Opinions
        One a task.
    chosen : dict
        As `lineup` gives it.

    Returns
    -------
    DataFrame
        One row for each item, entry, view and part: ``task``, ``system``, ``temperature``,
        ``view`` (``class``, ``rank``, ``entropy``), ``part`` (a label; ``1st`` is the label
        with most votes, ties in the order of labels; ``entropy``), ``uid``, ``human``,
        ``model`` (shares, or entropies in nats) and ``error``, model minus human.

    Raises
    ------
    ChaosError
        If there is no entry on any task.
    """
    parts = [
        table
        for opinions in datasets
        for entry in chosen[opinions.task.name]
        for table in _views_of(opinions, entry)
    ]
    if not parts:
        raise ChaosError(
            "This chapter shows the errors of a system, and no system's predictions are at hand.",
            where=", ".join(opinions.task.title for opinions in datasets),
            todo="pass -p predictions=FILE",
        )
    return pd.concat(parts, ignore_index=True)


def _views_of(opinions: Opinions, entry: Entry) -> list[pd.DataFrame]:
    system = entry.predictions
    h, m = opinions.shares[rows_of(opinions, system)], system.probabilities
    ranked = np.argsort(-h, axis=1, kind="stable")
    by_rank = [np.take_along_axis(shares, ranked, axis=1) for shares in (h, m)]
    sides = [
        ("class", label, h[:, k], m[:, k], m[:, k] - h[:, k])
        for k, label in enumerate(opinions.task.labels)
    ]
    sides += [
        ("rank", rank, by_rank[0][:, k], by_rank[1][:, k], by_rank[1][:, k] - by_rank[0][:, k])
        for k, rank in enumerate(("1st", "2nd", "3rd")[: opinions.task.n_classes])
    ]
    of_people, of_system = (entropy(shares, unit="nats") for shares in (h, m))
    sides.append(("entropy", "entropy", of_people, of_system, entropy_error(h, m)))
    return [
        pd.DataFrame(
            {
                "task": opinions.task.name,
                "system": system.model,
                "temperature": entry.temperature,
                "view": view,
                "part": part,
                "uid": system.uids,
                "human": human,
                "model": model,
                "error": error,
            }
        )
        for view, part, human, model, error in sides
    ]


def summarise_views(datasets: Sequence[Opinions], views: pd.DataFrame) -> pd.DataFrame:
    """Mean, median and mean absolute error of every part, beside appendix B of Baan et al.

    Parameters
    ----------
    datasets : sequence of Opinions
        The tasks; the paper's numbers stand beside the released SNLI votes alone.
    views : DataFrame
        As `error_views` gives it.

    Returns
    -------
    DataFrame
        One row for each task, system, temperature, view and part: ``n_items``, ``mean``,
        ``median``, ``mean_absolute``, ``published`` (the paper gives one number for mean
        and median of the signed entropy error) and ``difference_mean``,
        ``difference_median`` (ours minus theirs).
    """
    table = read_published("baan2022_other")
    signed = table[table["quantity"] == "signed_ent_ce"].set_index("system")["value"]
    released = {opinions.task.name for opinions in datasets if is_released_snli(opinions)}
    rows = []
    keys = ["task", "system", "temperature", "view", "part"]
    for key, errors in views.groupby(keys, sort=False)["error"]:
        task, system, temperature, view, _ = key
        name = PUBLISHED_NAMES.get((system, temperature))
        known = view == "entropy" and task in released and name in signed
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
