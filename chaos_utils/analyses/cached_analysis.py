"""Analyses: pure functions from votes, systems and parameters to tables, kept as text.

``@cached_analysis`` marks one that needs the votes on a dataset; called with the evidence on
several, it returns one table. What it returned is recorded in ``results/tables/``, a file each;
their keys, all that decides the rows, stand in one file beside them, so that code which changes no
number changes no table's file. A key holds what was parsed from the files, not the code that reads
them: where that has changed they are parsed anew, else nothing is. Where the key is the one here,
the record is the result. A reader's run takes what another run below ``runs/`` has computed, too.
Where it is another, the rows are computed; where votes or predictions are not available, the rows
recorded for the same parameters are shown, and said to be. ``@derived_table`` marks an analysis
that needs other tables alone.
"""

import functools
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from chaos_utils.analyses.inputs import DatasetInputs
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.modules import code_digest, digest_of_dataset, library_versions
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
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import prediction_files
from chaos_utils.datasets.published.tables import FOLDER as FOLDER_OF_PUBLISHED
from chaos_utils.datasets.published.tables import published_input

FOLDER = paths.TABLES  # below results/ too
VERSION = 3  # of the format of records
_PACKAGE = "chaos_utils.analyses."
# These alone lead to the code that reads votes and predictions, of which keys hold what it read.
# An analysis that is given files to read by itself, such as a run's, has it in its key.
READERS = (
    "chaos_utils.analyses.inputs", "chaos_utils.datasets.cells", "chaos_utils.datasets.faults",
    "chaos_utils.datasets.frame", "chaos_utils.datasets.loading", "chaos_utils.scoring.formats",
    "chaos_utils.scoring.logit_rows", "chaos_utils.scoring.predictions",
)  # fmt: skip
# Parameters of an analysis that take evidence; what they are given is no parameter of the record.
_EVIDENCE = ("votes", "systems", "all_votes", "all_systems")
_TOLERANCE = 1e-6  # relative; below it, a number that was computed elsewhere is the same
_NOTHING = 1e-7  # fits end that close to each other on other processors, and differences show it


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded table, and what it was made from.

    `analysis` is module and function, such as ``results.main_results``; `dataset` as in
    `DatasetInputs.name`; `types` are those of the columns, as `as_text` gives them; `text` has
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
        """Its place below a folder of records."""
        return _place(self.analysis, self.dataset, self.parameters)

    def written(self) -> str:
        """Return the record as a file holds it: what it was made from, then the rows."""
        about = {"record": VERSION} | asdict(self) | {"sha256": digest_of(self.text)}
        del about["text"], about["key"]
        lines = [f"# {name}: {_as_json(value)}\n" for name, value in about.items()]
        return "".join([*lines, self.text])


def _place(analysis: str, dataset: str, parameters: Mapping[str, Any]) -> str:
    suffix = f"-{digest_of(_as_json(parameters))[:6]}" if parameters else ""
    return f"{analysis}/{dataset}{suffix}.csv"


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=False, ensure_ascii=False)


def read_record(path: Path, *, whole: bool = True) -> Record:
    """Read a record; fail if it is missing, cut off, changed by hand or of another version.

    Without `whole`, its rows need not be those that were written: so it can be compared with
    others. It has no key yet.
    """
    try:
        content = path.read_bytes().decode()
        head = [line for line in content.splitlines(keepends=True) if line.startswith("# ")]
        about = (line[2:].split(": ", 1) for line in head)
        known = {name: json.loads(value) for name, value in about}
        text = content[sum(map(len, head)) :]
        if (version := known.pop("record")) != VERSION:
            raise ValueError(f"version {version}, expected {VERSION}")
        if digest_of(text) != known.pop("sha256") and whole:
            raise ValueError("the rows are not those that were recorded: cut off, or changed")
        inputs = tuple(Input(**entry) for entry in known.pop("inputs"))
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


@dataclass(frozen=True, slots=True)
class _Call:
    """What an analysis is called with, beside votes and systems."""

    record: Record  # with the parameters alone
    tables: Mapping[str, str]  # digests of other analyses' tables, by argument
    passed: Mapping[str, Any]  # the function's arguments
    origin: Origin

    @property
    def reads(self) -> bool:
        """Whether it is given files to read by itself."""
        return bool(self.passed.keys() - self.tables.keys() - self.record.parameters.keys())


def cached_analysis(
    *, keys: Sequence[str], needs: str = "", published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], "Analysis"]:
    """Mark an analysis of the votes on a dataset, whose table is recorded.

    The function takes ``votes`` and, if it needs them, ``systems``: those of one dataset. One that
    treats several as one takes ``all_votes`` and ``all_systems``. Its other arguments are numbers,
    texts or lists of them (the record's parameters), tables of other analyses, of which it gets the
    rows on its dataset, and things with ``inputs`` that say all that they are, alone, in lists or
    in mappings. Others are refused: no key would hold them.

    Parameters
    ----------
    keys : sequence of str
        Columns that, together, tell the rows apart. One is ``dataset``, which is added to rows that
        lack it.
    needs : str
        What a dataset may lack, as for `DatasetInputs.has`; those that do are passed over.
    published : sequence of str
        Tables of the papers' numbers that it reads, by name.

    Returns
    -------
    callable
        Makes of the function an `Analysis`: called with evidence on some datasets, and the
        function's other arguments by name, it returns one `Table`.
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
        self._takes = inspect.signature(self.function).parameters
        self._takes_systems = bool({"systems", "all_systems"} & set(self._takes))

    @property
    def name(self) -> str:
        """Module and function, such as ``results.main_results``."""
        module = self.function.__module__.removeprefix(_PACKAGE)
        return f"{module}.{self.function.__name__}"

    def __call__(
        self, evidence: DatasetInputs | Iterable[DatasetInputs], **arguments: Any
    ) -> Table:
        """Return the table of some datasets; without rows where each lacks what the analysis needs.

        Fails if votes are not available, and no table is recorded for these parameters.
        """
        several = [evidence] if isinstance(evidence, DatasetInputs) else evidence
        chosen = [inputs for inputs in several if not self.needs or inputs.has(self.needs)]
        tables = [self._on(inputs, arguments) for inputs in chosen]
        return (
            together(tables) if tables else Table(pd.DataFrame(columns=list(self.keys)), self.keys)
        )

    def _on(self, evidence: DatasetInputs, arguments: Mapping[str, Any]) -> Table:
        call = self._call_of(evidence, arguments)
        given, origin, systems = call.record, call.origin, self._takes_systems
        if evidence.given_votes is None or (systems and evidence.given_systems is None):
            return self._shown(evidence, call)
        origin |= Origin(evidence.inputs(systems=systems))
        origin |= Origin(merged(map(published_input, self.published)))
        if not evidence.is_known(systems=systems) or paths.find_project() is None:
            return self._computed(evidence, call.passed, origin)
        key = self._key(evidence, call, origin.inputs)
        key = replace(key, parsed=evidence.parsed(systems=systems))
        rows, damaged = (None, False) if paths.recompute() else _recorded_rows(given.name, key)
        if rows is not None:
            return Table(rows, self.keys, {evidence.name: origin})
        found = self._computed(evidence, call.passed, origin)
        if not origin.recorded and paths.in_runner():
            text, types = as_text(found.rows)
            record = replace(given, inputs=origin.inputs, text=text, types=types)
            folder = paths.run_folder() / FOLDER
            write_text(folder / record.name, record.written())
            write_keys(folder, read_keys(folder) | {record.name: key})
            log_access(TableAccess(name=record.name, how="computed", damaged=damaged))
        return found

    def _call_of(self, evidence: DatasetInputs, arguments: Mapping[str, Any]) -> _Call:
        """Sort the arguments."""
        defaults = {
            name: parameter.default
            for name, parameter in self._takes.items()
            if name not in _EVIDENCE and parameter.default is not parameter.empty
        }
        parameters, tables, passed, origin = {}, {}, {}, Origin()
        for name, value in sorted((defaults | dict(arguments)).items()):
            passed[name] = value
            if _is_parameter(value):
                parameters[name] = value
            elif isinstance(value, Table):
                passed[name] = rows = value.on(evidence.name).rows
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
        return _Call(record, tables, passed, origin)

    def _key(self, evidence: DatasetInputs, call: _Call, inputs: Iterable[Input]) -> Key:
        """Return the key of a record, with the datasets, code and libraries that are here.

        What was parsed is not there yet.
        """
        datasets = sorted(dataset.name for dataset in evidence.datasets)
        made_by = [
            VERSION,
            call.record.name,
            call.record.parameters,
            call.record.keys,
            [asdict(file) for file in inputs],
            {name: digest_of_dataset(name) for name in datasets},
            code_digest(self.function.__module__, without=() if call.reads else READERS),
            library_versions(),
        ]
        return Key(key_digest(_as_json(made_by)), tables=call.tables)

    def _computed(self, evidence: DatasetInputs, given: Mapping[str, Any], origin: Origin) -> Table:
        votes, systems = evidence.votes, evidence.systems if self._takes_systems else None
        assert votes is not None
        available = (votes[0], systems and systems[0], votes, systems)
        both = zip(_EVIDENCE, available, strict=True)
        passed = {name: value for name, value in both if name in self._takes} | dict(given)
        rows = self.function(**passed)
        if "dataset" in self.keys and "dataset" not in rows:
            rows.insert(0, "dataset", evidence.name)
        return Table(rounded(rows), self.keys, {evidence.name: origin})

    def _shown(self, evidence: DatasetInputs, call: _Call) -> Table:
        """Return what is recorded for the same parameters: its inputs are not all available."""
        folder, given = paths.results() / FOLDER, call.record
        known = map(read_record, sorted((folder / self.name).glob(f"{evidence.name}*.csv")))
        others = [] if (folder / given.name).is_file() else list(known)
        others = [record for record in others if record.dataset == evidence.name]
        if evidence.own or others:
            raise ChaosError(
                f"{self.name} is not recorded for these parameters, and the votes or predictions "
                "that it needs are not available.",
                where=evidence.name,
                found=_as_json(given.parameters),
                expected="; ".join(_as_json(record.parameters) for record in others),
                todo="run `chaos data fetch` to compute with parameters of your own",
            )
        record, keys = read_record(folder / given.name), read_keys(folder)
        sha256 = digest_of_record(folder, given.name)
        log_access(TableAccess(name=given.name, how="shown", sha256=sha256))
        # What else went in may be here, and have changed.
        inputs = tuple(map(_as_it_is_here, record.inputs))
        key = keys.get(given.name, Key())
        here = self._key(evidence, replace(call, record=record), inputs)
        # What would be parsed is not known: it counts as it was.
        outdated = replace(here, parsed=key.parsed) != key or call.origin.outdated
        origin = Origin(record.inputs, recorded=True, outdated=outdated)
        rows = from_text(record.text, record.types)
        return Table(rows, self.keys, {evidence.name: origin})


def _recorded_rows(name: str, key: Key) -> tuple[pd.DataFrame | None, bool]:
    """Return the rows of the record that has this key, and whether a file of it is damaged."""
    damaged = False
    for folder in _folders_with(name):
        try:
            record, known = read_record(folder / name), read_keys(folder).get(name)
        except ChaosError:
            damaged = True
            continue
        if known == key:
            log_access(TableAccess(name=name, how="read", sha256=digest_of_record(folder, name)))
            return from_text(record.text, record.types), False
    return None, damaged


def _folders_with(name: str) -> Iterator[Path]:
    """Yield the folders of a record: the committed one and, for a reader's run, those of others."""
    folders = [paths.results()]
    if paths.in_runner() and paths.run_folder().parent == paths.runs():
        folders += sorted(paths.runs().glob("[!.]*"))
    yield from (folder / FOLDER for folder in folders if (folder / FOLDER / name).is_file())


def _as_it_is_here(recorded: Input) -> Input:
    """Return an input of a record with the digest that it has here, if it is here."""
    kind, _, name = recorded.name.partition("/")
    path: Path | None
    if kind == "published":
        path = FOLDER_OF_PUBLISHED / name
    elif kind == "results":
        path = paths.results() / name
    elif kind == "predictions":
        known = [file for file in prediction_files() if Path(file).name == name]
        path = sources.find(known[0]) if known else None
    else:
        path = sources.find(recorded.name)
    return replace(recorded, sha256=digest(path)) if path and path.is_file() else recorded


def _is_parameter(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_parameter, value))
    return value is None or isinstance(value, bool | int | float | str)


def _inputs_of(value: Any, *, strict: bool = True) -> tuple[Input, ...]:
    """Return the inputs of a thing, or of several.

    One that has none is an error if this is `strict`: TypeError.
    """
    if strict and isinstance(value, Table):
        raise TypeError("found a table inside another thing; give it as an argument of its own")
    if hasattr(value, "inputs"):
        found: tuple[Input, ...] = value.inputs
        return found
    several = value.values() if isinstance(value, Mapping) else value
    if isinstance(several, Iterable) and not isinstance(several, str):
        return merged(*(_inputs_of(one, strict=strict) for one in several))
    if strict:
        raise TypeError(f"found {type(value).__name__}")
    return ()


def derived_table(
    *, keys: Sequence[str], published: Sequence[str] = ()
) -> Callable[[Callable[..., pd.DataFrame]], Callable[..., Table]]:
    """Mark an analysis of other tables alone: it gets their rows, and its table their inputs.

    `keys` and `published` are as for `cached_analysis`.
    """

    def mark(function: Callable[..., pd.DataFrame]) -> Callable[..., Table]:
        @functools.wraps(function)
        def call(*args: Any, **arguments: Any) -> Table:
            values = [*args, *arguments.values()]
            others = [value for value in values if not isinstance(value, Table)]
            origins = origins_of(value for value in values if isinstance(value, Table))
            of_all = merged(map(published_input, published), _inputs_of(others, strict=False))
            if of_all:
                origins[""] = origins.get("", Origin()) | Origin(of_all)
            given = [value.rows if isinstance(value, Table) else value for value in args]
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

    Numbers that are no integers agree at a relative 1e-6, or within 1e-7.
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
        before, after = (from_text(record.text, record.types) for record in (old, new))
    except ValueError as fault:
        return [*found, Difference(name, "rows", str(fault), "")]
    rows = [
        {", ".join(_as_key(row[key]) for key in new.keys): row for row in table.to_dict("records")}
        for table in (before, after)
    ]
    for place in rows[0].keys() | rows[1].keys():
        one, other = (of_record.get(place) for of_record in rows)
        if one and other:
            found += [
                Difference(name, f"{place}, {column}", str(cell), str(other[column]))
                for column, cell in one.items()
                if not _same(cell, other[column])
            ]
        else:
            sides = ("a row" if side else "no row" for side in (one, other))
            found.append(Difference(name, place, *sides))
    return sorted(found, key=str)


def _as_key(value: Any) -> str:
    """Write a key; a fitted number, such as a temperature, ends in other digits elsewhere."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(one: Any, other: Any) -> bool:
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_NOTHING)
    return bool(one == other)
