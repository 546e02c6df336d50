"""The tables that claims and published numbers point into: other chapters', and what none has."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from chaos_utils.analyses import annotations, calibration, claims_numbers, results
from chaos_utils.analyses import error_distributions as errors
from chaos_utils.analyses.agreement import entropy_bins
from chaos_utils.analyses.baan import in_paper, paper_datasets
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.table import Origin, Table
from chaos_utils.datasets.published.tables import published_input, read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy
from chaos_utils.scoring.published import TABLE_5, published_models
from chaos_utils.scoring.scores import resampled
from chaos_utils.scoring.system import System

OF_SYSTEMS = (  # these need predictions
    "calibration.human_calibration", "calibration.seed_means", "calibration.classwise_errors",
    "calibration.signed_entropy_errors", "calibration.temperature_choices",
    "claims_numbers.least_ece", "claims_numbers.system_numbers",
    "error_distributions.released_draw", "record.model_scores",
)  # fmt: skip
_KEYS_OF_PUBLISHED = {
    "nie2020_table2": ("dataset",),
    "nie2020_table5": ("dataset", "model"),
    "nie2020_entropy_bins": ("dataset", "model", "bin"),
}
TABLES = (
    *OF_SYSTEMS, *_KEYS_OF_PUBLISHED, "published_models", "annotations.data_statistics",
    "annotations.label_counts", "claims_numbers.vote_numbers", "claims_numbers.bin_changes",
    "claims_numbers.correlations", "claims_numbers.limits", "record.bin_edges",
    "results.size_effects",
)  # fmt: skip
_FOLDS, _SEED = 10, 0  # of the temperatures in the chapter on calibration


def tables(
    on: Material, everyone: Sequence[Evidence], *, n_resamples: int, seed: int
) -> dict[str, Table]:
    """Return `TABLES` by name, each without rows where what it needs is not available.

    `on` is the evidence on the datasets of claims. `everyone` has the models that this project
    trained too, as the chapter on calibration has.
    """
    drawn = {"n_resamples": n_resamples, "seed": seed}
    both = [one for one in everyone if one.name in paper_datasets() and _has_models(one)]
    own = [one for one in both if one.name == paper_datasets()[0]]
    table_1 = calibration.human_calibration(both)
    found = {
        "calibration.human_calibration": table_1,
        "calibration.seed_means": calibration.seed_means(table_1) if len(table_1) else table_1,
        "calibration.classwise_errors": calibration.classwise_errors(own),
        "calibration.signed_entropy_errors": calibration.signed_entropy_errors(both),
        "calibration.temperature_choices": calibration.temperature_choices(
            own, n_folds=_FOLDS, seed=_SEED
        ),
        "claims_numbers.least_ece": claims_numbers.least_ece(calibration.ece_by_temperature(own)),
        "claims_numbers.system_numbers": claims_numbers.system_numbers(on, **drawn),
        "error_distributions.released_draw": errors.released_draw(own),
        "record.model_scores": model_scores(on),
        "published_models": _published("nie2020_table5", published_models()),
        "annotations.data_statistics": annotations.data_statistics(on.having("old labels")),
        "annotations.label_counts": annotations.label_counts(on),
        "claims_numbers.vote_numbers": claims_numbers.vote_numbers(on, **drawn),
        "claims_numbers.bin_changes": claims_numbers.bin_changes(),
        "claims_numbers.correlations": claims_numbers.correlations(),
        "claims_numbers.limits": claims_numbers.limits(),
        "record.bin_edges": bin_edges(on),
        "results.size_effects": results.size_effects(),
    }
    return found | {name: _published(name, read_published(name)) for name in _KEYS_OF_PUBLISHED}


def _published(name: str, rows: pd.DataFrame) -> Table:
    return Table(rows, _KEYS_OF_PUBLISHED[name], {"": Origin((published_input(name),))})


def _has_models(evidence: Evidence) -> bool:
    """Whether there are models to judge, or recorded tables of them."""
    if evidence.given_votes is None or evidence.given_systems is None:
        return True
    if evidence.recordable:  # what was released on a dataset of the paper is the paper's
        return evidence.has_systems
    systems = (evidence.systems or ())[0]
    return bool(in_paper(systems)) or any(one.origin in ("trained", "yours") for one in systems)


@recorded(keys=("dataset", "bin"))
def bin_edges(votes: Votes) -> pd.DataFrame:
    """Return ends (bits) and number of items of the five entropy bins of Nie et al. (2020)."""
    bits = entropy(votes.shares, unit="bits")
    if len(votes) < 5:
        return pd.DataFrame(
            columns=["dataset", "bin", "entropy_low_bits", "entropy_high_bits", "n"]
        )
    bins = entropy_bins(bits, 5)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "bin": np.arange(1, len(bins.low) + 1),
            "entropy_low_bits": bins.low,
            "entropy_high_bits": bins.high,
            "n": np.bincount(bins.of_item),
        }
    )


@recorded(keys=("dataset", "bin", "system", "measure"))
def model_scores(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Score the models of Nie et al. (2020) on all items, ``bin`` 0, and in the five entropy bins.

    ``value`` of each measure of Table 5; without rows where their predictions are not available.
    """
    columns = ["dataset", "bin", "system", "measure", "value"]
    models = [one for one in systems if one.paper == "nie2020"]
    if not models:
        return pd.DataFrame(columns=columns).astype({"bin": int, "value": float})
    of_item = entropy_bins(entropy(votes.shares, unit="bits"), 5).of_item
    groups = {"0": np.ones(len(votes), dtype=bool)} | {f"{b + 1}": of_item == b for b in range(5)}
    found = resampled(votes, models, measures=TABLE_5, groups=groups, n_resamples=1, seed=0).values
    rows = [
        (votes.dataset.name, int(place), one.name, measure, float(found[b, s, m]))
        for (b, place), (s, one), (m, measure) in product(
            enumerate(groups), enumerate(models), enumerate(TABLE_5)
        )
    ]
    return pd.DataFrame(rows, columns=columns)
