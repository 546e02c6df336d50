"""The runs that the book wants, and what makes them."""

from typing import Any

from chaos_utils.scoring.trained import Run, Wanted
from chaos_utils.training.finetune import finetune
from chaos_utils.training.names import command_of, predict_command
from chaos_utils.training.predicting import predict_again
from chaos_utils.training.settings import complete, read_settings


def command_for(wanted: Wanted) -> str:
    """Return the command that makes a run that is wanted."""
    if asked := wanted.predict:
        return predict_command(asked.run, {"mc-samples": asked.mc_samples}, wanted.name)
    return command_of(complete(read_settings(wanted.settings))[0], wanted.name)


def make(wanted: Wanted, **options: Any) -> Run:
    """Make a run that is wanted, with options that `finetune` and `predict_again` both have."""
    if asked := wanted.predict:
        return predict_again(asked.run, wanted.folder, mc_samples=asked.mc_samples, **options)
    return finetune(read_settings(wanted.settings), wanted.folder, **options)
