"""The recorded tables: renew them from the chapters that were built, or compare them with these."""

from dataclasses import replace
from pathlib import Path

from chaos_utils.analyses.recorded import (
    FOLDER,
    Difference,
    Record,
    differences,
    read_record,
)
from chaos_utils.analyses.references import write_package_data
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder, write_text
from chaos_utils.publish import crate, dependencies, staleness


def folder() -> Path:
    """Return where the recorded tables stand."""
    return paths.results() / FOLDER


def computed() -> dict[str, Record]:
    """Return the records of what the chapters of the last build have computed, by name.

    Raises ChaosError if a chapter is not built or is behind its sources, or if two chapters
    computed one table and found different numbers.
    """
    found: dict[str, Record] = {}
    for chapter in dependencies.chapters():
        changed = staleness.changed_since(chapter)
        if changed:
            raise ChaosError(
                f"Chapter {chapter!r} is not built from what is here now.",
                found=f"changed: {', '.join(changed[:3])}{' …' * (len(changed) > 3)}",
                todo="run `chaos build` first",
            )
        for path in sorted((paths.build() / "chapters" / chapter / FOLDER).glob("*/*.csv")):
            record = read_record(path)
            other = found.setdefault(record.name, record)
            if differences(other, record):
                raise ChaosError(
                    "Two chapters computed different numbers for one table.",
                    where=record.name,
                    found="\n".join(map(str, differences(other, record)[:5])),
                )
    return found


def renew() -> list[str]:
    """Record what the chapters of the last build have computed, and return what changed.

    That is a line for each record that is new, gone or has other numbers. A record whose numbers
    are the same within the tolerance keeps its digits, so that another processor changes none.
    Raises ChaosError as `computed` does, and if some of the data was not available.
    """
    new = computed()
    shown = sorted(_shown_from_records())
    if shown or not new:
        raise ChaosError(
            "Only a build from all of the data can be recorded.",
            found=f"chapters that show recorded or other tables: {', '.join(shown) or 'all'}",
            todo="run `chaos data fetch` and `chaos build` first",
        )
    old = stored()
    changes = [f"{name}: new" for name in new.keys() - old.keys()]
    changes += [f"{name}: gone" for name in old.keys() - new.keys()]
    with fresh_folder(folder()) as fresh:
        for name, record in new.items():
            if name in old:
                cells = differences(old[name], record)
                changes += [f"{name}: {_counted(cells)}"] if cells else []
                if not cells:
                    record = replace(record, text=old[name].text)
            write_text(fresh / name, record.written())
    write_package_data(folder())
    return sorted(changes)


def _counted(cells: list[Difference]) -> str:
    return counted(len(cells), "cell")


def stored() -> dict[str, Record]:
    """Return the recorded tables by name, changed by hand or not."""
    paths_of = sorted(folder().glob("*/*.csv"))
    return {record.name: record for record in (read_record(one, whole=False) for one in paths_of)}


def compare() -> tuple[list[Difference], list[str], list[str]]:
    """Compare the recorded tables with what the chapters of the last build have computed.

    Returned are the cells that differ and tables that only one side has; the records that were not
    computed, since votes or predictions are not available; and the records whose numbers agree,
    though other code made them. Raises ChaosError as `computed` does.
    """
    new, old = computed(), stored()
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
    outdated = [name for name in both if new[name].code != old[name].code]
    return sorted(found, key=str), sorted(unchecked), sorted(outdated)


def _shown_from_records() -> set[str]:
    """Return the chapters of the last build whose tables are not all computed from the data."""
    return {
        record["notebook"]
        for record in crate.records()
        if record["recorded"] or any(entry["synthetic"] for entry in record["inputs"])
    }
