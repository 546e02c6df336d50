"""A run that is being made: what decides it, what it reads and predicts, and what it leaves."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.base import inputs, paths
from chaos_utils.base.files import fresh_folder, write_json
from chaos_utils.datasets.catalogue import known_files
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.report import provenance
from chaos_utils.scoring import training_records
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.predictions import write_predictions
from chaos_utils.scoring.system import System
from chaos_utils.training.cache import ENGINE
from chaos_utils.training.data import Data
from chaos_utils.training.dev_scores import dev_scores
from chaos_utils.training.devices import Device, effective_threads, gpu_details, to_device
from chaos_utils.training.encoders import (
    Encoder,
    check_length,
    find_encoder,
    load_model,
    load_tokenizer,
    read_config,
)
from chaos_utils.training.encoding import EncodedItems, encode
from chaos_utils.training.inference import Floats, predict, predict_logits
from chaos_utils.training.names import command_of, names_of
from chaos_utils.training.progress import Report, Say
from chaos_utils.training.recipes import Model
from chaos_utils.training.settings import Settings, family_name


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What was computed: probabilities, and what is reported of each fit.

    `dev` and `tests` are None where there are no such items, or they were not predicted; `fits`
    has one entry, or one for each fold.
    """

    predicted: Floats
    dev: Floats | None
    tests: Floats | None
    fits: list[dict[str, Any]]


@dataclass(slots=True)
class NewRun:
    """A run that is being made.

    The `settings` have the recipe's values filled in, and what was decided since. `data`, `encoder`
    and `tokenizer` are set once they are read. `report` is called with what is being done, how much
    of it is done, and of how much; `say` with what a reader must know.
    """

    out: Path
    settings: Settings
    device: Device
    report: Report
    say: Say
    data: Data = field(init=False)
    encoder: Encoder = field(init=False)
    tokenizer: Any = field(init=False)
    started: datetime = field(init=False, default_factory=lambda: datetime.now(UTC))
    code: Mapping[str, Any] = field(init=False, default_factory=provenance.code)

    def __post_init__(self) -> None:
        self.decide(precision=self.device.precision, threads=effective_threads(self.device))

    def decide(self, **values: Any) -> None:
        """Set settings that were left to the machine."""
        self.settings = self.settings.model_copy(update=values)

    def take(self, model: Model) -> None:
        """Find the encoder that a model names, and its tokenizer."""
        self.encoder = find_encoder(model, self.settings.revision)
        self.decide(revision=self.encoder.revision)
        self.tokenizer = load_tokenizer(self.encoder.folder)
        positions = read_config(self.encoder.folder).get("max_position_embeddings")
        check_length(self.settings.max_length, self.tokenizer.model_max_length, positions)

    @property
    def n_outputs(self) -> int:
        """How many logits a sequence has: one for a story of αNLI."""
        task = self.data.train.task
        return 1 if task.kind == "stories" else len(task.labels)

    def load(self, folder: Path) -> Any:
        """Return the model whose weights stand in a folder, on the device."""
        return to_device(load_model(folder, self.n_outputs), self.device)

    def encode(self, corpus: Corpus, tokenizer: Any = None) -> EncodedItems:
        """Return a corpus as tokens of the encoder, or of another tokenizer."""
        return encode(tokenizer or self.tokenizer, corpus, self.settings.max_length)

    def logits(self, model: Any, corpus: Corpus, title: str) -> Floats:
        """Return a model's logits for a corpus, and report that under a name."""
        encoded, progress = self.encode(corpus), self._item_counter(title, len(corpus))
        return predict_logits(model, encoded, self.device, progress=progress, say=self.say)

    def predict(
        self, model: Any, corpus: Corpus, title: str, *, mc_samples: int = 0, tokenizer: Any = None
    ) -> Floats:
        """Return a model's probabilities for a corpus, and report that under a name."""
        return predict(
            model,
            self.encode(corpus, tokenizer),
            self.device,
            mc_samples=mc_samples,
            seed=self.settings.seed,
            progress=self._item_counter(title, len(corpus) * max(1, mc_samples)),
            say=self.say,
        )

    def _item_counter(self, title: str, total: int) -> Callable[[int], None]:
        """Return what is called with the numbers of items just done."""
        done = 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            self.report(title, done, total)

        return progress

    def outcome(
        self, model: Any, fits: list[dict[str, Any]], *, mc_samples: int = 0, tests: bool = False
    ) -> TrainingResult:
        """Predict all that a run predicts, with the test items or without."""
        data = self.data
        shares = self.predict(model, data.predicted, "predicting ChaosNLI", mc_samples=mc_samples)
        dev = self.predict(model, data.dev, "predicting dev", mc_samples=mc_samples)
        has_tests = tests and len(data.tests)
        of_tests = self.predict(model, data.tests, "predicting test") if has_tests else None
        return TrainingResult(shares, dev, of_tests, fits)

    def _gpu(self) -> dict[str, Any]:
        return {"gpu": gpu_details()} if self.device.kind == "cuda" else {}

    def write(self, outcome: TrainingResult, key: str, **more: Any) -> training_records.Run:
        """Write the run's folder, whole or not at all, and return the run.

        `key` names the weights in the cache. `more` are further entries of the record; the `family`
        may still be given the settings that differ.
        """
        settings, data, encoder = self.settings, self.data, self.encoder
        predicted = more.get("predicted", {})
        name, family = names_of(
            more.pop("family", family_name(settings, encoder.model)),
            settings,
            self.out,
            predicted.get("mc_samples", 0),
            seeded="model" not in predicted,  # off the shelf there is no seed
        )
        described = _describe(settings, data)
        if "trained_on" not in more:
            named = filter(None, (settings.init, settings.teacher))
            earlier = [training_records.find_run(one).learned_from() for one in named]
            of_this = training_records.learned(settings.train, described["trained_on"], earlier)
            more["trained_on"], more["out_of_fold"] = of_this
        with fresh_folder(self.out) as folder:
            write_predictions(
                folder / training_records.PREDICTIONS_FILE,
                _split_by_dataset(name, data, outcome.predicted),
            )
            if outcome.dev is not None:
                _write_dev(folder / training_records.DEV_FILE, data, outcome.dev)
            outputs = sorted(path for path in folder.iterdir() if path.is_file())
            write_json(
                folder / training_records.RECORD_FILE,
                {
                    "schema": 1,
                    "system": name,
                    "family": family,
                    "synthetic": any(one.source.synthetic for one in data.votes),
                    "command": command_of(settings, self.out.name),
                    **_notebook_entry(),
                    "settings": settings.model_dump(),
                    "encoder": {"family": encoder.model.family, "origin": encoder.origin,
                                "published": encoder.model.published},
                    "data": described,
                    "dev": {} if outcome.dev is None else dev_scores(outcome.dev, data.dev),
                    "test": {} if outcome.tests is None else dev_scores(outcome.tests, data.tests),
                    "fits": outcome.fits,
                    "engine": ENGINE,
                    "device": asdict(self.device),
                    "weights": key,
                    "inputs": [asdict(entry) for entry in data.inputs],
                    "code": dict(self.code),
                    "software": provenance.software(provenance.TRAINED_WITH),
                    "hardware": provenance.hardware() | self._gpu(),
                    "started": self.started.isoformat(timespec="seconds"),
                    "seconds": round((datetime.now(UTC) - self.started).total_seconds(), 1),
                    **more,
                    "outputs": {path.name: inputs.digest(path) for path in outputs},
                },
            )  # fmt: skip
        return training_records.read_run(self.out)


def _notebook_entry() -> dict[str, Any]:
    """Return the record's entry of the notebook that runs, where one does."""
    if not paths.in_runner():
        return {}
    running = provenance.current_context()
    return {
        "made_by": {
            "notebook": f"notebooks/{running.notebook}.py",
            "parameters": dict(running.parameters),
            "runner": f"papermill {provenance.software(('papermill',))['papermill']}",
        }
    }


def _split_by_dataset(name: str, data: Data, shares: Floats) -> list[System]:
    names, uids = np.array(data.predicted.datasets), data.predicted.uids
    systems = []
    for votes in data.votes:
        rows = np.flatnonzero(names == votes.dataset.name)
        part = shares[rows]
        mine = tuple(uids[row] for row in rows)
        systems.append(System(name, votes.dataset, mine, part, part.argmax(axis=1)))
    return systems


def _describe(settings: Settings, data: Data) -> dict[str, Any]:
    names = data.train.datasets
    published = sum(known_files()[one.file].items for one in data.train.task.files_of("train"))
    return {
        "trained_on": {name: names.count(name) for name in dict.fromkeys(names)},
        "n_train": len(data.train),
        "n_published": len(data.train) if settings.on_votes else published,
        "without_majority_label": data.train.dropped,
        "n_dev": len(data.dev),
    }


def _write_dev(path: Path, data: Data, shares: Floats) -> None:
    table = pd.DataFrame(shares.astype(np.float32), columns=class_columns(data.votes[0].dataset))
    table.insert(0, "label", data.dev.gold.astype(np.int8))
    table.insert(0, "uid", data.dev.uids)
    table.insert(0, "dataset", data.dev.datasets)
    table.to_parquet(path, index=False, compression="zstd")
