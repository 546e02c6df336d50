"""How fast models are trained and asked: what our targets and batches add to the library's trainer.

Run with `make bench-finetune` or `python benchmarks/finetune.py [--pairs N] [--repeats R]
[--precision P]`. Both ways train by transformers' `Trainer`: plainly, on one label per pair, and
as this project does. The same model sees the same pairs in batches of the same size and the same
precision, on one thread, one way after the other, several times over; each time another seed
decides head, order and dropout. What is counted is this process's CPU time, so that others on the
machine disturb little, and what counts are the ratios: in time, and in time for each position
that is computed, padding among them. On a few hundred pairs the library's batches of like length
have much padding, since it sorts within smaller windows; from some six thousand on there is no
difference. Prediction is against the library's pipeline.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    pipeline,
)
from transformers.utils import logging

from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.splits import subset
from chaos_utils.training import trainer
from chaos_utils.training.data import load_data
from chaos_utils.training.dev_scores import balanced_subset, dev_scores
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import BatchPlan, encode
from chaos_utils.training.inference import predict
from chaos_utils.training.recipes import get_model, recipe_of
from chaos_utils.training.settings import Settings, complete

MAX_LENGTH = 128
TARGETS = {"trainer": 1.0, "pipeline": 3.0}
WAYS = {  # and the order of their batches
    "trainer, batches of like length": "group_by_length",
    "ours": "",
    "trainer, random batches": "random",
}


def cpu_seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and the CPU time that it takes."""
    begun = time.process_time()
    found = call()
    return found, time.process_time() - begun


def plain_model(folder: Path, seed: int) -> Any:
    """Return the model as the library loads it, without anything of this project's."""
    torch.manual_seed(seed)
    return AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3).float()


class CountingCollator(DataCollatorWithPadding):
    """The library's collator, which counts the positions that it has filled."""

    positions = 0

    def __call__(self, features: Any) -> Any:
        """Return a batch."""
        batch = super().__call__(features)
        self.positions += batch["input_ids"].numel()
        return batch


def by_trainer(
    folder: Path, train: Corpus, device: Device, seed: int, order: str
) -> tuple[Any, float, int]:
    """Train as the library does; return the model, the CPU time and the positions computed.

    `order` is of its batches.
    """
    tokenizer, recipe = load_tokenizer(folder), recipe_of(get_model("minilm-l6"), "nli")
    coded = tokenizer(
        [text[0] for text in train.texts],
        [text[1] for text in train.texts],
        truncation=True,
        max_length=MAX_LENGTH,
    )
    items = [
        {**{name: coded[name][i] for name in coded}, "labels": int(train.gold[i])}
        for i in range(len(train))
    ]
    model = plain_model(folder, seed)
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            scratch, per_device_train_batch_size=recipe.batch_size, num_train_epochs=1,
            learning_rate=recipe.learning_rate, warmup_steps=recipe.warmup_ratio,
            weight_decay=recipe.weight_decay, bf16=device.precision == "bf16", use_cpu=True,
            train_sampling_strategy=order, save_strategy="no", report_to=[], seed=seed,
            disable_tqdm=True, logging_strategy="no",
        )  # fmt: skip
        collator = CountingCollator(tokenizer)
        plain = Trainer(model, arguments, train_dataset=items, data_collator=collator)
        return model, cpu_seconds(plain.train)[1], collator.positions


def by_ours(
    folder: Path, train: Corpus, device: Device, seed: int
) -> tuple[Any, float, int, float]:
    """Train as this project does; return the model, time, positions, and the operations."""
    settings, _ = complete(Settings(model="minilm-l6", epochs=1, seed=seed))
    tokenizer = load_tokenizer(folder)
    encoded, one = encode(tokenizer, train, MAX_LENGTH), train.take([0])

    def begin() -> Any:
        torch.manual_seed(seed)
        return load_model(folder, 3)

    with tempfile.TemporaryDirectory() as work:
        job = trainer.Job(
            settings, encoded, train.targets, encode(tokenizer, one, MAX_LENGTH), one.targets,
            lambda logits: {"accuracy": 0.0}, device, Path(work), checkpoint_seconds=1e9,
        )  # fmt: skip
        model, account = trainer.fit(begin, job)
    lengths = widths(job.plan, encoded.lengths)
    flops = training_flops(model, int(lengths.sum()), int((lengths**2).sum()))
    return model, account.cpu_seconds, int(lengths.sum()), flops


def widths(plan: BatchPlan, lengths: Any) -> Any:
    """Return how many positions each sequence of an epoch has, with padding."""
    batches = plan.epoch(0)
    longest = lengths[np.where(batches < 0, ~batches, batches)].max(axis=1)
    return np.repeat(longest, batches.shape[1])


def training_flops(model: Any, padded_tokens: int, attention: int) -> float:
    """Return the floating-point operations of training, forward and backward.

    Six for each weight outside the embeddings and each token, padding among them, as Kaplan et
    al. (2020, "Scaling laws for neural language models") count, and ``12 * layers * width`` for
    each pair of positions in a sequence: `attention` is the sum of squared sequence lengths.
    """
    config = model.config
    # By identity, since encoder and decoder may share an embedding.
    embeddings = {
        id(module.weight): module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Embedding)
    }
    weights = sum(p.numel() for p in model.parameters()) - sum(embeddings.values())
    layers = config.num_hidden_layers
    if config.model_type == "albert":
        weights *= layers  # one layer's weights, used in each
    if config.is_encoder_decoder:
        layers += config.decoder_layers
    return 6.0 * weights * padded_tokens + 12.0 * layers * config.hidden_size * attention


def peak(device: Device) -> float:
    """Return the operations of a large matrix product for each second of CPU time, at best."""
    left = torch.randn(1024, 1024).to(device.dtype)
    return 2 * 1024**3 / min(cpu_seconds(lambda: left @ left)[1] for _ in range(8))


def train_all_ways(folder: Path, train: Corpus, dev: Corpus, device: Device, repeats: int) -> Any:
    """Print pairs per second of every way of training; return our last model."""
    seconds, right, shares = defaultdict(list), defaultdict(list), []
    filled = defaultdict(list)
    encoded = encode(load_tokenizer(folder), dev, MAX_LENGTH)
    few = train.take(range(64))  # what comes first takes longer
    by_trainer(folder, few, device, 0, "random")
    by_ours(folder, few, device, 0)
    for seed in range(repeats):
        models = {}
        for way, order in WAYS.items():
            if way == "ours":
                models[way], took, positions, flops = by_ours(folder, train, device, seed)
                shares.append(flops / took / peak(device))
            else:
                models[way], took, positions = by_trainer(folder, train, device, seed, order)
            seconds[way].append(took)
            filled[way].append(took / positions)
            share = dev_scores(predict(models[way], encoded, device), dev)["all"]["accuracy"]
            right[way].append(share)
            print(f"  seed {seed}, {way}: {len(train) / took:.0f} pairs/s, {share:.3f}", flush=True)
    for way, taken in seconds.items():
        line = f"{way}: {len(train) / median(taken):.0f} pairs per CPU second, dev accuracy "
        line += f"{fmean(right[way]):.3f} ({min(right[way]):.3f} to {max(right[way]):.3f})"
        if way == "ours":
            line += f", {median(shares):.0%} of the measured peak"
        else:
            times = [a / b for a, b in zip(taken, seconds["ours"], strict=True)]
            line += f"; ours is {median(times):.2f} × as fast ({min(times):.2f} to "
            line += f"{max(times):.2f})"
            each = [a / b for a, b in zip(filled[way], filled["ours"], strict=True)]
            line += f", {median(each):.2f} × for each position"
        print(line, flush=True)
    print(f"(target against batches of like length: {TARGETS['trainer']:g} ×)")
    return models["ours"]


def ask_both_ways(folder: Path, model: Any, asked: Corpus, device: Device, repeats: int) -> None:
    """Print pairs per second of the library's pipeline and of ours, tokenisation among them."""
    tokenizer = load_tokenizer(folder)
    texts = [{"text": text[0], "text_pair": text[1]} for text in asked.texts]
    plain = plain_model(folder, 0)
    plain.load_state_dict(model.state_dict())
    if device.precision == "bf16":
        plain = plain.to(torch.bfloat16)
    pipe = pipeline("text-classification", model=plain, tokenizer=tokenizer, device=-1)
    theirs, ours = [], []
    for _ in range(repeats):
        theirs.append(cpu_seconds(lambda: pipe(texts, batch_size=32))[1])
        ours.append(
            cpu_seconds(lambda: predict(model, encode(tokenizer, asked, MAX_LENGTH), device))[1]
        )
    times = [a / b for a, b in zip(theirs, ours, strict=True)]
    n = len(asked)
    print(
        f"prediction: pipeline {n / median(theirs):.0f} pairs per CPU second, ours "
        f"{n / median(ours):.0f}: {median(times):.2f} × as fast ({min(times):.2f} to "
        f"{max(times):.2f}; target {TARGETS['pipeline']:g} ×)"
    )


def main() -> None:
    """Measure training, then prediction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1600, help="how many are trained on")
    parser.add_argument("--repeats", type=int, default=3, help="how often, each with its own seed")
    parser.add_argument("--precision", default="auto", help="fp32, bf16, or the fastest here")
    parser.add_argument("--dev", type=int, default=1024, help="how many are predicted")
    arguments = parser.parse_args()
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    settings, model = complete(Settings(model="minilm-l6"))
    data = load_data(settings)
    train, dev = subset(data.train, arguments.pairs, 0), balanced_subset(data.dev, arguments.dev)
    folder, device = find_encoder(model).folder, choose_device("cpu", arguments.precision)
    print(f"{device.title}, {device.precision}, {peak(device) / 1e9:.0f} GFLOP per CPU second")
    trained = train_all_ways(folder, train, dev, device, arguments.repeats)
    ask_both_ways(folder, trained, dev, device, arguments.repeats)


if __name__ == "__main__":
    main()
