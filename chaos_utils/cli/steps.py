"""The steps of builds and sweeps: hidden commands that Snakemake calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import NotebookName
from chaos_utils.cli.extras import need_book


@contextmanager
def _step(name: str, failure: Path) -> Iterator[Callable[[str], None]]:
    """Report the step to what drives it, and leave the reason when it fails.

    What is yielded is called with what else there is to report.
    """
    import time
    import traceback

    from chaos_utils.base.files import write_text

    def tell(text: str) -> None:
        print(f"[chaos] {name}: {text}", flush=True)

    begun = time.monotonic()
    tell("running")
    try:
        yield tell
    except Exception as fault:
        # A fault of our own making keeps its traceback: there is nothing the reader can act on.
        reason = str(fault) if isinstance(fault, ChaosError) else traceback.format_exc()
        write_text(failure, reason)
        tell("failed")
        raise
    tell(f"done in {time.monotonic() - begun:.0f} s")


def _failure_in_build(name: str) -> Path:
    from chaos_utils.base import paths

    return paths.build() / "logs" / f"{name}.failed"


def chapter(notebook: NotebookName, data: Annotated[str, typer.Option()] = "auto") -> None:
    """Run a notebook for the book; a step of `chaos build`."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.base.asked import asked_by
    from chaos_utils.base.files import write_bytes
    from chaos_utils.publish import dependencies
    from chaos_utils.report import parameters, runner

    with _step(notebook, _failure_in_build(notebook)) as tell:
        source = parameters.find_notebook(notebook)
        values = parameters.resolve(source, {"data": data})
        target = paths.build() / "chapters" / notebook
        runner.run_notebook(source, values, target, made_from=dependencies.digests(source, data))
        for one in asked_by(target):
            if one.damaged:
                tell(f"computed {one.name} anew: its record is damaged, changed or of another form")
        executed = (target / paths.NOTEBOOK_FILE).read_bytes()
        write_bytes(paths.chapters() / f"{notebook}.ipynb", executed)


def site(cores: Annotated[int, typer.Option(min=0)] = 0) -> None:
    """Render the executed chapters; a step of `chaos build`."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.publish.site import render

    with _step("pages", _failure_in_build("pages")) as tell:
        render(paths.build() / "html", tell, cores=cores or None)


def sweep_run(sweep: str, run: str) -> None:
    """Make one run of a sweep; a step of `chaos sweep`."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.publish import sweep as sweeping

    folder = paths.runs() / sweep
    with _step(run, sweeping.failure_file(folder, run)):
        sweeping.run_one(folder, run)
