"""Trained weights and unfinished work, kept in the cache under a key that says what they are."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder, write_json
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.training.encoders import WEIGHTS, check_weights
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import Settings

ENGINE = 4  # raised when a change of the code changes what training gives, or its checkpoints
_MOST_PROCESSES = 64  # that are looked for
_DIGEST_FILE, _OUTCOME_FILE = "sha256.json", "outcome.json"
_NOT_DECIDING = {"data", "init", "teacher"}  # where things stand, not what they are


def run_key(
    settings: Settings,
    origin: str,
    corpora: tuple[Corpus, ...],
    start: Path | None,
    teacher: Path | None,
) -> str:
    """Return sixteen hexadecimal digits that stand for all that decides a run's weights.

    All but the number of processes, see `key_of_processes`. The corpora are those that are trained
    and chosen on, before a teacher changes the targets. `origin` is the encoder's, as its record
    names it; `start` and `teacher` are folders of weights.
    """
    decided = settings.model_dump(exclude=_NOT_DECIDING)
    if get_model(settings.model).own:
        del decided["model"]  # where it stands; what it is stands in `origin`
    if not settings.on_votes:
        del decided["n_folds"], decided["head"]
    for name in ("text", "pair"):  # the corpora have the texts
        del decided[name]
    if settings.on_own_votes:
        decided["train"] = "votes"
        decided["labels"] = corpora[0].task.labels
    else:
        del decided["held_out"]
    weights = [inputs.digest(folder / WEIGHTS) if folder else None for folder in (start, teacher)]
    text = json.dumps([ENGINE, decided, origin, weights], sort_keys=True)
    digest = hashlib.sha256(text.encode())
    for corpus in corpora:
        digest.update(json.dumps([corpus.uids, corpus.texts]).encode())
        digest.update(corpus.targets.tobytes())
    return digest.hexdigest()[:16]


def key_of_processes(base: str, processes: int) -> str:
    """Return the key of a run in so many processes, of which each draws dropout of its own."""
    return hashlib.sha256(f"{base} {processes}".encode()).hexdigest()[:16]


def refuse_other_processes(base: str, processes: int) -> None:
    """Refuse to begin anew what is unfinished in another number of processes."""
    for other in range(1, _MOST_PROCESSES + 1):
        folder = work_folder(key_of_processes(base, other))
        if other != processes and any(folder.glob("**/checkpoint-*")):
            raise ChaosError(
                "This run was begun with another number of processes.",
                where=folder,
                found=f"{counted(processes, 'process')}",
                expected=f"{other}, as before: each process draws its own dropout",
                todo="start that many, or remove the folder to begin again",
            )


def work_folder(key: str) -> Path:
    """Return where an unfinished run keeps its checkpoints; it need not exist."""
    return paths.cache() / "training" / key


@contextmanager
def exclusive_run(key: str, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other process makes the same run, and keep others from it within the block."""
    waiting = "another process makes this run: waiting for it"
    with exclusive_lock(paths.cache() / "locks" / key, waiting, say):
        work_folder(key).mkdir(parents=True, exist_ok=True)
        yield


def weights_folder(key: str) -> Path:
    """Return where a finished run's weights are kept; it need not exist."""
    if not re.fullmatch("[0-9a-f]{16}", key):
        raise ChaosError(
            "A run's record names no weights.", found=key, expected="16 hexadecimal digits"
        )
    return paths.cache() / "weights" / key


def cached_weights(key: str) -> Path | None:
    """Return the folder of a run's weights after comparing their digest; None if not all there."""
    folder = weights_folder(key)
    if not all((folder / name).is_file() for name in (WEIGHTS, _DIGEST_FILE, _OUTCOME_FILE)):
        return None
    check_weights(folder / WEIGHTS, json.loads((folder / _DIGEST_FILE).read_text("utf-8")))
    return folder


def keep_weights(key: str, model: Any, tokenizer: Any, fitted: dict[str, Any]) -> Path:
    """Keep a run's weights, and the account of its training, which is ready for JSON.

    The folder that is returned appears whole or not at all.
    """
    folder = weights_folder(key)
    with fresh_folder(folder) as new:
        model.save_pretrained(new, safe_serialization=True)
        tokenizer.save_pretrained(new)
        write_json(new / _DIGEST_FILE, inputs.digest(new / WEIGHTS))
        write_json(new / _OUTCOME_FILE, fitted)
    return folder


def read_fitted(folder: Path) -> dict[str, Any]:
    """Return the account of the training of cached weights."""
    return json.loads((folder / _OUTCOME_FILE).read_text("utf-8"))
