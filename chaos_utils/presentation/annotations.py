"""The tables of the chapter on old and new labels.

Column names have two levels where a group of columns shares a heading.
"""

from collections.abc import Sequence

import pandas as pd

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.report.columns import MISSING, number, signed, with_interval
from chaos_utils.report.tables import Item, Votes

STATISTICS = {
    "old_majority": "old majority",
    "new_majority": "new majority",
    "old_raw_count": "old votes",
    "new_raw_count": "new votes",
}


def name_of(dataset: str) -> str:
    """Return a dataset's name as readers know it.

    Parameters
    ----------
    dataset : str
        Its name in tables, such as ``alphanli``.
    """
    return get_dataset(dataset).short


def show_data_statistics(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 2: published beside reproduced, with the difference.

    Parameters
    ----------
    table : DataFrame
        As `description.data_statistics` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    quantities = {
        "items": ("n_examples", 0),
        "change rate (%)": ("change_rate_percent", 2),
        "change rate, full development set (%)": ("change_rate_full_dev_percent", 2),
    }
    return pd.DataFrame(
        {
            "dataset": name_of(row["dataset"]),
            "quantity": quantity,
            "published": number(row[f"published_{name}"], digits),
            "reproduced": number(row[name], digits),
            "difference": signed(row[f"difference_{name}"], digits),
        }
        for row in table.to_dict("records")
        for quantity, (name, digits) in quantities.items()
    )


def show_label_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 7: counts for each label; new ones with the change from the old in parentheses.

    Parameters
    ----------
    table : DataFrame
        As `description.label_counts` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    is_old = table["statistic"] == "old_majority"
    old = table[is_old].set_index(["dataset", "label"])["value"].to_dict()
    any_published = table["published"].notna().any()
    rows = []
    for (dataset, statistic), group in table.groupby(["dataset", "statistic"], sort=False):
        if group["published"].isna().all() and any_published:
            continue  # shown beside nothing only where the paper has nothing at all
        cells = {("dataset", ""): name_of(str(dataset)), ("count", ""): STATISTICS[str(statistic)]}
        for row in group.to_dict("records"):
            label, here = row["label"], number(row["value"])
            if statistic == "new_majority" and (dataset, label) in old:
                here += f" ({signed(row['value'] - old[dataset, label])})"
            if any_published:
                cells[label, "paper"] = number(row["published"])
            cells[label, "here"] = here
            if any_published:
                cells[label, "Δ"] = signed(row["difference"])
        rows.append(cells)
    shown = pd.DataFrame(rows).fillna(MISSING)
    shown.columns = pd.MultiIndex.from_tuples(list(shown.columns))
    return shown


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a, b and c``.

    Parameters
    ----------
    parts : sequence of str
        At least one.
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def show_agreement(table: pd.DataFrame) -> pd.DataFrame:
    """Set the agreement table: each mean with its interval.

    Parameters
    ----------
    table : DataFrame
        As `description.agreement` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    headings = {
        "mean_entropy_bits": "mean entropy (bits)",
        "mean_majority_share": "mean majority share",
        "fleiss_kappa": "Fleiss’ κ",
        "mean_pairwise_agreement": "pairwise agreement",
    }
    rows = []
    for row in table.to_dict("records"):
        cells: dict[str, object] = {
            "dataset": name_of(row["dataset"]),
            "items": number(row["n_examples"]),
        }
        for name, heading in headings.items():
            cells[heading] = with_interval(
                row[name], row[f"{name}_low"], row[f"{name}_high"], digits=3
            )
        cells["ties"] = number(row["n_ties"])
        cells["unanimous"] = number(row["n_unanimous"])
        rows.append(cells)
    return pd.DataFrame(rows)


def show_examples(table: pd.DataFrame) -> pd.DataFrame:
    """Set the example items: uid (the book adds the text), reason, labels, votes, entropy.

    Where no item has an old label, there is no word of one.

    Parameters
    ----------
    table : DataFrame
        As `description.examples` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    any_old = table["old_label"].notna().any()
    labels = "old label → majority" if any_old else "majority"
    rows = []
    for row in table.to_dict("records"):
        before = f"{row['old_label'] or MISSING} → " if any_old else ""
        votes = [row[f"votes_{k + 1}"] for k in range(get_dataset(row["dataset"]).n_classes)]
        rows.append(
            {
                "item": Item(row["dataset"], row["uid"]),
                "votes": Votes(row["dataset"], tuple(int(count) for count in votes)),
                labels: f"{before}{row['majority_label']}",
                "entropy (bits)": number(row["entropy_bits"], 2),
                "chosen for": row["reason"],
            }
        )
    return pd.DataFrame(rows)
