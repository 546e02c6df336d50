"""Data files: find, verify and fetch them; and the synthetic sample."""

import fcntl
import json
import os
import shutil
import signal
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import UNREADABLE
from chaos_utils.datasets.catalogue import KEYWORDS, known_datasets, known_files
from chaos_utils.datasets.dataset import DataFile, PredictionColumns

# The synthetic sample, laid out like a data folder.
SAMPLE = Path(__file__).parent / "synthetic_sample"
TIMEOUT_SECONDS = 20  # without a byte from the server
_MOST_SECONDS = 3600  # for a fetch as a whole
_MOST_BYTES = 10**9  # of a download or a file in an archive; twice the largest, SNLI's


def get(name: str) -> DataFile:
    """Return the description of a known file, by its path relative to a data folder."""
    if name not in known_files():
        raise ChaosError(
            "Unknown data file.", found=name, expected=did_you_mean(name, known_files())
        )
    return known_files()[name]


def find(name: str, roots: Iterable[Path] | None = None) -> Path | None:
    """Return the first path of a file below `roots`, by default `paths.data_roots`, or None."""
    for root in paths.data_roots() if roots is None else roots:
        if (root / name).is_file():
            return root / name
    return None


def check(file: DataFile, path: Path, described_by: Path | None = None) -> str:
    """Return the SHA-256 of a file after comparing it with the published one, if that is known.

    `described_by` is the reader's own YAML file that states the digest.
    """
    digest = inputs.digest(path)
    if file.sha256 and digest != file.sha256:
        raise ChaosError(
            f"This is not the published {file.release.title or file.name}: its SHA-256 differs.",
            where=path,
            found=digest,
            expected=file.sha256,
            todo=f"if this is the right file, correct its sha256 in {described_by}"
            if described_by
            else "remove it and run `chaos data fetch`, or read a dataset of your own "
            "with the parameter data=FOLDER",
        )
    return digest


@dataclass(frozen=True, slots=True)
class Status:
    """Where a file is, and whether it is the published one.

    `path` is None when the file is missing; `verified` is None when the file is missing or its
    published digest is not known.
    """

    file: DataFile
    path: Path | None
    verified: bool | None


def status(
    names: Iterable[str] | None = None, described_by: Mapping[str, Path] = MappingProxyType({})
) -> list[Status]:
    """Return the status of each known file, or of the files in `names`.

    `described_by` has, by the name of a file, the reader's own YAML file that describes it; the
    file may be in the same folder.
    """
    rows = []
    for name in known_files() if names is None else names:
        file = get(name)
        path = _find_for(name, described_by.get(name))
        verified = None
        if path is not None and file.sha256:
            verified = inputs.digest(path) == file.sha256
        rows.append(Status(file, path, verified))
    return rows


def _find_for(name: str, described_by: Path | None) -> Path | None:
    """Return the path of a file, beside its YAML file or below a data root."""
    return find(name, [*([described_by.parent] if described_by else []), *paths.data_roots()])


def fetch(
    names: Iterable[str],
    *,
    described_by: Mapping[str, Path] = MappingProxyType({}),
    say: Callable[[str], None] = lambda text: None,
    progress: bool = False,
) -> list[Path]:
    """Download missing files into the cache, each whole or not at all, and return all paths.

    After an interruption or failure it can be called again: complete files are kept.
    `described_by` is as for `status`; `say` is called with one line about each step, and
    `progress` draws a bar.
    """
    files = []
    with _time_limit():
        for name in names:
            file = get(name)
            path = _find_for(name, described_by.get(name))
            if path is None:
                path = _download(file, say, progress)
            else:
                check(file, path, described_by.get(name))
            files.append(path)
    return files


@contextmanager
def _time_limit() -> Iterator[None]:
    """Fail after `_MOST_SECONDS` in total, even if the server keeps sending single bytes."""

    def late(number: int, frame: object) -> None:
        raise RuntimeError(f"the whole fetch takes longer than {_MOST_SECONDS:,} seconds")

    try:
        earlier_handler = signal.signal(signal.SIGALRM, late)
    except ValueError:  # only the main thread may set it
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier_handler)


def _download(file: DataFile, say: Callable[[str], None], progress: bool) -> Path:
    """Download a file into the cache, from its first address that works, and return its path."""
    target = paths.cache() / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    troubles = []
    with _arrival_folder() as folder:
        for url, member in ((file.url, file.member), (file.mirror, "")):
            if not url:
                continue
            say(f"{file.name}: {url}")
            try:
                arrived = _retrieve(file, url, member, folder, progress)
            except (*UNREADABLE, ChaosError) as fault:
                troubles.append(f"{url}: {_short(fault)}")
                continue
            arrived.replace(target)
            return target
    raise ChaosError(
        f"Cannot fetch {file.name}.",
        where="; ".join(troubles) or "no address is known",
        expected=", see ".join(filter(None, (file.release.title, file.release.homepage)))
        or "the published file",
        todo=f"check the network and try again, or put the file at {target}",
    )


@contextmanager
def _arrival_folder() -> Iterator[Path]:
    """Yield an empty folder for downloads, and remove the folders that killed fetches left behind.

    A folder is locked as long as the process that made it lives.
    """
    for leftover in paths.cache().glob(".arriving-*"):
        with suppress(OSError):
            os.close(_lock(leftover))
            shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(dir=paths.cache(), prefix=".arriving-") as folder:
        handle = _lock(Path(folder))
        try:
            yield Path(folder)
        finally:
            os.close(handle)


def _lock(folder: Path) -> int:
    """Lock a folder, and return the handle that unlocks it when closed.

    An OSError says that another process has locked it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _short(fault: BaseException) -> str:
    """Return in one line why a download failed; urllib3's own message takes many."""
    text = " ".join(str(fault).split())
    for reason in ("Failed to resolve", "Connection refused", "timed out", "SHA-256 differs"):
        if reason in text:
            return reason
    return text[:160] or type(fault).__name__


class _Meter:
    """A progress bar for pooch, which also refuses a download that is too large."""

    def __init__(self, title: str, *, visible: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
            console=Console(stderr=True), transient=True, disable=not visible,
        )  # fmt: skip
        self._bar = self._bars.add_task(title, total=None)
        self._arrived = 0
        self.total = 0  # pooch sets it before the first bytes

    def update(self, n_bytes: int) -> None:
        self._arrived += n_bytes
        if max(self._arrived, self.total) > _MOST_BYTES:
            self.close()
            raise ValueError(f"the download is too large: at most {_MOST_BYTES:,} bytes")
        self._bars.start()
        self._bars.update(self._bar, total=self.total or None, advance=n_bytes)

    def reset(self) -> None:
        self._arrived = 0
        self._bars.reset(self._bar)

    def close(self) -> None:
        self._bars.stop()


def _retrieve(file: DataFile, url: str, member: str, folder: Path, progress: bool) -> Path:
    """Download a file, or take it from its archive, which is kept; check its digest."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    meter = _Meter(file.name, visible=progress)
    fetcher = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS, progressbar=meter)
    name = pooch.utils.unique_file_name(url)
    # Archives stay in the cache, since several files come from one; single files are moved on.
    archive = paths.cache() / "archives" / name
    if member and archive.is_file():
        download = archive
    else:
        download = Path(pooch.retrieve(url, None, name, folder, downloader=fetcher))
        download.chmod(0o666 & ~_umask())  # pooch lets its owner alone read it
        if member:
            archive.parent.mkdir(exist_ok=True)
            download = download.replace(archive)
    try:
        path = extract_member(download, member, folder) if member else download
        path = keep_numbers(path, file.kept) if file.kept else path
        check(file, path)
    except BaseException:
        download.unlink(missing_ok=True)  # the next try starts afresh
        raise
    return path


def _umask() -> int:
    """Return the permissions that new files do not get; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def keep_numbers(path: Path, layout: PredictionColumns) -> Path:
    """Write identifiers and probabilities of a JSON list of predictions as a CSV beside it.

    Numbers have six decimals, or four significant digits below 0.001, so that the same numbers
    always have the same digest. A file that is no such list is a ValueError.
    """
    lines = [",".join(("uid", *layout.columns))]
    try:
        for entry in json.loads(path.read_text("utf-8")):
            shares = [f"{p:.4g}" if p < 1e-3 else f"{round(p, 6):.6g}" for p in entry[layout.key]]
            lines.append(",".join((entry["uid"], *shares)))
    except (KeyError, TypeError) as fault:
        raise ValueError(f"no list of entries with uid and {layout.key}") from fault
    target = path.with_suffix(".kept.csv")
    target.write_text("\n".join([*lines, ""]), "utf-8")
    return target


def extract_member(archive: Path, member: str, folder: Path) -> Path:
    """Extract one file, known by its base name, from a zip into `folder`, and return its path.

    The folder inside the archive is ignored, so an archive cannot write outside `folder`. A
    ValueError says that the archive holds no such file, several, or a file that is too large.
    pooch's own `Unzip` needs the whole name and has no size limit.
    """
    with zipfile.ZipFile(archive) as content:
        matches = [
            info
            for info in content.infolist()
            if PurePosixPath(info.filename).name == member
            and not info.is_dir()
            # macOS archivers add a resource-fork twin of each file
            and "__MACOSX" not in PurePosixPath(info.filename).parts
        ]
        if len(matches) != 1:
            n_files = len(matches)
            raise ValueError(f"{archive.name} holds {n_files} files named {member}, expected 1")
        if matches[0].file_size > _MOST_BYTES:  # zipfile unpacks no more than `file_size`
            raise ValueError(
                f"{member} in {archive.name} is too large: {matches[0].file_size:,} bytes, "
                f"at most {_MOST_BYTES:,}"
            )
        target = folder / member
        with content.open(matches[0]) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
    return target


def own_path(data: str) -> Path:
    """Return the reader's existing folder or file that the parameter ``data`` names."""
    path = paths.from_reader(data)
    if not data or not path.exists():
        names = [*KEYWORDS, *(dataset.name for dataset in known_datasets())]
        raise ChaosError(
            "There is no such data.",
            found=repr(data),
            expected=f"{did_you_mean(data, names).removesuffix('?')}, or an existing folder "
            "or file",
            todo="check the parameter `data`",
        )
    return path


def in_folder(name: str, folder: Path) -> Path | None:
    """Return the path of a file in a folder, by its whole or its base name; None if missing."""
    return next(
        (path for path in (folder / name, folder / Path(name).name) if path.is_file()), None
    )


def locate(name: str, data: str = "auto") -> Path:
    """Return the file to read for a ``data`` parameter.

    ``auto`` and ``released`` stand for the published file, ``sample`` for the synthetic one, and a
    folder for a file of the same name in it. It is a ChaosError if there is no such file, or if a
    published file has another digest.
    """
    if data not in KEYWORDS:
        path = in_folder(name, own_path(data))
        if path is None:
            raise ChaosError(
                f"There is no {Path(name).name} in this data folder.",
                where=data,
                expected="auto, released, sample, or a folder that holds the file",
                todo="check the parameter `data`",
            )
        return path
    if data == "sample":
        found = in_folder(name, SAMPLE)
    else:
        found = find(name)
        if found is not None:
            check(get(name), found)
    if found is None:
        file = get(name)
        todo = "run `chaos data fetch`, set CHAOS_DATA to the folder that holds it, or look at the "
        todo += "synthetic sample with data=sample"
        raise ChaosError(
            f"{name} is not available." if data != "sample" else f"{name} has no synthetic sample.",
            where=", ".join(str(root) for root in paths.data_roots()),
            expected="the published file",
            todo=todo if file.url else "pass its folder or YAML file as the parameter `data`",
        )
    return found
