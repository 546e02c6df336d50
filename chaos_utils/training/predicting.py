"""Predict again with the weights of a run that was trained before."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.report import provenance
from chaos_utils.scoring.trained import Run, find_run, read_run
from chaos_utils.training.data import load_data
from chaos_utils.training.devices import choose_device, deciding_threads, threads_of
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
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
from chaos_utils.training.settings import Settings, recorded_settings


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
    for given, value in (("mc_samples", mc_samples), ("threads", threads)):
        if value < 0:
            raise ChaosError(f"{given} is out of its range.", found=value, expected="0 or more")
    with threads_of(threads or settings.threads):
        return _predict_again(run, name, settings, out, mc_samples, device, report, say)


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
    where = choose_device(device, settings.precision)
    settings = replace(settings, threads=deciding_threads(where))
    data = load_data(settings)
    if mc_samples or settings.dev_examples:  # every pass costs the same again
        data = replace(data, dev=spread(data.dev, settings.dev_examples or LOOKED_AT))
    folder = weights_of(name, settings, data, device, report, say)
    model = load_model(folder, n_outputs(settings)).to(where.name)
    tokenizer = load_tokenizer(folder)

    def shares(corpus: Corpus, what: str) -> Floats:
        total, done = len(corpus) * max(1, mc_samples), 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            report(what, done, total)

        encoded = encode(tokenizer, corpus, settings.max_length)
        return predict(
            model, encoded, where, mc_samples=mc_samples, seed=settings.seed,
            progress=progress, say=say,
        )  # fmt: skip

    encoder = find_encoder(get_model(settings.model), settings.revision)
    outcome = Outcome(
        shares(data.chaosnli, "predicting ChaosNLI"),
        shares(data.dev, "predicting dev"),
        None,
        list(run.record["fits"]),
        {},
    )
    command = f"chaos predict {run.name}"
    if mc_samples:
        command = f"{command} --mc-samples {mc_samples}"
    if settings.threads:
        command = f"{command} --threads {settings.threads}"
    trained_on, out_of_fold = run.learned_from()
    write_run(
        out, settings, encoder, data, outcome, where, run.record["weights"], started, code,
        family=run.about()["family"].removesuffix(DROPOUT),
        command=f"{command} --out results/{out.name}",
        trained_on=trained_on, out_of_fold=out_of_fold,
        predicted={"run": run.name, "mc_samples": mc_samples},
    )  # fmt: skip
    return read_run(out)
