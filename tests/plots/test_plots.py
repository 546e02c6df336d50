from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.colours import contrast
from matplotlib.colors import to_hex

from chaos_utils import description
from chaos_utils.base import style
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots import annotations, bins, ceilings, disagreement


@pytest.fixture
def items(sample):
    return description.items(sample)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_transitions_write_every_count_and_leave_out_what_cannot_be(sample):
    table = description.label_transitions(sample)
    figure = annotations.plot_label_transitions(table)
    assert [axis.get_title() for axis in figure.axes] == [o.dataset.title for o in sample]
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert len(texts) == 9
    of_snli = table[table["dataset"] == "snli"]
    assert {text.split("\n")[0] for text in texts} == {f"{n:,}" for n in of_snli["n"]}
    never = table["old_label"] == "neutral"
    gone = table.assign(row_share=table["row_share"].mask(never))
    texts = annotations.plot_label_transitions(gone).axes[0].texts
    assert len(texts) == 6
    assert not any("nan" in text.get_text() for text in texts)


@pytest.mark.parametrize("mode", style.MODES)
def test_numbers_stand_out_from_the_cells_they_are_written_on(sample, mode):
    with style.look(mode):
        figure = annotations.plot_label_transitions(description.label_transitions(sample))
    for axis in figure.axes:
        (mesh,) = axis.collections
        mesh.update_scalarmappable()
        cells = mesh.get_facecolors()
        width = int(len(cells) ** 0.5)
        for text in axis.texts:
            column, row = (int(place) for place in text.get_position())
            cell = to_hex(cells[row * width + column])
            assert contrast(to_hex(text.get_color()), cell) >= 4.5


def test_histograms_hold_every_item(items):
    figure = disagreement.plot_entropy(items)
    for axis, (_, rows) in zip(figure.axes, items.groupby("dataset", sort=False), strict=True):
        assert sum(bar.get_height() for bar in axis.patches) == len(rows)


def test_majority_curves_fall_from_all_to_none(items):
    axis = disagreement.plot_majority_share(items).axes[0]
    assert len(axis.lines) == 3
    for line in axis.lines:
        heights = line.get_ydata()
        assert heights[0] == 1
        assert heights[-1] == 0
        assert (heights[1:] <= heights[:-1]).all()


def test_the_simplex_puts_full_agreement_at_its_corners():
    table = pd.DataFrame(
        {
            "dataset": "snli",
            "share_1": [1.0, 0.0, 0.0],
            "share_2": [0.0, 1.0, 0.0],
            "share_3": [0.0, 0.0, 1.0],
            "majority_label": ["entailment", "neutral", "contradiction"],
        }
    )
    axis = disagreement.plot_simplex(table).axes[0]
    corners = [tuple(spots.get_offsets()[0].round(3)) for spots in axis.collections]
    assert corners == [(0, 0), (0.5, 0.866), (1, 0)]
    colours = [to_hex(spots.get_facecolor()[0]) for spots in axis.collections]
    assert colours == [style.colour(label.colour) for label in get_dataset("snli").classes]


def test_original_votes_count_each_pattern(sample):
    table = description.original_votes(sample)
    figure = disagreement.plot_original_votes(table)
    assert len(figure.axes) == 4
    legend = [text.get_text() for text in figure.axes[2].get_legend().get_texts()]
    of_snli = table[table["dataset"] == "snli"]["pattern"].value_counts()
    assert legend == [f"{pattern} ({of_snli[pattern]:,} items)" for pattern in ("3-2", "3-1-1")]


def with_old(votes, rng):
    """Give votes old labels and five old votes each."""
    old = rng.multinomial(5, votes.shares)
    return replace(
        votes,
        dataset=votes.dataset.model_copy(update={"n_old_labels": (5,)}),
        given_old_label=old.argmax(axis=1),
        given_old_votes=old,
    )


def test_figures_of_any_number_of_labels_and_votes(others, sample):
    shown = [*others, sample[0]]
    items = description.items(shown)
    figure = disagreement.plot_entropy(items)
    for axis in figure.axes:
        dataset = next(o for o in shown if o.dataset.title == axis.get_title())
        assert sum(bar.get_height() for bar in axis.patches) == len(dataset)
        assert axis.get_xlim()[1] == pytest.approx(np.log2(dataset.dataset.n_classes))
        assert axis.get_xlabel() == "entropy of the votes (bits)"
    of_pairs = items[items["dataset"] == "pairs"]
    axis = disagreement.plot_entropy(of_pairs, n_votes=5).axes[0]
    assert axis.get_xlabel() == "entropy of the 5 votes (bits)"
    assert len(disagreement.plot_majority_share(items).axes[0].lines) == 3
    assert disagreement.plot_majority_share(items).axes[0].get_xlim()[0] == 1 / 4
    assert disagreement.plot_majority_share(of_pairs).axes[0].get_xlim()[0] == 1 / 2
    triangles = disagreement.plot_simplex(items).axes
    assert [axis.get_title() for axis in triangles] == [sample[0].dataset.title]


def test_old_labels_of_four_labels(others):
    four = with_old(others[0], np.random.default_rng(0))
    texts = annotations.plot_label_transitions(description.label_transitions([four])).axes[0].texts
    assert sum(int(text.get_text().split("\n")[0]) for text in texts) == len(four)
    table = description.original_votes([four])
    upper, lower = disagreement.plot_original_votes(table).axes
    assert sum(bar.get_height() for bar in upper.patches) == len(four)
    legend = [text.get_text() for text in lower.get_legend().get_texts()]
    counts = table["pattern"].value_counts()
    assert legend[0].startswith("5 (")
    assert set(legend) <= {f"{pattern} ({n:,} items)" for pattern, n in counts.items()}
    assert len(legend) == min(len(counts), 6)


def test_no_dataset_and_no_pool_is_dropped_from_the_bins(others):
    rows = [
        {"dataset": name, "bin": b, "entropy_low_bits": b - 1, "entropy_high_bits": b,
         "system": "chance", "role": "baseline", "source": "computed", "value": 0.5}
        for name in ("snli", "severity", "alphanli", "snli+mnli", "mnli")
        for b in (1, 2)
    ]  # fmt: skip
    titles = [axis.get_title() for axis in bins.plot_jsd_by_entropy(pd.DataFrame(rows)).axes]
    assert titles == [
        "ChaosNLI-αNLI", "Severity", "SNLI and MNLI pooled", "ChaosNLI-SNLI", "ChaosNLI-MNLI",
    ]  # fmt: skip


def test_numbers_of_items_keep_clear_of_each_other(others):
    rows = [
        {"dataset": "severity", "system": "uniform", "n_votes": k, "n_items": 600 // k,
         "bias": 0.1, "standard_error": 0.2}
        for k in (1, 2, 3, 5)
    ]  # fmt: skip
    axis = ceilings.plot_items_by_votes(pd.DataFrame(rows)).axes[0]
    ticks = [text.get_text() for text in axis.get_xticklabels()]
    assert ticks == ["1\n600", "2\n300", "3", "5\n120"]
