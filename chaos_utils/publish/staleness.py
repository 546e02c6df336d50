"""What is out of date, by one rule: the digests of its sources are not those it was made from.

The times of files do not count. `chaos build` makes what `steps` names. No site, release or record
is made from a chapter that is behind its sources.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import read_mapping
from chaos_utils.publish import dependencies
from chaos_utils.report import provenance

SITE = "site"  # the last step
# Below _build: the digests of what the site was made from, and of its files.
SITE_FILE = "site.json"
MADE_FOR = "address"  # its key for the address that `chaos build --url` names
_NAMES_SHOWN = 3


def steps(data: str, address: str, *, force: bool = False) -> list[str]:
    """Return what a build must make, such as ``chapter annotations`` and, last, `SITE`.

    `data` is the chapters' parameter, and `address` that of the site. `force` names all steps.
    """
    dependencies.forget()  # a source may have changed since this process has read it
    chapters = [name for name in dependencies.chapters() if force or changed_since(name, data)]
    todo = [f"chapter {chapter}" for chapter in chapters]
    if todo or force or site_changed_since(address):
        todo.append(SITE)
    modules.save_cache()
    return todo


def changed_since(chapter: str, data: str | None = None) -> list[str]:
    """Return the names of a chapter's sources and outputs that have changed or are missing.

    A name is, for example, ``chaos_utils/base/style.py``; there are none if the chapter is current.
    If the chapter has no readable record, or was made from other `data`, the record alone is named.
    """
    run = paths.chapter_run(chapter)
    record = provenance.read_run_record(run)
    old_data: Any = record and record.parameters.get("data")  # None where it is no parameter
    if record is None or old_data not in (None, data or old_data):
        return [paths.RECORD_FILE]
    then = {f"_build/chapters/{chapter}/{name}": digest for name, digest in record.outputs.items()}
    then[f"book/chapters/{chapter}.ipynb"] = record.outputs.get(paths.NOTEBOOK_FILE, "")
    then |= dependencies.records_read(run)
    sources = dependencies.digests(paths.notebooks() / f"{chapter}.py", old_data or "")
    return _changed_names(record.made_from | then, sources | dependencies.digests_now(then))


def seconds_of(chapter: str) -> float:
    """Return how long a chapter took when it was last made, or else a guess by its length.

    The guess is good for the order alone.
    """
    if record := provenance.read_run_record(paths.chapter_run(chapter)):
        return record.seconds
    return (paths.notebooks() / f"{chapter}.py").stat().st_size


def stale_chapters() -> list[str]:
    """Return a line for each chapter that is behind its sources, with what has changed."""
    dependencies.forget()  # a source may have changed since this process has read it
    changed = {chapter: changed_since(chapter) for chapter in dependencies.chapters()}
    return [f"{chapter}: {shortened(names)}" for chapter, names in changed.items() if names]


def shortened(names: Sequence[str]) -> str:
    """Return the first of several names, in one line."""
    return f"{', '.join(names[:_NAMES_SHOWN])}{' …' * (len(names) > _NAMES_SHOWN)}"


def refuse_stale() -> None:
    """Raise a ChaosError if chapters are behind their sources."""
    if stale := stale_chapters():
        raise ChaosError(
            "Chapters are out of date: these files have changed, or are gone.",
            found="\n".join(stale),
            todo="run `chaos build`",
        )


def site_changed_since(address: str | None = None) -> list[str]:
    """Return the names of the site's sources and files that have changed or are missing.

    Names are as in `changed_since`. A chapter's run record stands for all of its sources. The
    site's `address` counts too, unless it is None.
    """
    site = read_mapping(paths.build() / SITE_FILE)
    made_for = site.get(MADE_FOR, "") if address is None else address
    now = dependencies.digests_of_pages() | {MADE_FOR: made_for}
    return _changed_names(site, now | files_of(paths.build() / "html"))


def files_of(site: Path) -> dict[str, str]:
    """Return the digest of each of the site's files, by its name in the checkout."""
    return {f"_build/html/{name}": digest for name, digest in inputs.digests(site).items()}


def _changed_names(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
