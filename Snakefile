"""The book's DAG: data and notebooks → executed chapters → site. `chaos build` drives it.

`chaos sweep` asks for runs of its own by rule `run`, which nothing in the book depends on.
"""

import shlex
import sys

from chaos_utils.publish import dependencies, staleness
from chaos_utils.report import warm

CHAOS = f"{shlex.quote(sys.executable)} -m chaos_utils.cli"
WARM = f"{shlex.join(warm.python())} chaos_utils.cli"
DATA = config.get("data", "auto")
CHAPTERS = dependencies.chapters()
EXECUTED = expand("book/chapters/{chapter}.ipynb", chapter=CHAPTERS)


# `chaos build` says which steps must run, by digests: no rule compares the times of files.
rule site:
    input:
        ancient(EXECUTED),
    output:
        f"_build/{staleness.SITE_FILE}",  # the step writes it when the site is in place
    threads: workflow.cores or 1
    shell:
        "{CHAOS} site --cores {threads}"


rule chapter:
    output:
        "book/chapters/{chapter}.ipynb",
    priority: lambda wildcards: staleness.seconds_of(wildcards.chapter)  # the longest first
    shell:
        "{WARM} chapter {wildcards.chapter:q} --data {DATA:q}"


rule run:
    output:
        touch("runs/{sweep}/done/{run}"),
    shell:
        "{CHAOS} sweep-run {wildcards.sweep:q} {wildcards.run:q}"
