"""A small book that was run and rendered, without running or rendering anything."""

import subprocess

import pytest
from helpers.checkout import MAKERS
from helpers.manifests import make_manifest, make_record

from chaos_utils.base import inputs
from chaos_utils.base.files import write_json, write_text
from chaos_utils.book import Book
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.publish import crate, dependencies, licences, staleness

CITATION = """\
cff-version: 1.2.0
message: Please cite it.
title: A book
abstract: What it is <about>.
version: 1.2.3
date-released: "2026-01-02"
authors:
  - name: Its authors
keywords: [one, two]
references:
  - {type: article, title: A paper, doi: 10.1/abc}
"""
NOTEBOOK = """\
# %% [markdown]
# # Chapter one

# %% tags=["parameters"]
data: str = "auto"  # which data
seed: int = 0  # a seed
"""


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A checkout of a book of one chapter, built and committed; its folder."""
    project = tmp_path / "book"
    made = {
        "figures/fig-a.json": make_manifest("fig-a").model_dump_json(exclude_unset=True),
        "figures/fig-a.csv": "x,y\n1,2\n",
        "figures/fig-a.png": "picture",
    }
    files = {
        "_toc.yml": "root: index\nchapters:\n  - file: chapters/one\n",
        "_config.yml": "title: A book\n",
        "CITATION.cff": CITATION,
        "book/index.md": "# A book\n",
        "chaos_utils/landing.py": "shown = 1\n",
        **MAKERS,
        "LICENSE": "MIT",
        ".gitignore": "/_build/\n/book/chapters/\n",
        "notebooks/one.py": NOTEBOOK,
        "results/run/run.json": "{}",
        "book/chapters/one.ipynb": "{}",
        "_build/chapters/one/notebook.ipynb": "{}",
        **{f"_build/chapters/one/{name}": text for name, text in made.items()},
        "_build/html/index.html": "<h1>A book</h1>",
        "_build/html/notebooks/one.py": NOTEBOOK,
        "_build/html/_sources/chapters/one.ipynb": "{}",
        "_build/html/chapters/one.html": licences.paragraph(licences.notice(Book().groups())),
        "_build/html/items.js": f"/* {licences.votes_notice(Book().groups())} */",
        **{f"_build/html/{name}": text for name, text in made.items()},
    }
    for name, text in files.items():
        write_text(project / name, text)
    read = {
        "chaosNLI_v1.0/chaosNLI_snli.jsonl": get_dataset("snli").files[0].sha256,
        "results/run/run.json": inputs.digest(project / "results" / "run" / "run.json"),
    }
    record = make_record(
        notebook_sha256=inputs.digest(project / "notebooks" / "one.py"),
        parameters={"data": "auto", "seed": 3},
        inputs=[{"name": name, "sha256": digest} for name, digest in read.items()],
        outputs=inputs.digests(project / "_build" / "chapters" / "one"),
    )
    monkeypatch.chdir(project)
    record["made_from"] = dependencies.digests(project / "notebooks" / "one.py", "auto")
    built = project / "_build"
    write_json(built / "chapters" / "one" / "record.json", record)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init"], ["add", "--all"], [*who, "commit", "--message", "A book"]):
        subprocess.run(["git", *command], cwd=project, check=True, capture_output=True)
    crate.write(built / "html")
    made_from = dependencies.digests_of_pages() | {staleness.MADE_FOR: ""}
    write_json(built / staleness.SITE_FILE, made_from | staleness.files_of(built / "html"))
    return project
