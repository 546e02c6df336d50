"""On other votes than the book's, captions say what is shown, and not what was found."""

import json

import pandas as pd
import pytest
import yaml
from matplotlib import pyplot as plt

from chaos_utils.base import paths
from chaos_utils.base.inputs import Input
from chaos_utils.base.table import Origin, Table
from chaos_utils.report import artifacts
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

ROWS = pd.DataFrame({"dataset": ["snli"], "y": [1.0]})
FOUND = "People disagree on most SNLI items. Bars are 95% intervals."
SHOWN = "How much people disagree. Bars are 95% intervals."


def plot(rows):
    figure, axis = plt.subplots()
    axis.plot(rows["y"])
    return figure


@pytest.mark.parametrize(
    ("name", "synthetic", "caption"),
    [
        ("chaosNLI_v1.0/chaosNLI_snli.jsonl", False, FOUND),
        ("own-data/mine.csv", False, SHOWN),
        ("sample", True, f"Synthetic sample, not a result. {SHOWN}"),
    ],
)
def test_a_caption_states_findings_of_the_book_s_votes_alone(name, synthetic, caption, run_folder):
    table = Table(ROWS, ("dataset",), {"snli": Origin((Input(name, "0" * 64, synthetic),))})
    publish_figure("fig-entropy", plot, table, caption=FOUND, alt="Most bars are high.")
    manifest = json.loads((run_folder / "figures" / "fig-entropy.json").read_text())
    assert manifest["caption"] == caption
    assert (manifest["alt"] == "Most bars are high.") == (caption == FOUND)
    publish_table("tbl-mine", table, caption=FOUND)  # a reader's own
    mine = json.loads((run_folder / "figures" / "tbl-mine.json").read_text())
    assert mine["caption"].endswith(FOUND)


def test_each_figure_and_table_has_a_title_without_findings():
    """None stands where the caption itself has no finding."""
    titles = yaml.safe_load(artifacts.TITLES.read_text("utf-8"))
    ids = yaml.safe_load((paths.project() / "book" / "figures.yml").read_text("utf-8"))
    made = {one for one, entry in ids.items() if isinstance(entry, str)}
    crowds = {one for one in made if "-machine-" in one}  # of votes that are no reader's
    assert made - crowds <= set(titles)
