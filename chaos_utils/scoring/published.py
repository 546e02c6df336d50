"""Published numbers as rows of the table of scores, so that published beside computed is a join."""

from typing import TYPE_CHECKING

from chaos_utils.datasets.published.tables import published_rows, read_published
from chaos_utils.scoring.scores import ALL, ScoreRow, as_scores

if TYPE_CHECKING:
    import pandas as pd

TABLE_5 = ("jsd", "kl", "old_accuracy", "new_accuracy")  # measures of that table
_NO_MODELS = ("chance", "est-human")


def published_models() -> "pd.DataFrame":
    """Return the rows of Table 5 of Nie et al. (2020) that are models."""
    table = read_published("nie2020_table5")
    return table[~table["model"].isin(_NO_MODELS)]


def rank_among_published(score: ScoreRow) -> ScoreRow:
    """Return the ``rank`` of a system's score among the models of Table 5 of Nie et al. (2020).

    1 is best; ``ranked`` is the number of models, the system included. Empty if the table lacks the
    dataset or measure, or the value is NaN.
    """
    dataset, measure, value = score["dataset"], score["measure"], score["value"]
    published = [
        float(row[measure])
        for row in published_rows("nie2020_table5")
        if measure in TABLE_5 and row["dataset"] == dataset and row["model"] not in _NO_MODELS
    ]
    if not published or value != value:  # NaN
        return {}
    is_higher_better = score["better"] == "higher"
    n_ahead = len([x for x in published if (x > value if is_higher_better else x < value)])
    return {"rank": n_ahead + 1, "ranked": len(published) + 1}


def published_scores() -> "pd.DataFrame":
    """Return Table 5 of Nie et al. (2020) as a table of scores of origin ``published``."""
    table = read_published("nie2020_table5").melt(["dataset", "model"], list(TABLE_5), "measure")
    table = table.rename(columns={"model": "system"})
    return as_scores(
        table.assign(group=ALL, family=table["system"], origin="published").to_dict("records")
    )
