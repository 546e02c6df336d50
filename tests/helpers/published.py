"""The published data, gathered from wherever a machine has it."""

from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import known_files, prediction_files, vote_files


def link_published(folder: Path) -> None:
    """Link every published file that is found in one folder; the votes and predictions must be."""
    found = {name: sources.find(name) for name in known_files()}
    wanted = (*vote_files(), *prediction_files(other_forms=False))
    missing = [name for name in wanted if found[name] is None]
    if missing:
        raise ChaosError(
            "The published data is not here, and these tests need it.",
            where=", ".join(map(str, paths.data_roots())),
            found=f"no {', '.join(missing[:3])}"
            + f" and {len(missing) - 3} more" * (len(missing) > 3),
            todo="run `chaos data fetch`, or name the folder that holds it in CHAOS_DATA",
        )
    for name, path in found.items():
        if path is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(path.resolve())
