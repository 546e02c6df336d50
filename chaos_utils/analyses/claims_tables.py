"""The tables with the numbers of claims: those of other chapters, and some of claims alone."""

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
from chaos_utils.analyses.baan import paper_datasets, paper_systems
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.base.table import Origin, Table
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.recorded import published_input
from chaos_utils.scoring.published import published_models

SYSTEM_TABLES = (  # these need predictions
    "calibration.human_calibration", "calibration.seed_means", "calibration.classwise_errors",
    "calibration.signed_entropy_errors", "calibration.temperature_choices",
    "claims_numbers.gains", "claims_numbers.least_ece", "claims_numbers.system_numbers",
    "error_distributions.released_draw", "results.models_against_guesses", "results.size_effects",
)  # fmt: skip
_PUBLISHED_KEYS = {
    "nie2020_table2": ("dataset",),
    "nie2020_table5": ("dataset", "model"),
    "nie2020_entropy_bins": ("dataset", "model", "bin"),
}
TABLES = (
    *SYSTEM_TABLES, *_PUBLISHED_KEYS, "published_models", "agreement.binned_scores",
    "annotations.agreement", "annotations.data_statistics", "annotations.label_counts",
    "claims_numbers.vote_numbers", "claims_numbers.bin_changes", "claims_numbers.largest_jsd",
    "published_numbers.published_beside_ours", "results.main_results",
    "results.rank_correlations",
)  # fmt: skip
# The defaults of other chapters, so that their tables are not computed twice.
_SEED = 0
_RESAMPLES, COMPARISONS = 2000, 100_000
_BIN_PARAMETERS = {"n_bins": 5, "n_resamples": 50_000}


def tables(
    inputs: AnalysisInputs, with_trained: AnalysisInputs, *, n_resamples: int, seed: int
) -> dict[str, Table]:
    """Return `TABLES` by name, each without rows where what it needs is not available.

    `inputs` are those on the datasets of claims. `with_trained` also have the models that this
    project trained, as in other chapters; pools of these datasets are scored in bins, too.
    """
    bootstrap = {"n_resamples": n_resamples, "seed": seed}
    names = paper_datasets()
    paper_inputs = [part for part in with_trained if part.name in names and _has_models(part)]
    first_dataset = [part for part in paper_inputs if part.name == names[0]]
    n_bins = _BIN_PARAMETERS["n_bins"]
    binned = {part.name for part in inputs if not _has_few_items(part, n_bins)}
    binned_inputs = [part for part in with_trained if part.name in binned]
    pools = [pool for pool in with_trained.pooled() if binned.issuperset(pool.name.split("+"))]
    chapter_bootstrap = {"n_resamples": _RESAMPLES, "seed": _SEED}
    comparison_bootstrap = {"n_resamples": COMPARISONS, "seed": _SEED}
    table_1 = calibration.human_calibration(paper_inputs)
    chapter_tables = {
        "calibration.human_calibration": table_1,
        "calibration.seed_means": calibration.seed_means(table_1) if len(table_1) else table_1,
        "calibration.classwise_errors": calibration.classwise_errors(first_dataset),
        "calibration.signed_entropy_errors": calibration.signed_entropy_errors(paper_inputs),
        "calibration.temperature_choices": calibration.temperature_choices(first_dataset),
        "claims_numbers.gains": claims_numbers.gains(inputs, **bootstrap),
        "claims_numbers.least_ece": claims_numbers.least_ece(
            calibration.ece_by_temperature(first_dataset)
        ),
        "claims_numbers.system_numbers": claims_numbers.system_numbers(inputs, **bootstrap),
        "error_distributions.released_draw": errors.released_draw(first_dataset),
        "published_models": _published("nie2020_table5", published_models()),
        "agreement.binned_scores": agreement.binned_scores(
            [*binned_inputs, *pools], **_BIN_PARAMETERS, seed=_SEED
        ),
        "annotations.agreement": annotations.agreement(inputs, **chapter_bootstrap),
        "annotations.data_statistics": annotations.data_statistics(inputs.with_part("old labels")),
        "annotations.label_counts": annotations.label_counts(inputs),
        "claims_numbers.vote_numbers": claims_numbers.vote_numbers(inputs, **bootstrap),
        "claims_numbers.bin_changes": claims_numbers.bin_changes(),
        "claims_numbers.largest_jsd": claims_numbers.largest_jsd(),
        "results.main_results": results.main_results(binned_inputs, **chapter_bootstrap),
        "results.rank_correlations": results.rank_correlations(),
        "results.models_against_guesses": results.models_against_guesses(
            binned_inputs, **comparison_bootstrap
        ),
        "results.size_effects": results.size_effects(binned_inputs, **comparison_bootstrap),
    }
    chapter_tables |= {name: _published(name, read_published(name)) for name in _PUBLISHED_KEYS}
    beside = published_numbers.published_beside_ours(same_votes=inputs.released, **chapter_tables)
    return chapter_tables | {"published_numbers.published_beside_ours": beside}


def _published(name: str, rows: pd.DataFrame) -> Table:
    return Table(rows, _PUBLISHED_KEYS[name], {"": Origin((published_input(name),))})


def _has_models(inputs: DatasetInputs) -> bool:
    """Whether there are models to judge, or recorded tables of them."""
    if inputs.given_votes is None or inputs.given_systems is None:
        return True
    if inputs.recordable:  # what was released on a dataset of the paper is the paper's
        return inputs.has_systems
    systems = (inputs.systems or ())[0]
    return bool(paper_systems(systems)) or any(
        system.origin in ("trained", "yours") for system in systems
    )


def _has_few_items(inputs: DatasetInputs, n_bins: int) -> bool:
    """Whether a reader's own votes are on fewer items than there are bins."""
    return inputs.own and inputs.votes is not None and sum(map(len, inputs.votes)) < n_bins
