"""Table 5 of Nie et al. (2020): every system's distance from humans, and what it is worth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, spearmanr

from chaos_utils.analyses.names import SYSTEM, in_words
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import released, short_of
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats, jensen_shannon_distance, total_variation
from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.metrics.resampling import bootstrap_means, holm, percentile_interval, split_votes
from chaos_utils.metrics.signals import contested, contested_auroc, entropy_correlation
from chaos_utils.plots.columns import DATASET, p_value
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, Row, with_ends
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import systems as known
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.evaluate import IN_PEOPLE, evaluate_systems
from chaos_utils.scoring.published import (
    TABLE_5,
    published_models,
    published_scores,
)
from chaos_utils.scoring.recalibration import recalibrated, too_few_to_recalibrate
from chaos_utils.scoring.references import (
    CHANCE,
    PERFECT_MODEL,
    SECOND_CROWD,
    References,
    chance_scores,
)
from chaos_utils.scoring.scores import EvaluationRequest, as_scores, available, score, wide
from chaos_utils.scoring.seeds import families_of, score_over_seeds
from chaos_utils.scoring.system import System, votes_of

_KEYS = ("dataset", "system", "source")
_MEASURES = TABLE_5  # of the main table; `COLUMNS` says how each is shown
_DISTANCES = ("jsd", "kl", "dist_ce", "brier")  # by which models are set beside guesses
_PAPER = ("nie2020_table5",)
ONE_PERSON, FIVE_PEOPLE, OLD_LABEL = "one person", "five people", "mean vote given the old label"
AS_IT_IS, RECALIBRATED = "as it is", "recalibrated"
_N_PEOPLE, _N_DRAWS = 5, 100
_RANKS, _RANKINGS = ["rank_best", "rank_worst", "rank_margin"], 10_000  # resamples
LEVEL = 0.05  # of tests
_ROW_NAMES = {"chance": "uniform guess"}
_NOT_DRAWN = ("uniform guess", "class prior", "base rate", "old label")  # see `drawn_worth`
_PAIRS = {"BERT": "bert", "XLNet": "xlnet", "RoBERTa": "roberta"}


@cached_analysis(keys=_KEYS, published=_PAPER)
def main_results(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Return the rows of Table 5, as published and as computed, with the other systems.

    * ``kind``: chance, baseline, model or human. In the paper, chance is the uniform distribution
      for JSD and KL, and the share of the most frequent label for the accuracies;
    * ``n_seeds``: the number of systems that differ in their seed alone, in a row for their mean,
      whose interval is for other seeds and items; missing in other rows;
    * ``rank_best``, ``rank_worst``: the ranks by JSD that a model that covers all items may have,
      for all of these at once; ``rank_margin``: how safe that is, see `metrics.ranks.rank_sets`.
    """
    _, *baselines = known.baselines(votes)
    names = available(votes, _MEASURES)
    chance_rows = chance_scores(votes, names, n_resamples=n_resamples, seed=seed)
    all_systems = [*baselines, *systems]
    request = EvaluationRequest(names, n_resamples=n_resamples, seed=seed)
    system_rows = as_scores(evaluate_systems(votes, all_systems, request))
    table = wide(pd.concat([chance_rows, system_rows], ignore_index=True), "low", "high")
    table["kind"] = ["chance", *["baseline"] * len(baselines), *["model"] * len(systems)]
    table = table.join(_ranks(votes, systems, seed), on="system")
    means = _means_over_seeds(votes, systems, names, n_resamples, seed)
    published = published_scores()
    is_same_dataset = published["dataset"] == votes.dataset.name
    published_rows = wide(published[is_same_dataset & (published["system"] != CHANCE)])
    published_rows["kind"] = np.where(published_rows["system"] == "est-human", "human", "model")
    columns = ["dataset", "system", "source", "kind", "n_items"]
    columns += [f"{measure}{end}" for measure in _MEASURES for end in ("", "_low", "_high")]
    parts = [table.assign(source="computed"), means.assign(source="computed")]
    parts = [part for part in (*parts, published_rows.assign(source="published")) if len(part)]
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*columns, "n_seeds", *_RANKS])
    return table.astype({"n_seeds": "Int64"})


def _ranks(votes: Votes, systems: Sequence[System], seed: int) -> pd.DataFrame:
    """Return the possible ranks by JSD of the systems that cover all items, a row for each name."""
    complete = [system for system in systems if set(votes.uids) <= set(system.uids)]
    if not complete or len(votes) < 2:
        return pd.DataFrame(columns=_RANKS, dtype=float)
    batches = [system.aligned_to(votes) for system in complete]
    values = np.stack(
        [jensen_shannon_distance(batch.human, batch.model, unit="nats") for batch in batches],
        axis=1,
    )
    rng = np.random.default_rng([seed, 21])
    ranks = rank_sets(values, _RANKINGS, rng, highest_first=False)
    ends = np.column_stack([ranks.best, ranks.worst, ranks.margin])
    return pd.DataFrame(ends, index=[system.name for system in complete], columns=_RANKS)


def _means_over_seeds(
    votes: Votes, systems: Sequence[System], names: Sequence[str], n_resamples: int, seed: int
) -> pd.DataFrame:
    """Return a row for each family of several seeds that cover the same items."""
    seed_systems: list[System] = []
    for indices in families_of(systems).values():
        family = [systems[index] for index in indices]
        if len(family) > 1 and len({system.uids for system in family}) == 1:
            seed_systems += family
    if not seed_systems or n_resamples < 2:
        return pd.DataFrame()
    scores = score_over_seeds(
        votes, seed_systems, measures=names, n_resamples=n_resamples, seed=seed
    )
    table = wide(as_scores(scores.to_dict("records")), "low", "high")
    counts = scores.drop_duplicates("system").set_index("system")["n_seeds"]
    return table.assign(kind="model", n_seeds=table["system"].map(counts))


@derived_table(keys=_KEYS)
def add_worth(results: pd.DataFrame, equivalents: pd.DataFrame) -> pd.DataFrame:
    """Add to `main_results` the worth in people, as `human_equivalents` has it in words."""
    names = {
        worths.PEOPLE: "people",
        worths.PEOPLE_RECALIBRATED: "people_recalibrated",
        worths.PEOPLE_SHRUNK: "people_shrunk",
    }
    texts = equivalents[equivalents["measure"].isin(names) & (equivalents["text"] != "")]
    texts = texts.replace({"system": {_ROW_NAMES[CHANCE]: CHANCE}})
    texts = texts.assign(text=[_worth_in_numbers(row) for row in texts.to_dict("records")])
    texts = texts.pivot(index=["dataset", "system"], columns="measure", values="text")
    texts = texts.reindex(columns=list(names)).rename(columns=names).reset_index()
    return results.merge(texts.assign(source="computed"), "left", list(_KEYS))


@cached_analysis(keys=("dataset", "system", "how"))
def misplaced(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Say how many of a hundred votes people, labels, guesses and systems misplace.

    ``misplaced`` is 100 times the total variation distance to the votes, the mean over items, with
    a 95% interval over items. ``kind`` is reference, people, label, baseline or model.

    * The perfect model and the second crowd are as in `scoring.references`, without an interval.
    * One person and five people are drawn from an item's votes and judged by its other votes: the
      exact mean of all such draws.
    * The majority label and the old label are given all of an item's votes.
    * A system has a row for each ``how``: as it is, and recalibrated as `scoring.worth` does it
      where there are enough items. ``of_paper`` marks the models of Table 5.

    Empty where votes are few (`Votes.are_few`): they would flatter predictions that are too sure.
    """
    columns = ["system", "how", "kind", "of_paper", "n_items"]
    columns += [f"misplaced{end}" for end in ("", "_low", "_high")]
    if votes.are_few:
        return pd.DataFrame(columns=columns)
    rows: list[tuple[object, ...]] = []
    for reference in References(votes, seed=seed).rows(["dist_ce"]):
        value = 100 * float(reference["value"])
        name = reference["system"]
        rows.append((name, AS_IT_IS, "reference", False, len(votes), value, np.nan, np.nan))

    def add(name: str, how: str, kind: str, by_item: Floats, of_paper: bool = False) -> None:
        means = bootstrap_means(by_item[:, np.newaxis], n_resamples, np.random.default_rng(seed))
        low, high = map(float, percentile_interval(100 * means[:, 0]))
        rows.append((name, how, kind, of_paper, len(by_item), 100 * by_item.mean(), low, high))

    for name, n_people in ((FIVE_PEOPLE, _N_PEOPLE), (ONE_PERSON, 1)):
        if votes.n_votes.min() > n_people:
            add(name, AS_IT_IS, "people", _apart_from_the_rest(votes.counts, n_people))
    labels = {"majority label": votes.majority}
    labels |= {"old label": votes.old_label} if votes.has_old_labels else {}
    items = np.arange(len(votes))
    for name, label in labels.items():
        add(name, AS_IT_IS, "label", 1 - votes.shares[items, label])
    guesses = [guess for guess in known.baselines(votes) if guess.name not in labels]
    for kind, group in (("baseline", guesses), ("model", systems)):
        for system in group:
            of_paper = system.paper == "nie2020"
            batch = system.aligned_to(votes)
            add(system.name, AS_IT_IS, kind, total_variation(batch.human, batch.model), of_paper)
            mapped = _recalibrated(votes, system) if kind == "model" else None
            if mapped is not None:
                apart = total_variation(batch.human, mapped)
                add(system.name, RECALIBRATED, kind, apart, of_paper)
    return pd.DataFrame(rows, columns=columns)


def _apart_from_the_rest(counts: Ints, n_people: int) -> Floats:
    """Return the mean distance (TVD) of some of an item's people from its others, by item.

    Exact: how many of those who are drawn gave a label is hypergeometric.
    """
    count, n = counts[:, :, np.newaxis], counts.sum(axis=1)[:, np.newaxis, np.newaxis]
    drawn = np.arange(n_people + 1)
    gaps = np.abs(drawn / n_people - (count - drawn) / (n - n_people))
    apart: Floats = (hypergeom.pmf(drawn, n, count, n_people) * gaps).sum(axis=(1, 2)) / 2
    return apart


def _recalibrated(votes: Votes, system: System) -> Floats | None:
    """Return a system's predictions mapped out of fold, on its items; None where it cannot be."""
    items, model = system.rows_in(votes), system.aligned_to(votes).model
    if people.refusal(votes, system) or too_few_to_recalibrate(*model.shape):
        return None
    if system.out_of_fold and votes_of(votes.dataset) in system.trained_on:
        return model  # fitted to these votes already
    folds = folds_of(item_groups([votes])[0])[items]
    if (folds == folds[0]).all():
        return None
    return recalibrated(model, votes.shares[items], folds, system.n_answers)


# What the columns of `drawn_misplaced` are, for those who download its data.
DRAWN_MISPLACED = {
    "label": "who or what predicts",
    "how": "the prediction as it is, or recalibrated; or a range, over several models",
    "kind": "a reference, people, a baseline or a model",
    "misplaced": "votes misplaced of a hundred, the mean over items; empty for a range",
    "low": "lower end of its 95% interval over items; of a range, the mean of the nearest model",
    "high": "upper end of its 95% interval over items; of a range, the mean of the farthest model",
    "dataset": "whose items and votes",
}


@derived_table(keys=("dataset", "label", "how"))
def drawn_misplaced(table: pd.DataFrame, *, dataset: str) -> pd.DataFrame:
    """Return what the figure draws of `misplaced`, on one dataset, else on the first one here.

    People, the uniform guess, the range of the models of Table 5, and the one of these that is
    nearest once recalibrated, as it is and recalibrated. Other models stand in for them where there
    are none. ``low`` and ``high`` are the ends of a range, which has no value of its own, else of
    an interval.
    """
    columns = ["label", "how", "kind", "misplaced", "low", "high"]
    chosen = dataset if dataset in set(table["dataset"]) else next(iter(table["dataset"]), dataset)
    rows = table[table["dataset"] == chosen].rename(
        columns={"misplaced_low": "low", "misplaced_high": "high"}
    )
    rows = rows.assign(label=rows["system"].replace(SYSTEM_NAMES))
    models = rows[rows["kind"] == "model"]
    models = models[models["of_paper"]] if models["of_paper"].any() else models
    as_they_are = models[models["how"] == AS_IT_IS]
    parts = [rows[rows["system"].isin([SECOND_CROWD, FIVE_PEOPLE, "uniform guess"])]]
    if len(as_they_are) > 1:
        name = f"the {in_words(len(as_they_are))} models" + " of 2020" * bool(
            models["of_paper"].any()
        )
        ends = as_they_are["misplaced"].agg(["min", "max"])
        span = {"label": name, "how": "range", "kind": "model", "misplaced": np.nan}
        parts.append(pd.DataFrame([span | {"low": ends["min"], "high": ends["max"]}]))
    mapped = models[models["how"] == RECALIBRATED]
    if len(mapped):
        nearest = mapped.loc[mapped["misplaced"].idxmin(), "system"]
        parts.append(models[models["system"] == nearest])
    return pd.concat(parts)[columns].assign(dataset=chosen)


def table_5_models(systems: Sequence[System]) -> list[System]:
    """Return the models of Table 5; all systems where none of these is among them."""
    return [system for system in systems if system.paper == "nie2020"] or [*systems]


@cached_analysis(keys=("dataset", "system", "baseline", "measure"))
def models_against_guesses(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compare the models of Table 5 with each baseline on the same items, by four distances.

    ``measure`` is JSD, KL, total variation (``dist_ce``) or the Brier score of the votes, whose
    differences are those of the squared distance that worth rests on. ``value`` is model minus
    baseline, in the unit of the measure; its interval and ``p`` are over items, and ``p_holm`` is
    adjusted for all models that are compared with a baseline by a measure. The ``verdict`` is
    nearer or farther where ``p_holm`` is below 0.05, else indistinguishable.
    Empty without models.
    """
    columns = ["system", "baseline", "measure", "n_items", "value", "low", "high", "p"]
    guesses = known.baselines(votes)
    names = {guess.name for guess in guesses}  # which a reader may have given to a system
    models = [system for system in table_5_models(systems) if system.name not in names]
    if not models:
        return pd.DataFrame(columns=[*columns, "p_holm", "verdict"])
    pairs = [(model.name, guess.name) for guess in guesses for model in models]
    table = score(
        votes, [*models, *guesses], measures=_DISTANCES, comparisons=pairs,
        n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    differences = table[table["reference"] != ""].rename(columns={"reference": "baseline"})[columns]
    differences["p_holm"] = differences.groupby(["baseline", "measure"])["p"].transform(holm)
    sides = np.where(differences["value"] > 0, "farther", "nearer")
    differences["verdict"] = np.where(differences["p_holm"] < LEVEL, sides, "indistinguishable")
    return differences.replace({"baseline": {known.uniform(votes).name: CHANCE}})


@derived_table(keys=("dataset", "system", "measure"))
def baselines_against_models(against: pd.DataFrame) -> pd.DataFrame:
    """Count the models of `models_against_guesses` that are farther from humans than each baseline.

    ``n_beaten`` counts the models with a larger distance, ``n_surely_beaten`` those whose verdict
    is farther, and ``n_surely_nearer`` those whose verdict is nearer.
    """
    differences = against.rename(columns={"system": "model", "baseline": "system"})
    groups = differences.assign(
        n_beaten=differences["value"] > 0,
        n_surely_beaten=differences["verdict"] == "farther",
        n_surely_nearer=differences["verdict"] == "nearer",
    ).groupby(["dataset", "system", "measure"], sort=False)
    counts = groups[["n_beaten", "n_surely_beaten", "n_surely_nearer"]].sum().astype(int)
    return counts.assign(n_models=groups.size()).reset_index()


def count_columns(against: pd.DataFrame) -> list[Column]:
    """Return how counts by JSD are shown, datasets side by side, bold where all are beaten."""
    counts = [
        Column(
            short_of(name),
            "{n_beaten} ({n_surely_beaten}) of {n_models}".format_map,
            at={"dataset": name, "measure": "jsd"},
            bold=lambda row: bool(row["n_beaten"] == row["n_models"]),
        )
        for name in dict.fromkeys(against["dataset"])
    ]
    return [Column("guess", "system", names=_ROW_NAMES), *counts]


@cached_analysis(keys=("dataset", "system", "measure"))
def human_equivalents(
    votes: Votes,
    systems: Sequence[System],
    *,
    n_draws: int,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Estimate the worth of baselines and systems in people, by each measure of `IN_PEOPLE`.

    ``credibility`` is k₀: k people have the skill k / (k + k₀). ``n_judges`` are the votes that
    judge in measures for which people are drawn. A system that was made from these votes has no
    value, and a ``note`` that says so. Empty where an item has a single vote.
    """
    columns = ["system", "family", "kind", "n_items", "measure"]
    columns += ["n_judges", "credibility", "value", "low", "high", "text", "note"]
    if votes.n_votes.min() < 2:
        return pd.DataFrame(columns=columns)
    crowds = people.Crowds(votes, n_draws=n_draws, seed=seed)
    all_systems = [("baseline", baseline) for baseline in known.baselines(votes)]
    all_systems += [("model", model) for model in systems]
    rows = []
    for kind, system in all_systems:
        reason = people.refusal(votes, system)
        judged_systems = [] if reason else [system]
        request = EvaluationRequest(IN_PEOPLE, n_resamples=n_resamples, seed=seed)
        scores = evaluate_systems(votes, judged_systems, request, crowds) if judged_systems else []
        common: dict[str, object] = {"system": system.name, "family": system.family, "kind": kind}
        common["note"] = reason or "; ".join(system.notes)
        for name in IN_PEOPLE if reason else ():
            rows.append(common | {"measure": name, "text": "", "n_items": 0})
        rows += [row | common for row in scores]
    table = pd.DataFrame(rows).reindex(columns=columns)
    numbers = dict.fromkeys(("credibility", "value", "low", "high"), float)
    return table.astype({"n_judges": "Int64"} | numbers)


def equivalent_columns(equivalents: pd.DataFrame) -> list[Column]:
    """Return how `human_equivalents` are shown; headings give the number of votes that judge."""
    judges = equivalents["n_judges"].dropna().unique()
    by = f"m = {judges[0]}" if len(judges) == 1 else "half the crowd judges"
    headings = {
        worths.PEOPLE: "worth",
        worths.PEOPLE_RECALIBRATED: "recalibrated",
        worths.PEOPLE_SHRUNK: "shrunk",
        worths.POOLED: "pooled, squared distance",
        people.TVD: f"TVD, {by}",
        people.JSD: f"JSD, {by}",
    }
    columns = (Column(text, _worth_text, at={"measure": name}) for name, text in headings.items())
    return [DATASET, Column("system", "system", names=SYSTEM_NAMES | _ROW_NAMES), *columns]


def _worth_text(row: Row) -> str:
    return _worth_in_numbers(row) or str(row["note"])


def _worth_in_numbers(row: Row) -> str:
    """Return an estimate in words, with its number also where it is below the base rate."""
    text = worths.without_reason(row["text"])
    return text.replace(worths.BELOW, worths.people_in_words(row["value"]))


@derived_table(keys=("dataset", "system", "how"))
def drawn_skill(equivalents: pd.DataFrame) -> pd.DataFrame:
    """Return the skills of `human_equivalents` that the figure draws.

    ``how`` is ``as it is``, and ``recalibrated`` or, where there are too few items for a map,
    ``shrunk``. ``label`` is that of the system's row in the figure. Where skill is undefined, there
    is no row.
    """
    scores = equivalents[np.isfinite(equivalents["value"])]
    row_keys = scores["dataset"] + " " + scores["system"]
    recalibrated_keys = row_keys[scores["measure"] == worths.SKILL_RECALIBRATED]
    names = {
        worths.SKILL: "as it is",
        worths.SKILL_RECALIBRATED: "recalibrated",
        worths.SKILL_SHRUNK: "shrunk",
    }
    is_superseded = (scores["measure"] == worths.SKILL_SHRUNK) & row_keys.isin(recalibrated_keys)
    rows = scores[scores["measure"].isin(names) & ~is_superseded]
    table = rows.rename(columns={"value": "skill"}).assign(label=_row_labels(rows))
    table["how"] = table["measure"].map(names)
    columns = ["dataset", "kind", "label", "system", "how", "skill", "low", "high"]
    return table[[*columns, "credibility"]]


@derived_table(keys=("dataset", "system", "how"))
def drawn_worth(equivalents: pd.DataFrame) -> pd.DataFrame:
    """Return `drawn_skill` with the worth in people: ``people``, ``people_low``, ``people_high``.

    Guesses that say the same of all items are left out, since each is the base rate once it is
    recalibrated; so is the old label, which becomes the mean vote given it.
    """
    how = {worths.PEOPLE: AS_IT_IS, worths.PEOPLE_RECALIBRATED: RECALIBRATED}
    how[worths.PEOPLE_SHRUNK] = "shrunk"
    people_rows = equivalents[equivalents["measure"].isin(how)]
    people_rows = people_rows.assign(how=people_rows["measure"].map(how))
    names = {"value": "people", "low": "people_low", "high": "people_high"}
    people_rows = people_rows.rename(columns=names)[["dataset", "system", "how", *names.values()]]
    table = drawn_skill(equivalents).rows.merge(people_rows, on=["dataset", "system", "how"])
    return table[~table["system"].isin(_NOT_DRAWN)]


def _row_labels(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return the label of each system's row in a figure; seeds of a model share one label."""
    without_seed = rows["system"].str.replace(r", seed \d+$", "", regex=True)
    keys = ["dataset", "source", without_seed] if "source" in rows else ["dataset", without_seed]
    n_seeds = rows.groupby(keys)["system"].transform("nunique")
    seed_labels = without_seed + ", " + n_seeds.astype(str) + " seeds"
    names = rows["system"].replace(SYSTEM_NAMES | _ROW_NAMES)
    return seed_labels.where(n_seeds > 1, names)


@cached_analysis(keys=("dataset", "system"))
def disagreement_signal(
    votes: Votes, systems: Sequence[System], *, majority_below: float, seed: int
) -> pd.DataFrame:
    """Say how well each system's entropy shows on which items people disagree.

    ``spearman`` is the rank correlation of the system's entropy with people's, and ``auroc`` says
    how well it finds contested items, on which the most frequent label has less than
    `majority_below` of the votes. Where each item has ten votes, there is a row for five people,
    judged by all other people: the mean of `_N_DRAWS` draws of five, with the ends of the middle
    95% of the draws. Empty without systems.
    """
    columns = ["system", "kind", "n_items", "n_contested"]
    columns += [f"{name}{end}" for name in ("spearman", "auroc") for end in ("", "_low", "_high")]
    if not systems:
        return pd.DataFrame(columns=columns)
    pairs: list[tuple[str, str, Floats, Floats]] = []
    rows = []
    if votes.n_votes.min() >= 2 * _N_PEOPLE:
        rows.append(_people_signal(votes, majority_below, np.random.default_rng([seed, 3])))
    if votes.has_old_labels:
        # The distributions of labels come from all items. Out of fold, items of one label would be
        # ordered by their fold alone, in the opposite order of its votes.
        model = np.empty_like(votes.shares)
        for label in np.unique(votes.old_label):
            model[votes.old_label == label] = votes.shares[votes.old_label == label].mean(axis=0)
        pairs.append(("baseline", OLD_LABEL, votes.shares, model))
    vote_systems = [known.original_votes(votes)] if votes.has_old_votes else []
    for kind, group in (("baseline", vote_systems), ("model", systems)):
        for predictor in group:
            batch = predictor.aligned_to(votes)
            pairs.append((kind, predictor.name, batch.human, batch.model))
    for kind, system, human, model in pairs:
        n_contested = int(contested(human, majority_below=majority_below).sum())
        rank = entropy_correlation(human, model)
        auroc = contested_auroc(human, model, majority_below=majority_below)
        first_columns = (system, kind, len(human), n_contested)
        estimates = (rank.value, rank.low, rank.high, auroc.value, auroc.low, auroc.high)
        rows.append((*first_columns, *estimates))
    return pd.DataFrame(rows, columns=columns)


def _people_signal(
    votes: Votes, majority_below: float, rng: np.random.Generator
) -> tuple[object, ...]:
    """Return the row of five people of each item, judged by its other people, over many draws."""
    draws = []
    for _ in range(_N_DRAWS):
        five, other_votes = split_votes(votes.counts, (_N_PEOPLE,), rng)
        shares = other_votes / other_votes.sum(axis=1, keepdims=True)
        rank = entropy_correlation(shares, five / _N_PEOPLE)
        auroc = contested_auroc(shares, five / _N_PEOPLE, majority_below=majority_below)
        n_contested = contested(shares, majority_below=majority_below).sum()
        draws.append((n_contested, rank.value, auroc.value))
    n_contested, *means = np.mean(draws, axis=0)
    low, high = percentile_interval(draws)
    numbers = np.column_stack([means, low[1:], high[1:]]).ravel()
    return (FIVE_PEOPLE, "people", len(votes), round(n_contested), *numbers)


@cached_analysis(keys=("dataset", "family", "measure"))
def size_effects(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compare the large models of Table 5 with the base models of their family on the same items.

    ``value`` is large minus base, with the interval and ``p`` over items. Empty without such pairs.
    """
    columns = ["family", "measure", "n_items", "value", "low", "high", "p"]
    names = {system.name for system in systems if system.paper == "nie2020"}
    pairs = {f"{name}-large": (f"{name}-base", title) for title, name in _PAIRS.items()}
    pairs = {large: pair for large, pair in pairs.items() if {large, pair[0]} <= names}
    if not pairs:
        return pd.DataFrame(columns=columns)
    table = score(
        votes, [system for system in systems if system.name in names], measures=TABLE_5,
        comparisons=[(large, base) for large, (base, _) in pairs.items()],
        n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    effects = table[table["reference"] != ""]
    return effects.assign(family=[pairs[large][1] for large in effects["system"]])[columns]


@derived_table(keys=("dataset", "distance"), published=_PAPER)
def rank_correlations() -> pd.DataFrame:
    """Correlate published models' ranks by new accuracy and by distance.

    ``value`` is −1 if a model with higher accuracy always has a smaller distance. ``low`` and
    ``high`` (95%) are by Fisher's transformation with the variance of Fieller et al. (1957); ``p``
    is that of the t test, adjusted for all rows by Holm's method.
    """
    rows = []
    for dataset, group in published_models().groupby("dataset", sort=False):
        for distance in ("jsd", "kl"):
            rho, p = spearmanr(group["new_accuracy"], group[distance])
            half_width = 1.96 * np.sqrt(1.06 / (len(group) - 3))
            low, high = np.tanh(np.arctanh(rho) + np.array([-half_width, half_width]))
            rows.append((dataset, distance, len(group), rho, low, high, p))
    columns = ["dataset", "distance", "n_models", "value", "low", "high", "p"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(p=holm(table["p"]))


@derived_table(keys=("dataset", "system", "source"))
def drawn_results(results: pd.DataFrame, references: pd.DataFrame) -> pd.DataFrame:
    """Return the JSD of systems and references that a figure draws.

    `results` are from `main_results`, without the means over seeds, and without the published rows
    of systems that are computed too; `references` are from `reference_scores`. ``label`` is that of
    the figure's row, which the seeds of a model share.
    """
    names = {"jsd": "value", "jsd_low": "low", "jsd_high": "high"}
    single_rows = results[results["n_seeds"].isna()].drop_duplicates(["dataset", "system"])
    computed = single_rows.rename(columns=names)
    reference_rows = references[references["measure"] == "jsd"]
    kinds = np.where(reference_rows["system"] == PERFECT_MODEL, "perfect_model", "second_crowd")
    columns = ["dataset", "system", "source", "kind", *names.values()]
    reference_rows = reference_rows.assign(kind=kinds, source="computed").reindex(columns=columns)
    table = pd.concat([computed[columns], reference_rows], ignore_index=True)
    table.insert(2, "label", _row_labels(table))
    return table.assign(system=table["system"].replace(SYSTEM_NAMES))


@derived_table(keys=("dataset", "system", "source"))
def nine_models(table: pd.DataFrame, against: pd.DataFrame, *, dataset: str) -> pd.DataFrame:
    """Return the JSD of a dataset's published models beside that of people and guesses.

    `against` is from `models_against_guesses`. ``difference`` is a model's JSD minus the uniform
    guess's on the same items. ``low`` and ``high`` are the ends of its 95% interval, as JSD: the
    guess's own is added. Other rows have none.
    """
    rows = table[table["dataset"] == dataset]
    is_model = (rows["kind"] == "model") & rows["label"].isin(
        [SYSTEM_NAMES[name] for name in published_models()["model"].unique()]
    )
    guess_names = ("original votes", "mean vote given the old label")
    is_reference = rows["kind"].isin(["second_crowd", "chance"]) | rows["system"].isin(guess_names)
    if not is_model.any():
        return rows[is_model]
    pairs = against[
        (against["dataset"] == dataset)
        & (against["baseline"] == CHANCE)
        & (against["measure"] == "jsd")
    ]
    guess = rows.loc[rows["kind"] == CHANCE, "value"].iloc[0]
    pairs = pairs.assign(
        system=pairs["system"].replace(SYSTEM_NAMES), difference=pairs["value"],
        low=guess + pairs["low"], high=guess + pairs["high"],
    )[["system", "difference", "low", "high"]]  # fmt: skip
    return (
        rows[is_model | is_reference]
        .drop(columns=["low", "high"])
        .merge(pairs, on="system", how="left")
    )


_KIND_ORDER = ("chance", "human", "baseline", "model")


def shown_results(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `main_results` that the table shows, each kind sorted by JSD.

    Published rows of systems that are computed too are left out, as are means of two seeds, whose
    interval for other seeds says nothing.
    """
    shown = results[results["n_seeds"].fillna(3) > 2].drop_duplicates(["dataset", "system"])
    order = {"of_dataset": pd.factorize(shown["dataset"])[0]}
    order["of_kind"] = shown["kind"].map(_KIND_ORDER.index)
    return shown.assign(**order).sort_values([*order, "jsd"], kind="stable")


def shown_signal(signal: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `disagreement_signal`, but of the models only the best on each dataset."""
    # Systems with the same entropy on every item have no correlation.
    models = signal[signal["kind"] == "model"].dropna(subset="spearman")
    best = models.groupby("dataset")["spearman"].idxmax()
    return signal[(signal["kind"] != "model") | signal.index.isin(best)]


def shown_between(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `ceilings.normalised_scores` for the nearest guess and three models."""
    by_distance = scores[scores["measure"] == "jsd"].sort_values("value", kind="stable")
    n_shown = {"baseline": 1, "model": 3}
    nearest = [
        by_distance[by_distance["kind"] == kind].groupby("dataset").head(n)
        for kind, n in n_shown.items()
    ]
    in_order = in_order_of(pd.concat(nearest), "dataset", scores["dataset"].unique())
    return in_order[["dataset", "system"]].merge(scores, on=["dataset", "system"])


COLUMNS = [
    DATASET,
    SYSTEM,
    Column("from", "source", names={"computed": "here", "published": "paper"}),
    with_ends("JSD", "jsd", 3, best="lowest"),
    with_ends("KL", "kl", 3, best="lowest"),
    with_ends("old accuracy (%)", "old_accuracy", 1, percent=True),
    with_ends("new accuracy (%)", "new_accuracy", 1, percent=True, best="highest"),
    Column("worth in people", "people"),
    Column("recalibrated", "people_recalibrated"),
]


def _size_column(heading: str, measure: str, digits: int, *, percent: bool = False) -> Column:
    at = {"measure": measure}
    return Column(heading, "value", digits, "low", "high", signed=True, percent=percent, at=at)


SIZE_COLUMNS = [
    DATASET,
    Column("family", "family"),
    _size_column("JSD", "jsd", 3),
    _size_column("KL", "kl", 2),
    _size_column("old accuracy (points)", "old_accuracy", 1, percent=True),
    _size_column("new accuracy (points)", "new_accuracy", 1, percent=True),
]
RANK_COLUMNS = [
    Column("dataset", "dataset", names=lambda name: released(name).short),  # the paper's numbers
    Column("distance", "distance", names={"jsd": "JSD", "kl": "KL"}),
    Column("Spearman", "value", 2, "low", "high", signed=True),
]
MISPLACED_COLUMNS = [
    DATASET,
    SYSTEM,
    with_ends("votes misplaced of a hundred ↓", "misplaced", 1, at={"how": AS_IT_IS}),
    with_ends("recalibrated ↓", "misplaced", 1, at={"how": RECALIBRATED}),
]
_TABLE_GUESSES = (CHANCE, OLD_LABEL)  # guesses that the table shows


def shown_paired(paired: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `models_against_guesses` that the table shows: JSD, for two guesses."""
    return paired[(paired["measure"] == "jsd") & paired["baseline"].isin(_TABLE_GUESSES)]


def paired_columns(n_resamples: int) -> list[Column]:
    """Return how `shown_paired` is shown, the guesses side by side."""
    columns = [DATASET, SYSTEM]
    for name in _TABLE_GUESSES:
        look: dict[str, Any] = {
            "at": {"baseline": name}, "group": f"minus the {_ROW_NAMES.get(name, name)}"
        }  # fmt: skip
        columns += [
            Column("JSD", "value", 3, "low", "high", signed=True, **look),
            Column("p", lambda row: p_value(row["p_holm"], n_resamples, raw=row["p"]), **look),
        ]
    return columns


SIGNAL_COLUMNS = [
    DATASET,
    SYSTEM,
    with_ends("Spearman", "spearman", 2, best="highest"),
    with_ends("AUROC", "auroc", 2, best="highest"),
]
