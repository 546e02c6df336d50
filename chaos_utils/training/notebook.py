"""Fine-tune through the notebook, which the runner gives to papermill with checked parameters."""

import os
from pathlib import Path

from chaos_utils.base.files import write_bytes
from chaos_utils.base.paths import NOTEBOOK_FILE as EXECUTED
from chaos_utils.report import parameters, runs
from chaos_utils.scoring.training_records import NOTEBOOK_FILE, Run, read_run
from chaos_utils.training.finetune import check_place
from chaos_utils.training.progress import Say
from chaos_utils.training.settings import Settings

NOTEBOOK = "finetune"


def finetune_in_notebook(
    settings: Settings,
    out: Path,
    *,
    device: str = "auto",
    checkpoint_seconds: float = 120,
    say: Say = lambda text: None,
) -> Run:
    """Fine-tune as ``notebooks/finetune.py`` does, executed by papermill.

    The run of the notebook goes below ``runs/``, like that of any other; predictions and record go
    to `out`, and a copy of the executed notebook with them. The same call resumes what was killed.

    Parameters
    ----------
    settings : Settings
        What decides the run.
    out : Path
        A new or empty folder, or an earlier run's.
    device : str
        ``auto``, ``cpu`` or ``cuda``.
    checkpoint_seconds : float
        The least time between two checkpoints.
    say : callable
        Is called with each line that the notebook prints.

    Returns
    -------
    Run
        As `finetune` returns it.

    Raises
    ------
    ChaosError
        As `finetune` does, from the notebook.
    """
    check_place(out)
    source = parameters.find_notebook(NOTEBOOK)
    here = Path.cwd()
    place = os.path.relpath(out) if out.absolute().is_relative_to(here) else str(out.absolute())
    own = {"device": device, "checkpoint_seconds": float(checkpoint_seconds), "output": place}
    folder = runs.run(source, parameters.resolve(source, settings.model_dump() | own), say=say)
    write_bytes(out / NOTEBOOK_FILE, (folder / EXECUTED).read_bytes())
    return read_run(out)
