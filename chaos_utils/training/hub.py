"""What the Hugging Face hub has of a model, asked before anything is fetched."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.training.encoders import (
    check_weights,
    snapshot,
    tokenizer_error,
    unknown_revision_error,
)
from chaos_utils.training.plans import ResolvedModel, WeightsFile
from chaos_utils.training.recipes import Model

_SECONDS = 20  # that the hub has to answer
_CONVERTER = "SFconvertbot"  # the hub's own account, which offers pickled weights as safetensors
_SUFFIX = ".safetensors"


def resolve(model: Model, revision: str, note: str = "") -> ResolvedModel:
    """Return the commit of a model and its weights: of the cache, or else of the hub.

    `revision` is a commit, branch or tag, or empty for the main branch. A ChaosError says that
    neither has it, or that its weights cannot be loaded safely; `note` is added to the latter.
    """
    folder = cached_folder(model, revision)
    cached = sorted(folder.glob(f"*{_SUFFIX}")) if folder else []
    if folder and cached:
        files = {path.name: WeightsFile(size=path.stat().st_size) for path in cached}
        return ResolvedModel(hub=model.hub, commit=folder.name, weights=files)
    api = _api()
    found = _model_info(api, model, revision)
    names = {one.rfilename: one for one in found.siblings}
    weights = {name: _weights_file(one) for name, one in names.items() if name.endswith(_SUFFIX)}
    if not weights:
        raise _pickled(api, model, found.sha, sorted(names), note)
    _check_tokenizer(model, names)
    return ResolvedModel(hub=model.hub, commit=found.sha, weights=weights)


def cached_folder(model: Model, revision: str) -> Path | None:
    """Return the folder of a model in the cache, whether whole or not; None where there is none."""
    try:
        return snapshot(model, revision, local_files_only=True)
    except (OSError, ValueError):
        return None


def check_cached(model: Model, resolved: ResolvedModel) -> None:
    """Compare weights in the cache with the digests that the hub has given for them."""
    if folder := cached_folder(model, resolved.commit):
        for name, about in resolved.weights.items():
            if about.sha256 and (folder / name).is_file():
                check_weights(folder / name, about.sha256)


def config_folder(model: Model, revision: str) -> Path | None:
    """Return a folder with the configuration of a model, fetched where needed; None without."""
    try:
        folder = snapshot(model, revision, ("config.json",))
    except Exception:  # of several HTTP libraries; that the hub is out of reach is said elsewhere
        return None
    return folder if (folder / "config.json").is_file() else None


def _api() -> Any:
    from huggingface_hub import HfApi

    return HfApi()


def _model_info(api: Any, model: Model, revision: str) -> Any:
    from huggingface_hub.errors import RevisionNotFoundError

    try:
        return api.model_info(
            model.hub, revision=revision or None, files_metadata=True, timeout=_SECONDS
        )
    except RevisionNotFoundError as fault:
        raise unknown_revision_error(model, revision) from fault
    except Exception as fault:  # of several HTTP libraries
        raise ChaosError(
            "The weights are neither in the cache nor within reach.",
            where=f"{model.hub}{f', revision {revision}' if revision else ''}",
            found=" ".join(str(fault).split())[:160] or type(fault).__name__,
            expected="a machine that reaches the Hugging Face hub, and a public model of this name",
            todo="check the name and the network; or copy the folder hub/ of the cache "
            "(CHAOS_CACHE) from a machine that has fetched them",
        ) from fault


def _weights_file(sibling: Any) -> WeightsFile:
    lfs = getattr(sibling, "lfs", None)
    sha256 = lfs.get("sha256", "") if isinstance(lfs, dict) else getattr(lfs, "sha256", "")
    return WeightsFile(sha256=sha256 or "", size=sibling.size or 0)


def _pickled(api: Any, model: Model, commit: str, names: list[str], note: str) -> ChaosError:
    """Say that a model has pickled weights alone, and what to do about it."""
    pickles = [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".ckpt"))]
    offered = _converted(api, model)
    todo = (
        f"pin {offered} as its revision in the plan: there the hub's own {_CONVERTER} offers the "
        "same weights as safetensors"
        if offered
        else "pin a revision that has them: on the model's page of the hub, *Use in safetensors* "
        f"asks {_CONVERTER} for a pull request, whose commit is such a revision; or convert them "
        "on a machine without secrets, and name that folder as the model, with the recipe's values"
    )
    return ChaosError(
        "This model has no safetensors weights." + (f" {note}" if note else ""),
        where=f"{model.hub}, commit {commit}",
        found=", ".join(pickles) or "no weights",
        expected=f"*{_SUFFIX}; pickled weights can run code when they are loaded, and never are",
        todo=todo,
    )


def _converted(api: Any, model: Model) -> str:
    """Return the commit in which the hub's converter offers safetensors; empty without one."""
    try:
        offers = list(
            api.get_repo_discussions(
                model.hub, author=_CONVERTER, discussion_type="pull_request",
                discussion_status="open",
            )
        )  # fmt: skip
        for offer in offers:
            found = api.model_info(model.hub, revision=f"refs/pr/{offer.num}", timeout=_SECONDS)
            if any(one.rfilename.endswith(_SUFFIX) for one in found.siblings):
                return str(found.sha)
    except Exception:  # of several HTTP libraries; without an answer there is no offer
        return ""
    return ""


def _check_tokenizer(model: Model, names: dict[str, Any]) -> None:
    tokenizers = {"tokenizer.json", "vocab.txt", "vocab.json"}
    if tokenizers & names.keys():
        return
    pieces = [name for name in names if name.endswith(".model")]
    if not pieces or find_spec("sentencepiece") is None:
        raise tokenizer_error(model.hub, ", ".join(pieces) or did_you_mean("tokenizer.json", names))
