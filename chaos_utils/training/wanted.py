"""The runs that the book wants, and what makes them."""

from chaos_utils.scoring.training_records import Run, RunSpec
from chaos_utils.training.names import command_of, predict_command
from chaos_utils.training.notebook import finetune_in_notebook
from chaos_utils.training.predicting import predict_again
from chaos_utils.training.progress import Report, Say
from chaos_utils.training.settings import complete, read_settings


def command_for(spec: RunSpec) -> str:
    """Return the command that makes a run that is wanted."""
    if prediction := spec.predict:
        return predict_command(prediction.run, {"mc-samples": prediction.mc_samples}, spec.name)
    return command_of(complete(read_settings(spec.settings))[0], spec.name)


def has_gpu() -> bool:
    """Whether PyTorch sees a GPU here."""
    import torch

    return bool(torch.cuda.is_available())


def make(spec: RunSpec, *, device: str, report: Report, say: Say) -> Run:
    """Make a run that is wanted: a notebook trains, and what trains nothing is predicted here."""
    if prediction := spec.predict:
        return predict_again(
            prediction.run,
            spec.folder,
            mc_samples=prediction.mc_samples,
            device=device,
            report=report,
            say=say,
        )
    settings = read_settings(spec.settings)
    return finetune_in_notebook(settings, spec.folder, device=device, say=say)
