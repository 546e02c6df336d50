"""The runs that the book wants, in order of their value, and which of them are there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets.faults import shorten
from chaos_utils.scoring.trained import RECORD_FILE, WANTED_FILE, Run, read_run, wanted_runs
from chaos_utils.training.finetune import Report, finetune
from chaos_utils.training.inference import Say
from chaos_utils.training.output import command_of
from chaos_utils.training.predicting import predict_again
from chaos_utils.training.settings import complete, read_settings

_ABOUT_ACCURACY = """\
Accuracy is against the gold label. Dev leaves out ChaosNLI's items, which are those whose labels
people contest: it is easier than the published development sets. Test is SNLI's test set
(`snli`) and MNLI's mismatched development set (`mnli-mismatched`), whole but for runs with
`--dev-examples`, which see a part of dev and test. αNLI's dev are training stories that were held
out, and it has no test here. Speed and minutes are of the processor's time in training steps;
those marked ≈ are by the clock, while other programs ran as well."""
_BEGIN, _END = "<!-- runs: begin -->", "<!-- runs: end -->"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run that is wanted: its folder below ``results/``, what it is for, how it is made.

    A training run has `settings`; one that predicts with another's weights has none, but ``run``
    and ``mc_samples`` in `predict`.
    """

    name: str
    why: str
    settings: Mapping[str, Any]
    predict: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where it goes."""
        return paths.results() / self.name

    @property
    def is_there(self) -> bool:
        """Whether it is finished."""
        return (self.folder / RECORD_FILE).is_file()

    @property
    def command(self) -> str:
        """The command that makes it."""
        if self.predict:
            return (
                f"chaos predict {self.predict['run']} "
                f"--mc-samples {self.predict['mc_samples']} --out results/{self.name}"
            )
        return command_of(complete(read_settings(self.settings))[0], self.name)


def read_wanted() -> list[Wanted]:
    """Return the list in ``results/wanted.yml``, in its order."""
    where = paths.results() / WANTED_FILE
    entries = wanted_runs().entries
    return [_wanted(entry, f"{where}, entry {n}") for n, entry in enumerate(entries, start=1)]


def _wanted(entry: Mapping[str, Any], where: str) -> Wanted:
    settings, predict = entry.get("settings", {}), entry.get("predict", {})
    kinds: list[tuple[object, type, str]]
    kinds = [(entry["name"], str, "name: a text"), (entry["why"], str, "why: a text")]
    kinds += [(settings, dict, "settings: by name"), (predict, dict, "predict: run and mc_samples")]
    if predict and isinstance(predict, dict):
        kinds += [(predict.get("run"), str, "predict: a run's name as run")]
        kinds += [(predict.get("mc_samples"), int, "predict: a whole number as mc_samples")]
    for value, kind, expected in kinds:
        if not isinstance(value, kind):
            raise ChaosError(
                "An entry of the wanted runs cannot be read.",
                where=where,
                found=shorten(value),
                expected=expected,
            )
    return Wanted(entry["name"], entry["why"], settings, predict)


def make(wanted: Wanted, *, device: str, report: Report, say: Say) -> Run:
    """Make a run that is wanted."""
    if wanted.predict:
        return predict_again(
            wanted.predict["run"],
            wanted.folder,
            mc_samples=wanted.predict["mc_samples"],
            device=device,
            report=report,
            say=say,
        )
    settings = read_settings(wanted.settings)
    return finetune(settings, wanted.folder, device=device, report=report, say=say)


def listing() -> str:
    """Return the two tables of ``results/README.md``: runs that are there, and those wanted."""
    there = ["| run | system | trained on | dev accuracy | test accuracy | pairs/s "
             "| training minutes | hardware |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    missing = ["| run | what for | command |", "| --- | --- | --- |"]
    commands = []
    for one in read_wanted():
        if not one.is_there:
            missing.append(f"| `{one.name}` | {one.why} | `{one.command}` |")
            continue
        run = read_run(one.folder)
        try:
            there.append(_row(run))
            commands.append(f"    {run.record['command']}")
        except (LookupError, TypeError, ValueError, AttributeError) as fault:
            raise ChaosError(
                "A run's record cannot be read.",
                where=one.folder / RECORD_FILE,
                found=f"{type(fault).__name__}: {fault}",
                todo="restore it, or run its command again",
            ) from fault
    parts = ["", "### There", "", *there, "", _ABOUT_ACCURACY]
    if len(missing) > 2:
        parts += ["", "### Wanted", "", *missing]
    return "\n".join([*parts, "", "Those that are there were made by:", "", *commands, ""])


def _row(run: Run) -> str:
    record = run.record
    data = record["data"]
    trained = " + ".join(f"{n:,} {name}" for name, n in data["trained_on"].items())
    dev, test = (
        ", ".join(
            f"{name} {part['accuracy']:.3f}" for name, part in judged.items() if name != "all"
        )
        for judged in (record["dev"], record["test"])
    )
    fits, time, mark = record["fits"], "cpu_seconds", ""
    if not all(time in fit for fit in fits):
        time, mark = "seconds", "≈ "
    speed = fits[0]["pairs"] / max(fits[0][time], 0.1)  # rounded to tenths
    minutes = sum(fit[time] for fit in fits) / 60
    return (
        f"| `{run.name}` | {run.system} | {trained} | {dev} | {test or '–'} | {mark}{speed:.0f} | "
        f"{mark}{minutes:.0f} | {run.hardware}, {record['device']['precision']} |"
    )


def update_listing() -> None:
    """Write the tables into ``results/README.md``, between its two marks."""
    path = paths.results() / "README.md"
    text = path.read_text("utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ChaosError(
            "This page has no place for the list of runs.",
            where=path,
            expected=f"the marks {_BEGIN} and {_END}",
        )
    write_text(path, f"{before}{_BEGIN}\n{listing()}\n{_END}{after}")
