"""The executed notebooks that trained our models: a page for each, and one in a chapter."""

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_utils.publish import templating
from chaos_utils.report.executed import as_html, read_executed
from chaos_utils.scoring.training_records import Run, committed_runs
from chaos_utils.sphinx.book import raw_html, write_last

logger = logging.getLogger(__name__)
FOLDER = "runs"  # of their pages
_LIST_OF_RUNS = "chapters/finetuning"  # a book may lack this page


def _runs_with_notebook() -> dict[str, Run]:
    return {run.name: run for run in committed_runs() if run.notebook}


class ExecutedDirective(SphinxDirective):
    """Show the prose and tables of an executed notebook, by the name of its run below results/."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return them, headings below those of the page, and a link to all of the notebook."""
        (name,) = self.arguments
        run = _runs_with_notebook().get(name)
        if run is None or run.notebook is None:
            logger.warning("no run %s has a notebook", name, location=self.get_location())
            return []
        self.env.note_dependency(str(run.notebook))
        shown = as_html(read_executed(run.notebook), below=2, brief=True)
        root = "../" * self.env.docname.count("/")
        link = f'<a href="{root}{FOLDER}/{name}.html">the page of this run</a>'
        more = f"<p>Code and learning curves are on {link}.</p>"
        return [raw_html(f'<div class="executed">{shown}{more}</div>')]


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page of each executed notebook: name, context, template."""
    if app.builder.format != "html":
        return
    for name, run in _runs_with_notebook().items():
        assert run.notebook is not None
        title = escape(run.system)
        notebook = as_html(read_executed(run.notebook), below=1)
        are_listed = _LIST_OF_RUNS in app.env.found_docs
        body = templating.render("executed", run=run, notebook=notebook, are_listed=are_listed)
        yield f"{FOLDER}/{name}", {"title": title, "body": body}, "page.html"


def _copy_notebooks(app: Sphinx, out: Path) -> None:
    for name, run in _runs_with_notebook().items():
        assert run.notebook is not None
        shutil.copyfile(run.notebook, out / FOLDER / f"{name}.ipynb")


def setup(app: Sphinx) -> None:
    """Register the directive and connect to Sphinx's events."""
    app.add_directive("executed", ExecutedDirective)
    app.connect("html-collect-pages", _pages)
    write_last(app, _copy_notebooks)
