"""Hidden commands: the pages alone, and what a cluster's job calls."""

from pathlib import Path

from chaos_utils.cli.console import err
from chaos_utils.cli.extras import need_book


def site() -> None:
    """Render the chapters as they were last executed."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.publish.site import render

    render(paths.build() / "html", lambda text: err.print(text, markup=False))


def sweep_run(sweep: str, run: str) -> None:
    """Make one run of a sweep; a job of `chaos sweep` on a cluster."""
    need_book()
    from chaos_utils.publish import sweep as sweeping

    sweeping.make_job(Path(sweep).absolute(), run)
