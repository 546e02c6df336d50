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
_FEWEST = 5  # items for as many bins


def write_figures(
    folder: Path, found: Mapping[str, Sequence[System]], all_votes: Sequence[Votes], seed: int
) -> int:
    """Write reliability diagrams, DistCE and accuracy by entropy of systems, for each dataset.

    Few votes (`Votes.are_few`) get no bins of entropy, and one label per item no figure.

    What systems are set beside is of the items that they cover. The files go to ``figures/`` in
    `folder`, named ``fig-reliability-<dataset>`` and so on, instead of those of an earlier run;
    other files there stay. Returned is the number of figures. Systems are `found` by dataset, and
    the `seed` is that of the intervals by entropy.
    """
    drawn = [folder / paths.FIGURES / f"fig-{kind}-*.json" for kind in _KINDS]
    for manifest in [found for one in drawn for found in one.parent.glob(one.name)]:
        for end in (".*", "-*.svg"):
            for old in manifest.parent.glob(manifest.stem + end):
                old.unlink()
    with paths.figures_in(folder):
        for votes in all_votes:
            systems = [one for one in found.get(votes.dataset.name, ()) if not one.one_label]
            if systems:
                covered = np.unique(np.concatenate([one.rows_in(votes) for one in systems]))
                _write(part_of(votes, covered), systems, seed)
    return sum(len(list(one.parent.glob(one.name))) for one in drawn)


def _write(votes: Votes, systems: Sequence[System], seed: int) -> None:
    dataset, title = votes.dataset.name, votes.dataset.title

    def beside(*references: System) -> DatasetInputs:
        return DatasetInputs((votes.dataset,), (votes,), ((*systems, *references),), own=True)

    publish_figure(
        f"fig-reliability-{dataset}",
        plot_reliability,
        calibration.reliability(beside(oracle(votes))),
        caption=f"""Reliability against the majority label on {title}. Dots are the accuracy in each
        of ten bins (a, b] of confidence, and lines lead to the mean confidence there.""",
        alt="A reliability diagram for each system and for the human distribution itself.",
    )
    publish_figure(
        f"fig-distce-{dataset}",
        plot_distances,
        calibration.distance_histogram(beside()),
        caption=f"Total variation distance between model and votes, item by item, on {title}.",
        alt="A histogram of the total variation distance over items for each system.",
    )
    if len(votes) < _FEWEST or votes.are_few:
        return  # too few for bins of entropy: few votes put items into wrong ones
    binned = agreement.binned_scores(beside(), n_bins=5, n_resamples=200, seed=seed)
    publish_figure(
        f"fig-entropy-bins-{dataset}",
        plot_accuracy_by_entropy,
        agreement.drawn_rows(binned, "new_accuracy"),
        caption=f"Accuracy against the new majority in five quantile bins of entropy, on {title}."
        + " A grey band is the range of the nine models of Nie et al. (2020)." * votes.is_released,
        alt="Lines that show accuracy in five bins of entropy for each system and baseline.",
    )
