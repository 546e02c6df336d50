"""The tables of `errors.summarise_draws` and `error_views.summarise_views`, as they are read."""

import math

import pandas as pd

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import MISSING, number, signed, with_interval

_TITLES = {
    "ece": "ECE",
    "dist_ce": "mean DistCE",
    "kl": "KL(H1 ‖ ·)",
    "kl_smoothed": "KL(H1 ‖ ·), smoothed",
    "tvd": "TVD of histograms",
}
REFERENCES = {
    "all": "all",
    "outside_h1": "not in H1",
    "outside_both": "in neither",
}


def show_error_divergence(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 2: mean and spread over seeds, and the percentiles of the published values."""
    rows = []
    for row in table.to_dict("records"):
        spread = not math.isnan(row["sd"])
        cells = {
            ("measure", ""): _TITLES[row["measure"]],
            ("of", ""): _unbroken(system_title(row["system"], row["origin"], row["temperature"])),
            ("against votes", ""): REFERENCES[row["reference"]],
            ("over seeds", "mean [95%]"): with_interval(
                row["mean"], row["low"], row["high"], digits=4
            )
            if spread
            else number(row["mean"], 4),
            ("over seeds", "sd"): number(row["sd"], 4),
            ("over seeds", "infinite"): f"{row['infinite_share']:.1%}"
            if row["measure"] == "kl"
            else MISSING,
        }
        for source, heading in (("notebook", "paper’s notebook"), ("text", "paper’s text")):
            cells |= {
                (heading, "value"): _as_printed(row[f"published_{source}"]),
                (heading, "Δ"): signed(row[f"difference_{source}"], 4),
                (heading, "below"): number(row[f"percentile_{source}"], 1),
            }
        rows.append(cells)
    return _two_levels(rows)


def show_error_views(table: pd.DataFrame) -> pd.DataFrame:
    """Set mean, median and mean absolute errors, one group of columns for each system."""
    rows = []
    for (dataset, view, part), group in table.groupby(["dataset", "view", "part"], sort=False):
        cells = {
            ("dataset", ""): get_dataset(str(dataset)).short,
            ("error of", ""): f"{part}" if view != "rank" else f"{part} label",
            ("items", ""): number(group["n_items"].max()),
        }
        for row in group.to_dict("records"):
            series = system_title(row["system"], row["origin"], row["temperature"])
            cells |= {
                (series, "mean"): signed(row["mean"], 3),
                (series, "median"): signed(row["median"], 3),
                (series, "mean absolute"): number(row["mean_absolute"], 3),
            }
            if table.loc[_is(table, row), "published"].notna().any():
                cells[series, "paper"] = signed(row["published"], 2)
        rows.append(cells)
    return _two_levels(rows)


def _is(table: pd.DataFrame, row: dict[str, object]) -> pd.Series:
    """Return which rows are of the same system at the same temperature."""
    same: pd.Series = (table["system"] == row["system"]) & (
        table["temperature"] == row["temperature"]
    )
    return same


def _unbroken(series: str) -> str:
    """Let a system's name break between its parts alone, since the table is wide."""
    no_break_space = "\u00a0"
    parts = series.replace("-", "\u2011").replace(" ", no_break_space)  # U+2011: the same hyphen
    return parts.replace("," + no_break_space, ", ")


def _as_printed(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:g}"


def _two_levels(rows: list[dict[tuple[str, str], str]]) -> pd.DataFrame:
    shown = pd.DataFrame(rows).fillna(MISSING)
    shown.columns = pd.MultiIndex.from_tuples(list(shown.columns))
    return shown
