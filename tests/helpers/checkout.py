"""Copies of the working tree, for builds that must not touch it."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from importlib.util import cache_from_source
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# What a chapter and the pages depend on by name: a small checkout has empty modules of these names.
MAKERS = {f"chaos_utils/{name}.py": "" for name in ("report/runner", "book", "publish/site")}


def copy_checkout(target: Path) -> Path:
    """Copy what git tracks or would track; nothing that was built."""
    list_files = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    listed = subprocess.check_output(list_files, cwd=PROJECT, text=True)
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target / name)
            _copy_compiled(PROJECT / name, target / name)
    if (PROJECT / "node_modules").is_dir():
        (target / "node_modules").symlink_to(PROJECT / "node_modules")
    return target


def _copy_compiled(source: Path, target: Path) -> None:
    """Copy what Python has compiled of a module, which it knows by the time of the last change."""
    compiled = Path(cache_from_source(str(source)))
    if source.suffix == ".py" and compiled.is_file():
        (target.parent / compiled.parent.name).mkdir(exist_ok=True)
        shutil.copy2(compiled, target.parent / compiled.parent.name)


# What the short book shows of two chapters, and the claims below.
KEPT = {
    "tbl-data-statistics", "fig-label-transitions", "tbl-agreement", "tbl-examples", "fig-entropy",
    "fig-simplex", "tbl-claims",
}  # fmt: skip
INDEX = """\
# A short book

```{byline}
```

See {numref}`fig-entropy`.

```{evaluate-file}
```

A finding on {value}`tbl-data-statistics dataset=snli n_items d` items.

- a method

  and its finding, {value}`tbl-none no_column`
- a finding, {value}`tbl-none no_column`

- {value}`tbl-none no_column`

:::{finding} fig-entropy
A finding beside its figure.
:::

```{published-picture} fig-entropy
```

```{opening} snli some-uid some-model
Of the item.
```
"""
# Claims of every verdict about made-up numbers, some of whose words are markup.
CLAIMS = """
# %% [markdown]
# ## Claims of a test
#
# See {numref}`tbl-claims` and [the third](#claim-c03).

# %%
import pandas as pd

from chaos_utils.analyses import claims
from chaos_utils.analyses.claim_cards import ClaimCards

evil = "<script>document.title = 'harm'</script> <b>so</b> & so."
common = {"place": "Table 1", "claim": "It is so.", "note": f"It is what it is. {evil}"}
common |= {"numbers": "claims_numbers.vote_numbers quantity=mean_entropy value"}
items = {"words": "The <items> & more", "selection": "dataset=snli&change=changed"}
several = [
    {"id": "c01", "paper": "nie2020", "rule": "above", "above": 0},
    {"id": "c02", "paper": "nie2020", "rule": "above", "above": 5, "explorer": items,
     "fault": "substance"},
    {"id": "c03", "paper": "baan2022", "rule": "equals", "to": 7, "claim": evil},
    {"id": "c04", "paper": "baan2022", "rule": "open", "numbers": None},
]
several = [claims.Claim.model_validate(common | one) for one in several]
numbers = {"dataset": "snli", "quantity": "mean_entropy", "case": ""}
numbers = pd.DataFrame([numbers | {"value": 2.0, "low": 1.0, "high": 3.0, "p": 0.001}])
claimed = claims.check_claims(claims=several, **{"claims_numbers.vote_numbers": numbers})

# %%
ClaimCards("tbl-claims", claimed.rows, resamples)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All claims as a table"}
columns = claims.columns_for(resamples)
publish_table("tbl-claims", claimed, columns=columns, caption="Claims about made-up numbers.")
"""


# A notebook's link to a page that the short book lacks.
_ELSEWHERE = re.compile(
    r"\{doc}`(?:[^`<]*<)?"
    r"(?!annotations|disagreement|\.\./(?:related|annotate|explorer|rebuild|cite|glossary))"
    r"[./\w]+>?`"
)


def shorten(checkout: Path) -> Path:
    """Leave a part of two chapters, and a page of each kind, in a checkout's book."""
    chapters = ("annotations", "disagreement")
    pages = [f"chapters/{name}" for name in chapters]
    pages += ["related", "annotate", "explorer", "rebuild", "cite", "changes", "glossary"]
    toc = "".join(f"  - file: {page}\n" for page in pages)
    (checkout / "_toc.yml").write_text(f"format: jb-book\nroot: index\nchapters:\n{toc}")
    (checkout / "book" / "index.md").write_text(INDEX, "utf-8")
    for name in chapters:
        notebook = checkout / "notebooks" / f"{name}.py"
        more = CLAIMS if name == "disagreement" else ""
        text = _ELSEWHERE.sub("a page", _without_others(notebook.read_text("utf-8")))
        notebook.write_text(text + more, "utf-8")
    for name in ("annotate", "related", "explorer", "rebuild"):
        page = checkout / "book" / f"{name}.md"
        linked = r"\{doc}`chapters/(?!annotations|disagreement)\w+`"
        page.write_text(re.sub(linked, "a chapter", page.read_text("utf-8")), "utf-8")
    cite = checkout / "book" / "cite.md"
    cite.write_text(re.sub(r"(?s)## Licences\n.*?(?=## )", "", cite.read_text("utf-8")), "utf-8")
    (checkout / "book" / "redirects.yml").write_text("old/page: cite\n")
    registry = checkout / "book" / "figures.yml"
    lines = registry.read_text("utf-8").splitlines(keepends=True)
    registry.write_text("".join(line for line in lines if line.partition(":")[0] in KEPT))
    return checkout


def _without_others(notebook: str) -> str:
    """Return a notebook without the code and the paragraphs that name another figure or table."""
    cells, ids = [], re.compile(r"\b(?:fig|tbl)-[a-z-]+\w")
    for cell in notebook.removeprefix("# %%").split("\n# %%"):
        kind, _, text = cell.rstrip().partition("\n")
        between = "\n#\n" if kind == " [markdown]" else "\n# %%"
        if parts := [part for part in text.split(between) if KEPT.issuperset(ids.findall(part))]:
            cells.append(f"{kind}\n{between.join(parts)}\n")
    return "# %%" + "\n# %%".join(cells)


def copy_built(checkout: Path, target: Path) -> Path:
    """Copy a checkout with what was built in it, while others may run chapters there."""
    compiling = shutil.ignore_patterns("*.pyc.*")

    def left_out(folder: str, names: list[str]) -> set[str]:
        of_others = {"runs"} if Path(folder) == checkout else set()  # the site has some, too
        return {*compiling(folder, names), *of_others}

    return shutil.copytree(checkout, target, symlinks=True, ignore=left_out)


def append(path: Path, text: str = "\n# changed\n") -> None:
    """Add text to a file's end."""
    path.write_text(path.read_text("utf-8") + text, "utf-8")


# A rate above one fails.
TINY = """\
# %% [markdown]
# # A tiny run

# %% tags=["parameters"]
rate: float = 0.5  # fails above one
seed: int = 0  # stands for nothing
datasets: list[str] = ["snli"]  # stands for nothing, and holds commas

# %%
from chaos_utils.base.files import write_text
from chaos_utils.base.paths import run_folder
from chaos_utils.report.scalars import publish_scalars

# %%
if rate > 1:
    raise ValueError(f"no rate above one: {rate}")

# %%
write_text(run_folder() / "predictions.csv", f"{rate},{seed}")
publish_scalars({"accuracy": rate / 2, "seed": "hidden"})
"""


def add_tiny(checkout: Path) -> Path:
    """Add a notebook that runs in a second or two, for tests of running itself."""
    (checkout / "notebooks" / "tiny.py").write_text(TINY, "utf-8")
    return checkout


def chaos(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the `chaos` command of a checkout; a variable set to '' is taken out."""
    return subprocess.run(
        [sys.executable, "-m", "chaos_utils.cli", *arguments],
        cwd=cwd, env=chaos_environment(cwd, **environment),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def chaos_environment(cwd: Path, **environment: str) -> dict[str, str]:
    """Return the environment in which a checkout's own package is used."""
    merged = os.environ | {"PYTHONPATH": str(cwd)} | environment
    return {name: value for name, value in merged.items() if value}


def planned(checkout: Path, *, url: str = "", data: str = "sample") -> set[str]:
    """Return what `chaos build --dry-run` says that it would run."""
    from chaos_utils.publish import build  # which takes a second: most tests need none

    with chdir(checkout):
        given = {"url": url, "say": print, "progress": print}
        return set(build.build(data, dry_run=True, **given))
