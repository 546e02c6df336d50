"""Table 5 of Nie et al. (2020): every system's distance from humans, and its accuracy."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring import systems
from chaos_utils.scoring.published import TABLE_5, beside_published, published_scores
from chaos_utils.scoring.references import CHANCE, PERFECT_MODEL, References, chance_scores
from chaos_utils.scoring.scores import available, score, wide
from chaos_utils.scoring.system import System

_PAIRS = {"BERT": "bert", "XLNet": "xlnet", "RoBERTa": "roberta"}


def main_results(
    all_votes: Sequence[Votes],
    models: Sequence[Sequence[System]],
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Set every row of Table 5, and those it lacks, in one table.

    Parameters
    ----------
    all_votes : sequence of Votes
        The datasets.
    models : sequence of sequences of System
        The systems on each of them.
    n_resamples : int
        Bootstrap resamples of the items, for the intervals of computed rows.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        One row per dataset and system: ``dataset``, ``system``, ``source`` (computed or
        published), ``kind`` (chance, baseline, model, human), ``n_items``, the four
        measures, each with ``…_low`` and ``…_high`` (95%), ``published_…`` and
        ``difference_…`` where the paper has the same row.

    Notes
    -----
    Chance is two things in the paper: the uniform distribution for JSD and KL, and the
    share of the most frequent label for the accuracies.
    """
    published = published_scores()
    parts = []
    for votes, chosen in zip(all_votes, models, strict=True):
        baselines = []
        if votes.has_old_labels:
            baselines = [systems.class_prior(votes, seed), systems.original_votes(votes)]
            baselines.append(systems.old_label(votes))
        names = available(votes, TABLE_5)
        scores = score(
            votes, [*baselines, *chosen], measures=names, n_resamples=n_resamples, seed=seed
        )
        scores = pd.concat(
            [chance_scores(votes, names, n_resamples=n_resamples, seed=seed), scores],
            ignore_index=True,
        )
        both = beside_published(scores)
        table = wide(scores, "low", "high")
        for what in ("published", "difference"):
            values = both.pivot(index="system", columns="measure", values=what)
            table = table.merge(values.add_prefix(f"{what}_"), "left", on="system")
        table["kind"] = ["chance", *["baseline"] * len(baselines), *["model"] * len(chosen)]
        table["source"] = "computed"
        of_paper = published["dataset"] == votes.dataset.name
        theirs = wide(published[of_paper & (published["system"] != CHANCE)])
        theirs["source"] = "published"
        theirs["kind"] = np.where(theirs["system"] == "est-human", "human", "model")
        parts += [table, theirs] if len(theirs) else [table]
    columns = ["dataset", "system", "source", "kind", "n_items"]
    for measure in TABLE_5:
        columns += [measure, f"{measure}_low", f"{measure}_high"]
        columns += [f"published_{measure}", f"difference_{measure}"]
    return pd.concat(parts, ignore_index=True).reindex(columns=columns)


def better_than_chance(results: pd.DataFrame) -> pd.DataFrame:
    """Count, for each dataset, the published models nearer to humans than the uniform guess.

    A dataset without published models is left out.

    Parameters
    ----------
    results : DataFrame
        As `main_results` gives it.

    Returns
    -------
    DataFrame
        ``dataset``, ``measure`` (jsd, kl), ``n_models``, ``n_better``, ``best``,
        ``best_value``, ``chance``.
    """
    rows = []
    for dataset, group in results.groupby("dataset", sort=False):
        chance = group[group["kind"] == "chance"].iloc[0]
        models = group[(group["kind"] == "model") & (group["source"] == "published")]
        for measure in ("jsd", "kl") if len(models) else ():
            best = models.loc[models[measure].idxmin()]
            rows.append(
                {
                    "dataset": dataset,
                    "measure": measure,
                    "n_models": len(models),
                    "n_better": int((models[measure] < chance[measure]).sum()),
                    "best": best["system"],
                    "best_value": best[measure],
                    "chance": chance[measure],
                }
            )
    columns = ["dataset", "measure", "n_models", "n_better", "best", "best_value", "chance"]
    return pd.DataFrame(rows, columns=columns)


def size_effects() -> pd.DataFrame:
    """Set each published large model beside its base model.

    Returns
    -------
    DataFrame
        ``dataset``, ``family``, and for each measure ``change_…``: large minus base.
    """
    table = read_published("nie2020_table5").set_index(["dataset", "model"])
    rows = []
    for dataset in table.index.unique("dataset"):
        for family, name in _PAIRS.items():
            change = table.loc[(dataset, f"{name}-large")] - table.loc[(dataset, f"{name}-base")]
            row = {"dataset": dataset, "family": family}
            rows.append(row | {f"change_{measure}": change[measure] for measure in TABLE_5})
    return pd.DataFrame(rows)


def rank_correlations() -> pd.DataFrame:
    """Correlate the published models' ranks by accuracy with their ranks by distance.

    Returns
    -------
    DataFrame
        ``dataset``, ``accuracy`` (old or new), ``distance`` (jsd, kl), ``n_models``,
        ``spearman``: 1 when the more accurate model is always the *nearer* one, −1 when
        it is always the farther.
    """
    table = read_published("nie2020_table5")
    models = table[~table["model"].isin(["chance", "est-human"])]
    rows = []
    for dataset, group in models.groupby("dataset", sort=False):
        ranks = group[list(TABLE_5)].rank()
        for accuracy in ("old_accuracy", "new_accuracy"):
            for distance in ("jsd", "kl"):
                spearman = -np.corrcoef(ranks[accuracy], ranks[distance])[0, 1]
                rows.append(
                    {
                        "dataset": dataset,
                        "accuracy": accuracy,
                        "distance": distance,
                        "n_models": len(group),
                        "spearman": float(spearman),
                    }
                )
    return pd.DataFrame(rows)


def drawn_results(results: pd.DataFrame, all_votes: Sequence[Votes], seed: int) -> pd.DataFrame:
    """Return what the figure of all systems draws: one row per system and distance.

    Parameters
    ----------
    results : DataFrame
        As `main_results` gives it.
    all_votes : sequence of Votes
        The datasets, for their noise floor and ceiling.
    seed : int
        As for `References`.

    Returns
    -------
    DataFrame
        ``dataset``, ``system``, ``source``, ``kind``, ``measure`` (jsd, kl), ``value``,
        ``low``, ``high``; `kind` is floor or ceiling for those rows. KL has no ceiling:
        where a crowd gives a label no vote, its cost is up to the floor that replaces 0.
    """
    parts = []
    for measure in ("jsd", "kl"):
        names = {measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
        part = results.rename(columns=names).assign(measure=measure)
        parts.append(part[["dataset", "system", "source", "kind", "measure", *names.values()]])
    for votes in all_votes:
        rows = References(votes, seed=seed).scores(("jsd", "kl"))
        kinds = np.where(rows["system"] == PERFECT_MODEL, "floor", "ceiling")
        shown = rows[["dataset", "measure", "value", "low", "high"]]
        parts.append(shown.assign(system=kinds, kind=kinds, source="computed"))
    return pd.concat(parts, ignore_index=True)
