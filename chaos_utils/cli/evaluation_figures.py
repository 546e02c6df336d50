"""The figures that `chaos evaluate --out` writes of a reader's systems."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from chaos_utils.analyses import agreement, calibration
from chaos_utils.analyses.inputs import DatasetInputs
from chaos_utils.base import paths
from chaos_utils.datasets.votes import Votes
from chaos_utils.plots.bins import plot_accuracy_by_entropy
from chaos_utils.plots.calibration import plot_reliability
from chaos_utils.plots.error_distributions import plot_distances
from chaos_utils.report.figures import publish_figure
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

_KINDS = ("reliability", "distce", "entropy-bins")
_N_BINS = 5  # of entropy; fewer items than bins get no figure


def write_figures(
    folder: Path, systems: Mapping[str, Sequence[System]], all_votes: Sequence[Votes], seed: int
) -> int:
    """Write reliability diagrams, DistCE and accuracy by entropy of systems, for each dataset.

    Few votes (`Votes.are_few`) get no bins of entropy, and systems of one label per item no figure.

    `systems` are by dataset; references are drawn on the items that a dataset's systems cover. The
    files go to ``figures/`` in `folder`, named ``fig-reliability-<dataset>`` and so on, and replace
    those of an earlier run; other files there stay. The `seed` is for the intervals by entropy. The
    number of figures is returned.
    """
    for manifest in _manifests(folder):
        for suffix in (".*", "-*.svg"):
            for old_file in manifest.parent.glob(manifest.stem + suffix):
                old_file.unlink()
    with paths.figures_in(folder):
        for votes in all_votes:
            drawn_systems = [
                system for system in systems.get(votes.dataset.name, ()) if not system.one_label
            ]
            if drawn_systems:
                rows = [system.rows_in(votes) for system in drawn_systems]
                _write(part_of(votes, np.unique(np.concatenate(rows))), drawn_systems, seed)
    return len(_manifests(folder))


def _manifests(folder: Path) -> list[Path]:
    """Return the manifests of this command's figures in a folder."""
    figures = folder / paths.FIGURES
    return [path for kind in _KINDS for path in figures.glob(f"fig-{kind}-*.json")]


def _write(votes: Votes, systems: Sequence[System], seed: int) -> None:
    """Write the figures of one dataset."""
    dataset, title = votes.dataset.name, votes.dataset.title

    def inputs(*references: System) -> DatasetInputs:
        return DatasetInputs((votes.dataset,), (votes,), ((*systems, *references),), own=True)

    publish_figure(
        f"fig-reliability-{dataset}",
        plot_reliability,
        calibration.reliability(inputs(oracle(votes))),
        caption=f"""Reliability against the majority label on {title}. Dots are the accuracy in each
        of ten bins (a, b] of confidence, and lines lead to the mean confidence there.""",
        alt="A reliability diagram for each system and for the human distribution itself.",
    )
    publish_figure(
        f"fig-distce-{dataset}",
        plot_distances,
        calibration.distance_histogram(inputs()),
        caption=f"Total variation distance between model and votes, item by item, on {title}.",
        alt="A histogram of the total variation distance over items for each system.",
    )
    if len(votes) < _N_BINS or votes.are_few:
        return  # too few for bins of entropy: few votes put items into wrong ones
    binned = agreement.binned_scores(inputs(), n_bins=_N_BINS, n_resamples=200, seed=seed)
    publish_figure(
        f"fig-entropy-bins-{dataset}",
        plot_accuracy_by_entropy,
        agreement.drawn_rows(binned, "new_accuracy"),
        caption=f"Accuracy against the new majority in five quantile bins of entropy, on {title}."
        + " A grey band is the range of the nine models of Nie et al. (2020)." * votes.is_released,
        alt="Lines that show accuracy in five bins of entropy for each system and baseline.",
    )
