"""The tables that claims and published numbers point into: other chapters', and what none has."""

import pandas as pd

from chaos_utils.analyses import (
    agreement,
    annotations,
    calibration,
    claims_numbers,
    published_numbers,
    results,
)
from chaos_utils.analyses import error_distributions as errors
from chaos_utils.analyses.baan import in_paper, paper_datasets
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.base.table import Origin, Table
from chaos_utils.datasets.published.tables import published_input, read_published
from chaos_utils.scoring.published import published_models

OF_SYSTEMS = (  # these need predictions
    "calibration.human_calibration", "calibration.seed_means", "calibration.classwise_errors",
    "calibration.signed_entropy_errors", "calibration.temperature_choices",
    "claims_numbers.gains", "claims_numbers.least_ece", "claims_numbers.system_numbers",
    "error_distributions.released_draw", "results.models_against_guesses", "results.size_effects",
)  # fmt: skip
_KEYS_OF_PUBLISHED = {
    "nie2020_table2": ("dataset",),
    "nie2020_table5": ("dataset", "model"),
    "nie2020_entropy_bins": ("dataset", "model", "bin"),
}
TABLES = (
    *OF_SYSTEMS, *_KEYS_OF_PUBLISHED, "published_models", "agreement.binned_scores",
    "annotations.agreement", "annotations.data_statistics", "annotations.label_counts",
    "claims_numbers.vote_numbers", "claims_numbers.bin_changes", "claims_numbers.largest_jsd",
    "published_numbers.published_beside_ours", "results.main_results",
    "results.rank_correlations",
)  # fmt: skip
_SEED = 0  # of other chapters, as are these
_RESAMPLES, _COMPARISONS = 2000, 100_000
_OF_BINS = {"n_bins": 5, "n_resamples": 50_000}


def tables(
    on: AnalysisInputs, everyone: AnalysisInputs, *, n_resamples: int, seed: int
) -> dict[str, Table]:
    """Return `TABLES` by name, each without rows where what it needs is not available.

    `on` is the evidence on the datasets of claims. `everyone` has the models that this project
    trained too, as other chapters have; pools of its datasets are scored in bins as well.
    """
    drawn = {"n_resamples": n_resamples, "seed": seed}
    both = [one for one in everyone if one.name in paper_datasets() and _has_models(one)]
    own = [one for one in both if one.name == paper_datasets()[0]]
    names = {one.name for one in on if not _has_few(one, _OF_BINS["n_bins"])}
    shown = [one for one in everyone if one.name in names]
    pools = [one for one in everyone.pooled() if names.issuperset(one.name.split("+"))]
    usual = {"n_resamples": _RESAMPLES, "seed": _SEED}
    compared = {"n_resamples": _COMPARISONS, "seed": _SEED}
    table_1 = calibration.human_calibration(both)
    found = {
        "calibration.human_calibration": table_1,
        "calibration.seed_means": calibration.seed_means(table_1) if len(table_1) else table_1,
        "calibration.classwise_errors": calibration.classwise_errors(own),
        "calibration.signed_entropy_errors": calibration.signed_entropy_errors(both),
        "calibration.temperature_choices": calibration.temperature_choices(own),
        "claims_numbers.gains": claims_numbers.gains(on, **drawn),
        "claims_numbers.least_ece": claims_numbers.least_ece(calibration.ece_by_temperature(own)),
        "claims_numbers.system_numbers": claims_numbers.system_numbers(on, **drawn),
        "error_distributions.released_draw": errors.released_draw(own),
        "published_models": _published("nie2020_table5", published_models()),
        "agreement.binned_scores": agreement.binned_scores(
            [*shown, *pools], **_OF_BINS, seed=_SEED
        ),
        "annotations.agreement": annotations.agreement(on, **usual),
        "annotations.data_statistics": annotations.data_statistics(on.with_part("old labels")),
        "annotations.label_counts": annotations.label_counts(on),
        "claims_numbers.vote_numbers": claims_numbers.vote_numbers(on, **drawn),
        "claims_numbers.bin_changes": claims_numbers.bin_changes(),
        "claims_numbers.largest_jsd": claims_numbers.largest_jsd(),
        "results.main_results": results.main_results(shown, **usual),
        "results.rank_correlations": results.rank_correlations(),
        "results.models_against_guesses": results.models_against_guesses(shown, **compared),
        "results.size_effects": results.size_effects(shown, **compared),
    }
    found |= {name: _published(name, read_published(name)) for name in _KEYS_OF_PUBLISHED}
    beside = published_numbers.published_beside_ours(same_votes=on.released, **found)
    return found | {"published_numbers.published_beside_ours": beside}


def _published(name: str, rows: pd.DataFrame) -> Table:
    return Table(rows, _KEYS_OF_PUBLISHED[name], {"": Origin((published_input(name),))})


def _has_models(evidence: DatasetInputs) -> bool:
    """Whether there are models to judge, or recorded tables of them."""
    if evidence.given_votes is None or evidence.given_systems is None:
        return True
    if evidence.recordable:  # what was released on a dataset of the paper is the paper's
        return evidence.has_systems
    systems = (evidence.systems or ())[0]
    return bool(in_paper(systems)) or any(one.origin in ("trained", "yours") for one in systems)


def _has_few(one: DatasetInputs, n_bins: int) -> bool:
    """Whether a reader's own votes are on fewer items than there are bins."""
    return one.own and one.votes is not None and sum(map(len, one.votes)) < n_bins
