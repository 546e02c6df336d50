"""Commands of the book, run where a page is made: what a reader sees is what they answer."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from IPython.display import Markdown

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError

_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE")  # a notebook's kernel asks for them


def show_command(command: str, folder: Path, *, code: int = 0) -> Markdown:
    """Run a `chaos` command, and return it with its answer as a console block.

    Parameters
    ----------
    command : str
        As a reader would type it, such as ``chaos evaluate my-model.csv``.
    folder : Path
        The working directory.
    code : int
        The exit code that it is expected to end with.

    Returns
    -------
    Markdown
        Output and errors of the command together, as they came.
    """
    program, *arguments = shlex.split(command)
    if program != "chaos":
        raise ChaosError("Only `chaos` commands are run on a page.", found=command)
    environment = paths.environment_of_reader()
    done = subprocess.run(
        [sys.executable, "-m", "chaos_utils.cli", *arguments],
        cwd=folder,
        env={name: value for name, value in environment.items() if name not in _COLOURS},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    answer = "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
    if done.returncode != code:
        raise ChaosError(
            "A command of this page ended otherwise than its text says.",
            where=command,
            found=f"exit code {done.returncode}\n{answer}",
            expected=f"exit code {code}",
        )
    return block(f"$ {command}\n{answer}", "console")


def block(text: str, language: str) -> Markdown:
    """Return text as a Markdown block that nothing inside it can end.

    Parameters
    ----------
    language : str
        Name of the language, for colours.
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown(f"{fence}{language}\n{text}\n{fence}")
