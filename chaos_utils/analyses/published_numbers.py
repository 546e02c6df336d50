"""Every number that the papers print, beside ours."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses import baan
from chaos_utils.analyses.baan import agrees, digits_of
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number, signed
from chaos_utils.report.values import parse_address

FILE = Path(__file__).with_name("published_numbers.yml")
_KEYS = ("paper", "table", "dataset", "row", "column")
_PUBLISHED = (
    "nie2020_table1", "nie2020_table2", "nie2020_table5", "nie2020_table7", "nie2020_other",
    "nie2020_entropy_bins", "baan2022_table1", "baan2022_table2", "baan2022_other",
    "baan2022_systems",
)  # fmt: skip
_RELEASED_DIFFERS = "The released votes are not vote for vote those of the paper's tables."
_NOT_AVAILABLE = "What it needs is not available here."
_NOT_RELEASED = "The votes here are others than the paper's."


@derived_table(keys=_KEYS, published=_PUBLISHED)
def published_beside_ours(*, same_votes: bool, **tables: pd.DataFrame) -> pd.DataFrame:
    """List every number that the papers print beside ours, from `tables` of `claims_tables`.

    ``ours`` is NaN where we have no number, and everywhere unless the votes are the released ones
    (`same_votes`). ``difference`` is ours minus the paper's; ``agrees`` says whether both are the
    same to the digits printed (<NA> without ours); ``reason`` says why we have no number, or why
    both differ.
    """
    rows = []
    for row in printed_numbers():
        ours = row.pop("times") * _value(tables if same_votes else {}, row.pop("ours"))
        is_available = not np.isnan(ours)
        is_same = agrees(ours, row["published"]) if is_available else None
        reason = row.pop("reason")
        if is_available:
            reason = "" if is_same else reason or _RELEASED_DIFFERS
        elif reason in ("", _RELEASED_DIFFERS):
            reason = _NOT_AVAILABLE if same_votes else _NOT_RELEASED
        values = {"ours": ours, "difference": ours - row["published"], "agrees": is_same}
        rows.append(row | values | {"reason": reason})
    return pd.DataFrame(rows).astype({"agrees": "boolean"})


def _value(tables: Mapping[str, pd.DataFrame], text: str) -> float:
    """Return the number at an address, the first of several; NaN where there is none."""
    address = parse_address(text) if text else None
    table = tables.get(address.table) if address else None
    if address is None or table is None or table.empty:
        return float("nan")
    values = address.rows(table)[address.column].dropna()
    if address.aggregate:
        return float(getattr(values, address.aggregate)())
    return float(values.iloc[0]) if len(values) else float("nan")


def printed_numbers() -> Iterator[dict[str, Any]]:
    """Yield every number that the papers print.

    Each has its place, ``published``, the address ``ours`` of our number, the factor ``times`` to
    multiply ours with, and ``reason``.
    """
    seen_places = set()
    for entry in read_yaml(FILE):
        columns = entry["columns"]
        names = columns if isinstance(columns, dict) else dict(zip(columns, columns, strict=True))
        table = _rows_of(entry["file"])
        chosen = table.query(entry["only"]) if "only" in entry else table
        for printed_as, column in names.items():
            for row in chosen.dropna(subset=printed_as).to_dict("records"):
                fields = {**row, "column": column, "printed": printed_as}
                key = {name: entry.get(name, "").format(**fields) for name in ("table", "row")}
                key["column"] = entry.get("column", "{printed}").format(**fields)
                place = (entry["paper"], key["table"], row["dataset"], key["row"], key["column"])
                if place in seen_places:  # edges of bins stand in the row of every model
                    continue
                seen_places.add(place)
                yield {
                    **dict(zip(_KEYS, place, strict=True)),
                    "published": float(row[printed_as]),
                    "times": entry.get("times", 1),
                    "ours": entry.get("ours", "").format(**fields),
                    "reason": entry.get("reason", "").format(**fields),
                }


def _rows_of(file: str) -> pd.DataFrame:
    """Return published numbers; those of systems with family, seed, ``name`` and ``title``."""
    table = read_published(file)
    if "system" not in table:
        return table
    table = baan.published_rows(file)
    seeds = [f", seed {seed:g}" if seed == seed else "" for seed in table["seed"]]
    table = table.assign(name=table["system"] + seeds, title=table["family"] + seeds)
    if "note" in table:  # notes that are no reasons are left out
        notes = table["note"].where(table["note"].str.startswith("not reproduced"), "").fillna("")
        table["note"] = [f"{note[:1].upper()}{note[1:]}{'.' * bool(note)}" for note in notes]
    return table


@derived_table(keys=("paper", "table"))
def count_numbers(beside: pd.DataFrame) -> pd.DataFrame:
    """Count the rows of `published_beside_ours`, for each table of a paper.

    ``printed`` counts all numbers, ``ours`` those that we have too, ``same`` those that agree to
    the digits printed, and ``differ`` those that do not. ``reason`` joins the reasons.
    """
    groups = beside.groupby(["paper", "table"], sort=False)
    counts = groups.agg(
        printed=("published", "size"),
        ours=("ours", "count"),
        same=("agrees", lambda agrees: int(agrees.sum())),
        reason=("reason", lambda reasons: " ".join(filter(None, dict.fromkeys(reasons)))),
    ).reset_index()
    counts.insert(5, "differ", counts["ours"] - counts["same"])
    return counts


_COLUMN_NAMES = {
    "jsd": "JSD", "kl": "KL", "old_accuracy": "old accuracy", "new_accuracy": "new accuracy",
    "n_examples": "items", "change_rate_percent": "change rate (%)",
    "change_rate_full_dev_percent": "of the development set (%)", "accuracy": "accuracy",
    "ece": "ECE", "rank_cs": "RankCS", "ent_ce": "EntCE", "dist_ce": "DistCE",
    "kl_from_h1": "KL from H1", "ece, sixty votes": "ECE, sixty votes",
    "dist_ce, sixty votes": "DistCE, sixty votes", "kl_from_h1, sixty votes":
    "KL from H1, sixty votes", "entropy_low_bits": "entropy from (bits)",
    "entropy_high_bits": "to (bits)", "n": "items", "mean_entropy_bits": "mean entropy (bits)",
    "qualification_fail_rate_percent": "failed the qualification (%)",
    "filter_rate_percent": "filtered out (%)", "annotators": "annotators",
    "mean_seconds_per_example": "mean seconds", "median_seconds_per_example": "median seconds",
    "full_dev_size": "development set", "classwise_ece_percent": "class-wise ECE (%)",
    "signed_ent_ce": "signed EntCE",
}  # fmt: skip
_ROW_NAMES = SYSTEM_NAMES | {
    "old_majority": "old majority", "new_majority": "new majority",
    "old_raw_count": "old votes", "new_raw_count": "new votes", "roberta": "RoBERTa",
    "roberta-ts": "RoBERTa-TS", "h1": "H1", "h2": "H2",
}  # fmt: skip


def _row_name(row: Row) -> str:
    name, *seed = str(row["row"]).split(", ", 1)
    return ", ".join([_ROW_NAMES.get(name, name), *seed])


def _our_number(row: Row) -> str:
    """Write our number with one digit more than the paper prints."""
    value = row["ours"]
    return number(value, 0 if value == round(value) else digits_of(row["published"]) + 1)


def _difference(row: Row) -> str:
    """Write a difference in bold where it exceeds rounding, else 0."""
    if row["agrees"]:
        return "0"
    return f"**{signed(row['difference'], digits_of(row['published']) + 1)}**"


_PAPERS = {"nie2020": "Nie 2020", "baan2022": "Baan 2022"}


def _number_name(row: Row) -> str:
    """Name the dataset, the row and the column in which a paper prints a number."""
    dataset = short_of(row["dataset"]) if row["dataset"] else ""
    column = _COLUMN_NAMES.get(row["column"], row["column"])
    return ": ".join(filter(None, (dataset, _row_name(row), column)))


def _place(row: Row) -> str:
    return f"{_PAPERS[row['paper']]}, {row['table']}"


COUNT_COLUMNS = [
    Column("place", _place),
    Column("numbers printed", "printed", 0),
    Column("checked here", "ours", 0),
    Column("agree", "same", 0),
    Column("differ", "differ", 0),
    Column("why not checked, or why they differ", lambda row: row["reason"] or MISSING),
]
COLUMNS = [
    Column("place", _place),
    Column("dataset: row: column", _number_name),
    Column("paper", lambda row: number(row["published"], digits_of(row["published"]))),
    Column("here", _our_number),
    Column("Δ", _difference),
    Column("note", "reason"),
]
