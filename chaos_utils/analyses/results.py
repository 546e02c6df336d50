"""Table 5 of Nie et al. (2020): every system's distance from humans, and what it is worth."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.metrics.signals import contested, contested_auroc, entropy_correlation
from chaos_utils.report.columns import MISSING, Column, Row, published_beside
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import systems as known
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.published import (
    TABLE_5,
    beside_published,
    published_models,
    published_scores,
)
from chaos_utils.scoring.references import CHANCE, PERFECT_MODEL, chance_scores
from chaos_utils.scoring.scores import as_scores, available, score, wide
from chaos_utils.scoring.seeds import families_of, score_over_seeds
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
_KEYS = ("dataset", "system", "source")
_PAPER = ("nie2020_table5",)
FIVE_PEOPLE, OLD_LABEL = "five people", "mean vote given the old label"
_FEW = 5
_ROW_NAMES = {
    "floor": "perfect model",
    "ceiling": "second crowd",
    "chance": "uniform guess",
}
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
    ``people`` says in words how many people a computed system is worth by the squared distance.
    Systems that differ in their seed alone have a row of their mean too, with an interval for other
    seeds and items (see `score_over_seeds`), and their number in ``n_seeds``.
    """
    even, *baselines = known.baselines(votes, seed)
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
    several = [replace(even, name=CHANCE), *everyone]
    worth = worths.in_words(votes, several, seed=seed) if votes.n_votes.min() > 1 else {}
    for name in ("people", "people_trusted"):
        table[name] = table["system"].map({system: of.get(name) for system, of in worth.items()})
    table["kind"] = ["chance", *["baseline"] * len(baselines), *["model"] * len(systems)]
    table = pd.concat([table, _means_over_seeds(votes, systems, names, n_resamples, seed)])
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
    columns += ["people", "people_trusted", "n_seeds"]
    parts = [table, theirs] if len(theirs) else [table]
    found = pd.concat(parts, ignore_index=True).reindex(columns=columns)
    return found.astype({"n_seeds": "Int64"})


def _means_over_seeds(
    votes: Votes, systems: Sequence[System], names: Sequence[str], n_resamples: int, seed: int
) -> pd.DataFrame:
    """Return a row for each family of several seeds that cover the same items."""
    several: list[System] = []
    for places in families_of(systems).values():
        family = [systems[place] for place in places]
        if len(family) > 1 and len({one.uids for one in family}) == 1:
            several += family
    if not several or n_resamples < 2:
        return pd.DataFrame()
    scores = score_over_seeds(votes, several, measures=names, n_resamples=n_resamples, seed=seed)
    found = wide(as_scores(scores.to_dict("records")), "low", "high")
    counts = scores.drop_duplicates("system").set_index("system")["n_seeds"]
    return found.assign(kind="model", n_seeds=found["system"].map(counts))


@derived(keys=("dataset", "system", "measure"))
def baselines_against_models(results: pd.DataFrame) -> pd.DataFrame:
    """Count the published models that are farther from humans than each baseline.

    From the rows of `main_results`. ``n_beaten`` compares values at the four decimals of the paper;
    ``n_beyond`` counts those beyond the upper end of the baseline's interval. Of most published
    models there are no predictions, so there is no paired interval of a difference. A dataset
    without published models is left out.
    """
    rows = []
    for dataset, group in results.groupby("dataset", sort=False):
        models = group[(group["kind"] == "model") & (group["source"] == "published")]
        baselines = group[group["kind"].isin(["chance", "baseline"])] if len(models) else models
        for row, measure in product(baselines.to_dict("records"), ("jsd", "kl")):
            value, high = row[measure], row[f"{measure}_high"]
            n_beaten = int((models[measure] > round(value, 4)).sum())
            n_beyond = int((models[measure] > high).sum())
            counts = (len(models), n_beaten, n_beyond)
            rows.append((dataset, row["system"], measure, value, high, *counts))
    columns = ["dataset", "system", "measure", "value", "high", "n_models", "n_beaten", "n_beyond"]
    return pd.DataFrame(rows, columns=columns)


def counts_beside(against: pd.DataFrame) -> pd.DataFrame:
    """Set the datasets of `baselines_against_models` side by side, by JSD: "9 of 9"."""
    jsd = against[against["measure"] == "jsd"]
    cells = jsd["n_beaten"].astype(str) + " of " + jsd["n_models"].astype(str)
    order = list(dict.fromkeys(jsd["dataset"]))
    beside = jsd.assign(cell=cells).pivot(index="system", columns="dataset", values="cell")
    systems = list(dict.fromkeys(jsd["system"]))
    return beside.reindex(index=systems, columns=order).reset_index().fillna(MISSING)


@recorded(keys=("dataset", "system", "measure"))
def human_equivalents(
    votes: Votes,
    systems: Sequence[System],
    *,
    n_draws: int,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Say what each system is worth in people, and as how many drawn people it does.

    A row for each baseline and system, and measure: ``dataset``, ``system``, ``family``, ``kind``
    (baseline, model), ``n_items``, ``measure`` (those of `worth` and of drawn crowds),
    ``n_judges``, ``credibility`` (k₀: k people have the skill k / (k + k₀)), ``value``, ``low``,
    ``high``, ``text``, ``note``. A system that was made from these votes has no value, and a
    ``note`` that says so. Empty where an item has a single vote.
    """
    columns = ["dataset", "system", "family", "kind", "n_items", "measure"]
    columns += ["n_judges", "credibility", "value", "low", "high", "text", "note"]
    if votes.n_votes.min() < 2:
        return pd.DataFrame(columns=columns)
    crowds = people.Crowds(votes, n_draws=n_draws, seed=seed)
    everyone = [("baseline", one) for one in known.baselines(votes, seed)]
    everyone += [("model", one) for one in systems]
    rows = []
    for kind, system in everyone:
        reason = people.refusal(votes, system)
        found: list[dict[str, object]] = []
        if not reason:
            worth = worths.worth(votes, system, n_resamples=n_resamples, seed=seed)
            rows_of = worths.rows_of([(system, worth)])
            found = [row | {"credibility": worth.credibility} for row in rows_of]
            drawn = crowds.equivalents(system, n_resamples=n_resamples)
            found += people.as_rows((system, one) for one in drawn)
        common: dict[str, object] = {"dataset": votes.dataset.name, "system": system.name}
        common |= {"family": system.family, "kind": kind}
        common["note"] = reason or "; ".join(system.notes)
        for name in (*worths.NAMES, *people.NAMES) if reason else ():
            rows.append(common | {"measure": name, "text": "", "n_items": 0})
        rows += [row | common for row in found]
    table = pd.DataFrame(rows).reindex(columns=columns)
    numbers = dict.fromkeys(("credibility", "value", "low", "high"), float)
    return table.astype({"n_judges": "Int64"} | numbers)


def equivalents_beside(equivalents: pd.DataFrame) -> pd.DataFrame:
    """Set the measures of `human_equivalents` side by side; a note where there is no value."""
    index = ["dataset", "system", "kind", "note"]
    text = equivalents["text"].where(equivalents["text"] != "", equivalents["note"])
    wide = equivalents.assign(text=text).pivot(index=index, columns="measure", values="text")
    order = equivalents[index].drop_duplicates()
    return order.merge(wide.reset_index(), "left", index)


@derived(keys=("dataset", "system", "trusted"))
def drawn_skill(equivalents: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure draws of `human_equivalents`: skill, as it is and ``trusted``.

    ``label`` is that of the system's row in the figure; ``skill``, ``low`` and ``high`` are at most
    1. Where skill is undefined, there is no row.
    """
    rows = equivalents[equivalents["measure"].isin((worths.SKILL, worths.SKILL_TRUSTED))]
    rows = rows[np.isfinite(rows["value"])]
    drawn = rows.rename(columns={"value": "skill"}).assign(label=_row_labels(rows))
    drawn["trusted"] = drawn["measure"] == worths.SKILL_TRUSTED
    columns = ["dataset", "kind", "label", "system", "trusted", "skill", "low", "high"]
    return drawn[[*columns, "credibility"]]


def _row_labels(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return how a figure calls the row of each system: seeds of a model share theirs."""
    bare = rows["system"].str.replace(r", seed \d+$", "", regex=True)
    alike = ["dataset", "source", bare] if "source" in rows else ["dataset", bare]
    n_seeds = rows.groupby(alike)["system"].transform("nunique")
    several = bare + ", " + n_seeds.astype(str) + " seeds"
    names = rows["system"].replace(SYSTEM_NAMES | _ROW_NAMES)
    return several.where(n_seeds > 1, names)


@recorded(keys=("dataset", "system"))
def disagreement_signal(
    votes: Votes, systems: Sequence[System], *, majority_below: float, seed: int
) -> pd.DataFrame:
    """Say how well each system's entropy shows on which items people disagree.

    A row for five of the people, judged by all others, where each item has twice as many votes;
    for the baselines that say different things of different items; and for each system:
    ``dataset``, ``system``, ``family``, ``kind`` (people, baseline, model), ``n_items``,
    ``n_contested`` (items whose most frequent label has less than `majority_below` of the votes),
    ``spearman`` and ``auroc``, each with ``_low`` and ``_high`` for other items. `seed` is that of
    the draw. Empty without systems.
    """
    names = ("spearman", "auroc")
    columns = ["dataset", "system", "family", "kind", "n_items", "n_contested"]
    columns += [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    if not systems:
        return pd.DataFrame(columns=columns)
    pairs: list[tuple[str, str, str, Floats, Floats]] = []
    if votes.n_votes.min() >= 2 * _FEW:
        rng = np.random.default_rng([seed, 3])
        few, others = split_votes(votes.counts, (_FEW,), rng)
        shares = others / others.sum(axis=1, keepdims=True)
        pairs.append(("people", FIVE_PEOPLE, FIVE_PEOPLE, shares, few / _FEW))
    if votes.has_old_labels:
        # One distribution for each label, from all items: out of fold, the fold alone would order
        # the items of a label, and against their votes.
        model = np.empty_like(votes.shares)
        for label in np.unique(votes.old_label):
            model[votes.old_label == label] = votes.shares[votes.old_label == label].mean(axis=0)
        pairs.append(("baseline", OLD_LABEL, OLD_LABEL, votes.shares, model))
    several = [known.original_votes(votes)] if votes.has_old_votes else []
    for kind, group in (("baseline", several), ("model", systems)):
        for one in group:
            judged = one.aligned_to(votes)
            pairs.append((kind, one.name, one.family, judged.human, judged.model))
    rows = []
    for kind, system, family, human, model in pairs:
        n_contested = int(contested(human, majority_below=majority_below).sum())
        row: dict[str, object] = {"dataset": votes.dataset.name, "system": system}
        row |= {"family": family, "kind": kind, "n_items": len(human), "n_contested": n_contested}
        found = (
            entropy_correlation(human, model),
            contested_auroc(human, model, majority_below=majority_below),
        )
        for name, signal in zip(names, found, strict=True):
            row |= {name: signal.value, f"{name}_low": signal.low, f"{name}_high": signal.high}
        rows.append(row)
    return pd.DataFrame(rows, columns=columns)


@derived(keys=("dataset", "family"), published=_PAPER)
def size_effects() -> pd.DataFrame:
    """Set each published large model beside its base model: changes are large minus base.

    ``nearer`` says whether the large one has the lower JSD, ``more_accurate`` the higher new
    accuracy.
    """
    table = read_published("nie2020_table5").set_index(["dataset", "model"])
    rows = []
    for dataset in table.index.unique("dataset"):
        for family, name in _PAIRS.items():
            change = table.loc[(dataset, f"{name}-large")] - table.loc[(dataset, f"{name}-base")]
            row = {"dataset": dataset, "family": family}
            row |= {f"change_{measure}": change[measure] for measure in TABLE_5}
            row |= {"nearer": change["jsd"] < 0, "more_accurate": change["new_accuracy"] > 0}
            rows.append(row)
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

    From `main_results` and, as floor (a perfect model) and ceiling (a second crowd),
    `reference_scores`. KL has no ceiling: where a crowd gives a label no vote, its cost is up to
    the floor that replaces 0. Means over seeds are left out; ``label`` is that of the row which
    the seeds of a model share.
    """
    parts = []
    for measure in ("jsd", "kl"):
        names = {measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
        part = results[results["n_seeds"].isna()].rename(columns=names).assign(measure=measure)
        parts.append(part[["dataset", "system", "source", "kind", "measure", *names.values()]])
    kinds = np.where(references["system"] == PERFECT_MODEL, "floor", "ceiling")
    shown = references[["dataset", "measure", "value"]].assign(low=np.nan, high=np.nan)
    parts.append(shown.assign(system=kinds, kind=kinds, source="computed"))
    drawn = pd.concat(parts, ignore_index=True)
    drawn.insert(2, "label", _row_labels(drawn))
    return drawn.assign(system=drawn["system"].replace(SYSTEM_NAMES))


@derived(keys=("dataset", "system", "source", "measure"))
def beside_published_models(drawn: pd.DataFrame, *, dataset: str) -> pd.DataFrame:
    """Return the JSD of a dataset's published models beside that of people and guesses."""
    rows = drawn[(drawn["dataset"] == dataset) & (drawn["measure"] == "jsd")]
    models = (rows["kind"] == "model") & (rows["source"] == "published")
    guesses = ("original votes", "mean vote given the old label")
    others = rows["kind"].isin(["ceiling", "chance"]) | rows["system"].isin(guesses)
    return rows[models | others] if models.any() else rows[models]


_KIND_ORDER = ("chance", "human", "baseline", "model")


def shown_results(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `main_results` that the table shows, each kind sorted by JSD.

    A mean of two seeds is left out: its interval for other seeds says nothing.
    """
    known = results[results["n_seeds"].fillna(3) > 2]
    places = known.assign(
        of_dataset=known["dataset"].map(
            {name: k for k, name in enumerate(known["dataset"].unique())}
        ),
        of_kind=known["kind"].map(_KIND_ORDER.index),
    )
    order = places.sort_values(["of_dataset", "of_kind", "jsd"], kind="stable")
    return known.loc[order.index]


@derived(keys=("dataset", "measure"))
def chance_beside_published(results: pd.DataFrame) -> pd.DataFrame:
    """Set the chance rows of `main_results` beside the paper's, where it has them."""
    chance = results[results["kind"] == "chance"]
    rows = [
        (row["dataset"], measure, row[measure], row[f"published_{measure}"],
         row[f"difference_{measure}"])
        for row in chance.to_dict("records")
        for measure in TABLE_5
        if not pd.isna(row[f"published_{measure}"])
    ]  # fmt: skip
    columns = ["dataset", "measure", "value", "published_value", "difference_value"]
    return pd.DataFrame(rows, columns=columns)


_HEADINGS = {
    "jsd": "JSD",
    "kl": "KL",
    "old_accuracy": "old accuracy",
    "new_accuracy": "new accuracy",
}


def _measured(measure: str, best: Literal["", "lowest", "highest"]) -> Column:
    ends = (f"{measure}_low", f"{measure}_high")
    if measure.endswith("accuracy"):
        return Column(f"{_HEADINGS[measure]} (%)", measure, 1, *ends, percent=True, best=best)
    return Column(_HEADINGS[measure], measure, 3, *ends, best=best)


COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "system", names=SYSTEM_NAMES),
    Column("from", "source", names={"computed": "here", "published": "paper"}),
    _measured("jsd", "lowest"),
    _measured("kl", "lowest"),
    _measured("old_accuracy", ""),
    _measured("new_accuracy", "highest"),
    Column("worth in people", "people"),
    Column("trusted", "people_trusted"),
]
CHANCE_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("measure", "measure", names=_HEADINGS),
    *published_beside("chance", "value", 4),
]
SIZE_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("family", "family"),
    Column("JSD", "change_jsd", 3, signed=True),
    Column("KL", "change_kl", 3, signed=True),
    Column("old accuracy (points)", "change_old_accuracy", 1, signed=True, percent=True),
    Column("new accuracy (points)", "change_new_accuracy", 1, signed=True, percent=True),
]
RANK_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("distance", "distance", names=_HEADINGS),
    Column("Spearman", "spearman", 2, signed=True),
]


def equivalent_columns(equivalents: pd.DataFrame) -> list[Column]:
    """Return how `equivalents_beside` is shown; how many votes judge stands in the headings."""
    judges = equivalents["n_judges"].dropna().unique()
    by = f"m = {judges[0]}" if len(judges) == 1 else "half the crowd judges"
    return [
        Column("dataset", "dataset", names=dataset_name),
        Column("system", "system", names=SYSTEM_NAMES | _ROW_NAMES),
        Column("worth", worths.PEOPLE),
        Column("worth, trusted", worths.PEOPLE_TRUSTED),
        Column("pooled, squared distance", worths.POOLED),
        Column(f"TVD, {by}", people.TVD),
        Column(f"JSD, {by}", people.JSD),
    ]


SIGNAL_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "system", names=SYSTEM_NAMES),
    Column("Spearman", "spearman", 2, "spearman_low", "spearman_high", best="highest"),
    Column("AUROC", "auroc", 2, "auroc_low", "auroc_high", best="highest"),
]


def count_columns(beside: pd.DataFrame) -> list[Column]:
    """Return how `counts_beside` is shown: a column for each dataset, bold where all are beaten."""
    names = [name for name in beside.columns if name != "system"]
    columns = [Column(dataset_name(name), name, bold=partial(_all, name)) for name in names]
    return [Column("guess", "system", names=_ROW_NAMES), *columns]


def _all(name: str, row: Row) -> bool:
    n_beaten, _, n_models = str(row[name]).partition(" of ")
    return n_beaten == n_models
