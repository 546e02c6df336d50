"""Analyses: pure functions from votes, systems and parameters to tables, kept as text.

``@recorded`` marks one that needs the votes on a dataset; called with the evidence on several, it
returns one table. Where the votes are not available, it returns the rows that are recorded in
``results/tables/`` for the same parameters. ``@derived`` marks one that needs other tables alone.
"""

import functools
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from chaos_utils.analyses.evidence import Evidence
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import Input, merged
from chaos_utils.base.modules import code_digest
from chaos_utils.base.table import (
    Origin,
    Table,
    as_text,
    from_text,
    origins_of,
    rounded,
    together,
)
from chaos_utils.datasets.published.tables import published_input

FOLDER = paths.TABLES  # below results/ too
VERSION = 1  # of the format of records
_PACKAGE = "chaos_utils.analyses."
# Parameters of an analysis that take evidence; what they are given is no parameter of the record.
_EVIDENCE = ("votes", "systems", "all_votes", "all_systems")
_TOLERANCE = 1e-6  # relative; below it, a number that was computed elsewhere is the same
_NOTHING = 1e-12  # a difference of sums that would be 0 but for rounding


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded table, and what it was made from.

    `analysis` is module and function, such as ``results.main_results``; `dataset` as in
    `Evidence.name`; `types` are those of the columns, as `as_text` gives them; `code` is the digest
    of the code that made it, as `code_digest` gives it; `text` has the rows, as CSV.
    """

    analysis: str
    dataset: str
    parameters: Mapping[str, Any]
    keys: tuple[str, ...]
    types: Mapping[str, str]
    inputs: tuple[Input, ...]
    code: str
    text: str

    @property
    def name(self) -> str:
        """Its place below a folder of records."""
        return _place(self.analysis, self.dataset, self.parameters)

    def written(self) -> str:
        """Return the record as a file holds it: what it was made from, then the rows."""
        about = {"record": VERSION} | asdict(self) | {"sha256": _digest(self.text)}
        del about["text"]
        lines = [f"# {name}: {_as_json(value)}\n" for name, value in about.items()]
        return "".join([*lines, self.text])


def _place(analysis: str, dataset: str, parameters: Mapping[str, Any]) -> str:
    suffix = f"-{_digest(_as_json(parameters))[:6]}" if parameters else ""
    return f"{analysis}/{dataset}{suffix}.csv"


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=False, ensure_ascii=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(path: Path, *, whole: bool = True) -> Record:
    """Read a record; fail if it is missing, cut off, changed by hand or of another version.

    Without `whole`, its rows need not be those that were written: so it can be compared with
    others.
    """
    try:
        content = path.read_text("utf-8")
        head = [line for line in content.splitlines(keepends=True) if line.startswith("# ")]
        about = (line[2:].split(": ", 1) for line in head)
        known = {name: json.loads(value) for name, value in about}
        text = content[sum(map(len, head)) :]
        if (version := known.pop("record")) != VERSION:
            raise ValueError(f"version {version}, expected {VERSION}")
        if _digest(text) != known.pop("sha256") and whole:
            raise ValueError("the rows are not those that were recorded: cut off, or changed")
        inputs = tuple(Input(**one) for one in known.pop("inputs"))
        found = Record(keys=tuple(known.pop("keys")), inputs=inputs, text=text, **known)
        if whole:
            from_text(text, found.types)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        missing = isinstance(fault, FileNotFoundError)
        raise ChaosError(
            "There is no such recorded table." if missing else "A recorded table is damaged.",
            where=path,
            found=None if missing else str(fault),
            expected="a table that `make record` wrote",
            todo="restore it with git, or run `chaos data fetch` and `make record`",
        ) from fault
    return found


def recorded(
    *, keys: Sequence[str], needs: str = "", published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], "Analysis"]:
    """Mark an analysis of the votes on a dataset, whose table is recorded.

    The function takes ``votes`` and, if it needs them, ``systems``: those of one dataset. One that
    treats several as one takes ``all_votes`` and ``all_systems``. Its other arguments are numbers,
    texts or lists of them (the record's parameters), tables of other analyses, of which it gets the
    rows on its dataset, and things with ``inputs``.

    Parameters
    ----------
    keys : sequence of str
        Columns that, together, tell the rows apart.
    needs : str
        What a dataset may lack, as for `Evidence.has`; those that do are passed over.
    published : sequence of str
        Tables of the papers' numbers that it reads, by name.

    Returns
    -------
    callable
        Makes of the function an `Analysis`: called with evidence on some datasets, and the
        function's other arguments by name, it returns one `Table`.
    """

    def mark(function: Callable[..., pd.DataFrame]) -> Analysis:
        return Analysis(function, tuple(keys), needs, tuple(published))

    return mark


@dataclass(eq=False)
class Analysis:
    """A function that is computed where its votes are available, and read where they are not.

    Called with evidence on some datasets and the function's other arguments by name.
    """

    function: Callable[..., pd.DataFrame]
    keys: tuple[str, ...]
    needs: str
    published: tuple[str, ...]

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)
        self._takes = inspect.signature(self.function).parameters

    @property
    def name(self) -> str:
        """Module and function, such as ``results.main_results``."""
        module = self.function.__module__.removeprefix(_PACKAGE)
        return f"{module}.{self.function.__name__}"

    def __call__(self, evidence: Evidence | Iterable[Evidence], **arguments: Any) -> Table:
        """Return the table of some datasets; without rows where each lacks what the analysis needs.

        Fails if votes are not available, and no table is recorded for these parameters.
        """
        several = [evidence] if isinstance(evidence, Evidence) else evidence
        chosen = [one for one in several if not self.needs or one.has(self.needs)]
        tables = [self._on(one, arguments) for one in chosen]
        return (
            together(tables) if tables else Table(pd.DataFrame(columns=list(self.keys)), self.keys)
        )

    def _on(self, evidence: Evidence, arguments: Mapping[str, Any]) -> Table:
        bound = {
            name: one.default
            for name, one in self._takes.items()
            if name not in _EVIDENCE and one.default is not one.empty
        } | dict(arguments)
        parameters = {n: value for n, value in sorted(bound.items()) if _is_parameter(value)}
        needs_systems = bool({"systems", "all_systems"} & set(self._takes))
        votes, systems = evidence.votes, evidence.systems
        if votes is None or (needs_systems and systems is None):
            return self._read(evidence, parameters, bound.values())
        available = (votes[0], systems and systems[0], votes, systems)
        given = zip(_EVIDENCE, available, strict=True)
        passed = {name: value for name, value in given if name in self._takes}
        inputs = [published_input(name) for name in self.published]
        inputs += evidence.inputs if needs_systems else merged(*(one.inputs for one in votes))
        origin = Origin(merged(inputs))
        for name, value in bound.items():
            if isinstance(value, Table):
                passed[name] = value.on(evidence.name).rows
                origin |= value.origins.get(evidence.name, Origin())
            else:
                passed[name] = value
                origin |= Origin(_inputs_of(value))
        found = Table(rounded(self.function(**passed)), self.keys, {evidence.name: origin})
        if evidence.recordable and not origin.recorded and paths.in_runner():
            self._write(found, evidence, parameters)
        return found

    def _write(self, table: Table, evidence: Evidence, parameters: Mapping[str, Any]) -> None:
        text, types = as_text(table.rows)
        record = Record(
            self.name,
            evidence.name,
            parameters,
            self.keys,
            types,
            table.inputs,
            code_digest(self.function.__module__),
            text,
        )
        write_text(paths.run_folder() / FOLDER / record.name, record.written())

    def _read(
        self, evidence: Evidence, parameters: Mapping[str, Any], given: Iterable[Any]
    ) -> Table:
        folder = paths.results() / FOLDER
        path = folder / _place(self.name, evidence.name, parameters)
        known = map(read_record, sorted((folder / self.name).glob(f"{evidence.name}*.csv")))
        others = [] if path.is_file() else [one for one in known if one.dataset == evidence.name]
        if evidence.own or others:
            raise ChaosError(
                f"{self.name} is not recorded for these parameters, and the votes or predictions "
                "that it needs are not available.",
                where=evidence.name,
                found=_as_json(parameters),
                expected="; ".join(_as_json(one.parameters) for one in others),
                todo="run `chaos data fetch` to compute with parameters of your own",
            )
        record = read_record(path)
        # Votes are not here; what else went in may be, and have changed.
        found = merged(*map(_inputs_of, given), map(published_input, self.published))
        here = {one.name: one for one in found}
        changed = any(here.get(one.name, one) != one for one in record.inputs)
        outdated = changed or record.code != code_digest(self.function.__module__)
        origin = Origin(record.inputs, recorded=True, outdated=outdated)
        rows = from_text(record.text, record.types)
        return Table(rows, self.keys, {evidence.name: origin})


def _is_parameter(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_parameter, value))
    return value is None or isinstance(value, bool | int | float | str)


def _inputs_of(value: Any) -> tuple[Input, ...]:
    if hasattr(value, "inputs"):
        found: tuple[Input, ...] = value.inputs
        return found
    if isinstance(value, Mapping):
        return merged(*map(_inputs_of, value.values()))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return merged(*map(_inputs_of, value))
    return ()


def derived(
    *, keys: Sequence[str], published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], Callable[..., Table]]:
    """Mark an analysis of other tables alone: it gets their rows, and its table their inputs.

    `keys` and `published` are as for `recorded`.
    """

    def mark(function: Callable[..., pd.DataFrame]) -> Callable[..., Table]:
        @functools.wraps(function)
        def call(*args: Any, **arguments: Any) -> Table:
            values = [*args, *arguments.values()]
            others = [one for one in values if not isinstance(one, Table)]
            origins = origins_of(one for one in values if isinstance(one, Table))
            of_all = merged(map(published_input, published), *map(_inputs_of, others))
            if of_all:
                origins[""] = origins.get("", Origin()) | Origin(of_all)
            given = [one.rows if isinstance(one, Table) else one for one in args]
            named = {n: v.rows if isinstance(v, Table) else v for n, v in arguments.items()}
            return Table(rounded(function(*given, **named)), tuple(keys), origins)

        return call

    return mark


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell, or without a place a whole record, that differs from what was computed."""

    record: str
    place: str
    recorded: str
    computed: str

    def __str__(self) -> str:
        where = f"{self.record}, {self.place}" if self.place else self.record
        return f"{where}: recorded {self.recorded}, computed {self.computed}"


def differences(old: Record, new: Record) -> list[Difference]:
    """Return where a record differs from another of the same analysis, cell by cell.

    Numbers that are no integers agree at a relative 1e-6.
    """
    name = new.name
    found = [
        Difference(name, what, str(getattr(old, what)), str(getattr(new, what)))
        for what in ("keys", "types", "inputs")
        if getattr(old, what) != getattr(new, what)
    ]
    if old.types != new.types:
        return found
    try:
        before, after = (from_text(one.text, one.types) for one in (old, new))
    except ValueError as fault:
        return [*found, Difference(name, "rows", str(fault), "")]
    rows = [
        {", ".join(str(row[key]) for key in new.keys): row for row in table.to_dict("records")}
        for table in (before, after)
    ]
    for place in rows[0].keys() | rows[1].keys():
        if place not in rows[0] or place not in rows[1]:
            sides = ("no row", "a row") if place in rows[1] else ("a row", "no row")
            found.append(Difference(name, place, *sides))
            continue
        for column, one in rows[0][place].items():
            other = rows[1][place][column]
            if not _same(one, other):
                found.append(Difference(name, f"{place}, {column}", str(one), str(other)))
    return sorted(found, key=str)


def _same(one: Any, other: Any) -> bool:
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_NOTHING)
    return bool(one == other)
