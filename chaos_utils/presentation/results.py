"""The tables of the chapter on results."""

import pandas as pd

from chaos_utils.presentation.annotations import name_of
from chaos_utils.report.tables import number, signed, with_interval

_HEADINGS = {
    "jsd": "JSD",
    "kl": "KL",
    "old_accuracy": "old accuracy",
    "new_accuracy": "new accuracy",
}
MODEL_NAMES = {
    "bert-base": "BERT-base",
    "xlnet-base": "XLNet-base",
    "roberta-base": "RoBERTa-base",
    "bert-large": "BERT-large",
    "xlnet-large": "XLNet-large",
    "roberta-large": "RoBERTa-large",
    "bart-large": "BART-large",
    "albert-xxlarge": "ALBERT-xxlarge",
    "distilbert": "DistilBERT",
    "est-human": "estimated human",
}


def show_main_results(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 5: computed rows with intervals; published ones marked as such.

    Parameters
    ----------
    table : DataFrame
        As `evaluation.results.main_results` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    rows = []
    for row in table.to_dict("records"):
        cells: dict[str, str] = {
            "dataset": name_of(row["dataset"]),
            "system": MODEL_NAMES.get(row["system"], row["system"]),
            "source": row["source"],
        }
        for measure, heading in _HEADINGS.items():
            value, low, high = row[measure], row[f"{measure}_low"], row[f"{measure}_high"]
            published = row[f"published_{measure}"]
            if not pd.isna(published):
                difference = signed(row[f"difference_{measure}"], 4)
                cells[heading] = (
                    f"{number(value, 4)} [paper {number(published, 4)}, Δ {difference}]"
                )
            elif pd.isna(low):
                cells[heading] = number(value, 4)
            else:
                cells[heading] = with_interval(value, low, high, 4)
        rows.append(cells)
    return pd.DataFrame(rows)
