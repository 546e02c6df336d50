"""The recorded tables: renew them from the built chapters, or compare them with these."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from chaos_utils.base import paths, project
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder, write_bytes, write_text
from chaos_utils.base.record_keys import Key, key_digest, read_keys, write_keys
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.publish import crate, dependencies, staleness
from chaos_utils.recorded import (
    FOLDER,
    Difference,
    Record,
    differences,
    read_record,
)


def folder() -> Path:
    """Return the folder of the recorded tables."""
    return paths.results() / FOLDER


@dataclass(frozen=True, slots=True)
class BuildTables:
    """The recorded tables that the chapters of the last build used.

    Attributes
    ----------
    computed : dict
        The tables that were computed, by name.
    read : set
        The names of recorded tables that were read, since computing would give the same.
    shown : set
        The names of recorded tables that were shown, since votes or predictions are not available.
    """

    computed: dict[str, Record]
    read: set[str]
    shown: set[str]


def tables_of_build() -> BuildTables:
    """Return the tables that the chapters of the last build computed, read and showed.

    Raises ChaosError if a chapter is not built, is behind its sources or has lost a file, or if two
    chapters computed one table and found different numbers.
    """
    computed: dict[str, Record] = {}
    keys: dict[str, Key] = {}
    names: dict[str, set[str]] = {"computed": set(), "read": set(), "shown": set()}  # by usage
    staleness.refuse_stale()
    for chapter in dependencies.chapters():
        run = paths.chapter_run(chapter)
        for access in accesses_of(run):
            names[access.how].add(access.name)
        for record in _records_in(run / FOLDER).values():
            _check_same_numbers(computed.setdefault(record.name, record), record)
        keys |= read_keys(run / FOLDER)
    for name in sorted(names["read"] & computed.keys()):
        _check_same_numbers(read_record(folder() / name), computed[name])
    computed = {
        name: replace(record, key=keys.get(name, Key())) for name, record in computed.items()
    }
    return BuildTables(computed, names["read"], names["shown"])


def _check_same_numbers(first: Record, second: Record) -> None:
    """Raise a ChaosError if two records of one table have different numbers."""
    if cells := differences(first, second):
        raise ChaosError(
            "Two chapters computed different numbers for one table.",
            where=second.name,
            found="\n".join(map(str, cells[:5])),
        )


def renew() -> list[str]:
    """Record what the chapters of the last build have computed, and return what changed.

    There is a line for each record that is new, gone or has other numbers. A record that a chapter
    has read stays as it is; a record that no chapter used is removed. If the new numbers are the
    same within the tolerance, the record keeps its digits, so that another processor changes none,
    and only its key changes. Raises ChaosError as `tables_of_build` does, and if some of the data
    was not available.
    """
    build = tables_of_build()
    new, old = build.computed, stored_records(build.computed)
    incomplete = sorted(_incomplete_chapters())
    if incomplete or build.shown or not (new or build.read):
        raise ChaosError(
            "Only a build from all of the data can be recorded.",
            found=f"chapters that show recorded or other tables: {', '.join(incomplete) or 'all'}",
            todo="run `chaos data fetch` if data is missing, then `chaos build`",
        )
    changes = [f"{name}: new" for name in new.keys() - old.keys()]
    changes += [f"{name}: gone" for name in old.keys() - new.keys() - build.read]
    texts = {name: record.text for name, record in new.items()}
    for name in new.keys() & old.keys():
        if cells := differences(old[name], new[name]):
            changes.append(f"{name}: {counted(len(cells), 'cell')}")
        elif [*old[name].types] == [*new[name].types]:  # columns in one order
            texts[name] = old[name].text
    # A key names a table that is an argument by the digest of its digits. Where an old record keeps
    # its digits, their digest replaces that of the new ones, as the next build will compute it.
    digests = {key_digest(record.text): key_digest(texts[name]) for name, record in new.items()}
    old_keys = read_keys(folder()) if build.read else {}  # if damaged, no table was read
    keys = {name: key for name, key in old_keys.items() if name in build.read}
    with fresh_folder(folder()) as fresh:
        for name in build.read - new.keys():
            write_bytes(fresh / name, (folder() / name).read_bytes())
        for name, record in new.items():
            write_text(fresh / name, replace(record, text=texts[name]).written())
            argument_digests = record.key.tables.items()
            tables = {table: digests.get(digest, digest) for table, digest in argument_digests}
            keys[name] = replace(record.key, tables=tables)
        write_keys(fresh, keys)
    project.current().after_record(folder())
    return sorted(changes)


def stored_records(damaged: Collection[str] = ()) -> dict[str, Record]:
    """Return the recorded tables by name, also those that were changed by hand.

    Names in `damaged` are those of tables that are left out if they cannot be read.
    """
    return _records_in(folder(), damaged, whole=False)


def _records_in(
    parent: Path, damaged: Collection[str] = (), *, whole: bool = True
) -> dict[str, Record]:
    """Return the records of a folder by name, without their keys."""
    records = {}
    for path in sorted(parent.glob("*/*.csv")):
        try:
            record = read_record(path, whole=whole)
        except ChaosError:
            if path.relative_to(parent).as_posix() in damaged:
                continue
            raise
        records[record.name] = record
    return records


def compare() -> tuple[list[Difference], list[str], list[str]]:
    """Compare the recorded tables with what the chapters of the last build have computed.

    Return three things: the cells that differ, and the tables that only one side has; the names of
    records that were not computed, since votes or predictions are not available; and the names of
    records whose numbers agree, though other code made them. Raises ChaosError as `tables_of_build`
    does, and if the build has read tables that it could have computed.
    """
    build, old = tables_of_build(), stored_records()
    if build.read:
        raise ChaosError(
            "A build that reads the recorded tables verifies nothing.",
            found=f"{counted(len(build.read), 'table')} read, {len(build.computed)} computed",
            todo="run `chaos build --recompute` first, or `make verify`, which does both",
        )
    new = build.computed
    different = [Difference(name, "", "no table", "a table") for name in new.keys() - old.keys()]
    incomplete = _incomplete_chapters()
    unchecked = []
    for name, record in old.items():
        if name in new:
            different += differences(record, new[name])
        elif incomplete:
            unchecked.append(name)
        else:
            different.append(Difference(name, "", "a table", "no chapter makes it"))
    same = (new.keys() & old.keys()) - {cell.record for cell in different}
    # Digests of the tables that were arguments depend on the processor, by their last digits.
    keys = {name: replace(key, tables={}) for name, key in read_keys(folder()).items()}
    outdated = [name for name in same if replace(new[name].key, tables={}) != keys.get(name)]
    return sorted(different, key=str), sorted(unchecked), sorted(outdated)


def _incomplete_chapters() -> set[str]:
    """Return the chapters of the last build whose tables are not all computed from the data."""
    return {
        record.notebook
        for record in crate.run_records()
        if record.recorded or any(entry.synthetic for entry in record.inputs)
    }
