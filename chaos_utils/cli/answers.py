"""How `chaos evaluate` sets its answer for readers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.columns import number, signed

_ARROWS = {"lower": "↓", "higher": "↑", "zero": "→ 0"}


def by_system(answer: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each system's scores for reading, then its differences: a title, and cells.

    The heading comes first. An arrow shows which way a measure is better. Values have four digits,
    p has three. `answer` is what `scoring.judging.judge_files` gives.
    """
    for (dataset, system, reference), rows in answer.groupby(
        ["dataset", "system", "reference"], sort=False
    ):
        heading = ["measure", "value", "95% interval", "floor", "ceiling", "rank"]
        title = str(system)
        if reference:
            heading = ["measure", "difference", "95% interval", "p", "p (Holm)"]
            title = f"{system} minus {reference}"
        cells = [heading]
        for row in rows.to_dict("records"):
            measure = MEASURES[row["measure"]]
            unit = f", {measure.unit}" if measure.unit else ""
            line = [f"{measure.title}{unit} {_ARROWS[measure.better]}"]
            if reference:
                line += [signed(row["value"], 4), _interval(row)]
                line += [number(row["p"], 3), number(row["p_holm"], 3)]
            else:
                line += [number(row["value"], 4), _interval(row)]
                line += [number(row["floor"], 4), number(row["ceiling"], 4)]
                line.append("" if pd.isna(row["rank"]) else f"{row['rank']} of {row['ranked']}")
            cells.append(line)
        yield f"{title} on {dataset}, {rows['n_items'].iloc[0]:,} items", cells


def _interval(row: Mapping[Any, Any]) -> str:
    return "" if pd.isna(row["low"]) else f"[{number(row['low'], 4)}, {number(row['high'], 4)}]"


def as_markdown(answer: pd.DataFrame, notes: Sequence[str]) -> str:
    """Return the whole answer as Markdown tables, as in `by_system`, with the notes below."""
    lines = []
    for title, (header, *body) in by_system(answer):
        lines += [f"**{title}**", ""]
        for cells in (header, ["---"] * len(header), *body):
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return "\n".join([*lines, *(f"- {note}" for note in notes)])
