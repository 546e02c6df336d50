"""How `chaos evaluate` prints its answer: rows are systems, columns are measures."""

import math
import shutil
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import rich.console
import rich.table
from rich.align import Align
from rich.cells import cell_len
from rich.text import Text

from chaos_utils.base.errors import counted
from chaos_utils.base.files import csv_text
from chaos_utils.cli.console import strip_control_characters
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.columns import p_value
from chaos_utils.report.columns import MISSING, number, safe_cell, signed
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.evaluate import (
    ANSWER_COLUMNS,
    BASELINES,
    IN_PEOPLE,
    NOT_AVAILABLE,
    Answer,
    in_places,
)
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, UNSETTLED
from chaos_utils.scoring.scores import ALL, ScoreRow

_DIGITS = 4
_ARROWS = {"lower": "↓", "higher": "↑", "zero": "→ 0"}
_TITLES = {**worths.TITLES, people.TVD: "human equivalent by TVD",
           people.JSD: "human equivalent by JSD"}  # fmt: skip
# Where many systems are compared by worth: the first of these that any of them has.
_RANKED = {"recalibrated": worths.PEOPLE_RECALIBRATED, "shrunk": worths.PEOPLE_SHRUNK,
           "as it is": worths.PEOPLE}  # fmt: skip
_SYNTHETIC = " (synthetic sample)"
_NEARLY_0 = "≈ 0"
_GAP = 2  # characters between columns
_NARROWEST = 40  # characters, of a terminal
_WIDEST = 1000  # characters, of a block
_MOST_SENTENCES = 3  # for one dataset; of more systems only the best has a sentence
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "−": "$-$", "–": "--", "’": "'", "“": "``", "”": "''", "×": r"$\times$", "≤": r"$\leq$",
    "‖": r"$\Vert$",
    "√": r"$\surd$", "τ": r"$\tau$", "α": r"$\alpha$", "↓": r"$\downarrow$", "↑": r"$\uparrow$",
    "→": r"$\to$", "≈": r"$\approx$", "∞": r"$\infty$", "…": r"\ldots{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cell:
    """The cell of a system and a measure: a value, and the lines below it."""

    value: str = MISSING
    below: tuple[str, ...] = ()
    rank: str = ""
    best: bool = False

    @property
    def lines(self) -> list[str]:
        return [self.value, *self.below, *filter(None, [self.rank])]


_NO_CELL = _Cell()


@dataclass(frozen=True, slots=True)
class _Table:
    """One table: headings of two lines, and cells by the name of their row."""

    title: str
    headings: list[tuple[str, str]]
    rows: dict[str, list[_Cell]]
    n_systems: int  # rows before the references


def _table(title: str, cells: Iterable[tuple[str, str, _Cell]], n_systems: int) -> _Table:
    """Return a table of cells, each with its row's name and its measure."""
    rows: dict[str, dict[str, _Cell]] = {}
    measures: dict[str, None] = {}
    for name, measure, cell in cells:
        rows.setdefault(strip_control_characters(name), {})[measure] = cell
        measures[measure] = None
    table_rows = {
        name: [row.get(measure, _NO_CELL) for measure in measures] for name, row in rows.items()
    }
    return _Table(title, [_heading(measure) for measure in measures], table_rows, n_systems)


def _heading(measure: str) -> tuple[str, str]:
    """Return a measure's title, and its unit with the arrow that says which way is better."""
    if measure in _TITLES:
        unit = worths.UNITS.get(measure, "people")
        return _TITLES[measure], f"{unit} {_ARROWS['higher']}".strip()
    entry = MEASURES[measure]
    return entry.title, f"{entry.unit} {_ARROWS[entry.better]}".strip()


def tables_of(answer: Answer) -> Iterator[_Table]:
    """Yield the tables of an answer: values by dataset and items covered, then differences."""
    for dataset, title in answer.titles.items():
        rows = [row for row in answer.rows if row["dataset"] == dataset]
        values = [row for row in rows if not row.get("reference")]
        for group in dict.fromkeys(row["group"] for row in values):
            part = [row for row in values if row["group"] == group]
            systems = {row["system"] for row in part if not _is_reference(row)}
            suffix = "" if group == ALL else f" ({group})"
            cells = (_value(answer, row, systems) for row in part)
            yield _table(_title(answer, title, part) + suffix, cells, len(systems))
        differences = [row for row in rows if row.get("reference")]
        if differences:
            title = f"Differences on {_title(answer, title, differences)}"
            items_differ = len({row["n_items"] for row in differences}) > 1
            cells = (_difference(answer, row, items_differ) for row in differences)
            yield _table(title, cells, len(differences))


def _value(answer: Answer, row: ScoreRow, systems: Collection[str]) -> tuple[str, str, _Cell]:
    """Return the name of a row, its measure and its cell; `systems` are the reader's own."""
    value, interval = number(row["value"], _DIGITS), _interval(row, number)
    if row.get("text") == UNSETTLED:
        value = _NEARLY_0
    elif row.get("text") == NOT_AVAILABLE:
        value = NOT_AVAILABLE
    elif row["measure"] in IN_PEOPLE:
        value, bracket, ends = row["text"].partition(" [")
        value = worths.without_reason(value)
        interval = (bracket + ends).strip()
    rank = f"{row['rank']} of {row['ranked']}" if row.get("rank") else in_places(row)
    key = (row["dataset"], row["group"], row["measure"], row["system"])
    is_best = key in answer.best and not _is_reference(row)
    name = row["system"]
    if _is_reference(row) and name in systems:  # a reader's system may have this name
        name += f" ({row['origin']})"
    below = tuple(filter(None, [interval]))
    return name, row["measure"], _Cell(value.strip(), below, rank, is_best)


def _difference(answer: Answer, row: ScoreRow, with_items: bool) -> tuple[str, str, _Cell]:
    """Return the name of a row of differences, its measure and its cell."""
    name = f"{row['system']} − {row['reference']}"
    if with_items:
        name += f" ({counted(row['n_items'], 'item')})"
    below = [_interval(row, signed)]
    if not _is_nan(row.get("p")):
        adjusted = p_value(row["p_holm"], answer.n_resamples, raw=row["p_behind"])
        below += [f"p {_equal(p_value(row['p'], answer.n_resamples))}", f"Holm {_equal(adjusted)}"]
    cell = _Cell(signed(row["value"], _DIGITS), tuple(filter(None, below)))
    return name, row["measure"], cell


def _is_reference(row: ScoreRow) -> bool:
    return row["origin"] in ("reference", "baseline")


def _equal(p: str) -> str:
    """Return a p-value with its sign: "≤ 0.01", "= 0.2"."""
    return p if p.startswith(("≤", "<")) else f"= {p}"


def _title(answer: Answer, title: str, rows: Iterable[ScoreRow]) -> str:
    """Return a table's title: the dataset, and how many items, if that is the same for all rows."""
    counts = {row["n_items"] for row in rows}
    items = [f", {counted(n, 'item')}" for n in counts] if len(counts) == 1 else []
    return "".join([title, _SYNTHETIC * answer.synthetic, *items])


def _interval(row: Mapping[str, Any], write: Any) -> str:
    if _is_nan(row.get("low")):
        return ""
    return f"[{write(row['low'], _DIGITS)}, {write(row['high'], _DIGITS)}]"


def _is_nan(value: Any) -> bool:
    return value is None or value != value


def summary(answer: Answer) -> list[str]:
    """Return a sentence on each system's worth; where a dataset has many, on the best alone."""
    sentences = []
    for dataset, title in answer.titles.items():
        by_system: dict[str, list[ScoreRow]] = {}
        for row in answer.rows:
            is_worth = row["dataset"] == dataset and row["measure"] in worths.NAMES
            if is_worth and not _is_reference(row):
                by_system.setdefault(row["system"], []).append(row)
        by_system = {
            name: rows for name, rows in by_system.items()
            if any(row["measure"] in _RANKED.values() for row in rows)
        }  # fmt: skip
        values = {
            form: {row["system"]: row["value"] for rows in by_system.values() for row in rows
                  if row["measure"] == measure and not _is_nan(row["value"])}
            for form, measure in _RANKED.items()
        }  # fmt: skip
        form = next((form for form in values if values[form]), "")
        dataset_title = title + _SYNTHETIC * answer.synthetic
        if form and len(by_system) > _MOST_SENTENCES:
            best = max(values[form], key=lambda name: values[form][name])
            sentence = worths.in_a_sentence(by_system[best], dataset_title)
            sentences.append(f"{sentence} No other of the {len(by_system)} is worth more {form}.")
        else:
            sentences += [worths.in_a_sentence(rows, dataset_title) for rows in by_system.values()]
    return sentences


def legend(answer: Answer) -> list[str]:
    """Return the notes that explain the tables, a sentence or two each."""
    shown_measures = {row["measure"] for row in answer.rows}
    reference_systems = {row["system"] for row in answer.rows if _is_reference(row)}
    texts = {text for row in answer.rows for text in (row.get("text", ""), row.get("interval", ""))}
    best_at_0 = any(MEASURES[name].better == "zero" for name in shown_measures & set(MEASURES))
    zero_hint = ", → 0 nearer to 0 is better" if best_at_0 else ""
    n_compared = sum(not _is_nan(row.get("p")) for row in answer.rows)
    titles_without_interval = [
        MEASURES[name].title
        for name in MEASURES
        if name in shown_measures and not MEASURES[name].has_interval
    ]
    sentences = (  # (condition, sentence)
        (True, f"↓ lower is better, ↑ higher is better{zero_hint}."),
        (answer.n_resamples,
         f"[low, high]: 95% interval over {answer.n_resamples:,} resamples of the items, each "
         "with its votes: for other items with other votes on them."),
        (answer.n_resamples and titles_without_interval,
         f"No interval: {'; '.join(titles_without_interval)}. What is estimated is biased "
         "upward, and a bootstrap interval would not cover it; sq_ce and sq_ce_votes have "
         "intervals."),
        (n_compared,
         "Differences are paired: both systems on the same resampled items. p is two-sided; "
         f"Holm: adjusted for the number of differences shown, {n_compared:,}. ≤: the smallest "
         "that so many resamples allow."),
        (PERFECT_MODEL in reference_systems,
         "Perfect model: knows each item's true distribution, and still misses the ideal value, "
         "since the votes that judge it are a sample."),
        (SECOND_CROWD in reference_systems,
         "Second crowd: as many other people as voted, taken as a prediction; undefined for KL "
         "and cross-entropy."),
        (UNSETTLED in texts,
         f"{_NEARLY_0}: its noise exceeds the value, which is {UNSETTLED}."),
        (reference_systems & set(BASELINES),
         "Base rate, and mean vote given the old label: fitted on the votes on other items, "
         "which models trained on labels have not seen."),
        (shown_measures & {worths.PEOPLE, worths.PEOPLE_RECALIBRATED, worths.PEOPLE_SHRUNK},
         "Worth: how many people one must ask about each item, knowing already how often each "
         "label is given overall, to come as near to all people. 0 is the base rate."),
        (shown_measures & {worths.SKILL, worths.SKILL_RECALIBRATED, worths.SKILL_SHRUNK},
         "Skill: 0 is the base rate, 1 as near as the votes can show."),
        (shown_measures & set(worths.RECALIBRATED),
         "Recalibrated: by a map of its log-probabilities that is fitted to the votes on other "
         "texts; of one label per item, the mean vote given the label. That is what the system "
         "knows. The interval resamples items, with these predictions held fixed."),
        (shown_measures & set(worths.SHRUNK),
         "Shrunk: drawn towards the base rate by one number that is fitted on other items. It is "
         "less than a map makes of a system, and needs fewer items."),
        (any(text.startswith(worths.TOO_FEW) for text in texts),
         f"{worths.TOO_FEW.capitalize()}: an interval would hold the truth too rarely."),
        (worths.POOLED in shown_measures,
         "Human equivalent: how many people, pooled, without the base rate, come as near by the "
         "squared distance; a uniform guess is not 0."),
        (shown_measures & {people.TVD, people.JSD},
         "Human equivalents by TVD and JSD depend on the number of votes that judge: never "
         "compare them between datasets."),
        (any(worths.BEYOND in text for text in texts),
         f"{worths.BEYOND.capitalize()}: the number is larger than that of the votes."),
        (any(row.get("rank") for row in answer.rows),
         "“A of 10”: rank among the nine models of Table 5 of Nie et al. (2020) and this system."),
        (any(row.get("n_placed") for row in answer.rows),
         "“places A–B of N”: the system may have any place from A to B among the N systems of the "
         "scoreboard on the same items, by its worth; with 95% confidence, all sets of places are "
         "right at once. As it is, one label has no worth, and no place."),
    )  # fmt: skip
    return [text for condition, text in sentences if condition]


def as_text(answer: Answer, width: int = 0) -> str:
    """Return the answer as text of at most `width` characters, by default the terminal's.

    A longer word makes a line wider. Measures that do not fit beside each other follow in blocks of
    their own. Below a value are its interval and its rank; below a difference, its interval, p
    and the adjusted p.
    """
    width = width or max(shutil.get_terminal_size().columns, _NARROWEST)
    parts = [f"{_wrapped(text, width)}\n" for text in summary(answer)]
    for table in tables_of(answer):
        parts += [table.title, ""]
        name_width = max(18, min(max(map(cell_len, table.rows)), width // 3))
        columns = list(zip(table.headings, *table.rows.values(), strict=True))
        for block in _blocks([_width(column) for column in columns], width - name_width):
            parts += [*_block_lines(table, block, name_width), ""]
    return "\n".join([*parts, *(_wrapped(text, width) for text in legend(answer))])


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_on_hyphens=False)


def _width(column: Sequence[Any]) -> int:
    """Return the width of a column, whose heading is wrapped between words."""
    (title, unit), *cells = column
    return max(
        map(cell_len, [unit, *title.split(), *(line for cell in cells for line in cell.lines)])
    )


def _blocks(widths: Sequence[int], width: int) -> list[dict[int, int]]:
    """Return blocks of columns that fit beside each other: column indices with their widths."""
    blocks: list[dict[int, int]] = []
    free = 0
    for index, column_width in enumerate(widths):
        if not blocks or column_width + _GAP > free:
            blocks.append({})
            free = width
        blocks[-1][index] = column_width
        free -= column_width + _GAP
    return blocks


def _block_lines(table: _Table, columns: Mapping[int, int], name_width: int) -> list[str]:
    """Return the lines of a table with some of its columns: indices with their widths."""
    grid = rich.table.Table(box=None, pad_edge=False, padding=(0, 0, 0, _GAP))
    grid.add_column(width=name_width, overflow="fold")
    for index, width in columns.items():
        heading = Text("\n".join(table.headings[index]), justify="right")
        grid.add_column(Align.right(heading, vertical="bottom"), justify="right", width=width)
    for index, (name, row) in enumerate(table.rows.items()):
        cells = [row[column] for column in columns]
        if all(cell is _NO_CELL for cell in cells):
            continue
        if index == table.n_systems:
            grid.add_row()
        wrapped_name = textwrap.fill(name, name_width, subsequent_indent="  ")
        grid.add_row(Text(wrapped_name), *(Text("\n".join(cell.lines)) for cell in cells))
    console = rich.console.Console(width=_WIDEST, color_system=None)
    with console.capture() as output:
        console.print(grid)
    return [line.rstrip() for line in output.get().splitlines()]


def as_markdown(answer: Answer) -> str:
    """Return the answer as Markdown tables, with the legend and the notes below."""
    lines = [line for text in summary(answer) for line in (in_markdown(text), "")]
    for table in tables_of(answer):
        headings = [", ".join(filter(None, heading)) for heading in table.headings]
        body = [
            [in_markdown(name), *map(_in_markdown, cells)] for name, cells in table.rows.items()
        ]
        lines += [f"**{table.title}**", ""]
        for line in (["", *headings], ["---", *["---:"] * len(headings)], *body):
            lines.append("| " + " | ".join(line) + " |")
        lines.append("")
    notes = [*_bold_note(answer), *legend(answer), *answer.notes]
    return "\n".join([*lines, *(f"- {in_markdown(note)}" for note in notes)])


def _in_markdown(cell: _Cell) -> str:
    value = f"**{cell.value}**" if cell.best else cell.value
    value_and_interval = " ".join([value, *cell.below[:1]])
    return "; ".join(filter(None, [value_and_interval, *cell.below[1:], cell.rank]))


def _bold_note(answer: Answer) -> list[str]:
    note = "Bold: better than each other system, beyond the interval of the difference."
    return [note] if answer.best else []


def as_latex(answer: Answer) -> str:
    """Return the answer as LaTeX tables that need the package booktabs.

    Values that are best without a tie are bold; an interval is below its value. Ranks are left out.
    """
    lines = ["% needs \\usepackage{booktabs}"]
    lines += [f"% {' '.join(note.split())}" for note in answer.notes]
    notes = [line for line in legend(answer) if "rank among" not in line]
    for table in tables_of(answer):
        caption = " ".join([f"{table.title}.", *_bold_note(answer), *notes])
        lines += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * len(table.headings)}}}",
            r"\toprule",
            *(_tex_row("", map(_tex, texts)) for texts in zip(*table.headings, strict=True)),
            r"\midrule",
            *_tex_rows(table),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_tex(caption)}}}",
            r"\end{table}",
        ]
    return "\n".join(lines)


def _tex_rows(table: _Table) -> Iterator[str]:
    """Yield the rows of a table, each followed by the lines below its values."""
    for index, (name, cells) in enumerate(table.rows.items()):
        if index == table.n_systems:
            yield r"\midrule"
        values = (
            rf"\textbf{{{_tex(cell.value)}}}" if cell.best else _tex(cell.value) for cell in cells
        )
        yield _tex_row(name, values)
        for texts in zip_longest(*(cell.below for cell in cells), fillvalue=""):
            yield _tex_row("", (rf"{{\scriptsize {_tex(text)}}}" if text else "" for text in texts))


def _tex_row(name: str, cells: Iterable[str]) -> str:
    return " & ".join([_tex(name), *cells]) + r" \\"


def _tex(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    # A bracket at the start of a line would be an argument of the line break above.
    return f"{{{escaped}}}" if escaped.startswith("[") else escaped


def as_csv(answer: Answer) -> str:
    """Return the rows as CSV, with a column that marks the synthetic sample."""
    rows = (
        ["" if _is_nan(value) else safe_cell(value) for value in map(row.get, ANSWER_COLUMNS)]
        for row in answer.rows
    )
    return csv_text([ANSWER_COLUMNS, *rows])


WRITERS = {"text": as_text, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}


def as_records(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows for JSON, all with the same keys: null where a number is not defined."""
    texts = ("trained_on", "interval", "estimand", "reference", "unit", "text")
    empty = {name: "" if name in texts else None for name in (*ANSWER_COLUMNS, "text")}
    rows = ({name: row.get(name, null) for name, null in empty.items()} for row in answer.rows)
    return [{name: _finite(value) for name, value in row.items()} for row in rows]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
