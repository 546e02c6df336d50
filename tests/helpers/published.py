"""The published data, gathered from wherever a machine has it.

Tests see the votes and predictions of the book, which must be there, and no other file but those
that their marker ``published`` names: what else lies in a data folder changes no test.
"""

import fnmatch
from collections.abc import Iterable
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import known_files, prediction_files, vote_files

LEFT_OUT = "published files that are not here"  # begins why a test was skipped


def required_files() -> list[str]:
    """Return the files without which no test of the published data runs."""
    return [*vote_files(), *prediction_files(other_forms=False)]


def further_files(*patterns: str) -> list[str]:
    """Return the other published files whose names fit one of the patterns."""
    others = {*prediction_files(), *required_files()}  # one is another form of those required
    known = [name for name in known_files() if name not in others]
    found = [name for one in patterns for name in fnmatch.filter(known, one)]
    assert all(fnmatch.filter(known, one) for one in patterns), f"no file fits one of {patterns}"
    return list(dict.fromkeys(found))


def link_published(folder: Path, further: Iterable[str] = ()) -> list[str]:
    """Link the required files, and further ones, in a folder; return which of these are missing."""
    wanted = [*required_files(), *further]
    found = {name: sources.find(name) for name in wanted}
    missing = [name for name in wanted if found[name] is None]
    if required := [name for name in required_files() if name in missing]:
        raise ChaosError(
            "The published data is not here, and these tests need it.",
            where=", ".join(map(str, paths.data_roots())),
            found=f"no {', '.join(required[:3])}"
            + f" and {len(required) - 3} more" * (len(required) > 3),
            todo="run `chaos data fetch`, or name the folder that holds it in CHAOS_DATA",
        )
    for name, path in found.items():
        if path is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(path.resolve())
    return missing
