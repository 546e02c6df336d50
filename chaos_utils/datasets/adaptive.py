"""Whether votes were asked where the vote is close, so that they say too much of disagreement."""

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import quadratic_entropy

_CORRELATION, _ERRORS = 0.25, 4  # of numbers of votes with disagreement


def signs_of_adaptive(votes: Votes) -> str:
    """Say what shows that votes were asked where the vote is close, without their batches.

    That is the dataset's field `adaptive`; where it says nothing, numbers of votes that go with
    disagreement beyond chance: a correlation over items above 0.25 and four standard errors. Empty
    where nothing shows it.
    """
    if votes.later_counts is not None or votes.dataset.adaptive is False:
        return ""
    if votes.dataset.adaptive:
        return "`adaptive: true` in the YAML file"
    correlation = _correlation(votes)
    if correlation < _CORRELATION:
        return ""
    sizes = votes.n_votes
    return (
        f"from {sizes.min()} to {sizes.max()} votes per item, more where people disagree "
        f"(correlation {correlation:.2f})"
    )


def refuse_adaptive(votes: Votes) -> None:
    """Raise a ChaosError if votes show the `signs_of_adaptive` collection."""
    found = signs_of_adaptive(votes)
    if not found:
        return
    raise ChaosError(
        "More votes were asked where the vote is close, and nothing says which came first.",
        where=votes.source.name.removeprefix(OWN),
        found=found,
        expected="a row per vote, with a column `batch`: 1 for the votes that all items got",
        todo="name the column in a dataset's YAML file (`reader.batch`), so that people and "
        "systems are judged by the first batch; or, if the numbers of votes were fixed before "
        "anybody voted, say `adaptive: false` there",
    )


def _correlation(votes: Votes) -> float:
    """Return the correlation of numbers of votes with disagreement; 0 where chance may give it."""
    counts = votes.counts[votes.n_votes >= 2]
    if len(counts) < 2:
        return 0.0
    sizes, disagreement = counts.sum(axis=1), quadratic_entropy(counts)
    if not (sizes.std() > 0 and disagreement.std() > 0):
        return 0.0
    correlation = float(np.corrcoef(sizes, disagreement)[0, 1])
    return correlation if correlation * np.sqrt(len(counts)) > _ERRORS else 0.0
