"""The runs that the book wants, in order of their value, and which of them are there."""

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.scoring.trained import Run, Wanted, read_run, wanted_runs
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


def command_for(wanted: Wanted) -> str:
    """Return the command that makes a run that is wanted."""
    if asked := wanted.predict:
        return (
            f"chaos predict {asked.run} --mc-samples {asked.mc_samples} --out results/{wanted.name}"
        )
    return command_of(complete(read_settings(wanted.settings))[0], wanted.name)


def make(wanted: Wanted, *, device: str, report: Report, say: Say) -> Run:
    """Make a run that is wanted."""
    if asked := wanted.predict:
        return predict_again(
            asked.run,
            wanted.folder,
            mc_samples=asked.mc_samples,
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
    for one in wanted_runs():
        if not one.is_there:
            missing.append(f"| `{one.name}` | {one.why} | `{command_for(one)}` |")
            continue
        run = read_run(one.folder)
        there.append(_row(run))
        commands.append(f"    {run.command}")
    parts = ["", "### There", "", *there, "", _ABOUT_ACCURACY]
    if len(missing) > 2:
        parts += ["", "### Wanted", "", *missing]
    return "\n".join([*parts, "", "Those that are there were made by:", "", *commands, ""])


def _row(run: Run) -> str:
    record, fits = run.record, run.record.fits
    trained = " + ".join(f"{n:,} {name}" for name, n in record.data.trained_on.items())
    dev, test = (
        ", ".join(f"{name} {part.accuracy:.3f}" for name, part in judged.items() if name != "all")
        for judged in (record.dev, record.test)
    )
    seconds, mark = [fit.cpu_seconds for fit in fits if fit.cpu_seconds is not None], ""
    if len(seconds) < len(fits):
        seconds, mark = [fit.seconds for fit in fits], "≈ "
    speed = fits[0].pairs / max(seconds[0], 0.1) if fits else 0.0  # rounded to tenths
    minutes = sum(seconds) / 60
    return (
        f"| `{run.name}` | {run.system} | {trained} | {dev} | {test or '–'} | {mark}{speed:.0f} | "
        f"{mark}{minutes:.0f} | {run.hardware}, {record.device.precision} |"
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
