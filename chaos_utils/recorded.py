"""Analyses: pure functions from votes, systems and parameters to tables, kept as text.

``@cached_analysis`` marks an analysis that needs the votes on a dataset. Called with the evidence
on several datasets, it returns one table. The rows are recorded in ``results/tables/``, one file
per record. A record's key says all that decides its rows. All keys stand in one file beside the
records, so that a change of code that changes no number changes no record's file. A key holds a
digest of the parsed votes and predictions, not of the code that parses them: where that code has
changed, the files are parsed again, otherwise they need not be read.

Where a record has the current key, it is the result; a reader's run also takes the records of other
runs below ``runs/``. Where the key differs, the rows are computed. Where votes or predictions are
not available, the rows recorded for the same parameters are shown, and marked as recorded.
``@derived_table`` marks an analysis that needs other tables alone.
"""

import functools
import inspect
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from chaos_utils.base import paths, project
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.modules import code_digest, library_versions
from chaos_utils.base.record_keys import (
    Key,
    digest_of,
    digest_of_record,
    key_digest,
    read_keys,
    write_keys,
)
from chaos_utils.base.table import (
    Origin,
    Table,
    as_text,
    from_text,
    origins_of,
    rounded,
    together,
)
from chaos_utils.base.table_usage import TableAccess, log_access

FOLDER = paths.TABLES  # below results/ too
VERSION = 3  # of the format of records
# Numbers that were computed on other processors count as the same up to these differences.
_RELATIVE_TOLERANCE = 1e-6
_ABSOLUTE_TOLERANCE = 1e-7  # for differences of two fits, whose last digits depend on the processor


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded table, and what it was made from.

    `analysis` is module and function, such as ``results.main_results``; `dataset` as in
    `DatasetInputs.name`; `types` are the columns' types, as `as_text` returns them; `text` has
    the rows, as CSV. The `key` stands in the file of all keys.
    """

    analysis: str
    dataset: str
    parameters: Mapping[str, Any]
    keys: tuple[str, ...]
    types: Mapping[str, str]
    inputs: tuple[Input, ...]
    text: str = ""
    key: Key = field(default_factory=Key)

    @property
    def name(self) -> str:
        """The path of its file below a folder of records."""
        return _record_path(self.analysis, self.dataset, self.parameters)

    def written(self) -> str:
        """Return the content of its file: a head that says what it was made from, then the rows."""
        head = {"record": VERSION} | asdict(self) | {"sha256": digest_of(self.text)}
        del head["text"], head["key"]
        lines = [f"# {name}: {_as_json(value)}\n" for name, value in head.items()]
        return "".join([*lines, self.text])


def _record_path(analysis: str, dataset: str, parameters: Mapping[str, Any]) -> str:
    """Return the path of a record; the suffix tells records of other parameters apart."""
    suffix = f"-{digest_of(_as_json(parameters))[:6]}" if parameters else ""
    return f"{analysis}/{dataset}{suffix}.csv"


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=False, ensure_ascii=False)


def read_record(path: Path, *, whole: bool = True) -> Record:
    """Read a record; fail if it is missing, cut off, changed by hand or of another version.

    Without `whole`, rows that were changed since are no fault: such a record can still be compared
    with others. The key of the record stays empty.
    """
    try:
        content = path.read_bytes().decode()
        head = [line for line in content.splitlines(keepends=True) if line.startswith("# ")]
        pairs = (line[2:].split(": ", 1) for line in head)
        fields = {name: json.loads(value) for name, value in pairs}
        text = content[sum(map(len, head)) :]
        if (version := fields.pop("record")) != VERSION:
            raise ValueError(f"version {version}, expected {VERSION}")
        if digest_of(text) != fields.pop("sha256") and whole:
            raise ValueError("the rows are not those that were recorded: cut off, or changed")
        inputs = tuple(Input(**entry) for entry in fields.pop("inputs"))
        record = Record(keys=tuple(fields.pop("keys")), inputs=inputs, text=text, **fields)
        if whole:
            from_text(text, record.types)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        missing = isinstance(fault, FileNotFoundError)
        raise ChaosError(
            "There is no such recorded table." if missing else "A recorded table is damaged.",
            where=path,
            found=None if missing else str(fault),
            expected="a table that `make record` wrote",
            todo="restore it with git, or run `chaos data fetch` and `make record`",
        ) from fault
    return record


class Evidence(Protocol):
    """What an analysis gets beside parameters and tables, such as the votes on a dataset.

    `wanted` are the names of the function's arguments: evidence may be asked for a part of it.

    Attributes
    ----------
    name : str
        As the column ``dataset`` of tables has it.
    own : bool
        Whether a reader's own data is among it, so that no record covers it.
    readers : tuple of str
        The only modules that lead to the code that reads it. Keys leave this code out, and hold a
        digest of what it parsed instead. An analysis that reads files itself, such as those of a
        run, has this code in its key.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def own(self) -> bool: ...  # noqa: D102
    @property
    def readers(self) -> tuple[str, ...]: ...  # noqa: D102
    def has(self, part: str) -> bool:
        """Return whether it has a part that not all evidence has."""

    def is_available(self, wanted: Collection[str]) -> bool:
        """Return whether all that is wanted is available here; recorded tables are shown if not."""

    def is_known(self, wanted: Collection[str]) -> bool:
        """Return whether the digests of `inputs` determine all that is wanted."""

    def inputs(self, wanted: Collection[str]) -> tuple[Input, ...]:
        """Return the files that it was read from."""

    def parsed_digest(self, wanted: Collection[str]) -> str:
        """Return a digest of what was read, whatever code read it."""

    def definitions(self) -> Mapping[str, str]:
        """Return a digest of what defines each group of rows, such as a dataset, by sorted name."""

    def arguments(self, wanted: Collection[str]) -> Mapping[str, Any]:
        """Return the arguments that the function takes of it, by name."""


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of an analysis, beside the evidence."""

    record: Record  # without rows: its name and parameters
    tables: Mapping[str, str]  # digests of other analyses' tables, by argument
    arguments: Mapping[str, Any]  # of the function
    origin: Origin

    @property
    def reads(self) -> bool:
        """Whether the analysis reads files itself: an argument is neither table nor parameter."""
        return bool(self.arguments.keys() - self.tables.keys() - self.record.parameters.keys())


def cached_analysis(
    *, keys: Sequence[str], needs: str = "", published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], "Analysis"]:
    """Mark an analysis of the votes on a dataset, whose table is recorded.

    The function takes ``votes`` and, if it needs them, ``systems``, each of one dataset. A function
    that treats several datasets as one takes ``all_votes`` and ``all_systems``. Its other arguments
    are numbers, texts or lists of them (the record's parameters), tables of other analyses (the
    function gets their rows on its dataset), and objects whose ``inputs`` decide all that they are,
    alone, in lists or in mappings. Other arguments are refused, since no key would hold them.

    Parameters
    ----------
    keys : sequence of str
        Columns that, together, tell the rows apart. The column ``dataset`` is added to rows that
        lack it.
    needs : str
        A part as for `DatasetInputs.has`; datasets that lack it are passed over.
    published : sequence of str
        Names of the tables of the papers' numbers that the function reads.

    Returns
    -------
    callable
        A decorator that turns the function into an `Analysis`. Called with the evidence on some
        datasets, and the function's other arguments by name, it returns one `Table`.
    """
    return functools.partial(Analysis, keys=tuple(keys), needs=needs, published=tuple(published))


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
        self._signature = inspect.signature(self.function).parameters

    @property
    def name(self) -> str:
        """Module and function, such as ``results.main_results``."""
        module = self.function.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__name__}"

    def __call__(self, evidence: "Evidence | Iterable[Evidence]", **arguments: Any) -> Table:
        """Return the table of some datasets; without rows where each lacks what the analysis needs.

        Fails if votes are not available, and no table is recorded for these parameters.
        """
        parts = evidence if isinstance(evidence, Iterable) else [evidence]
        chosen = [part for part in parts if not self.needs or part.has(self.needs)]
        tables = [self._table_on(part, arguments) for part in chosen]
        return (
            together(tables) if tables else Table(pd.DataFrame(columns=list(self.keys)), self.keys)
        )

    def _table_on(self, evidence: Evidence, arguments: Mapping[str, Any]) -> Table:
        """Return the table of one dataset: recorded under the current key, or else computed.

        Where its inputs are not available, any record of these parameters is shown. In a run, what
        is computed is recorded.
        """
        call = self._sort_arguments(evidence, arguments)
        unfilled, origin, wanted = call.record, call.origin, self._signature
        if not evidence.is_available(wanted):
            return self._show_record(evidence, call)
        origin |= Origin(evidence.inputs(wanted))
        origin |= Origin(merged(map(published_input, self.published)))
        if not evidence.is_known(wanted) or paths.find_project() is None:
            return self._compute(evidence, call.arguments, origin)
        key = self._key(evidence, call, origin.inputs)
        key = replace(key, parsed=evidence.parsed_digest(wanted))
        rows, damaged = (None, False) if paths.recompute() else _recorded_rows(unfilled.name, key)
        if rows is not None:
            return Table(rows, self.keys, {evidence.name: origin})
        table = self._compute(evidence, call.arguments, origin)
        if not origin.recorded and paths.in_runner():
            text, types = as_text(table.rows)
            record = replace(unfilled, inputs=origin.inputs, text=text, types=types)
            folder = paths.run_folder() / FOLDER
            write_text(folder / record.name, record.written())
            write_keys(folder, read_keys(folder) | {record.name: key})
            log_access(TableAccess(name=record.name, how="computed", damaged=damaged))
        return table

    def _sort_arguments(self, evidence: Evidence, arguments: Mapping[str, Any]) -> _Call:
        """Sort the arguments into parameters, tables and objects with inputs."""
        defaults = {
            name: parameter.default
            for name, parameter in self._signature.items()
            if parameter.default is not parameter.empty
        }
        parameters, tables, all_arguments, origin = {}, {}, {}, Origin()
        for name, value in sorted((defaults | dict(arguments)).items()):
            all_arguments[name] = value
            if _is_parameter(value):
                parameters[name] = value
            elif isinstance(value, Table):
                all_arguments[name] = rows = value.on(evidence.name).rows
                tables[name] = key_digest(as_text(rows)[0])
                origin |= value.origins.get(evidence.name, Origin())
            else:
                try:
                    origin |= Origin(_inputs_of(value))
                except TypeError as fault:
                    raise TypeError(
                        f"{self.name}: argument {name!r} is neither a parameter, a table nor a "
                        f"thing with inputs: {fault}"
                    ) from fault
        record = Record(self.name, evidence.name, parameters, self.keys, {}, ())
        return _Call(record, tables, all_arguments, origin)

    def _key(self, evidence: Evidence, call: _Call, inputs: Iterable[Input]) -> Key:
        """Return the key of a record, by the datasets, code and libraries that are installed.

        Its digest of what was parsed is not set yet.
        """
        module, readers = self.function.__module__, evidence.readers
        contents = [
            VERSION,
            call.record.name,
            call.record.parameters,
            call.record.keys,
            [asdict(file) for file in inputs],
            evidence.definitions(),
            code_digest(module, *readers) if call.reads else code_digest(module, without=readers),
            library_versions(),
        ]
        return Key(key_digest(_as_json(contents)), tables=call.tables)

    def _compute(self, evidence: Evidence, arguments: Mapping[str, Any], origin: Origin) -> Table:
        """Call the function with the parts of the evidence that it takes."""
        rows = self.function(**evidence.arguments(self._signature), **arguments)
        if "dataset" in self.keys and "dataset" not in rows:
            rows.insert(0, "dataset", evidence.name)
        return Table(rounded(rows), self.keys, {evidence.name: origin})

    def _show_record(self, evidence: Evidence, call: _Call) -> Table:
        """Return the rows recorded for the same parameters, since not all inputs are available."""
        folder, request = paths.results() / FOLDER, call.record
        # Records of other parameters count only where there is none of these: for the error.
        other_records: list[Record] = []
        if not (folder / request.name).is_file():
            files = sorted((folder / self.name).glob(f"{evidence.name}*.csv"))
            other_records = [
                record for record in map(read_record, files) if record.dataset == evidence.name
            ]
        if evidence.own or other_records:
            raise ChaosError(
                f"{self.name} is not recorded for these parameters, and the votes or predictions "
                "that it needs are not available.",
                where=evidence.name,
                found=_as_json(request.parameters),
                expected="; ".join(_as_json(record.parameters) for record in other_records),
                todo="run `chaos data fetch` to compute with parameters of your own",
            )
        record, keys = read_record(folder / request.name), read_keys(folder)
        sha256 = digest_of_record(folder, request.name)
        log_access(TableAccess(name=request.name, how="shown", sha256=sha256))
        # Some of the inputs may be available, and have changed.
        inputs = tuple(map(_current_input, record.inputs))
        key = keys.get(request.name, Key())
        current_key = self._key(evidence, replace(call, record=record), inputs)
        # Nothing is parsed here: what would be parsed counts as unchanged.
        outdated = replace(current_key, parsed=key.parsed) != key or call.origin.outdated
        origin = Origin(record.inputs, recorded=True, outdated=outdated)
        rows = from_text(record.text, record.types)
        return Table(rows, self.keys, {evidence.name: origin})


def _recorded_rows(name: str, key: Key) -> tuple[pd.DataFrame | None, bool]:
    """Return the rows of the record that has this key, and whether a file of it is damaged."""
    damaged = False
    for folder in _folders_with(name):
        try:
            record, recorded_key = read_record(folder / name), read_keys(folder).get(name)
        except ChaosError:
            damaged = True
            continue
        if recorded_key == key:
            log_access(TableAccess(name=name, how="read", sha256=digest_of_record(folder, name)))
            return from_text(record.text, record.types), False
    return None, damaged


def _folders_with(name: str) -> Iterator[Path]:
    """Yield the folders with a record: the committed one and, for a reader's run, those of runs."""
    folders = [paths.results()]
    if paths.in_runner() and paths.run_folder().parent == paths.runs():
        folders += sorted(paths.runs().glob("[!.]*"))
    yield from (folder / FOLDER for folder in folders if (folder / FOLDER / name).is_file())


def _current_input(recorded: Input) -> Input:
    """Return an input of a record with the digest of the file on this machine, if there is one."""
    kind, _, name = recorded.name.partition("/")
    in_results = paths.results() / name if kind == "results" else None
    path = in_results or project.current().place_of(recorded)
    return replace(recorded, sha256=digest(path)) if path and path.is_file() else recorded


def published_input(name: str) -> Input:
    """Return the entry of a table of published numbers among the inputs of an analysis."""
    entry = Input(f"published/{name}.csv", "")
    path = project.current().place_of(entry)
    if path is None or not path.is_file():
        raise ChaosError("No such published table.", found=name)
    return replace(entry, sha256=digest(path))


def _is_parameter(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_parameter, value))
    return value is None or isinstance(value, bool | int | float | str)


def _inputs_of(value: Any, *, strict: bool = True) -> tuple[Input, ...]:
    """Return the inputs of an object, or of several in a list or mapping.

    If this is `strict`, an object without inputs is a TypeError.
    """
    if strict and isinstance(value, Table):
        raise TypeError("found a table inside another thing; give it as an argument of its own")
    if hasattr(value, "inputs"):
        inputs: tuple[Input, ...] = value.inputs
        return inputs
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(members, Iterable) and not isinstance(members, str):
        return merged(*(_inputs_of(member, strict=strict) for member in members))
    if strict:
        raise TypeError(f"found {type(value).__name__}")
    return ()


def derived_table(
    *, keys: Sequence[str], published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], Callable[..., Table]]:
    """Mark an analysis of other tables alone: it gets their rows, and its table gets their inputs.

    `keys` and `published` are as for `cached_analysis`.
    """

    def mark(function: Callable[..., pd.DataFrame]) -> Callable[..., Table]:
        @functools.wraps(function)
        def call(*args: Any, **arguments: Any) -> Table:
            values = [*args, *arguments.values()]
            non_tables = [value for value in values if not isinstance(value, Table)]
            origins = origins_of(value for value in values if isinstance(value, Table))
            shared = merged(map(published_input, published), _inputs_of(non_tables, strict=False))
            if shared:  # inputs of all datasets
                origins[""] = origins.get("", Origin()) | Origin(shared)
            positional = map(_rows_of, args)
            keywords = {name: _rows_of(value) for name, value in arguments.items()}
            return Table(rounded(function(*positional, **keywords)), tuple(keys), origins)

        return call

    return mark


def _rows_of(value: Any) -> Any:
    return value.rows if isinstance(value, Table) else value


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell that differs from what was computed, or with an empty `place` a whole record."""

    record: str
    place: str
    recorded: str
    computed: str

    def __str__(self) -> str:
        where = f"{self.record}, {self.place}" if self.place else self.record
        return f"{where}: recorded {self.recorded}, computed {self.computed}"


def differences(old: Record, new: Record) -> list[Difference]:
    """Return the differences between two records of one analysis, cell by cell.

    Numbers that are no integers count as equal within a relative 1e-6, or an absolute 1e-7.
    """
    name = new.name
    changes = [
        Difference(name, attribute, str(getattr(old, attribute)), str(getattr(new, attribute)))
        for attribute in ("keys", "types", "inputs")
        if getattr(old, attribute) != getattr(new, attribute)
    ]
    if old.types != new.types:
        return changes
    try:
        old_table, new_table = (from_text(record.text, record.types) for record in (old, new))
    except ValueError as fault:
        return [*changes, Difference(name, "rows", str(fault), "")]
    old_rows, new_rows = (
        {", ".join(_as_key(row[key]) for key in new.keys): row for row in table.to_dict("records")}
        for table in (old_table, new_table)
    )
    for place in old_rows.keys() | new_rows.keys():
        old_row, new_row = old_rows.get(place), new_rows.get(place)
        if old_row and new_row:
            changes += [
                Difference(name, f"{place}, {column}", str(cell), str(new_row[column]))
                for column, cell in old_row.items()
                if not _same(cell, new_row[column])
            ]
        else:
            sides = ("a row" if row else "no row" for row in (old_row, new_row))
            changes.append(Difference(name, place, *sides))
    return sorted(changes, key=str)


def _as_key(value: Any) -> str:
    """Write a key; the last digits of a fitted number, such as a temperature, do not count."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(recorded: Any, computed: Any) -> bool:
    if pd.isna(recorded) or pd.isna(computed):
        return bool(pd.isna(recorded) and pd.isna(computed))
    if isinstance(recorded, float) and isinstance(computed, float):
        return math.isclose(
            recorded, computed, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE
        )
    return bool(recorded == computed)
