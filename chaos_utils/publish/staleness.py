"""The one rule of what is out of date: the digests of what it was made from differ.

No file's time counts. `chaos build` makes what `steps` names. No site, release or record is made
from a chapter that is behind its sources.
"""

from collections.abc import Mapping

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import read_mapping
from chaos_utils.publish import dependencies
from chaos_utils.report import runs

SITE_FILE = "site.json"  # below _build: what the site was made from
FILES_FILE = "files.json"  # beside it: the digest of each of the site's files
ADDRESS = "address"  # in it: the one that `chaos build --url` has given
_SHOWN = 3


def steps(data: str, address: str) -> list[str]:
    """Return what a build must make, such as ``chapter annotations`` and, last, ``site``.

    `data` is the chapters' parameter, `address` the one that the site is made for.
    """
    dependencies.forget()  # a source may have changed since this process has read it
    chapters = [one for one in dependencies.chapters() if _is_behind(one, data)]
    found = [f"chapter {chapter}" for chapter in chapters]
    if found or pages_changed_since(address) or site_changed_since():
        found.append("site")
    modules.remember()
    return found


def _is_behind(chapter: str, data: str) -> bool:
    made = runs.read_record(paths.build() / "chapters" / chapter)
    other = made is None or made.parameters.get("data") != data
    return bool(other or changed_since(chapter) or outputs_changed_since(chapter))


def outputs_changed_since(chapter: str) -> list[str]:
    """Return the names of a chapter's files that are not as its run has left them."""
    run = paths.build() / "chapters" / chapter
    made, there = runs.read_record(run), inputs.digests(run)
    outputs = made.outputs if made else {}
    changed = [name for name, digest in outputs.items() if there.get(name) != digest]
    in_book = paths.chapters() / f"{chapter}.ipynb"
    as_left = in_book.is_file() and inputs.digest(in_book) == outputs.get(paths.NOTEBOOK_FILE)
    return changed if as_left else [*changed, f"book/chapters/{in_book.name}"]


def seconds_of(chapter: str) -> float:
    """Return how long a chapter took when it was last made; a guess where it never was."""
    if made := runs.read_record(paths.build() / "chapters" / chapter):
        return made.seconds
    return (paths.notebooks() / f"{chapter}.py").read_text("utf-8").count("publish_figure(")


def changed_since(chapter: str) -> list[str]:
    """Return the names of what has changed or vanished since a chapter was made.

    They are such as ``chaos_utils/base/style.py``; there are none when the chapter is current. A
    chapter without a readable record is behind in everything.
    """
    run = paths.build() / "chapters" / chapter
    made = runs.read_record(run)
    data = made and made.parameters.get("data")
    if made is None or not isinstance(data, str):
        return [paths.RECORD_FILE]
    now = dependencies.digests(paths.notebooks() / f"{chapter}.py", data)
    read = dependencies.records_read(run)
    return _changed(made.made_from | read, now | dependencies.digests_now(read))


def behind() -> list[str]:
    """Return a line for each chapter that is behind its sources, and in what."""
    dependencies.forget()  # a source may have changed since this process has read it
    found = []
    for chapter in dependencies.chapters():
        changed = changed_since(chapter) or outputs_changed_since(chapter)
        if changed:
            more = " …" * (len(changed) > _SHOWN)
            found.append(f"{chapter}: {', '.join(changed[:_SHOWN])}{more}")
    return found


def refuse_stale() -> None:
    """Raise a ChaosError that names the chapters which are behind their sources."""
    if found := behind():
        raise ChaosError(
            "Chapters are not built from what is here now: these files have changed, or are gone.",
            found="\n".join(found),
            todo="run `chaos build`",
        )


def pages_changed_since(address: str | None = None) -> list[str]:
    """Return the names of what has changed or vanished since the site was made.

    They are as in `changed_since`, with the chapters' records for what chapters are made from, and
    the address, where one is given, that the site is made for.
    """
    made = read_mapping(paths.build() / SITE_FILE)
    if not made:
        return [SITE_FILE]
    given = made.get(ADDRESS, "") if address is None else address
    return _changed({ADDRESS: ""} | made, dependencies.digests_of_pages() | {ADDRESS: given})


def site_changed_since() -> list[str]:
    """Return the names of the site's files that are not as the last build has made them."""
    made = read_mapping(paths.build() / FILES_FILE)
    return _changed(made, inputs.digests(paths.build() / "html")) if made else [FILES_FILE]


def _changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
