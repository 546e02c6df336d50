"""Commands of the book, run for a page: what a reader sees is what they answer."""

import re
import shlex
import subprocess
from pathlib import Path

from IPython.display import Markdown

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.report import warm

_WIDTH = {"COLUMNS": "80"}  # on any machine
_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE")  # a notebook's kernel asks for them


def transcript(command: str, folder: Path, *, code: int = 0) -> str:
    """Run a `chaos` command, and return it after a ``$``, with its answer below.

    It is given as a reader would type it in `folder`, and must end with the exit code `code`; the
    answer is output and errors together, as they came.
    """
    program, *arguments = shlex.split(command)
    if program != "chaos":
        raise ChaosError("Only `chaos` commands are run on a page.", found=command)
    environment = paths.environment_of_reader()
    done = subprocess.run(
        [*warm.python(), "chaos_utils.cli", *arguments],
        cwd=folder,
        env={name: value for name, value in environment.items() if name not in _COLOURS} | _WIDTH,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    answer = "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
    if done.returncode != code:
        raise ChaosError(
            "A command on this page did not end as its text says.",
            where=command,
            found=f"exit code {done.returncode}\n{answer}",
            expected=f"exit code {code}",
        )
    return f"$ {command}\n{answer}"


def block(text: str, language: str) -> Markdown:
    """Return text as a Markdown block that nothing inside it can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown(f"{fence}{language}\n{text}\n{fence}")
