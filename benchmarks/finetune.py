"""How fast models are trained and asked: against the library's example scripts and pipeline.

Run with `make bench-finetune` or `python benchmarks/finetune.py [--pairs N]`. The same model sees
the same pairs in batches of the same size, in one run on one machine; what counts are the ratios.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from transformers import DataCollatorWithPadding, Trainer, TrainingArguments, pipeline
from transformers.utils import logging

from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.splits import subset
from chaos_utils.training import loop
from chaos_utils.training.costs import training_flops
from chaos_utils.training.data import load_data
from chaos_utils.training.devices import Device, choose_device, measured_peak
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode, plan_batches
from chaos_utils.training.inference import predict
from chaos_utils.training.judging import judge, spread
from chaos_utils.training.recipes import get_model, recipe_of
from chaos_utils.training.settings import Settings, complete

MAX_LENGTH, SEED = 128, 0
TARGETS = {"padded to 128": 4.0, "padded to a random batch": 2.0, "pipeline": 3.0}


def fresh(folder: Path) -> Any:
    """Return the model with the same new head each time."""
    torch.manual_seed(SEED)
    return load_model(folder, 3)


def by_trainer(folder: Path, train: Corpus, device: Device, *, padded: bool) -> tuple[Any, float]:
    """Train as the library's example scripts do; return the model and its seconds."""
    tokenizer, recipe = load_tokenizer(folder), recipe_of(get_model("minilm-l6"), "nli")
    coded = tokenizer(
        [text[0] for text in train.texts],
        [text[1] for text in train.texts],
        truncation=True,
        max_length=MAX_LENGTH,
        padding="max_length" if padded else False,
    )
    items = [
        {**{name: coded[name][i] for name in coded}, "labels": int(train.gold[i])}
        for i in range(len(train))
    ]
    model = fresh(folder)
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            scratch, per_device_train_batch_size=recipe.batch_size, num_train_epochs=1,
            learning_rate=recipe.learning_rate, warmup_steps=recipe.warmup_ratio,
            weight_decay=recipe.weight_decay, bf16=device.precision == "bf16",
            use_cpu=device.kind == "cpu", save_strategy="no", report_to=[], seed=SEED,
            disable_tqdm=True, logging_strategy="no",
        )  # fmt: skip
        trainer = Trainer(
            model, arguments, train_dataset=items, data_collator=DataCollatorWithPadding(tokenizer)
        )
        begun = time.perf_counter()
        trainer.train()
    return model, time.perf_counter() - begun


def by_ours(folder: Path, train: Corpus, device: Device) -> tuple[Any, float, float]:
    """Train as this project does; return the model, its seconds, and FLOP/s as share of peak."""
    recipe = recipe_of(get_model("minilm-l6"), "nli")
    encoded = encode(load_tokenizer(folder), train, MAX_LENGTH)
    plan = plan_batches(encoded.lengths, recipe.batch_size, 1, SEED)
    job = loop.Job(
        encoded, train.targets, plan, len(plan), recipe.learning_rate, recipe.weight_decay,
        recipe.warmup_ratio, SEED,
    )  # fmt: skip
    model = fresh(folder)
    with tempfile.TemporaryDirectory() as work:
        state = loop.fit(
            model, job, device, Path(work), evaluate=lambda model, step: {"accuracy": 0.0},
            accelerator=Accelerator(cpu=device.kind == "cpu"), checkpoint_seconds=1e9,
        )  # fmt: skip
    flops = training_flops(model, state.padded_tokens, state.attention)
    return model, state.seconds, flops / state.seconds / measured_peak(device)


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main() -> None:
    """Print pairs per second of every way, the ratios and the accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3200, help="how many are trained on")
    n = parser.parse_args().pairs
    logging.set_verbosity_error()
    settings, model = complete(Settings(model="minilm-l6"))
    data = load_data(settings)
    train, dev = subset(data.train, n, SEED), spread(data.dev, 2000)
    folder = find_encoder(model).folder
    rows = {}

    def told(way: str, device: Device, model: Any, took: float, more: str = "") -> None:
        encoded = encode(load_tokenizer(folder), dev, MAX_LENGTH)
        right = judge(predict(model, encoded, device), dev)["all"]["accuracy"]
        rows[way, device.precision] = n / took
        print(
            f"{way}, {device.precision}: {n / took:.0f} pairs/s, dev accuracy {right:.3f} "
            f"± {np.sqrt(right * (1 - right) / len(dev)):.3f}{more}",
            flush=True,
        )

    fast = choose_device()
    for device in dict.fromkeys((choose_device(precision="fp32"), fast)):
        told("padded to 128", device, *by_trainer(folder, train, device, padded=True))
        told("padded to a random batch", device, *by_trainer(folder, train, device, padded=False))
        model, took, share = by_ours(folder, train, device)
        told("ours", device, model, took, f", {share:.0%} of the measured peak")
    for way in ("padded to 128", "padded to a random batch"):
        same = rows["ours", "fp32"] / rows[way, "fp32"]
        best = rows["ours", fast.precision] / rows[way, "fp32"]
        print(f"ours against {way}: {same:.1f} × in fp32, {best:.1f} × with {fast.precision} "
              f"(target {TARGETS[way]:g} ×)")  # fmt: skip

    asked = data.dev.take(range(min(1024, len(data.dev))))
    pipe = pipeline(
        "text-classification", model=model, tokenizer=load_tokenizer(folder),
        device=-1 if fast.kind == "cpu" else 0,
    )  # fmt: skip
    texts = [{"text": text[0], "text_pair": text[1]} for text in asked.texts]
    theirs = seconds(lambda: pipe(texts, batch_size=32))
    tokenizer = load_tokenizer(folder)
    ours = seconds(lambda: predict(model, encode(tokenizer, asked, MAX_LENGTH), fast))
    print(f"inference: pipeline in fp32 {len(asked) / theirs:.0f} pairs/s, ours in "
          f"{fast.precision} {len(asked) / ours:.0f}: {theirs / ours:.1f} × "
          f"(target {TARGETS['pipeline']:g} ×)")  # fmt: skip


if __name__ == "__main__":
    main()
