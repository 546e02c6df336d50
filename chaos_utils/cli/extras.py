"""Requirements of commands beyond the core: an extra's packages, and a checkout of the book."""

from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.extras import install_command, missing_packages, require_extra


def require(extra: str) -> None:
    """Fail if a command's extra is missing; for ``book``, also without a checkout of the book."""
    from chaos_utils.base import paths

    if extra == "train":
        require_extra(extra, "Training")
    elif (missing := missing_packages("book")) and paths.find_project() is None:
        raise ChaosError(
            "This command needs a checkout of the book, and the packages of its extra `book`.",
            where=Path.cwd(),
            found=f"no checkout here or above; missing: {', '.join(missing)}",
            todo=f"{install_command('book')}, and the command inside this checkout",
        )
    else:
        require_extra("book")
        _check_code(paths.project())


def _check_code(checkout: Path) -> None:
    """Refuse to run another checkout's code on this one, such as the original's on a copy."""
    own, running = checkout / "chaos_utils", Path(__file__).parents[1]
    if (own / "__init__.py").is_file() and not own.samefile(running):
        raise ChaosError(
            "The code that runs belongs to another checkout; this one may be a copy.",
            where=checkout,
            found=running,
            todo="use make in this checkout, or run `python -m chaos_utils.cli` in its folder",
        )
