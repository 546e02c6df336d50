"""Predict without training: with an earlier run's weights, or a model's own NLI head."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import corpora, splits
from chaos_utils.datasets.tasks import get_task
from chaos_utils.scoring.training_records import UNKNOWN, Run, find_run
from chaos_utils.training.cache import read_fitted
from chaos_utils.training.data import Data, load_data
from chaos_utils.training.dev_scores import balanced_subset
from chaos_utils.training.devices import choose_device, threads_of, to_device
from chaos_utils.training.encoders import label_name, load_off_the_shelf
from chaos_utils.training.finetune import DEV_EXAMPLES, check_place, weights_of
from chaos_utils.training.names import DROPOUT, predict_command
from chaos_utils.training.progress import Report, Say, silent
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import complete, family_name, read_settings, recorded_settings
from chaos_utils.training.training_run import NewRun


def predict_again(
    name: str,
    out: Path,
    *,
    mc_samples: int = 0,
    threads: int = 0,
    device: str = "auto",
    report: Report = silent,
    say: Say = lambda text: None,
) -> Run:
    """Predict ChaosNLI's and the development items (with dropout, a part) with a run's weights.

    The run is named as `find_run` takes it; its weights are trained again if they are not cached.
    The new run's folder appears whole or not at all. Probabilities are averaged over `mc_samples`
    passes with dropout left on; 0 for one pass without dropout. `threads` are PyTorch's, 0 for as
    many as the run was trained with.
    """
    out = check_place(out)
    earlier = find_run(name)
    settings = recorded_settings(earlier.record)
    _check_counts(mc_samples=mc_samples, threads=threads)
    if earlier.is_off_the_shelf:
        raise ChaosError(
            "This run was not trained: it holds the predictions of a model as it is.",
            where=earlier.folder,
            todo=f"name the model: --model {earlier.settings.model}",
        )
    # A run in fp16 needs a GPU; its weights do not.
    precision = "auto" if settings.precision == "fp16" else settings.precision
    with threads_of(threads or settings.threads):
        run = NewRun(out, settings, choose_device(device, precision), report, say)
        # With dropout every pass costs the same again.
        limit = settings.dev_examples or (DEV_EXAMPLES if mc_samples else 0)
        run.data = load_data(settings.model_copy(update={"dev_examples": limit}))
        folder = weights_of(name, run)
        run.take(get_model(settings.model))
        model = run.load(folder)
        options = {"mc-samples": mc_samples, "threads": run.settings.threads}
        trained_on, out_of_fold = earlier.learned_from()
        return run.write(
            run.outcome(model, [read_fitted(folder)], mc_samples=mc_samples),
            folder.name,
            family=earlier.about()["family"].removesuffix(DROPOUT),
            command=predict_command(earlier.name, options, out.name),
            trained_on=trained_on,
            out_of_fold=out_of_fold,
            predicted={"run": earlier.name, "mc_samples": mc_samples},
        )


def predict_off_the_shelf(
    model: str,
    out: Path,
    *,
    labels: Sequence[str] = (),
    revision: str = "",
    data: str = "auto",
    dev_examples: int = DEV_EXAMPLES,
    mc_samples: int = 0,
    threads: int = 0,
    precision: str = "auto",
    device: str = "auto",
    report: Report = silent,
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
    settings, listed_model = complete(read_settings(values))
    with threads_of(threads):
        run = NewRun(out, settings, choose_device(device, precision), report, say)
        run.take(listed_model)
        loaded = to_device(load_off_the_shelf(run.encoder, labels, say), run.device)
        run.data = _without_training(data, dev_examples)
        named = [label_name(one) for one in labels] or list(run.encoder.labels)
        options = {
            "labels": ",".join(labels),
            "revision": run.settings.revision,
            "mc-samples": mc_samples,
            "threads": run.settings.threads,
            "data": "" if data == "auto" else data,
            "dev-examples": str(dev_examples),  # 0 too
            "precision": run.settings.precision,
        }
        return run.write(
            run.outcome(loaded, [], mc_samples=mc_samples),
            "",
            family=family_name(run.settings, listed_model),
            command=predict_command(f"--model {shlex.quote(model)}", options, out.name),
            trained_on=(),
            out_of_fold=False,
            predicted={"model": model, "labels": named, "mc_samples": mc_samples, "note": UNKNOWN},
        )


def _without_training(data: str, dev_examples: int) -> Data:
    """Return what is predicted, and nothing to train on: its files need not be there."""
    data = "released" if data == "auto" else data
    chaosnli, votes = corpora.load_chaosnli("nli", data)
    dev = splits.without(corpora.load_corpus("nli", "dev", data), chaosnli)
    empty = corpora.empty(get_task("nli"))
    return Data(
        empty, balanced_subset(dev, dev_examples) if dev_examples else dev, empty, chaosnli, votes
    )


def _check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if value < 0:
            raise ChaosError(f"{name} is out of range.", found=value, expected="0 or more")
