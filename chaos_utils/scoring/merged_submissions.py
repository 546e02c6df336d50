"""What merged submissions were, by git: they stay as they are, and may only be withdrawn."""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.scoring.submitted import FOLDER, RECORD_FILE, folder_of, read_submission

_DONE = {"A": "added", "D": "deleted", "M": "changed", "T": "another kind of file"}


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from the branch that a pull request goes to.

    `new` and `withdrawn` are names of submissions; `faults` are the changes that are refused, by
    name; `elsewhere` are the files outside of submissions that differ, too.
    """

    new: Sequence[str] = ()
    withdrawn: Sequence[str] = ()
    faults: Mapping[str, ChaosError] = field(default_factory=dict)
    elsewhere: Sequence[str] = ()


def changes_since(base: str) -> Changes:
    """Compare the submissions with those of a branch, where both were last the same.

    Parameters
    ----------
    base : str
        A branch or commit, such as ``origin/main``.

    Returns
    -------
    Changes
        Of the files here, committed or not.

    Raises
    ------
    ChaosError
        If this is no checkout of git, or has no such branch.
    """
    _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}", base=base)
    start = _git("merge-base", "--", base, "HEAD", base=base).strip()
    listed = _git("ls-tree", "--name-only", "-z", start, f"{FOLDER}/", base=base).split("\0")
    merged = {Path(path).name for path in filter(None, listed)}
    answer = _git(
        "diff", "--no-ext-diff", "--no-renames", "--name-status", "-z", "--relative", start, "--",
        FOLDER, base=base,
    )  # fmt: skip
    words = answer.split("\0")[:-1]
    by_name: dict[str, dict[str, str]] = {}
    for letter, path in zip(words[::2], words[1::2], strict=True):
        _, name, *file = Path(path).parts
        by_name.setdefault(name, {})["/".join(file)] = letter
    withdrawn: list[str] = []
    faults: dict[str, ChaosError] = {}
    for name in sorted(by_name.keys() - merged):
        if "" in by_name[name] or name.startswith("."):
            faults[name] = _stray_error(name)
    for name in sorted(merged & by_name.keys()):
        changed = by_name[name]
        if changed == {RECORD_FILE: "M"} and _is_withdrawn(name, start, base):
            withdrawn.append(name)
        else:
            faults[name] = _changed_error(name, changed, base)
    folders = (paths.results() / FOLDER).glob("[!.]*/")
    new = sorted(folder.name for folder in folders if folder.name not in merged)
    for name in new:
        with suppress(ChaosError):  # which a check of the submission names
            if read_submission(folder_of(name)).record.withdrawn:
                faults[name] = _withdrawn_error(name)
    all_files = _git("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", start, base=base)
    submitted = _git("rev-parse", "--show-prefix", base=base).strip() + f"{FOLDER}/"
    changed_files = all_files.split("\0")[:-1]
    elsewhere = [path for path in changed_files if not path.startswith(submitted)]
    return Changes(new, withdrawn, faults, elsewhere)


def _is_withdrawn(name: str, start: str, base: str) -> bool:
    """Return whether a record differs from what it was by a first entry `withdrawn` alone."""
    before = yaml.safe_load(_git("show", f"{start}:./{FOLDER}/{name}/{RECORD_FILE}", base=base))
    now = read_yaml(folder_of(name) / RECORD_FILE)
    if not isinstance(now, dict) or not now.get("withdrawn"):
        return False
    return before == {key: value for key, value in now.items() if key != "withdrawn"}


def _stray_error(name: str) -> ChaosError:
    return ChaosError(
        "This is not a submission.", where=f"results/{FOLDER}/{name}", found=repr(name),
        expected="a folder for each submission, and nothing else", todo="remove it",
    )  # fmt: skip


def _withdrawn_error(name: str) -> ChaosError:
    return ChaosError(
        "A new submission cannot be withdrawn.",
        where=f"results/{FOLDER}/{name}/{RECORD_FILE}", found="withdrawn",
        expected="a result that is shown", todo="leave withdrawn out, or do not submit it",
    )  # fmt: skip


def _changed_error(name: str, changed: Mapping[str, str], base: str) -> ChaosError:
    place = f"results/{FOLDER}/{name}"
    return ChaosError(
        "A merged submission does not change.",
        where=place,
        found=", ".join(f"{file or name} {_DONE.get(letter, letter)}"
                        for file, letter in sorted(changed.items())),
        expected=f"the files of {base}; to withdraw it, `withdrawn: {{date: …, reason: …}}` in "
        f"{RECORD_FILE} and no other change",
        todo=f"restore it: git checkout {base} -- {place}; a correction is a submission of its "
        f"own: chaos submit FILE --name {name}-v2 -f replaces.name={name} -f replaces.reason=…",
    )  # fmt: skip


def _git(*arguments: str, base: str) -> str:
    """Return what git prints about the folder of results; raise if it fails."""
    command = ["git", "-C", str(paths.results()), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        lines = getattr(fault, "stderr", b"").decode(errors="replace").splitlines()
        raise ChaosError(
            "The submissions cannot be compared with those of a branch.",
            where=f"--base {base}",
            found=lines[0] if lines else "no such branch or commit",
            expected="a git checkout with this branch and its history",
            todo="fetch it: git fetch origin, with the history (git fetch --unshallow)",
        ) from fault
    return done.stdout.decode(errors="surrogateescape")
