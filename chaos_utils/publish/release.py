"""The archive for a repository such as Zenodo: site, results, crate, checksums, licences.

The same site gives the same archive, to the byte. It holds no times and no commit.
"""

import json
import lzma
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_bytes, write_json, write_text
from chaos_utils.publish import citations, crate, dependencies, explorer, licences, staleness
from chaos_utils.report import provenance

SITE = "site"
SUMS = "SHA256SUMS"
LICENCES = "LICENCES.md"
DEPOSIT = ".zenodo.json"
_COPIED = ("CITATION.cff", "LICENSE")
_SHOWN = 5
# What `zipfile` raises for archives that are damaged, encrypted or packed in an unknown way.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
)  # fmt: skip


def make(out: Path) -> Path:
    """Make the archive of the last build, ``living-book-<version>.zip``, in a folder.

    One that is there is replaced.
    """
    site = paths.build() / "html"
    _refuse_unfit(site)
    root = paths.project()
    book = citations.read_book(root / "CITATION.cff")
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".release-") as scratch:
        folder = Path(scratch) / "release"
        shutil.copytree(site, folder / SITE)
        explorer.leave_out_others(folder / SITE)
        shutil.copytree(paths.results(), folder / "results")
        for name in _COPIED:
            shutil.copyfile(root / name, folder / name)
        released = folder / SITE
        texts, votes = licences.holding_item_texts(released), licences.holding_votes(released)
        write_text(folder / LICENCES, licences.overview(SITE, texts, votes))
        metadata = deposit(root / "CITATION.cff", holds_items=bool(texts or votes))
        write_json(folder / DEPOSIT, metadata)
        crate.write(folder, f"{SITE}/")
        write_text(folder / SUMS, "".join(_sums(folder)))
        _check_folder(folder)
        archive = Path(scratch) / "release.zip"
        _pack(folder, archive)
        target = out / f"living-book-{book.version}.zip"
        write_bytes(target, archive.read_bytes())
    return target


def _refuse_unfit(site: Path) -> None:
    if not (site / "index.html").is_file():
        raise ChaosError("Nothing was built yet.", where=site, todo="run `chaos build` first")
    if any(entry["synthetic"] for record in crate.records() for entry in record["inputs"]):
        raise ChaosError(
            "This build was made from the synthetic sample; it is not released.",
            todo="run `chaos build --strict`",
        )
    if any(record.get("recorded") for record in crate.records()):
        raise ChaosError(
            "This build shows recorded tables, and invented items where it has none; it is not "
            "released.",
            todo="run `chaos data fetch` and `chaos build --strict`",
        )
    stale = [
        f"{chapter}: {', '.join(names[:_SHOWN])}"
        for chapter in dependencies.chapters()
        if (names := staleness.changed_since(chapter))
    ]
    if stale:
        raise ChaosError(
            "What these chapters were made from has changed since; they are not released.",
            found="\n".join(stale),
            todo="run `chaos build`",
        )
    if changed := staleness.pages_changed_since():
        raise ChaosError(
            "What the site was made from has changed since; it is not released.",
            found="\n".join(changed[:_SHOWN]),
            todo="run `chaos build`",
        )
    if not (site / crate.FILE).is_file() or crate.describe(site) != _read_json(site / crate.FILE):
        raise ChaosError(
            "The site is not what the chapters' last runs have made.",
            where=site,
            todo="run `chaos build`; if it has nothing to do, `chaos build --force`",
        )
    uncommitted = provenance.uncommitted()
    if uncommitted is None:
        raise ChaosError("A release is made from a git checkout.", where=paths.project())
    if uncommitted:
        raise ChaosError(
            "Not everything is committed; a release must be what a commit holds.",
            found="\n".join(uncommitted[:_SHOWN]),
            todo="commit it, or put it away",
        )


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def deposit(citation: Path, *, holds_items: bool) -> dict[str, Any]:
    """Return what Zenodo is to say of the release, as its ``.zenodo.json`` has it.

    Zenodo knows one licence for the whole. It is the strictest of the parts', so that it promises
    nothing that a part does not grant; ``LICENCES.md`` tells them apart. `holds_items` says whether
    files of the site hold texts of items, or votes on them.
    """
    book = citations.read_book(citation)
    content = read_citation(citation)
    return {
        "title": book.title,
        "upload_type": "publication",
        "publication_type": "book",
        "publication_date": book.date,
        "creators": [{"name": name} for name in book.authors],
        "description": f"<p>{escape(book.abstract)}</p><p>Unpack it and open "
        f"<code>{SITE}/index.html</code>; no network is needed.</p>",
        "access_right": "open",
        "license": "cc-by-nc-4.0" if holds_items else "cc-by-4.0",
        "notes": f"Most parts are under freer licences than the whole: see {LICENCES}.",
        "version": book.version,
        "language": "eng",
        "keywords": _listed(content, "keywords", str),
        "related_identifiers": [
            {
                "identifier": paper[scheme],
                "scheme": scheme,
                "relation": "isDerivedFrom",
                "resource_type": "publication-conferencepaper",
            }
            for paper in _listed(content, "references", dict)
            for scheme in [name for name in ("doi", "url") if name in paper][:1]
        ],
    }


def _listed(citation: Mapping[str, Any], field: str, kind: type) -> list[Any]:
    """Return a field of CITATION.cff that may be absent, and is else a list of things of a kind."""
    found = citation.get(field) or []
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        words: dict[type, str] = {str: "texts", dict: "entries `name: value`"}
        raise ChaosError(
            "A field cannot be read.",
            where=f"CITATION.cff, {field}",
            expected=f"a list of {words[kind]}",
        )
    return found


def _names(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def _sums(folder: Path) -> Iterator[str]:
    yield from (f"{inputs.digest(folder / name)}  {name}\n" for name in _names(folder))


def _pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in _names(folder):
            entry = zipfile.ZipInfo(name)  # dated 1980, as every entry
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, (folder / name).read_bytes())


def check(release: Path) -> int:
    """Check a release, packed or unpacked; return how many files it holds beside the checksums."""
    if release.is_dir():
        return _check_folder(release)
    if not release.exists():
        raise ChaosError("There is no such archive.", where=release)
    with tempfile.TemporaryDirectory(prefix="chaos-release-") as folder:
        try:
            with zipfile.ZipFile(release) as packed:
                _refuse_escapes(packed.namelist())
                packed.extractall(folder)
        except _UNREADABLE as fault:
            raise ChaosError(
                "The archive cannot be unpacked.",
                where=release,
                found=str(fault),
                expected="a zip file, complete and without a password",
            ) from fault
        return _check_folder(Path(folder))


def _refuse_escapes(names: list[str]) -> None:
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise ChaosError(
                "The archive holds a path outside its folder and was not unpacked.", found=name
            )


def _check_folder(folder: Path) -> int:
    sums = folder / SUMS
    if not sums.is_file():
        raise ChaosError("This is not a release.", where=folder, found=f"no {SUMS} in it")
    try:
        lines = sums.read_text("utf-8").splitlines()
    except UnicodeDecodeError as fault:
        raise ChaosError("The checksums are damaged.", where=sums, found=str(fault)) from fault
    named = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        named[name] = digest
    there = set(_names(folder)) - {SUMS}
    faults = [f"{name} is missing" for name in sorted(named.keys() - there)]
    faults += [f"{name} was added" for name in sorted(there - named.keys())]
    faults += [
        f"{name} was changed"
        for name in sorted(there & named.keys())
        if inputs.digest(folder / name) != named[name]
    ]
    if faults:
        more = [f"… and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        raise ChaosError(
            "The release is not what its checksums say.",
            where=SUMS,
            found="\n".join([*faults[:_SHOWN], *more]),
            todo="fetch it again",
        )
    crate.check(folder)
    return len(there)
