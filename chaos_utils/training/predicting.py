"""Predict without training: with an earlier run's weights, or a model's own NLI head."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import corpora, splits
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report import provenance
from chaos_utils.scoring.trained import UNKNOWN, Run, find_run, read_run
from chaos_utils.training.cache import read_fitted
from chaos_utils.training.data import Data, load_data
from chaos_utils.training.devices import (
    Device,
    choose_device,
    deciding_threads,
    placed,
    threads_of,
)
from chaos_utils.training.encoders import (
    Encoder,
    check_length,
    find_encoder,
    load_model,
    load_off_the_shelf,
    load_tokenizer,
    named_label,
)
from chaos_utils.training.encoding import encode
from chaos_utils.training.finetune import (
    LOOKED_AT,
    Floats,
    Report,
    check_place,
    n_outputs,
    weights_of,
)
from chaos_utils.training.inference import Say, predict
from chaos_utils.training.judging import spread
from chaos_utils.training.output import DROPOUT, Outcome, write_run
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import (
    Settings,
    complete,
    family_name,
    read_settings,
    recorded_settings,
)


def predict_again(
    name: str,
    out: Path,
    *,
    mc_samples: int = 0,
    threads: int = 0,
    device: str = "auto",
    report: Report = lambda what, done, of: None,
    say: Say = lambda text: None,
) -> Run:
    """Predict ChaosNLI's and the development items (with dropout, a part) with a run's weights.

    The run is named as `find_run` takes it; its weights are trained again if they are not cached.
    The new run's folder appears whole or not at all. Probabilities are averaged over `mc_samples`
    passes with dropout left on; 0 for one pass without dropout. `threads` are PyTorch's, 0 for as
    many as the run was trained with.
    """
    out = check_place(out)
    run = find_run(name)
    settings = recorded_settings(run.record)
    _check_counts(mc_samples=mc_samples, threads=threads)
    if run.is_off_the_shelf:
        raise ChaosError(
            "This run was not trained: it holds what a model off the shelf predicts.",
            where=run.folder,
            todo=f"name the model: --model {run.settings.model}",
        )
    with threads_of(threads or settings.threads):
        return _predict_again(run, name, settings, out, mc_samples, device, report, say)


def predict_off_the_shelf(
    model: str,
    out: Path,
    *,
    labels: Sequence[str] = (),
    revision: str = "",
    data: str = "auto",
    dev_examples: int = LOOKED_AT,
    mc_samples: int = 0,
    threads: int = 0,
    precision: str = "auto",
    device: str = "auto",
    report: Report = lambda what, done, of: None,
    say: Say = lambda text: None,
) -> Run:
    """Predict ChaosNLI's NLI items, and development items, with a model's own NLI head.

    The model is named as `get_model` takes it. `labels` name its outputs in their order where
    config.json does not; predictions are in the order of the datasets. At most `dev_examples`
    development items are predicted, 0 for all; the other parameters are as in `predict_again`.
    """
    out = check_place(out)
    _check_counts(mc_samples=mc_samples)  # the others are checked with the settings
    values = {"model": model, "revision": revision, "data": data, "dev_examples": dev_examples,
              "threads": threads, "precision": precision}  # fmt: skip
    settings, known = complete(read_settings(values))
    with threads_of(threads):
        started, code = datetime.now(UTC), provenance.code()
        where = choose_device(device, precision)
        encoder = find_encoder(known, revision)
        decided = {"precision": where.precision, "threads": deciding_threads(where),
                   "revision": encoder.revision}  # fmt: skip
        settings = settings.model_copy(update=decided)
        loaded = placed(load_off_the_shelf(encoder, labels, say), where)
        tokenizer = load_tokenizer(encoder.folder)
        check_length(tokenizer, settings.max_length)
        read = _without_training(data, dev_examples)
        shares = _predictor(loaded, tokenizer, settings, where, mc_samples, report, say)
        named = [named_label(one) for one in labels] or list(encoder.labels)
        words = [f"chaos predict --model {shlex.quote(model)}"]
        given = {"labels": ",".join(labels), "revision": encoder.revision, "mc-samples": mc_samples,
                 "threads": settings.threads}  # fmt: skip
        words += [f"--{name} {shlex.quote(str(value))}" for name, value in given.items() if value]
        words += [f"--data {shlex.quote(data)}"] if data != "auto" else []
        words += [f"--dev-examples {dev_examples} --precision {where.precision}"]
        _write(
            out, settings, encoder, read, shares, where, "", started, code, [],
            family=family_name(settings, known),
            command=" ".join([*words, f"--out results/{out.name}"]),
            trained_on=(), out_of_fold=False,
            predicted={"model": model, "labels": named, "mc_samples": mc_samples, "note": UNKNOWN},
        )  # fmt: skip
    return read_run(out)


def _without_training(data: str, dev_examples: int) -> Data:
    """Return what is predicted, and nothing to train on: its files need not be there."""
    data = "released" if data == "auto" else data
    chaosnli, votes = corpora.load_chaosnli("nli", data)
    dev = splits.without(corpora.load_corpus("nli", "dev", data), chaosnli)
    none = corpora.empty(get_task("nli"))
    return Data(none, spread(dev, dev_examples) if dev_examples else dev, none, chaosnli, votes)


def _check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if value < 0:
            raise ChaosError(f"{name} is out of its range.", found=value, expected="0 or more")


def _predictor(
    model: Any,
    tokenizer: Any,
    settings: Settings,
    device: Device,
    mc_samples: int,
    report: Report,
    say: Say,
) -> Callable[[Corpus, str], Floats]:
    """Return what predicts a corpus, and reports that under a name."""

    def shares(corpus: Corpus, what: str) -> Floats:
        total, done = len(corpus) * max(1, mc_samples), 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            report(what, done, total)

        encoded = encode(tokenizer, corpus, settings.max_length)
        return predict(
            model, encoded, device, mc_samples=mc_samples, seed=settings.seed,
            progress=progress, say=say,
        )  # fmt: skip

    return shares


def _write(
    out: Path,
    settings: Settings,
    encoder: Encoder,
    data: Data,
    shares: Callable[[Corpus, str], Floats],
    device: Device,
    key: str,
    started: datetime,
    code: Mapping[str, Any],
    fits: list[dict[str, Any]],
    **more: Any,
) -> None:
    outcome = Outcome(
        shares(data.chaosnli, "predicting ChaosNLI"),
        shares(data.dev, "predicting dev"),
        None,
        fits,
    )
    write_run(out, settings, encoder, data, outcome, device, key, started, code, **more)


def _predict_again(
    run: Run,
    name: str,
    settings: Settings,
    out: Path,
    mc_samples: int,
    device: str,
    report: Report,
    say: Say,
) -> Run:
    started, code = datetime.now(UTC), provenance.code()
    # A run in fp16 needs a GPU; its weights do not.
    precision = "auto" if settings.precision == "fp16" else settings.precision
    where = choose_device(device, precision)
    settings = settings.model_copy(update={"threads": deciding_threads(where)})
    data = load_data(settings)
    if mc_samples or settings.dev_examples:  # every pass costs the same again
        data = replace(data, dev=spread(data.dev, settings.dev_examples or LOOKED_AT))
    folder = weights_of(name, settings, data, device, report, say)
    model = placed(load_model(folder, n_outputs(settings)), where)
    shares = _predictor(model, load_tokenizer(folder), settings, where, mc_samples, report, say)
    encoder = find_encoder(get_model(settings.model), settings.revision)
    command = f"chaos predict {run.name}"
    if mc_samples:
        command = f"{command} --mc-samples {mc_samples}"
    if settings.threads:
        command = f"{command} --threads {settings.threads}"
    trained_on, out_of_fold = run.learned_from()
    _write(
        out, settings, encoder, data, shares, where, folder.name, started, code,
        [read_fitted(folder)],
        family=run.about()["family"].removesuffix(DROPOUT),
        command=f"{command} --out results/{out.name}",
        trained_on=trained_on, out_of_fold=out_of_fold,
        predicted={"run": run.name, "mc_samples": mc_samples},
    )  # fmt: skip
    return read_run(out)
