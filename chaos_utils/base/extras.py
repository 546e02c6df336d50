"""What a light install lacks: the packages of the extras."""

import importlib.util
import sys

from chaos_utils.base.errors import ChaosError

# The packages that show whether an extra is installed.
_PACKAGES = {
    "book": ("jupytext", "matplotlib", "papermill", "seaborn", "sphinx"),
    "train": ("torch", "transformers", "accelerate"),
}


def require_extra(extra: str, feature: str = "This command", todo: str = "") -> None:
    """Fail where the packages of an extra, ``book`` or ``train``, are not installed.

    `feature` names what needs them; `todo` follows the advice to install them.
    """
    if missing := missing_packages(extra):
        raise ChaosError(
            f"{feature} needs packages that are not installed.",
            found=f"missing: {', '.join(missing)}",
            todo=f"{install_command(extra)}{todo}",
        )


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra, as `_PACKAGES` lists them, that are not installed."""
    return [name for name in _PACKAGES[extra] if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    if name in sys.modules:
        return sys.modules[name] is not None
    return importlib.util.find_spec(name) is not None


def install_command(extra: str) -> str:
    """Return what to do to install an extra: the package is on no index, so it needs a checkout."""
    return f"run `pip install '.[{extra}]'` in a checkout of the book"
