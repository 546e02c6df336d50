"""What a run is called beside others, and the commands that make it."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.training_records import RECORD_FILE, Run, read_run
from chaos_utils.training.settings import Settings, recorded_settings, usual

# Runs with different values of these are one system, unless they also share the seed.
_TECHNICAL = ("dev_examples", "trainer", "threads", "precision", "data")
_LATER_SETTINGS = ("threads", "revision")  # not in every record
DROPOUT = ", MC dropout"  # ends the names of predictions with dropout left on


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

    mine = _in_words(settings, mc_samples)
    beside = [pair for pair in _runs_beside(out) if _shares_items(pair[1], settings)]
    for technical in (False, True):
        others = [
            _in_words(other, run.record.predicted.mc_samples if run.record.predicted else 0)
            for run, other in beside
            if run.system == family + ending(other.seed)
            and (other.seed == settings.seed or not technical)
        ]
        shown = [
            words
            for name, words in mine.items()
            if (name in _TECHNICAL) == technical
            and any(them[name] not in (words, _unsaid(name)) for them in others)
        ]
        family = ", ".join([family, *shown])
    return family + ending(settings.seed), family + dropout


def _shares_items(theirs: Settings, mine: Settings) -> bool:
    """Return whether two runs predict the same items, so that tables name both."""
    of_one_dataset = Path(theirs.train).stem == Path(mine.train).stem
    return theirs.task == mine.task and (of_one_dataset or not mine.on_own_votes)


def _in_words(settings: Settings, mc_samples: int) -> dict[str, str]:
    """Return what is said of each setting but the seed where another run has another value."""
    values = settings.model_dump(exclude={"seed"}) | {"mc_samples": mc_samples}
    for name in ("init", "teacher", "data", "train"):
        values[name] = Path(values[name]).name  # of a folder, without where it stands
    return {name: f"{name.replace('_', ' ')} {value or 'none'}" for name, value in values.items()}


def _unsaid(name: str) -> str:
    """Return what an older record, which lacks a setting, seems to say of it."""
    return f"{name} none" if name in _LATER_SETTINGS else ""


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
    defaults = usual(settings)
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if name != "model" and value not in (field.default, defaults.get(name)):
            words.append(f"--{name.replace('_', '-')} {shlex.quote(str(value))}")
    return " ".join([*words, f"--out results/{run}"])


def predict_command(source: str, options: Mapping[str, object], run: str) -> str:
    """Return the command that predicts the run ``results/<run>``: with a run's weights, or a model.

    Options without a value are left out.
    """
    words = [f"--{name} {shlex.quote(str(value))}" for name, value in options.items() if value]
    return " ".join(["chaos predict", source, *words, f"--out results/{run}"])
