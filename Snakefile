"""The book's DAG: data and notebooks → executed chapters → site. `chaos build` drives it."""

import sys

from chaos_utils import paths
from chaos_utils.publish import dependencies

DATA = config.get("data", "auto")
CHAOS = f"{sys.executable} -m chaos_utils.cli"


def notebook_of(wildcards):
    return paths.notebooks() / f"{wildcards.chapter}.py"


rule book:
    input:
        "_build/site.done",


rule chapter:
    input:
        notebook=notebook_of,
        modules=lambda wildcards: dependencies.modules_of(notebook_of(wildcards)),
        data=dependencies.data_of(DATA),
    output:
        notebook="book/chapters/{chapter}.ipynb",
        record="_build/chapters/{chapter}/record.json",
    params:
        data=DATA,
    shell:
        "{CHAOS} chapter {wildcards.chapter} --data {params.data}"


rule site:
    input:
        expand("book/chapters/{chapter}.ipynb", chapter=dependencies.chapters()),
        expand("_build/chapters/{chapter}/record.json", chapter=dependencies.chapters()),
        dependencies.pages(),
    output:
        "_build/site.done",
    shell:
        "{CHAOS} site && touch {output}"
