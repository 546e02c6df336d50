"""Tiny encoders with random weights, one of each architecture, made without any download.

They learn next to nothing. They show that an architecture trains, saves, resumes and
predicts, in seconds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaos_utils.datasets.corpora import load_corpus
from chaos_utils.datasets.tasks import tasks

_WEIGHTS_SEED = 20201116
_WIDTH, _LAYERS, _HEADS, _LENGTH = 32, 2, 2, 160
_SPECIAL = ("<pad>", "<unk>", "<cls>", "<sep>")
_SHAPE = {
    "hidden_size": _WIDTH, "num_hidden_layers": _LAYERS, "num_attention_heads": _HEADS,
    "intermediate_size": 2 * _WIDTH, "max_position_embeddings": _LENGTH,
}  # fmt: skip
# What each architecture calls the same things.
_SHAPES: dict[str, dict[str, Any]] = {
    "bert": _SHAPE,
    "roberta": _SHAPE,
    "albert": {**_SHAPE, "embedding_size": 16},
    "distilbert": {
        "dim": _WIDTH, "n_layers": _LAYERS, "n_heads": _HEADS, "hidden_dim": 2 * _WIDTH,
        "max_position_embeddings": _LENGTH,
    },
    "deberta-v2": {
        **_SHAPE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True,
        "position_biased_input": False, "type_vocab_size": 0,
    },
    "modernbert": {
        **_SHAPE, "cls_token_id": 2, "sep_token_id": 3, "global_attn_every_n_layers": 2,
        "local_attention": 16,
    },
    "llama": {**_SHAPE, "num_key_value_heads": 1},
    "qwen2": {**_SHAPE, "num_key_value_heads": 1},
    "gemma": {**_SHAPE, "num_key_value_heads": 1, "head_dim": _WIDTH // _HEADS},
    "xlnet": {"d_model": _WIDTH, "n_layer": _LAYERS, "n_head": _HEADS, "d_inner": 2 * _WIDTH},
    "bart": {
        "d_model": _WIDTH, "encoder_layers": _LAYERS, "decoder_layers": _LAYERS,
        "encoder_attention_heads": _HEADS, "decoder_attention_heads": _HEADS,
        "encoder_ffn_dim": 2 * _WIDTH, "decoder_ffn_dim": 2 * _WIDTH,
        "max_position_embeddings": _LENGTH, "decoder_start_token_id": 3, "forced_eos_token_id": 3,
    },
}  # fmt: skip


def _config(family: str, n_tokens: int) -> Any:
    from transformers import AutoConfig

    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "vocab_size": n_tokens}
    if family == "llama":
        del special["pad_token_id"]
    return AutoConfig.for_model(family, **_SHAPES[family], **special)


def _texts() -> Iterator[str]:
    for training in tasks():
        for text in load_corpus(training, "train", "sample").texts:
            yield from text


def _tokenizer(family: str) -> Any:
    """Return a tokenizer with the special tokens where the architecture has them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    # Whole words: a trained vocabulary of pieces would differ from run to run.
    normalizer, splitter = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    words = {
        word
        for text in _texts()
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
    }
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *sorted(words)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_SPECIAL[1]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    template = {
        "roberta": ("<cls> $A <sep>", "<cls> $A <sep> <sep> $B <sep>"),
        "bart": ("<cls> $A <sep>", "<cls> $A <sep> <sep> $B <sep>"),
        "xlnet": ("$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2"),
        "llama": ("<cls> $A", "<cls> $A <cls> $B"),
        "gemma": ("<cls> $A", "<cls> $A <cls> $B"),
        "qwen2": ("$A", "$A $B"),
    }.get(family, ("<cls>:0 $A:0 <sep>:0", "<cls>:0 $A:0 <sep>:0 $B:1 <sep>:1"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template[0],
        pair=template[1],
        special_tokens=[(token, _SPECIAL.index(token)) for token in ("<cls>", "<sep>")],
    )
    names = ["input_ids", "attention_mask"]
    if family in ("bert", "albert", "xlnet"):
        names.insert(1, "token_type_ids")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=None if family == "llama" else _SPECIAL[0],
        unk_token=_SPECIAL[1],
        cls_token=_SPECIAL[2],
        sep_token=_SPECIAL[3],
        bos_token=_SPECIAL[2],
        eos_token=_SPECIAL[3],
        padding_side="left" if family in ("xlnet", "gemma") else "right",
        pad_token_type_id=3 if family == "xlnet" else 0,
        model_input_names=names,
        model_max_length=_LENGTH - 8,
    )


def write(family: str, folder: Path) -> None:
    """Write a tiny model of a family and its tokenizer into a folder.

    The weights follow a fixed seed, the vocabulary the synthetic sample.
    """
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    tokenizer = _tokenizer(family)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_WEIGHTS_SEED)
        model = AutoModel.from_config(_config(family, len(tokenizer)))
    logging.disable_progress_bar()
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder, safe_serialization=True)
