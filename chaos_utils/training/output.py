"""What a run leaves: predictions, development logits, record."""

import io
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder, write_bytes, write_json
from chaos_utils.datasets.catalogue import registry
from chaos_utils.datasets.votes import Votes
from chaos_utils.report import provenance
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.predictions import write_predictions
from chaos_utils.scoring.system import System
from chaos_utils.scoring.trained import (
    DEV_FILE,
    PREDICTIONS_FILE,
    RECORD_FILE,
    Run,
    find_run,
    learned,
    read_run,
)
from chaos_utils.training.devices import Device
from chaos_utils.training.judging import judge
from chaos_utils.training.recipes import get_model, recipe_of
from chaos_utils.training.settings import Settings, family_name, recorded_settings, usual_head

if TYPE_CHECKING:
    from chaos_utils.training.data import Data
    from chaos_utils.training.encoders import Encoder

Floats = npt.NDArray[np.float64]
# Runs with different values of these are one system, unless they also share the seed.
_TECHNICAL = ("dev_examples", "token_budget", "threads", "precision", "data")
_ONCE_UNKNOWN = ("token_budget", "threads", "revision")  # not in every record
DROPOUT = ", MC dropout"  # ends the names of predictions with dropout left on


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was computed: probabilities, and what is reported of each fit.

    `tests` is None where no test items were predicted; `fits` has one entry, or one for each fold.
    """

    chaosnli: Floats
    dev: Floats
    tests: Floats | None
    fits: list[dict[str, Any]]

    @classmethod
    def nothing(cls) -> "Outcome":
        """Return what a process has that does not predict."""
        none = np.empty((0, 0))
        return cls(none, none, None, [])


def write_run(
    out: Path,
    settings: Settings,
    encoder: "Encoder",
    data: "Data",
    outcome: Outcome,
    device: Device,
    key: str,
    started: datetime,
    code: Mapping[str, Any],
    **more: Any,
) -> None:
    """Write a run's folder, whole or not at all.

    The settings have the recipe's values filled in, `key` names the weights in the cache,
    `started` is in UTC, and `code` is as `provenance.code` gave it when the run began. `more` are
    further entries of the record; the `family` may still be given the settings that differ.
    """
    mc_samples = more.get("predicted", {}).get("mc_samples", 0)
    family = more.pop("family", family_name(settings, encoder.model))
    seeded = "model" not in more.get("predicted", {})  # off the shelf there is no seed
    name, family = names_of(family, settings, out, mc_samples, seeded=seeded)
    described = _describe(settings, data)
    if "trained_on" not in more:
        named = filter(None, (settings.init, settings.teacher))
        earlier = [find_run(one).learned_from() for one in named]
        of_this = learned(settings.train, described["trained_on"], earlier)
        more["trained_on"], more["out_of_fold"] = of_this
    with fresh_folder(out) as folder:
        write_predictions(folder / PREDICTIONS_FILE, _by_task(name, data.votes, outcome.chaosnli))
        _write_dev(folder / DEV_FILE, data, outcome.dev)
        outputs = sorted(path for path in folder.iterdir() if path.is_file())
        write_json(
            folder / RECORD_FILE,
            {
                "schema": 1,
                "system": name,
                "family": family,
                "synthetic": any(one.source.synthetic for one in data.votes),
                "command": command_of(settings, out.name),
                "settings": settings.model_dump(),
                "encoder": {"family": encoder.model.family, "origin": encoder.origin,
                            "published": encoder.model.published},
                "data": described,
                "dev": judge(outcome.dev, data.dev),
                "test": {} if outcome.tests is None else judge(outcome.tests, data.tests),
                "fits": outcome.fits,
                "device": asdict(device),
                "weights": key,
                "inputs": [asdict(entry) for entry in data.inputs],
                "code": dict(code),
                "software": provenance.software(provenance.TRAINED_WITH),
                "hardware": provenance.hardware(),
                "started": started.isoformat(timespec="seconds"),
                "seconds": round((datetime.now(UTC) - started).total_seconds(), 1),
                **more,
                "outputs": {path.name: inputs.digest(path) for path in outputs},
            },
        )  # fmt: skip


def names_of(
    family: str, settings: Settings, out: Path, mc_samples: int = 0, *, seeded: bool = True
) -> tuple[str, str]:
    """Return what tables call a run in the folder `out`, and it and its other seeds together.

    Where another run beside it, or below ``results/``, has its name already, the settings that
    differ are added. `family` is as `family_name` gives it, `mc_samples` as in `predict_again`.
    """
    dropout = DROPOUT if mc_samples else ""

    def ending(seed: int) -> str:
        return f", seed {seed}{dropout}" if seeded else dropout

    mine = settings.model_dump() | {"mc_samples": mc_samples}
    beside = [pair for pair in _runs_beside(out) if pair[1].task == settings.task]
    for technical in (False, True):
        differing = set()
        for run, other in beside:
            if run.system != family + ending(other.seed):
                continue
            if technical and other.seed != settings.seed:
                continue
            predicted = run.record.predicted
            theirs = other.model_dump() | {"mc_samples": predicted.mc_samples if predicted else 0}
            differing |= {
                name
                for name, value in mine.items()
                if name != "seed"
                and _shown(name, value) != _shown(name, theirs[name])
                and (name in _TECHNICAL) == technical
                and (name not in _ONCE_UNKNOWN or theirs[name])
            }
        shown = [_shown(name, value) for name, value in mine.items() if name in differing]
        family = ", ".join([family, *shown])
    return family + ending(settings.seed), family + dropout


def _shown(name: str, value: Any) -> str:
    if name in ("init", "teacher", "data"):
        value = Path(value).name  # of a folder, without where it stands
    return f"{name.replace('_', ' ')} {value or 'none'}"


def _runs_beside(out: Path) -> Iterator[tuple[Run, Settings]]:
    """Yield the other runs in the folder that `out` is in, and those below ``results/``."""
    out = out.absolute()
    folders = {out.parent}
    if paths.find_project() is not None:
        folders.add(paths.results().absolute())
    for record in sorted(one for folder in folders for one in folder.glob(f"*/{RECORD_FILE}")):
        if record.parent != out:
            with suppress(ChaosError):  # another run's damaged record is no reason to stop
                run = read_run(record.parent)
                yield run, recorded_settings(run.record)


def command_of(settings: Settings, run: str) -> str:
    """Return the command, quoted for a shell, that makes the run ``results/<run>``.

    What is left to the recipe's defaults is left out.
    """
    words = [f"chaos finetune --model {shlex.quote(settings.model)}"]
    recipe = asdict(recipe_of(get_model(settings.model), settings.task, settings.train))
    recipe["head"] = usual_head(settings)
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if name != "model" and value not in (field.default, recipe.get(name)):
            words.append(f"--{name.replace('_', '-')} {shlex.quote(str(value))}")
    return " ".join([*words, f"--out results/{run}"])


def _by_task(name: str, votes: list[Votes], shares: Floats) -> list[System]:
    parts = []
    start = 0
    for one in votes:
        part = shares[start : start + len(one)]
        parts.append(System(name, one.dataset, one.uids, part, part.argmax(axis=1)))
        start += len(one)
    return parts


def _describe(settings: Settings, data: "Data") -> dict[str, Any]:
    names = data.train.datasets
    trained = {name: names.count(name) for name in dict.fromkeys(names)}
    published = sum(registry()[one.file].items for one in data.train.task.files_of("train"))
    return {
        "trained_on": trained,
        "n_train": len(data.train),
        "n_published": published if settings.train == "corpora" else len(data.train),
        "without_majority_label": data.train.dropped,
        "n_dev": len(data.dev),
    }


def _write_dev(path: Path, data: "Data", shares: Floats) -> None:
    table = pd.DataFrame(shares.astype(np.float32), columns=class_columns(data.votes[0].dataset))
    table.insert(0, "label", data.dev.gold.astype(np.int8))
    table.insert(0, "uid", data.dev.uids)
    table.insert(0, "dataset", data.dev.datasets)
    stream = io.BytesIO()
    table.to_parquet(stream, index=False, compression="zstd")
    write_bytes(path, stream.getvalue())
