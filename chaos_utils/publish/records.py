"""The recorded tables: renew them from the chapters that were built, or compare them with these."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from chaos_utils.analyses.cached_analysis import (
    FOLDER,
    Difference,
    Record,
    differences,
    read_record,
)
from chaos_utils.analyses.references import write_package_data
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder, write_bytes, write_text
from chaos_utils.base.record_keys import Key, key_digest, read_keys, write_keys
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.publish import crate, dependencies, staleness


def folder() -> Path:
    """Return where the recorded tables stand."""
    return paths.results() / FOLDER


@dataclass(frozen=True, slots=True)
class BuildTables:
    """What the chapters of the last build asked for, by name.

    `computed` are records of what they computed, `read` and `shown` the names of those that took
    the place of computing: because they hold what would be computed, or because votes or
    predictions are not available.
    """

    computed: dict[str, Record]
    read: set[str]
    shown: set[str]


def built() -> BuildTables:
    """Return what the chapters of the last build have computed, and what they read.

    Raises ChaosError if a chapter is not built, is behind its sources or has lost a file, or if two
    chapters computed one table and found different numbers.
    """
    computed: dict[str, Record] = {}
    keys: dict[str, Key] = {}
    asked: dict[str, set[str]] = {"computed": set(), "read": set(), "shown": set()}
    staleness.refuse_stale()
    for chapter in dependencies.chapters():
        run = paths.chapter_run(chapter)
        for one in accesses_of(run):
            asked[one.how].add(one.name)
        for record in _records_in(run / FOLDER).values():
            _agree(computed.setdefault(record.name, record), record)
        keys |= read_keys(run / FOLDER)
    for name in sorted(asked["read"] & computed.keys()):
        _agree(read_record(folder() / name), computed[name])
    computed = {name: replace(one, key=keys.get(name, Key())) for name, one in computed.items()}
    return BuildTables(computed, asked["read"], asked["shown"])


def _agree(one: Record, other: Record) -> None:
    if cells := differences(one, other):
        raise ChaosError(
            "Two chapters computed different numbers for one table.",
            where=other.name,
            found="\n".join(map(str, cells[:5])),
        )


def renew() -> list[str]:
    """Record what the chapters of the last build have computed, and return what changed.

    That is a line for each record that is new, gone or has other numbers. A record that a chapter
    has read stays as it is; one that none has asked for is gone. A record whose numbers are the
    same within the tolerance keeps its digits, so that another processor changes none: all that
    changes then is its key. Raises
    ChaosError as `built` does, and if some of the data was not available.
    """
    last = built()
    new, old = last.computed, stored(last.computed)
    shown = sorted(_shown_from_records())
    if shown or last.shown or not (new or last.read):
        raise ChaosError(
            "Only a build from all of the data can be recorded.",
            found=f"chapters that show recorded or other tables: {', '.join(shown) or 'all'}",
            todo="run `chaos data fetch` where data is missing, then `chaos build`",
        )
    changes = [f"{name}: new" for name in new.keys() - old.keys()]
    changes += [f"{name}: gone" for name in old.keys() - new.keys() - last.read]
    texts = {name: record.text for name, record in new.items()}
    for name in new.keys() & old.keys():
        if cells := differences(old[name], new[name]):
            changes.append(f"{name}: {counted(len(cells), 'cell')}")
        elif [*old[name].types] == [*new[name].types]:  # columns in one order
            texts[name] = old[name].text
    # A record keeps its digits where the new ones agree, so a table that was given to another
    # analysis is known by the digits that it keeps: the key that the next build finds.
    kept = {key_digest(record.text): key_digest(texts[name]) for name, record in new.items()}
    known = read_keys(folder()) if last.read else {}  # where it is damaged, nothing was read
    keys = {name: key for name, key in known.items() if name in last.read}
    with fresh_folder(folder()) as fresh:
        for name in last.read - new.keys():
            write_bytes(fresh / name, (folder() / name).read_bytes())
        for name, record in new.items():
            write_text(fresh / name, replace(record, text=texts[name]).written())
            tables = {given: kept.get(rows, rows) for given, rows in record.key.tables.items()}
            keys[name] = replace(record.key, tables=tables)
        write_keys(fresh, keys)
    write_package_data(folder())
    return sorted(changes)


def stored(damaged: Collection[str] = ()) -> dict[str, Record]:
    """Return the recorded tables by name, changed by hand or not.

    Those that may be `damaged` are left out where they are.
    """
    return _records_in(folder(), damaged, whole=False)


def _records_in(
    place: Path, damaged: Collection[str] = (), *, whole: bool = True
) -> dict[str, Record]:
    """Return the records of a folder by name, without their keys."""
    found = {}
    for path in sorted(place.glob("*/*.csv")):
        try:
            record = read_record(path, whole=whole)
        except ChaosError:
            if path.relative_to(place).as_posix() in damaged:
                continue
            raise
        found[record.name] = record
    return found


def compare() -> tuple[list[Difference], list[str], list[str]]:
    """Compare the recorded tables with what the chapters of the last build have computed.

    Returned are the cells that differ and tables that only one side has; the records that were not
    computed, since votes or predictions are not available; and the records whose numbers agree,
    though other code made them. Raises ChaosError as `built` does, and if the build has read what
    it could have computed.
    """
    last, old = built(), stored()
    if last.read:
        raise ChaosError(
            "Nothing is verified by a build that has read the recorded tables.",
            found=f"{counted(len(last.read), 'table')} read, {len(last.computed)} computed",
            todo="run `chaos build --recompute` first, or `make verify`, which does both",
        )
    new = last.computed
    found = [Difference(name, "", "no table", "a table") for name in new.keys() - old.keys()]
    shown = _shown_from_records()
    unchecked = []
    for name, record in old.items():
        if name in new:
            found += differences(record, new[name])
        elif shown:
            unchecked.append(name)
        else:
            found.append(Difference(name, "", "a table", "no chapter makes it"))
    differing = {one.record for one in found}
    both = (new.keys() & old.keys()) - differing
    # The last digits of the tables that were given depend on the processor.
    keys = {name: replace(key, tables={}) for name, key in read_keys(folder()).items()}
    outdated = [name for name in both if replace(new[name].key, tables={}) != keys.get(name)]
    return sorted(found, key=str), sorted(unchecked), sorted(outdated)


def _shown_from_records() -> set[str]:
    """Return the chapters of the last build whose tables are not all computed from the data."""
    return {
        record.notebook
        for record in crate.run_records()
        if record.recorded or any(entry.synthetic for entry in record.inputs)
    }
