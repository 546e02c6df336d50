"""What readers call things that tables name by a code."""

from collections.abc import Iterable

from chaos_utils.datasets.catalogue import short_of

# As the papers write them.
SYSTEM_NAMES = {
    "bert-base": "BERT-base",
    "xlnet-base": "XLNet-base",
    "roberta-base": "RoBERTa-base",
    "bert-large": "BERT-large",
    "xlnet-large": "XLNet-large",
    "roberta-large": "RoBERTa-large",
    "bart-large": "BART-large",
    "albert-xxlarge": "ALBERT-xxlarge",
    "distilbert": "DistilBERT",
    "est-human": "estimated human",
}


def dataset_name(dataset: str) -> str:
    """Return what readers call a dataset, or a pool, that tables name ``snli`` or ``snli+mnli``."""
    return short_of(dataset)


def listed(names: Iterable[str]) -> str:
    """Join names for prose, with "and" before the last."""
    known = list(names)
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
