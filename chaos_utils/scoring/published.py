"""Published numbers as rows of the table of scores, so that published beside computed is a join."""

from functools import cache

import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.scoring.scores import ALL, as_scores

_KEYS = ["dataset", "group", "system", "measure"]
_TABLE_5 = ("jsd", "kl", "old_accuracy", "new_accuracy")


@cache
def _table_5() -> pd.DataFrame:
    table = read_published("nie2020_table5").assign(group=ALL)
    return table.melt(["dataset", "group", "model"], list(_TABLE_5), "measure")


@cache
def _entropy_bins() -> pd.DataFrame:
    table = read_published("nie2020_entropy_bins")
    table = table.assign(group=[bin_group(number) for number in table["bin"]])
    return table.melt(["dataset", "group", "model", "n"], list(_TABLE_5), "measure")


def bin_group(number: int) -> str:
    """Return how a bin of entropies is called as a group of items, counted from 1."""
    return f"entropy bin {number}"


def published_scores() -> pd.DataFrame:
    """Return the scores that Nie et al. (2020) published: Table 5, and Figures 4 and 5.

    Returns
    -------
    DataFrame
        As `scores.score` gives it, of origin ``published``, without intervals. The groups are
        ``all`` and `bin_group` of each dataset's five quantile bins of entropy.
    """
    both = pd.concat([_table_5(), _entropy_bins()], ignore_index=True)
    both = both.rename(columns={"model": "system", "n": "n_items"})
    return as_scores(both.assign(family=both["system"], origin="published").to_dict("records"))


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
