"""How `chaos evaluate` sets its answer: rows are systems, columns are measures."""

import csv
import io
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from chaos_utils.base.errors import counted
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.columns import MISSING, number, p_value, safe_cell, signed
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.beside import BASELINES, IN_PEOPLE
from chaos_utils.scoring.judging import ANSWER_COLUMNS, Answer
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, UNSETTLED
from chaos_utils.scoring.scores import ALL, Row

_DIGITS = 4
_ARROWS = {"lower": "↓", "higher": "↑", "zero": "→ 0"}
_TITLES = {**worths.TITLES, people.TVD: "human equivalent by TVD",
           people.JSD: "human equivalent by JSD"}  # fmt: skip
_SYNTHETIC = " (synthetic sample)"
_NEARLY_0 = "≈ 0"
_GAP = 2  # between columns
_SENTENCES = 3  # of one dataset; more systems are a table
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "−": "$-$", "–": "--", "’": "'", "×": r"$\times$", "≤": r"$\leq$", "‖": r"$\Vert$",
    "√": r"$\surd$", "τ": r"$\tau$", "α": r"$\alpha$", "↓": r"$\downarrow$", "↑": r"$\uparrow$",
    "→": r"$\to$", "≈": r"$\approx$", "∞": r"$\infty$", "…": r"\ldots{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is shown of a system by a measure: a value, and lines that stand below it."""

    value: str
    below: tuple[str, ...] = ()
    rank: str = ""
    best: bool = False

    @property
    def lines(self) -> list[str]:
        return [self.value, *self.below, *filter(None, [self.rank])]


@dataclass(frozen=True, slots=True)
class _Table:
    """One table: a title, measures, and cells by what stands at the start of a row."""

    title: str
    measures: list[str]
    rows: dict[str, dict[str, _Cell]]
    n_systems: int  # rows before the references

    def heading(self, measure: str) -> tuple[str, str]:
        """Return a measure's title, and its unit with the arrow that says which way is better."""
        if measure in _TITLES:
            unit = worths.UNITS.get(measure, "people")
            return _TITLES[measure], f"{unit} {_ARROWS['higher']}".strip()
        known = MEASURES[measure]
        return known.title, f"{known.unit} {_ARROWS[known.better]}".strip()


def tables_of(answer: Answer) -> Iterator[_Table]:
    """Yield the tables of an answer: values by dataset and items covered, then differences."""
    for dataset, title in answer.titles.items():
        rows = [row for row in answer.rows if row["dataset"] == dataset]
        values = [row for row in rows if not row.get("reference")]
        for group in dict.fromkeys(row["group"] for row in values):
            part = [row for row in values if row["group"] == group]
            yield _values(answer, title, part)
        differences = [row for row in rows if row.get("reference")]
        if differences:
            yield _differences(answer, title, differences)


def _values(answer: Answer, title: str, rows: Sequence[Row]) -> _Table:
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    ours = {row["system"] for row in rows if not _is_reference(row)}
    cells: dict[str, dict[str, _Cell]] = {}
    for row in rows:
        value, interval = number(row["value"], _DIGITS), _interval(row, number)
        if row.get("text") == UNSETTLED:
            value = _NEARLY_0
        elif row["measure"] in IN_PEOPLE:
            value, bracket, rest = row["text"].partition(" [")
            value = worths.UNDEFINED if value.startswith(worths.UNDEFINED) else value
            interval = (bracket + rest).strip()
        rank = f"{row['rank']} of {row['ranked']}" if row.get("rank") else ""
        key = (row["dataset"], row["group"], row["measure"], row["system"])
        is_best = key in answer.best and not _is_reference(row)
        cell = _Cell(value.strip(), tuple(filter(None, [interval])), rank, is_best)
        name = row["system"]
        if _is_reference(row) and name in ours:  # a reader may call a system so
            name += f" ({row['origin']})"
        cells.setdefault(name, {})[row["measure"]] = cell
    group = "" if rows[0]["group"] == ALL else f" ({rows[0]['group']})"
    title = _title(answer, title, {rows[0]["n_items"]}) + group
    return _Table(title, measures, cells, len(ours))


def _is_reference(row: Row) -> bool:
    return row["origin"] in ("reference", "baseline")


def _differences(answer: Answer, title: str, rows: Sequence[Row]) -> _Table:
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    counts = {row["n_items"] for row in rows}
    cells: dict[str, dict[str, _Cell]] = {}
    title = f"Differences on {_title(answer, title, counts)}"
    for row in rows:
        name = f"{row['system']} − {row['reference']}"
        if len(counts) > 1:
            name += f" ({counted(row['n_items'], 'item')})"
        below = [_interval(row, signed)]
        if not _is_nan(row.get("p")):
            adjusted = p_value(row["p_holm"], answer.n_resamples, raw=row["p_behind"])
            below += [f"p {_equal(p_value(row['p'], answer.n_resamples))}",
                      f"Holm {_equal(adjusted)}"]  # fmt: skip
        cell = _Cell(signed(row["value"], _DIGITS), tuple(filter(None, below)))
        cells.setdefault(name, {})[row["measure"]] = cell
    return _Table(title, measures, cells, len(cells))


def _equal(p: str) -> str:
    return p if p.startswith(("≤", "<")) else f"= {p}"


def _title(answer: Answer, title: str, counts: set[int]) -> str:
    """Return a table's title: the dataset, and how many items, if that is the same for all rows."""
    items = [f", {counted(n, 'item')}" for n in counts] if len(counts) == 1 else []
    return "".join([title, _SYNTHETIC * answer.synthetic, *items])


def _interval(row: Mapping[str, Any], write: Any) -> str:
    if _is_nan(row.get("low")):
        return ""
    return f"[{write(row['low'], _DIGITS)}, {write(row['high'], _DIGITS)}]"


def _is_nan(value: Any) -> bool:
    return value is None or math.isnan(value)


def summary(answer: Answer) -> list[str]:
    """Return what systems are worth, a sentence each; of many on a dataset, the best alone."""
    said = []
    for dataset, title in answer.titles.items():
        by_system: dict[str, list[Row]] = {}
        for row in answer.rows:
            is_worth = row["dataset"] == dataset and row["measure"] in worths.NAMES
            if is_worth and not _is_reference(row):
                by_system.setdefault(row["system"], []).append(row)
        sentences = {
            worths.in_a_sentence(rows, title + _SYNTHETIC * answer.synthetic): row["value"]
            for rows in by_system.values()
            for row in rows
            if row["measure"] == worths.PEOPLE_TRUSTED
        }
        if len(sentences) > _SENTENCES:
            best = max(sentences, key=lambda text: (not _is_nan(sentences[text]), sentences[text]))
            said.append(f"{best} No other of the {len(sentences)} is worth more with λ.")
        else:
            said += sentences
    return said


def legend(answer: Answer) -> list[str]:
    """Return what a reader must know of the tables, a sentence or two each."""
    shown = {row["measure"] for row in answer.rows}
    systems = {row["system"] for row in answer.rows if _is_reference(row)}
    lines = ["↓ lower is better, ↑ higher is better, → 0 nearer to 0 is better."]
    if not any(MEASURES[name].better == "zero" for name in shown & set(MEASURES)):
        lines = ["↓ lower is better, ↑ higher is better."]
    if answer.n_resamples:
        lines.append(
            f"[low, high]: 95% interval over {answer.n_resamples:,} resamples of the items, each "
            "with its votes: for other items with other votes on them."
        )
        without = [MEASURES[name].title for name in MEASURES
                   if name in shown and not MEASURES[name].has_interval]  # fmt: skip
        if without:
            lines.append(
                f"No interval: {'; '.join(without)}. What is estimated is biased upward, and a "
                "bootstrap interval would not cover it; sq_ce and sq_ce_votes have intervals."
            )
    count = sum(not _is_nan(row.get("p")) for row in answer.rows)
    if count:
        lines.append(
            "Differences are paired: both systems on the same resampled items. p is two-sided; "
            f"Holm: adjusted for the number of differences shown, {count:,}. ≤: the smallest that "
            "so many resamples allow."
        )
    if PERFECT_MODEL in systems:
        lines.append(
            "Perfect model: knows each item's true distribution, and still misses the ideal value, "
            "since the votes that judge it are a sample."
        )
    if SECOND_CROWD in systems:
        lines.append(
            "Second crowd: as many other people as voted, taken as a prediction; undefined for KL "
            "and cross-entropy."
        )
    if any(row.get("text") == UNSETTLED for row in answer.rows):
        lines.append(f"{_NEARLY_0}: its noise exceeds the value, which is {UNSETTLED}.")
    if systems & set(BASELINES):
        lines.append(
            "Base rate, and mean vote given the old label: fitted on the votes on other items, "
            "which models trained on labels have not seen."
        )
    if shown & {worths.PEOPLE, worths.PEOPLE_TRUSTED}:
        lines.append(
            "Worth: how many people one must ask about each item, knowing already how often each "
            "label is given overall, to come as near to all people. 0 is the base rate."
        )
    if shown & {worths.SKILL, worths.SKILL_TRUSTED}:
        lines.append(
            "Skill: 0 is the base rate, 1 as near as the votes can show. As it is, its "
            "interval is Fieller’s."
        )
    if shown & {worths.PEOPLE_TRUSTED, worths.SKILL_TRUSTED}:
        lines.append(
            "Trusted: the same once it is known how far to trust the system, by one number that is "
            "fitted on other items. That is what it knows; the gap is overconfidence."
        )
    if worths.POOLED in shown:
        lines.append(
            "Human equivalent: how many people, pooled, without the base rate, come as near by the "
            "squared distance; a uniform guess is not 0."
        )
    if shown & {people.TVD, people.JSD}:
        lines.append(
            "Human equivalents by TVD and JSD depend on the number of votes that judge: never "
            "compare them between datasets."
        )
    if any(worths.BEYOND in row.get("text", "") for row in answer.rows):
        lines.append(f"{worths.BEYOND.capitalize()}: the number is larger than that of the votes.")
    if any(row.get("rank") for row in answer.rows):
        lines.append(
            "1 of 10: rank among the nine models of Table 5 of Nie et al. (2020) and this system."
        )
    return lines


def as_text(answer: Answer, width: int) -> str:
    """Return the answer as text of at most `width` columns, if no word is longer.

    Measures that do not fit beside each other follow in blocks of their own. An interval stands
    below its value, then the rank; in differences, p and the adjusted p.
    """
    parts = [line for text in summary(answer) for line in [*_wrapped(text, width), ""]]
    for table in tables_of(answer):
        parts += [table.title, ""]
        stub = max(18, min(max(map(_width, table.rows)), width // 3))
        for block in _blocks(table, width - stub):
            parts += [*_block(table, block, stub), ""]
    lines = [line for text in legend(answer) for line in _wrapped(text, width)]
    return "\n".join([*parts, *lines])


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _column(table: _Table, measure: str) -> tuple[list[str], int]:
    """Return the heading of a column over its lines, and the column's width."""
    cells = [row[measure] for row in table.rows.values() if measure in row]
    title, unit = table.heading(measure)
    texts = [unit, *title.split(), *(line for cell in cells for line in cell.lines)]
    width = max(map(_width, texts))
    return [*_wrapped(title, width), unit], width


def _blocks(table: _Table, width: int) -> list[list[str]]:
    blocks: list[list[str]] = []
    left = 0
    for measure in table.measures:
        needed = _column(table, measure)[1] + _GAP
        if not blocks or needed > left:
            blocks.append([])
            left = width
        blocks[-1].append(measure)
        left -= needed
    return blocks


def _block(table: _Table, measures: Sequence[str], stub: int) -> list[str]:
    columns = {measure: _column(table, measure) for measure in measures}
    height = max(len(lines) for lines, _ in columns.values())
    # Units and arrows stand in the last line of the heading.
    headings = [[""] * (height - len(lines)) + lines for lines, _ in columns.values()]
    groups: list[tuple[list[str], list[list[str]]]] = [([""] * height, headings)]
    for place, (name, row) in enumerate(table.rows.items()):
        if row.keys().isdisjoint(measures):
            continue
        if place == table.n_systems:
            groups.append(([""], []))
        cells = [row.get(measure, _Cell(MISSING)) for measure in measures]
        groups.append((_folded(name, stub), [cell.lines for cell in cells]))
    found = []
    for names, columns_of in groups:
        for name, *texts in zip_longest(names, *columns_of, fillvalue=""):
            line = name + " " * (stub - _width(name))
            for text, (_, width) in zip(texts, columns.values(), strict=False):
                line += " " * (_GAP + width - _width(text)) + text
            found.append(line.rstrip())
    return found


def _folded(name: str, width: int) -> list[str]:
    return textwrap.wrap(name, width, subsequent_indent="  ") or [name]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def as_markdown(answer: Answer) -> str:
    """Return the answer as Markdown tables, with the legend and the notes below."""
    lines = [line for text in summary(answer) for line in (text, "")]
    for table in tables_of(answer):
        headings = [", ".join(filter(None, table.heading(name))) for name in table.measures]
        body = []
        for name, row in table.rows.items():
            cells = [row.get(measure, _Cell(MISSING)) for measure in table.measures]
            body.append([name, *(_in_markdown(cell) for cell in cells)])
        lines += [f"**{table.title}**", ""]
        for line in (["", *headings], ["---", *["---:"] * len(headings)], *body):
            escaped = (cell.replace("|", "\\|") for cell in line)
            lines.append(f"| {' | '.join(escaped)} |")
        lines.append("")
    notes = [*_bold_note(answer), *legend(answer), *answer.notes]
    return "\n".join([*lines, *(f"- {note}" for note in notes)])


def _in_markdown(cell: _Cell) -> str:
    value = f"**{cell.value}**" if cell.best else cell.value
    first = " ".join([value, *cell.below[:1]])
    return "; ".join(filter(None, [first, *cell.below[1:], cell.rank]))


def _bold_note(answer: Answer) -> list[str]:
    return ["Bold: better than each other system, beyond the interval of the difference."
            ] * bool(answer.best)  # fmt: skip


def as_latex(answer: Answer) -> str:
    """Return the answer as LaTeX tables that need the package booktabs.

    Values that are best beyond ties are bold; an interval stands below its value. Ranks are left
    out.
    """
    lines = ["% needs \\usepackage{booktabs}"]
    lines += [f"% {' '.join(note.split())}" for note in answer.notes]
    for table in tables_of(answer):
        lines += ["", *_latex_table(answer, table)]
    return "\n".join(lines)


def _latex_table(answer: Answer, table: _Table) -> list[str]:
    headings = [table.heading(measure) for measure in table.measures]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(table.measures)}}}",
        r"\toprule",
        " & ".join(["", *(_tex(title) for title, _ in headings)]) + r" \\",
        " & ".join(["", *(_tex(unit) for _, unit in headings)]) + r" \\",
        r"\midrule",
    ]
    for number_of_row, (name, row) in enumerate(table.rows.items()):
        if number_of_row == table.n_systems:
            lines.append(r"\midrule")
        cells = [row.get(measure, _Cell(MISSING)) for measure in table.measures]
        values = [rf"\textbf{{{_tex(c.value)}}}" if c.best else _tex(c.value) for c in cells]
        lines.append(" & ".join([_tex(name), *values]) + r" \\")
        for texts in zip_longest(*(cell.below for cell in cells), fillvalue=""):
            small = [rf"{{\scriptsize {_tex(text)}}}" if text else "" for text in texts]
            lines.append(" & ".join(["", *small]) + r" \\")
    explained = [line for line in legend(answer) if "rank among" not in line]
    caption = " ".join([f"{table.title}.", *_bold_note(answer), *explained])
    return [*lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{_tex(caption)}}}",
            r"\end{table}"]  # fmt: skip


def _tex(text: str) -> str:
    """Return a text in which nothing is a command of LaTeX."""
    found = "".join(_LATEX.get(character, character) for character in text)
    # A bracket at the start of a line would be an argument of the line break above.
    return f"{{{found}}}" if found.startswith("[") else found


def as_csv(answer: Answer) -> str:
    """Return the rows as CSV, with a column that marks the synthetic sample."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(ANSWER_COLUMNS)
    for row in answer.rows:
        writer.writerow([safe_cell(_plain(row.get(name))) for name in ANSWER_COLUMNS])
    return stream.getvalue()


def as_records(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows for JSON, all with the same keys: null where a number is not defined."""
    names = (*ANSWER_COLUMNS, "text")
    texts = ("trained_on", "interval", "estimand", "reference", "unit", "text")
    found = []
    for row in answer.rows:
        values = {name: row.get(name, "" if name in texts else None) for name in names}
        found.append({name: _finite(value) for name, value in values.items()})
    return found


def _plain(value: Any) -> Any:
    return "" if value is None or value != value else value


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
