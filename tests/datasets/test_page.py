"""The book's page on datasets explains every field of a YAML file."""

import re

from helpers.checkout import PROJECT

from chaos_utils.datasets import dataset as d

PARTS = {
    "labels": [d.Label],
    "files": [d.DataFile],
    "release": [d.Release],
    "reader": [d.ChaosNLIReader, d.LongReader, d.WideReader, d.ColumnsReader],
    "annotate": [d.Annotate],
    "systems": [d.ReleasedSystem],
}


def test_every_field_is_explained_once_and_no_other():
    known = d.Dataset.model_fields.items()
    fields = {"files", *(field.alias or name for name, field in known if name not in PARTS)}
    fields |= {
        f"{part}.{name}"
        for part, models in PARTS.items()
        for model in models
        for name in model.model_fields
    }
    fields.discard("files.release")  # filled in by the registry
    page = (PROJECT / "book" / "datasets.md").read_text("utf-8")
    section = page.split("## Fields of a YAML file\n")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\S+)`", section, re.M)) == sorted(fields)
