"""The archive for a repository such as Zenodo: site, results, crate, checksums, licences.

The same site gives the same archive, to the byte. It holds no times and no commit.
"""

import hashlib
import io
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

from chaos_utils.base import inputs, paths, project
from chaos_utils.base.authorship import read_citation, validate_doi
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import UNREADABLE, write_bytes, write_text
from chaos_utils.publish import crate, licences, staleness
from chaos_utils.report import provenance

SITE = "site"
SUMS = "SHA256SUMS"
LICENCES = "LICENCES.md"
_COPIED = ("CITATION.cff", "LICENSE")
_FILES_SHOWN = 5


def make(out: Path) -> Path:
    """Make the archive of the last build, ``living-book-<version>.zip``, in a folder.

    An archive of that name is replaced.
    """
    site = paths.build() / "html"
    _check_releasable(site)
    book = read_citation()
    ignore = shutil.ignore_patterns(*inputs.OF_DESKTOPS)
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".release-") as scratch:
        folder = Path(scratch) / "release"
        shutil.copytree(site, folder / SITE, ignore=ignore)
        project.current().before_release(folder / SITE)
        shutil.copytree(paths.results(), folder / "results", ignore=ignore)
        for name in _COPIED:
            shutil.copyfile(paths.project() / name, folder / name)
        pages = folder / SITE
        texts, votes = licences.files_with_item_texts(pages), licences.files_with_votes(pages)
        write_text(folder / LICENCES, licences.overview(SITE, texts, votes))
        crate.write(folder, f"{SITE}/")
        sums = inputs.digests(folder)
        write_text(folder / SUMS, "".join(f"{sum}  {name}\n" for name, sum in sums.items()))
        target = out / f"living-book-{book.version}.zip"
        write_bytes(target, _pack(folder))
    return target


def fill_doi(doi: str) -> Path:
    """Write the DOI that a repository has reserved for this version into CITATION.cff."""
    line = f"doi: {validate_doi(doi, '--doi')}"
    path = paths.project() / "CITATION.cff"
    read_citation(path)  # which must be valid before a line of it is changed
    text = path.read_text("utf-8")
    filled, n_replaced = re.subn(r"^doi:.*$", lambda _: line, text, count=1, flags=re.MULTILINE)
    if not n_replaced:
        filled = re.sub(r"^version:.*$", rf"\g<0>\n{line}", text, count=1, flags=re.MULTILINE)
    write_text(path, filled)
    return path


def _check_releasable(site: Path) -> None:
    """Check that the last build is complete, real, current and committed."""
    if not (site / "index.html").is_file():
        raise ChaosError("Nothing has been built yet.", where=site, todo="run `chaos build` first")
    records = crate.run_records()
    if any(entry.synthetic for record in records for entry in record.inputs):
        raise ChaosError(
            "This build was made from the synthetic sample, and cannot be released.",
            todo="run `chaos build --strict`",
        )
    if any(record.recorded for record in records):
        raise ChaosError(
            "This build shows recorded tables, or invented items in place of missing ones, and "
            "cannot be released.",
            todo="run `chaos data fetch` and `chaos build --strict`",
        )
    staleness.refuse_stale()
    changed = staleness.site_changed_since()
    if changed:
        raise ChaosError(
            "The site was made from other sources, or was changed since.",
            where=site,
            found=_first_lines(changed),
            todo="run `chaos build`; if it has nothing to do, `chaos build --force`",
        )
    uncommitted = provenance.uncommitted_paths()
    if uncommitted is None:
        raise ChaosError("A release is made from a git checkout.", where=paths.project())
    if uncommitted:
        raise ChaosError(
            "There are uncommitted changes; a release must match a commit.",
            found=_first_lines(uncommitted),
            todo="commit or stash them",
        )


def _first_lines(lines: list[str]) -> str:
    """Return the first of many lines, and how many more there are."""
    more = [f"… and {len(lines) - _FILES_SHOWN} more"] if len(lines) > _FILES_SHOWN else []
    return "\n".join([*lines[:_FILES_SHOWN], *more])


def _pack(folder: Path) -> bytes:
    """Return a folder as a zip, whose bytes depend only on the files' names and content."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in inputs.digests(folder):
            entry = zipfile.ZipInfo(name)  # dated 1980, as every entry
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, (folder / name).read_bytes())
    return stream.getvalue()


def check(release: Path) -> int:
    """Check a release, packed or unpacked, as ``sha256sum -c`` does; return how many files it has.

    An archive is read where it is, not unpacked. A file that the checksums do not name is a fault.
    """
    if not release.exists():
        raise ChaosError("There is no such archive.", where=release)
    try:
        digests, lines = _digests(release)
    except (KeyError, FileNotFoundError) as fault:
        found = f"no {SUMS} in it"
        raise ChaosError("This is not a release.", where=release, found=found) from fault
    except UNREADABLE as fault:
        raise ChaosError(
            "The release cannot be read.",
            where=release,
            found=str(fault),
            expected="a folder, or a zip file, complete and without a password",
        ) from fault
    expected = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    faults = [
        f"{name} was {'changed' if name in digests else 'removed'}"
        for name, digest in expected.items()
        if digests.get(name) != digest
    ]
    faults += [f"{name} was added" for name in sorted(digests.keys() - expected.keys() - {SUMS})]
    if faults:
        raise ChaosError(
            "The release does not match its checksums.",
            where=SUMS,
            found=_first_lines(faults),
            todo="fetch it again",
        )
    return len(expected)


def _digests(release: Path) -> tuple[dict[str, str], list[str]]:
    """Return the digest of each file of a release, packed or not, and the lines of SHA256SUMS."""
    if release.is_dir():
        return inputs.digests(release), (release / SUMS).read_text("utf-8").splitlines()
    with zipfile.ZipFile(release) as packed:
        digests = {}
        for name in packed.namelist():
            if not name.endswith("/"):
                with packed.open(name) as stream:  # piece by piece, whatever it holds
                    digests[name] = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        return digests, packed.read(SUMS).decode().splitlines()
