"""Published numbers as rows of the table of scores, so that published beside computed is a join."""

import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.scoring.scores import ALL, as_scores

_KEYS = ["dataset", "group", "system", "measure"]
TABLE_5 = ("jsd", "kl", "old_accuracy", "new_accuracy")  # its measures


def published_models() -> pd.DataFrame:
    """Return the rows of Table 5 of Nie et al. (2020) that are models."""
    table = read_published("nie2020_table5")
    return table[~table["model"].isin(["chance", "est-human"])]


def published_scores() -> pd.DataFrame:
    """Return the scores of Table 5 of Nie et al. (2020).

    Returns
    -------
    DataFrame
        As `scores.score` gives it, of origin ``published``, without intervals.
    """
    table = read_published("nie2020_table5").melt(["dataset", "model"], list(TABLE_5), "measure")
    table = table.rename(columns={"model": "system"})
    return as_scores(
        table.assign(group=ALL, family=table["system"], origin="published").to_dict("records")
    )


def beside_published(table: pd.DataFrame) -> pd.DataFrame:
    """Join computed scores with the published ones of the same rows.

    Parameters
    ----------
    table : DataFrame
        Scores.

    Returns
    -------
    DataFrame
        The same with ``published`` and ``difference`` (value minus published); NaN where the
        papers have no such row.
    """
    known = published_scores()[[*_KEYS, "value"]].rename(columns={"value": "published"})
    joined = table.merge(known, "left", _KEYS)
    return joined.assign(difference=joined["value"] - joined["published"])
