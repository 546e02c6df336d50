"""The runs of a sweep on a cluster: `chaos sweep NOTEBOOK … --profile slurm` calls this.

The plan names the notebook and the runs that are missing. Such a run leaves a mark where it is done.
"""

import json
import shlex
import sys
from pathlib import Path

PLAN = Path(config["plan"])
SWEEP = PLAN.parent.as_posix()
CHAOS = f"{shlex.quote(sys.executable)} -m chaos_utils.cli"
planned = json.loads(PLAN.read_text("utf-8"))


rule all:
    input:
        expand("{sweep}/done/{run}", sweep=SWEEP, run=planned["runs"]),


rule run:
    input:
        notebook=planned["source"],
    output:
        "{sweep}/done/{run}",  # the command writes it
    shell:
        "{CHAOS} sweep-run {wildcards.sweep:q} {wildcards.run:q}"
