"""The one rule of what is out of date: the digests of what it was made from differ.

No file's time counts. `chaos build` makes what `steps` names. No site, release or record is made
from a chapter that is behind its sources.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import read_mapping
from chaos_utils.publish import dependencies
from chaos_utils.report import provenance

SITE = "site"  # the last step
# Below _build: the digests of what the site was made from, and of its files.
SITE_FILE = "site.json"
MADE_FOR = "address"  # in it: the one that `chaos build --url` has given
_NAMES_SHOWN = 3


def steps(data: str, address: str, *, force: bool = False) -> list[str]:
    """Return what a build must make, such as ``chapter annotations`` and, last, `SITE`.

    `data` is the chapters' parameter, `address` the one that the site is made for; `force` asks for
    all.
    """
    dependencies.forget()  # a source may have changed since this process has read it
    chapters = [one for one in dependencies.chapters() if force or changed_since(one, data)]
    todo = [f"chapter {chapter}" for chapter in chapters]
    if todo or force or site_changed_since(address):
        todo.append(SITE)
    modules.save_cache()
    return todo


def changed_since(chapter: str, data: str | None = None) -> list[str]:
    """Return the names of what has changed or vanished since a chapter was made, with its outputs.

    They are such as ``chaos_utils/base/style.py``; there are none when the chapter is current. One
    without a readable record is behind in everything; so is one made from other `data`.
    """
    run = paths.chapter_run(chapter)
    record = provenance.read_run_record(run)
    made_with = record and record.parameters.get("data")
    if record is None or not isinstance(made_with, str) or made_with != (data or made_with):
        return [paths.RECORD_FILE]
    then = {f"_build/chapters/{chapter}/{name}": digest for name, digest in record.outputs.items()}
    then[f"book/chapters/{chapter}.ipynb"] = record.outputs.get(paths.NOTEBOOK_FILE, "")
    then |= dependencies.records_read(run)
    sources = dependencies.digests(paths.notebooks() / f"{chapter}.py", made_with)
    return _changed_names(record.made_from | then, sources | dependencies.digests_now(then))


def seconds_of(chapter: str) -> float:
    """Return how long a chapter took when it was last made; a guess where it never was."""
    if made := provenance.read_run_record(paths.chapter_run(chapter)):
        return made.seconds
    return (paths.notebooks() / f"{chapter}.py").read_text("utf-8").count("publish_figure(")


def stale_chapters() -> list[str]:
    """Return a line for each chapter that is behind its sources, and in what."""
    dependencies.forget()  # a source may have changed since this process has read it
    changed = {chapter: changed_since(chapter) for chapter in dependencies.chapters()}
    return [f"{chapter}: {shortened(names)}" for chapter, names in changed.items() if names]


def shortened(names: Sequence[str]) -> str:
    """Return the first names of several, in one line."""
    return f"{', '.join(names[:_NAMES_SHOWN])}{' …' * (len(names) > _NAMES_SHOWN)}"


def refuse_stale() -> None:
    """Raise a ChaosError that names the chapters which are behind their sources."""
    if stale := stale_chapters():
        raise ChaosError(
            "Chapters are not built from what is here now: these files have changed, or are gone.",
            found="\n".join(stale),
            todo="run `chaos build`",
        )


def site_changed_since(address: str | None = None) -> list[str]:
    """Return the names of what has changed or vanished since the site was made, with its files.

    They are as in `changed_since`, with the chapters' records for what chapters are made from, and
    the address, where one is given, that the site is made for.
    """
    site = read_mapping(paths.build() / SITE_FILE)
    made_for = site.get(MADE_FOR, "") if address is None else address
    now = dependencies.digests_of_pages() | {MADE_FOR: made_for}
    return _changed_names(site, now | files_of(paths.build() / "html"))


def files_of(site: Path) -> dict[str, str]:
    """Return the digest of each of the site's files, by its name below the checkout."""
    return {f"_build/html/{name}": digest for name, digest in inputs.digests(site).items()}


def _changed_names(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
