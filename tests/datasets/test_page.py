"""The book's page on datasets agrees with the models and with the YAML files of the package."""

import re

from helpers.checkout import PROJECT

from chaos_utils.datasets import catalogue, companions
from chaos_utils.datasets.dataset import (
    Annotate,
    ChaosNLIReader,
    ColumnsReader,
    DataFile,
    Dataset,
    Label,
    LongReader,
    Release,
    ReleasedSystem,
    WideReader,
)
from chaos_utils.datasets.registry import registry

PAGE = (PROJECT / "book" / "datasets.md").read_text("utf-8")
PARTS = {
    "labels": [Label],
    "files": [DataFile],
    "release": [Release],
    "reader": [ChaosNLIReader, LongReader, WideReader, ColumnsReader],
    "annotate": [Annotate],
    "systems": [ReleasedSystem],
}


def rows(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in section.splitlines() if line.startswith("| `")]  # fmt: skip
    assert cells
    return cells


def test_every_field_is_explained_once_and_no_other():
    fields = {
        field.alias or name for name, field in Dataset.model_fields.items() if name not in PARTS
    }
    fields |= {
        f"{part}.{name}"
        for part, models in PARTS.items()
        for model in models
        for name in model.model_fields
    }
    fields.discard("files.release")  # filled in by the registry
    explained = [name.strip("`") for name, _ in rows("Fields of a YAML file")]
    assert sorted(explained) == sorted(fields | {"files"})


def test_datasets_of_the_package():
    shown = {
        name.strip("`"): (int(labels), licence)
        for name, _, _, labels, licence in rows("Datasets that come with the package")
    }
    known = list(catalogue._bundled().values())
    assert shown == {one.name: (one.n_classes, one.release.licence) for one in known}


def test_what_stands_beside_the_votes():
    licences = {name.split("/")[0]: file.release.licence for name, file in registry().items()}
    read = []
    for folder, _, functions, licence in rows("Reasons and machines beside the votes"):
        assert licences[folder.strip("`")] == licence
        read += [name.strip(" `") for name in functions.split(",")]
    assert sorted(read) == [name for name in dir(companions) if re.match("read_(?!records)", name)]
