"""The archive for a repository such as Zenodo: site, results, crate, checksums, licences.

The same site gives the same archive, to the byte. It holds no times and no commit.
"""

import json
import shutil
import stat
import tempfile
import zipfile
from collections import Counter
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_bytes, write_json, write_text
from chaos_utils.datasets.sources import UNREADABLE
from chaos_utils.publish import citations, crate, explorer, licences, staleness
from chaos_utils.report import provenance

SITE = "site"
SUMS = "SHA256SUMS"
LICENCES = "LICENCES.md"
DEPOSIT = ".zenodo.json"
_COPIED = ("CITATION.cff", "LICENSE")
_SHOWN = 5
_MOST_BYTES, _MOST_SUMS = 10**9, 10**7  # that an archive may unpack to, and its checksums


def make(out: Path) -> Path:
    """Make the archive of the last build, ``living-book-<version>.zip``, in a folder.

    One that is there is replaced.
    """
    site = paths.build() / "html"
    _refuse_unfit(site)
    root = paths.project()
    book = citations.read_book(root / "CITATION.cff")
    without_desktops = shutil.ignore_patterns(*inputs.OF_DESKTOPS)
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".release-") as scratch:
        folder = Path(scratch) / "release"
        shutil.copytree(site, folder / SITE, ignore=without_desktops)
        explorer.leave_out_others(folder / SITE)
        shutil.copytree(paths.results(), folder / "results", ignore=without_desktops)
        for name in _COPIED:
            shutil.copyfile(root / name, folder / name)
        released = folder / SITE
        texts, votes = licences.holding_item_texts(released), licences.holding_votes(released)
        write_text(folder / LICENCES, licences.overview(SITE, texts, votes))
        metadata = deposit(root / "CITATION.cff", holds_items=bool(texts or votes))
        write_json(folder / DEPOSIT, metadata)
        crate.write(folder, f"{SITE}/")
        sums = inputs.digests(folder)
        write_text(folder / SUMS, "".join(f"{sum}  {name}\n" for name, sum in sums.items()))
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
    staleness.refuse_stale()
    if changed := staleness.pages_changed_since():
        raise ChaosError(
            "What the site was made from has changed since; it is not released.",
            found="\n".join(changed[:_SHOWN]),
            todo="run `chaos build`",
        )
    changed = staleness.site_changed_since()
    if changed or crate.describe(site) != _read_json(site / crate.FILE):
        raise ChaosError(
            "The site is not what the chapters' last runs have made.",
            where=site,
            found="\n".join(changed[:_SHOWN]) or None,
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


def _pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in inputs.digests(folder):
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
                _refuse_unlike(packed)
                packed.extractall(folder)
        except UNREADABLE as fault:
            raise ChaosError(
                "The archive cannot be unpacked.",
                where=release,
                found=str(fault),
                expected="a zip file, complete and without a password",
            ) from fault
        return _check_folder(Path(folder))


def _refuse_unlike(packed: zipfile.ZipFile) -> None:
    """Compare names and sizes of an archive with what its checksums name, before it is unpacked."""
    entries = packed.infolist()
    for name in packed.namelist():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise ChaosError(
                "The archive holds a path outside its folder and was not unpacked.", found=name
            )
    n_bytes = sum(entry.file_size for entry in entries)  # zipfile unpacks no more than it says
    if n_bytes > _MOST_BYTES:
        raise ChaosError(
            "The archive is too large and was not unpacked.",
            found=f"{n_bytes:,} bytes unpacked",
            expected=f"at most {_MOST_BYTES:,}",
        )
    names = [entry.filename for entry in entries if not entry.is_dir()]
    if SUMS not in names:
        raise ChaosError("This is not a release.", where=packed.filename, found=f"no {SUMS} in it")
    with packed.open(SUMS) as stream:
        sums = _named(stream.read(_MOST_SUMS))
    links = {one.filename for one in entries if stat.S_ISLNK(one.external_attr >> 16)}
    links |= {name for name, n in Counter(names).items() if n > 1}
    _refuse(_misnamed(sums, names, links))


def _check_folder(folder: Path) -> int:
    path = folder / SUMS
    if not path.is_file():
        raise ChaosError("This is not a release.", where=folder, found=f"no {SUMS} in it")
    sums = _named(path.read_bytes())
    found = [
        one
        for one in folder.rglob("*")
        if one.is_symlink() or not (one.is_dir() or one.name in inputs.OF_DESKTOPS)
    ]
    there = {one.relative_to(folder).as_posix(): one for one in found}
    links = {name for name, one in there.items() if one.is_symlink() or not one.is_file()}
    faults = _misnamed(sums, there, links)
    faults += [
        f"{name} was changed"
        for name in sorted((there.keys() & sums.keys()) - links)
        if inputs.digest(folder / name) != sums[name]
    ]
    _refuse(faults)
    crate.check(folder)
    return len(sums)


def _named(sums: bytes) -> dict[str, str]:
    """Return the digests that the checksums name, by file."""
    try:
        lines = [line.partition("  ") for line in sums.decode().splitlines()]
    except UnicodeDecodeError as fault:
        raise ChaosError("The checksums are damaged.", where=SUMS, found=str(fault)) from fault
    return {name: digest for digest, _, name in lines}


def _misnamed(sums: Mapping[str, str], there: Collection[str], links: set[str]) -> list[str]:
    """Say what is missing, was added, or is no file of its own."""
    names = set(there) - {SUMS}
    return [
        *(f"{name} is missing" for name in sorted(sums.keys() - names)),
        *(f"{name} was added" for name in sorted(names - sums.keys())),
        *(f"{name} is a link, or appears twice" for name in sorted(links)),
    ]


def _refuse(faults: list[str]) -> None:
    if faults:
        more = [f"… and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        raise ChaosError(
            "The release is not what its checksums say.",
            where=SUMS,
            found="\n".join([*faults[:_SHOWN], *more]),
            todo="fetch it again",
        )
