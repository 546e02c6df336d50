"""Score systems against the votes of many people.

``import chaos_utils as chaos`` gives `load`, `read_predictions`, `make_system`, `evaluate`,
`methods_sentences`, `compare`, `worth`, `human_equivalents` and `replacement`, the classes `Votes`
and `System`, and the error `ChaosError`. Nothing heavy is imported before one of them is used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaos_utils.base.errors import ChaosError
    from chaos_utils.datasets.votes import Votes
    from chaos_utils.scoring.api import (
        compare,
        evaluate,
        human_equivalents,
        load,
        make_system,
        methods_sentences,
        read_predictions,
        replacement,
        worth,
    )
    from chaos_utils.scoring.system import System

    __version__: str

__all__ = [
    "ChaosError",
    "System",
    "Votes",
    "__version__",
    "compare",
    "evaluate",
    "human_equivalents",
    "load",
    "make_system",
    "methods_sentences",
    "read_predictions",
    "replacement",
    "worth",
]

if not TYPE_CHECKING:
    _MODULES = {
        "ChaosError": "chaos_utils.base.errors",
        "System": "chaos_utils.scoring.system",
        "Votes": "chaos_utils.datasets.votes",
    }

    def __getattr__(name):
        from importlib import import_module, metadata

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name == "__version__":
            return metadata.version("chaos-utils")
        return getattr(import_module(_MODULES.get(name, "chaos_utils.scoring.api")), name)

    def __dir__():
        return [*__all__]
