"""How figures and tables call systems."""

import re
from collections.abc import Iterable

# The names of systems in tables, and as the papers write them.
SYSTEM_NAMES = {
    "bert-base": "BERT-base (2020)",  # since other runs of BERT-base and RoBERTa-base stand beside
    "xlnet-base": "XLNet-base",
    "roberta-base": "RoBERTa-base (2020)",
    "bert-large": "BERT-large",
    "xlnet-large": "XLNet-large",
    "roberta-large": "RoBERTa-large",
    "bart-large": "BART-large",
    "albert-xxlarge": "ALBERT-xxlarge",
    "distilbert": "DistilBERT",
    "est-human": "estimated human",
    "chance": "uniform guess, commonest label",  # for distances, and for accuracy
}


_FOLDS_AND_SEED = re.compile(r", (?:\d+ folds|\d+% held out|seed \d+)(?=,|$)")
# The first word of a language model's name, as its maker writes it.
_BRANDS = {
    brand.lower(): brand
    for brand in (
        "Claude", "DeepSeek", "Doubao", "Gemini", "GLM", "GPT", "Grok", "Kimi", "Llama", "MiniMax",
        "Mistral", "Qwen",
    )
}  # fmt: skip


def language_model_name(name: str) -> str:
    """Return how figures and tables spell a language model, whatever its file called it.

    Words have a capital, and spaces between them; a version has a dot; the date of a snapshot is
    left out: "Kimi K2.6" for ``kimi-k2.6``, "Claude Haiku 4.5" for ``claude-haiku-4-5-20251001``.
    As their makers do, GLM and GPT have a hyphen before the version, Qwen has one everywhere, and
    "mini" has no capital. A `name` that begins with none of the known names is returned as it is.
    """
    first, *others = re.split(r"[-_ ]", name)
    letters = first.rstrip("0123456789.")
    brand = _BRANDS.get(letters.lower())
    if brand is None:
        return name
    words = [brand + first[len(letters) :]]
    for word in others:
        if re.fullmatch(r"\d{6,}", word):
            continue
        if re.fullmatch(r"\d", word) and re.fullmatch(r"\d", words[-1]):
            words[-1] += f".{word}"
        elif words == [brand] and brand in ("GLM", "GPT") and word[:1].isdigit():
            words[-1] += f"-{word}"
        elif re.fullmatch(r"a?\d+b|fp\d+", word):  # sizes
            words.append(word.upper())
        else:
            words.append(word if word == "mini" else word[:1].upper() + word[1:])
    return ("-" if brand == "Qwen" else " ").join(words)


def system_title(system: str, origin: str, temperature: float) -> str:
    """Return the name of a system in figures and tables; a reference has no temperature."""
    if origin == "reference":
        return "oracle (the votes)" if system == "oracle" else system
    return f"{SYSTEM_NAMES.get(system, system)}, T = {temperature:g}"


def run_titles(systems: Iterable[str]) -> dict[str, str]:
    """Return the names of runs that stand below each other, without what they have in common.

    Folds and seeds of the `systems` are left out, and the encoder if all have one; the names are
    as they were if two of them would then look alike.
    """
    names = [*dict.fromkeys(systems)]
    titles = [_FOLDS_AND_SEED.sub("", name) for name in names]
    if len({name.partition(", ")[0] for name in names}) == 1:
        titles = [title.partition(", ")[2] or title for title in titles]
    return dict(zip(names, titles if len({*titles}) == len(names) else names, strict=True))
