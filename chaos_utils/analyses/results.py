"""Table 5 of Nie et al. (2020): every system's distance from humans, and its accuracy."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import Column, Row, number, signed, with_interval
from chaos_utils.scoring import systems as known
from chaos_utils.scoring.published import (
    TABLE_5,
    beside_published,
    published_models,
    published_scores,
)
from chaos_utils.scoring.references import CHANCE, PERFECT_MODEL, chance_scores
from chaos_utils.scoring.scores import available, score, wide
from chaos_utils.scoring.system import System

_KEYS = ("dataset", "system", "source")
_PAPER = ("nie2020_table5",)
_PAIRS = {"BERT": "bert", "XLNet": "xlnet", "RoBERTa": "roberta"}


@recorded(keys=_KEYS, published=_PAPER)
def main_results(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Set every row of Table 5, and those it lacks, in one table.

    A row per system and ``source`` (computed or published); its ``kind`` is chance, baseline, model
    or human. Each measure has a 95% interval, and ``published_…`` and ``difference_…`` (ours minus
    theirs) where the paper has the same row. Chance is two things in the paper: the uniform
    distribution for JSD and KL, and the share of the most frequent label for the accuracies.
    """
    baselines = []
    if votes.has_old_labels:
        baselines = [known.class_prior(votes, seed), known.original_votes(votes)]
        baselines.append(known.old_label(votes))
    names = available(votes, TABLE_5)
    of_chance = chance_scores(votes, names, n_resamples=n_resamples, seed=seed)
    everyone = [*baselines, *systems]
    of_all = score(votes, everyone, measures=names, n_resamples=n_resamples, seed=seed)
    scores = pd.concat([of_chance, of_all], ignore_index=True)
    both = beside_published(scores)
    table = wide(scores, "low", "high")
    for what in ("published", "difference"):
        values = both.pivot(index="system", columns="measure", values=what)
        table = table.merge(values.add_prefix(f"{what}_"), "left", on="system")
    table["kind"] = ["chance", *["baseline"] * len(baselines), *["model"] * len(systems)]
    table["source"] = "computed"
    published = published_scores()
    of_paper = published["dataset"] == votes.dataset.name
    theirs = wide(published[of_paper & (published["system"] != CHANCE)])
    theirs["source"] = "published"
    theirs["kind"] = np.where(theirs["system"] == "est-human", "human", "model")
    columns = ["dataset", "system", "source", "kind", "n_items"]
    for measure in TABLE_5:
        columns += [measure, f"{measure}_low", f"{measure}_high"]
        columns += [f"published_{measure}", f"difference_{measure}"]
    parts = [table, theirs] if len(theirs) else [table]
    return pd.concat(parts, ignore_index=True).reindex(columns=columns)


@derived(keys=("dataset", "measure"))
def better_than_chance(results: pd.DataFrame) -> pd.DataFrame:
    """Count, for each dataset, the published models nearer to humans than the uniform guess.

    From the rows of `main_results`. A dataset without published models is left out.
    """
    rows = []
    for dataset, group in results.groupby("dataset", sort=False):
        chance = group[group["kind"] == "chance"].iloc[0]
        models = group[(group["kind"] == "model") & (group["source"] == "published")]
        for measure in ("jsd", "kl") if len(models) else ():
            best = models.loc[models[measure].idxmin()]
            n_better = int((models[measure] < chance[measure]).sum())
            found = (best["system"], best[measure], chance[measure])
            rows.append((dataset, measure, len(models), n_better, *found))
    columns = ["dataset", "measure", "n_models", "n_better", "best", "best_value", "chance"]
    return pd.DataFrame(rows, columns=columns)


@derived(keys=("dataset", "family"), published=_PAPER)
def size_effects() -> pd.DataFrame:
    """Set each published large model beside its base model: changes are large minus base."""
    table = read_published("nie2020_table5").set_index(["dataset", "model"])
    rows = []
    for dataset in table.index.unique("dataset"):
        for family, name in _PAIRS.items():
            change = table.loc[(dataset, f"{name}-large")] - table.loc[(dataset, f"{name}-base")]
            row = {"dataset": dataset, "family": family}
            rows.append(row | {f"change_{measure}": change[measure] for measure in TABLE_5})
    return pd.DataFrame(rows)


@derived(keys=("dataset", "accuracy", "distance"), published=_PAPER)
def rank_correlations() -> pd.DataFrame:
    """Correlate the published models' ranks by accuracy with their ranks by distance.

    ``spearman`` is 1 when the more accurate model is always the *nearer* one, −1 when it is always
    the farther.
    """
    rows = []
    for dataset, group in published_models().groupby("dataset", sort=False):
        ranks = group[list(TABLE_5)].rank()
        for one, other in product(("old_accuracy", "new_accuracy"), ("jsd", "kl")):
            spearman = -np.corrcoef(ranks[one], ranks[other])[0, 1]
            rows.append((dataset, one, other, len(group), float(spearman)))
    return pd.DataFrame(rows, columns=["dataset", "accuracy", "distance", "n_models", "spearman"])


@derived(keys=("dataset", "system", "source", "measure"))
def drawn_results(results: pd.DataFrame, references: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure of all systems draws: one row per system and distance.

    From `main_results` and, as floor and ceiling, `reference_scores`. KL has no ceiling: where a
    crowd gives a label no vote, its cost is up to the floor that replaces 0.
    """
    parts = []
    for measure in ("jsd", "kl"):
        names = {measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
        part = results.rename(columns=names).assign(measure=measure)
        parts.append(part[["dataset", "system", "source", "kind", "measure", *names.values()]])
    kinds = np.where(references["system"] == PERFECT_MODEL, "floor", "ceiling")
    shown = references[["dataset", "measure", "value"]].assign(low=np.nan, high=np.nan)
    parts.append(shown.assign(system=kinds, kind=kinds, source="computed"))
    drawn = pd.concat(parts, ignore_index=True)
    return drawn.assign(system=drawn["system"].replace(SYSTEM_NAMES))


def _beside_paper(measure: str) -> Column:
    """Show a number with its interval, or beside the paper's where that has the same row."""

    def cell(row: Row) -> str:
        value = row[measure]
        if not pd.isna(row[f"published_{measure}"]):
            difference = signed(row[f"difference_{measure}"], 4)
            paper = number(row[f"published_{measure}"], 4)
            return f"{number(value, 4)} [paper {paper}, Δ {difference}]"
        if pd.isna(row[f"{measure}_low"]):
            return number(value, 4)
        return with_interval(value, row[f"{measure}_low"], row[f"{measure}_high"], 4)

    return Column(_HEADINGS[measure], cell)


_HEADINGS = {
    "jsd": "JSD",
    "kl": "KL",
    "old_accuracy": "old accuracy",
    "new_accuracy": "new accuracy",
}
COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "system", names=SYSTEM_NAMES),
    Column("source", "source"),
    *map(_beside_paper, TABLE_5),
]
