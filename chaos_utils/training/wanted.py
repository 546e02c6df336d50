"""The runs that the book wants, and what makes them."""

from chaos_utils.scoring.trained import Run, Wanted
from chaos_utils.training.finetune import finetune
from chaos_utils.training.inference import Report, Say
from chaos_utils.training.names import command_of
from chaos_utils.training.predicting import predict_again
from chaos_utils.training.settings import complete, read_settings


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
