"""The book's DAG: data and notebooks → executed chapters → site. `chaos build` drives it.

`chaos sweep` asks for runs of its own by rule `run`, which nothing in the book depends on.
"""

import os
import shlex
import sys

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_authors
from chaos_utils.publish import citations, dependencies, staleness

DATA = config.get("data", "auto")
CHAOS = f"{shlex.quote(sys.executable)} -m chaos_utils.cli"
SITE = f"_build/{staleness.SITE_FILE}"  # the step writes it when the site is in place


def relative(found):
    """Name files inside the checkout relative to it, so that a build survives being moved."""
    root = paths.project()
    return [path.relative_to(root) if path.is_relative_to(root) else path for path in found]


def modules(wildcards):
    return relative(dependencies.modules_of(paths.notebooks() / f"{wildcards.chapter}.py"))


def data(wildcards):
    found = dependencies.data_of(paths.notebooks() / f"{wildcards.chapter}.py", DATA)
    return relative(found.values())


CHAPTERS = dependencies.chapters()
EXECUTED = [
    *expand("book/chapters/{chapter}.ipynb", chapter=CHAPTERS),
    *expand("_build/chapters/{chapter}/record.json", chapter=CHAPTERS),
]


rule book:
    input:
        EXECUTED,
        SITE,


rule chapter:
    input:
        notebook="notebooks/{chapter}.py",
        modules=modules,
        data=data,
    output:
        notebook="book/chapters/{chapter}.ipynb",
        record="_build/chapters/{chapter}/record.json",
    params:
        data=DATA,
        authors=read_authors(paths.project() / "CITATION.cff"),  # its figures name them
    shell:  # one thread each: chapters run side by side, and the last digits stay the same
        "OMP_NUM_THREADS=1 {CHAOS} chapter {wildcards.chapter} --data {params.data}"


rule site:
    input:
        EXECUTED,
        relative(dependencies.pages()),
        relative(dependencies.modules_of_pages()),
        relative(dependencies.data_of_pages().values()),
    output:
        SITE,
    params:
        url=os.environ.get(citations.ADDRESS, ""),  # `chaos build --url`
    shell:
        "{CHAOS} site"


rule run:
    output:
        touch("runs/{sweep}/done/{run}"),
    shell:
        "{CHAOS} sweep-run {wildcards.sweep} {wildcards.run}"
