"""What a light install lacks: the packages of the extras, and a checkout of the book."""

import importlib.util
from pathlib import Path

from chaos_utils.base.errors import ChaosError

# The packages that show whether an extra is installed.
_PACKAGES = {
    "book": ("jupytext", "matplotlib", "papermill", "seaborn", "sphinx"),
    "train": ("torch", "transformers", "accelerate"),
}


def need(what: str) -> None:
    """Fail where a command's need is not met: ``train``, or ``book``, which is a checkout too."""
    from chaos_utils.base import paths

    if what == "train":
        need_extra(what, "Training")
    elif (missing := _missing("book")) and paths.find_project() is None:
        raise ChaosError(
            "This command needs a checkout of the book and the packages of its extra `book`.",
            where=Path.cwd(),
            found=f"no checkout here or above; missing: {', '.join(missing)}",
            todo=f"{_install('book')}, and call it from inside a checkout",
        )
    else:
        need_extra("book")
        _check_code(paths.project())


def need_extra(extra: str, what: str = "This command", todo: str = "") -> None:
    """Fail where the packages of an extra, ``book`` or ``train``, are not installed.

    `what` needs them; `todo` is what helps beside installing them.
    """
    missing = _missing(extra)
    if missing:
        raise ChaosError(
            f"{what} needs packages that are not installed.",
            found=f"missing: {', '.join(missing)}",
            todo=f"{_install(extra)}{todo}",
        )


def _check_code(checkout: Path) -> None:
    """Refuse to run another checkout's code on this one, such as the original's on a copy."""
    own, running = checkout / "chaos_utils", Path(__file__).parents[1]
    if (own / "__init__.py").is_file() and not own.samefile(running):
        raise ChaosError(
            "The code that runs is not this checkout's, which may be a copy.",
            where=checkout,
            found=running,
            todo="use make in this checkout, or call `python -m chaos_utils.cli` in its folder",
        )


def _missing(extra: str) -> list[str]:
    return [name for name in _PACKAGES[extra] if importlib.util.find_spec(name) is None]


def _install(extra: str) -> str:
    return f"pip install 'chaos-utils[{extra}]'"
