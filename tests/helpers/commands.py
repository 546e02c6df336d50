"""The command `chaos`, called in this process."""

import json
import textwrap
from pathlib import Path
from types import SimpleNamespace

import yaml
from typer.testing import CliRunner, Result

from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.votes import Votes


def call(*arguments: object, code: int | None = 0, **options: object) -> Result:
    """Call the command; it ends with this code, or with any if that is None."""
    done = CliRunner().invoke(app, list(map(str, arguments)), **options)
    assert done.exit_code in ((0, 2) if code is None else (code,)), done.output
    return done


def check(path: Path, code: int = 0) -> SimpleNamespace | str:
    """Return what `chaos dataset check` finds, or the fault in which it ends."""
    done = call("dataset", "check", path, "--json", code=code)
    return SimpleNamespace(**json.loads(done.stdout)[0]) if done.stdout else done.stderr


def readings(path: Path) -> list[Path]:
    """Return a YAML file for each reading that `chaos dataset check` shows of a file in doubt."""
    said = check(path, 2)
    assert "It is unclear" in said, said
    shown = said.partition("YAML file")[2].partition("\n")[2].partition("  to do:")[0]
    files = []
    for k, text in enumerate(textwrap.dedent(shown).split("# or\n")):
        assert yaml.safe_load(text)
        files.append(path.with_name(f"reading{k}.yml"))
        files[-1].write_text(text, "utf-8")
    return files


def load(path: Path) -> Votes:
    """Return the votes of a file that holds those on one dataset."""
    (votes,) = load_all_votes(str(path))
    return votes
