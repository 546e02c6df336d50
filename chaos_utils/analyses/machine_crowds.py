"""Language models as a crowd: how near they come to people, and how many people they are worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.fitting import common_items, fit_recipe
from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.auxiliary_data import ANNOTATORS, JUDGES, AuxiliaryData, judges_file
from chaos_utils.datasets.catalogue import bundled_datasets, short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import majority_agreement, pairwise_agreement
from chaos_utils.metrics.divergence import Floats, total_variation
from chaos_utils.metrics.panels import one_hot, panel_values, panel_variance
from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.metrics.replacement import alternative_annotator_test
from chaos_utils.metrics.resampling import (
    bootstrap_means,
    holm,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.metrics.skill import distances, people_on_top
from chaos_utils.plots.columns import DATASET
from chaos_utils.plots.systems import language_model_name
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row, paper_here_delta, with_ends
from chaos_utils.scoring.annotators import annotations_of
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.fitting import OBJECTIVES, log_probabilities
from chaos_utils.scoring.recalibration import smoothed
from chaos_utils.scoring.references import References
from chaos_utils.scoring.replacement import replacement
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, are_votes, shared_rows
from chaos_utils.scoring.worth import PEOPLE as ON_TOP
from chaos_utils.scoring.worth import PEOPLE_RECALIBRATED, PEOPLE_SHRUNK, of_predictions, worth
from chaos_utils.scoring.worth import POOLED as HUMAN_EQUIVALENT

READS = ("alttest/*", "judges32/*")


LLMS, ENCODERS = "language models", "encoders"
_PLUS_LLMS = f" + {LLMS}"
ALL, WITH_YOURS = "all fine-tuned models", "all models with yours"
PEOPLE, MAJORITY, POOLED = "people", "the majority of the others", "all of them, plurality"
ON_CHOOSING_ITEMS, ON_OTHER_ITEMS = (
    "the best, on the items that chose it",
    "the best, on the other items",
)
RANDOM_PANEL, ALL_MODELS = "a random panel of that size", "all models"
SIZES = (1, 2, 3, 5, 8, 12, 20)  # of random panels, beside that of all
PANEL = 5  # models in the panel that is chosen
EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)  # of bins of the models that give one label
NEARLY_ALL = 0.9
FEWEST_ITEMS = 5  # items of a pair of labels
EPSILONS = (0.1, 0.15, 0.2)
_TEST_RESAMPLES = 10_000  # resamples for p-values of 32 comparisons
_FEW = 5  # people
_SPLITS = 20  # of the items in halves, each of which chooses once
_QUANTITIES = {"nu_MSE": "νMSE", "n_eff": "effective models", "gamma_co_all": "shared deviation",
               "nu_H": "νH"}  # fmt: skip


# What is available


def labelled_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the inputs on datasets that the language models labelled: released votes alone.

    Where the labels are not available, their tables are recorded ones.
    """
    labelled = [
        part
        for part in inputs.with_auxiliary_data(JUDGES)
        if part.released and judges_file(part.datasets[0])
        if part.given_votes is None or JUDGES.available
    ]
    return AnalysisInputs(tuple(labelled), inputs.trained)


def annotator_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the inputs on datasets that language models labelled beside named annotators.

    None where `inputs` has other votes than the book's.
    """
    if not inputs.released:
        return AnalysisInputs(())
    folders = {name.rpartition("/")[0] for name in ANNOTATORS.files}
    datasets = [
        dataset for dataset in bundled_datasets() if dataset.file.rpartition("/")[0] in folders
    ]
    return gather(datasets=[dataset.name for dataset in datasets]).with_auxiliary_data(ANNOTATORS)


# Crowds


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Machines that answered the same items.

    `votes` are people's on these items; `labels`, shape (n_items, n_members), has a column per
    machine. `members` and `makers` name each language model and its maker; other crowds have none.
    """

    name: str
    votes: Votes
    labels: Ints
    members: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()

    @property
    def n_members(self) -> int:
        """The number of machines."""
        return self.labels.shape[1]

    @property
    def one_hot(self) -> Floats:
        """Each member's label as a distribution, shape (n_members, n_items, n_classes)."""
        return one_hot(self.labels, self.votes.dataset.n_classes)

    @property
    def counts(self) -> Ints:
        """The members' votes, shape (n_items, n_classes)."""
        return self.one_hot.sum(axis=0).astype(np.int64)

    @property
    def plurality(self) -> Floats:
        """The label that most members gave, shape (n_items, n_classes); ties share it equally."""
        is_most_frequent = self.counts == self.counts.max(axis=1, keepdims=True)
        shares: Floats = is_most_frequent / is_most_frequent.sum(axis=1, keepdims=True)
        return shares


def judges_on(votes: Votes, judges: AuxiliaryData = JUDGES) -> Crowd:
    """Return the language models on the items that all of them answered."""
    answers = judges.read(votes.dataset.name)
    labels_by_uid = answers.pivot(index="uid", columns="model", values="label").dropna()
    part = part_of(votes, np.sort([votes.index(uid) for uid in labels_by_uid.index]))
    label_index = {label: k for k, label in enumerate(votes.dataset.labels)}
    labels = (
        labels_by_uid.loc[list(part.uids)].map(label_index.__getitem__).to_numpy(dtype=np.int64)
    )
    makers = answers.drop_duplicates("model").set_index("model")["maker"]
    return Crowd(
        LLMS, part, labels, tuple(labels_by_uid.columns), tuple(makers.loc[labels_by_uid.columns])
    )


def crowds_on(
    votes: Votes, systems: Sequence[System], judges: AuxiliaryData = JUDGES
) -> list[Crowd]:
    """Return the crowds of machines that answered a dataset's items, or some of them.

    The crowds are: the language models, beside released votes; the seeds of each family; all
    systems but a reader's; and all systems with a reader's. Systems that learned from votes are
    left out. Where an item has a single vote, there is no crowd.
    """
    if votes.n_votes.min() < 2:
        return []
    is_judged = votes.is_released and judges.available and judges_file(votes.dataset)
    crowds = [judges_on(votes, judges)] if is_judged else []
    eligible = [system for system in systems if not any(map(are_votes, system.trained_on))]
    groups: dict[str, list[System]] = {}
    for system in eligible:
        if system.seed is not None:
            groups.setdefault(system.family, []).append(system)
    groups = {name: group for name, group in groups.items() if len(group) > 1}
    ours = [system for system in eligible if system.origin != "yours"]
    for name, group in ((ALL, ours), (WITH_YOURS, eligible if len(eligible) > len(ours) else [])):
        if len({system.family for system in group}) > 1:
            groups[name] = group
    for name, group in groups.items():
        rows = shared_rows(votes, group)
        if len(rows):
            part = part_of(votes, rows)
            labels = np.stack([system.aligned_to(part).predicted for system in group], axis=1)
            crowds.append(Crowd(name, part, labels))
    return crowds


def _worth_row(
    votes: Votes, model: Floats, counts: Ints | None = None, **options: Any
) -> dict[str, float]:
    """Return a prediction's estimates of worth with their intervals, λ (``shrinkage``) and k₀.

    Pass `counts`, people's votes with a column for each label of `model`, where a model gave a
    label that people could not give; by default they are those of `votes`. `options` are those of
    `of_predictions`.
    """
    groups = item_groups([votes])[0]
    counts = votes.counts if counts is None else counts
    result = of_predictions(counts, model, groups, folds_of(groups), **options)
    row = {"shrinkage": result.shrinkage, "credibility": result.credibility}
    for name, estimate in result.shown.items():
        row |= _with_ends(name, asdict(estimate))
    return row


def _with_ends(name: str, ends: Mapping[str, float]) -> dict[str, float]:
    return {name: ends["value"], f"{name}_low": ends["low"], f"{name}_high": ends["high"]}


def _mean_intervals(
    values: Floats, n_resamples: int, confidence: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the ``value`` of each column's mean over items, with ``low`` and ``high``."""
    low, high = percentile_interval(bootstrap_means(values, n_resamples, rng), confidence)
    return pd.DataFrame({"value": values.mean(axis=0), "low": low, "high": high})


@cached_analysis(keys=("dataset", "crowd"))
def crowds(
    votes: Votes,
    systems: Sequence[System],
    *,
    judges: AuxiliaryData = JUDGES,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Set each crowd of machines beside people.

    One row for each crowd of `crowds_on`. Means over items:

    * ``agreement``, ``people_agreement``: the share of pairs of members, or of people, that agree;
    * ``with_people``: how often a person gives a member's label;
    * ``misplaced``: how many of a hundred votes the members' pooled votes misplace, and
      ``five_people_misplaced`` how many five other people do;
    * ``within_maker``, ``across_makers``: how often two language models of one maker, or of
      different makers, agree; ``closer`` is the difference.

    ``rho`` is the correlation of ``agreement`` and ``people_agreement`` over items, and
    ``left_out_agreement`` the share of pairs of people that agree on the items without machines.
    ``shrinkage`` (λ), ``credibility`` (k₀) and the estimates of `scoring.worth` are those of the
    members' pooled votes. Columns that begin with ``limit_`` have the same for endlessly many such
    members, who cannot be recalibrated. ``uniform_human_equivalent_brier`` is the estimate for a
    uniform guess. On the ``n_contested`` items where people's majority is not the old label,
    ``old_label`` is the share of members, and ``people_old_label`` the share of people, that gave
    the old label.
    """
    rows = []
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": confidence, "seed": seed}
    for crowd in crowds_on(votes, systems, judges):
        people, pooled = crowd.votes, crowd.counts / crowd.n_members
        left_out = votes.counts[~np.isin(votes.uids, people.uids)]
        values = pd.DataFrame(
            {
                "agreement": pairwise_agreement(crowd.counts),
                "people_agreement": pairwise_agreement(people.counts),
                "with_people": (people.shares * pooled).sum(axis=1),
                "misplaced": 100 * total_variation(people.shares, pooled),
            }
            | (_by_maker(crowd) if crowd.makers else {})
        )
        row: dict[str, Any] = {
            "crowd": crowd.name,
            "n_members": crowd.n_members,
            "n_items": len(people),
            "left_out_agreement": pairwise_agreement(left_out).mean() if len(left_out) else np.nan,
            "rho": values.corr().loc["agreement", "people_agreement"],
        }
        row |= values.mean().to_dict()
        few = (
            References(people, seed=seed).people("dist_ce", _FEW)
            if people.n_votes.min() > _FEW
            else None
        )
        row["five_people_misplaced"] = 100 * few.value if few else np.nan
        limit_worth = _worth_row(
            people, pooled, varying=panel_variance(crowd.labels, np.inf), **bootstrap
        )
        members_worth = _worth_row(people, pooled, n_answers=crowd.n_members, **bootstrap)
        row |= members_worth | {
            f"limit_{name}": value
            for name, value in limit_worth.items()
            if "recalibrated" not in name
        }
        uniform = _worth_row(people, np.full(pooled.shape, 1 / pooled.shape[1]), **bootstrap)
        row[f"uniform_{HUMAN_EQUIVALENT}"] = uniform.get(HUMAN_EQUIVALENT)
        if people.has_old_labels:
            item_rows, old_label = np.arange(len(people)), people.old_label
            contested = pd.DataFrame(
                {
                    "old_label": (crowd.labels == old_label[:, np.newaxis]).mean(axis=1),
                    "people_old_label": people.shares[item_rows, old_label],
                }
            )[old_label != people.majority]
            row |= {"n_contested": len(contested)} | contested.mean().to_dict()
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["crowd"])


def _by_maker(crowd: Crowd) -> dict[str, Floats]:
    """Return by item how often two models of one maker, and of different makers, agree."""
    first, second = np.triu_indices(crowd.n_members, 1)
    agree = crowd.labels[:, first] == crowd.labels[:, second]
    makers = np.array(crowd.makers)
    is_same_maker = makers[first] == makers[second]
    within, across = agree[:, is_same_maker].mean(axis=1), agree[:, ~is_same_maker].mean(axis=1)
    return {"within_maker": within, "across_makers": across, "closer": within - across}


# What was published


@cached_analysis(keys=("dataset", "quantity"), published=("judges32",))
def published(votes: Votes, *, judges: AuxiliaryData = JUDGES) -> pd.DataFrame:
    """Set the published values of the 32 language models beside those of the released labels.

    One row for each ``quantity`` of `metrics.panels.panel_values` and for ``nu_H``, which has no
    value here, since it needs a curve that was not released. ``paper`` is the published value on
    ``paper_items`` items, ``value`` ours on ``n_items``, and ``difference`` is ours minus theirs.
    On ``n_missing`` items one of the models has no readable answer; ``missing`` is what these must
    add to the sum over items of ``J`` or ``E``.
    """
    crowd = judges_on(votes, judges)
    people, n = crowd.votes, len(crowd.votes)
    ours = pd.Series(panel_values(crowd.labels, people.shares, people.majority))
    table = read_published("judges32").query("dataset == @votes.dataset.name")
    table = table.set_index("quantity").loc[[*ours.index, "nu_H"], ["value", "n_items"]]
    table.columns = ["paper", "paper_items"]
    table = table.assign(n_items=n, value=ours)
    table["difference"] = table["value"] - table["paper"]
    table["n_missing"] = table["paper_items"] - n
    missing = table["paper_items"] * table["paper"] - n * table["value"]
    is_sum = table.index.isin(["J", "E"]) & (table["n_missing"] > 0)
    return table.assign(missing=missing.where(is_sum)).reset_index()


# Each model by itself


@cached_analysis(keys=("dataset", "model"))
def members(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how often each language model agrees with a person, and how many people it is worth.

    One row for each model, and one row each for ``people``, for ``the majority of the others`` (the
    label that most other people gave), and for the label that most of the models gave.

    * ``with_people``: how often a random person gives the same label; ``beyond``: the same minus
      how often another person does. Both have ``_low`` and ``_high``, over items;
    * ``p``: the p-value of ``beyond``, by the paired bootstrap; ``p_adjusted``: the same, adjusted
      by Holm's method over the models; ``side``: above or below people, where ``p_adjusted`` is
      below 1 − `confidence`, else empty;
    * ``rank_best``, ``rank_worst``: the ranks that a model may have by ``with_people``, for all
      models at once; ``rank_margin``: how safe these are, see `metrics.ranks.rank_sets`;
    * for models, ``shrinkage`` (λ) and the estimates of `scoring.worth` that one label allows.
    """
    crowd = judges_on(votes, judges)
    people, n = crowd.votes, crowd.n_members
    pairs = pairwise_agreement(people.counts)
    answers = (*crowd.one_hot, crowd.plurality)
    model_rates = [(people.shares * labels).sum(axis=1) for labels in answers]
    rates = np.stack([*model_rates, majority_agreement(people.counts), pairs], axis=1)
    table = pd.DataFrame(
        {
            "model": [*crowd.members, POOLED, MAJORITY, PEOPLE],
            "maker": [*crowd.makers, "", "", ""],
            "n_items": len(people),
        }
    )
    for name, values in (("with_people", rates), ("beyond", rates - pairs[:, np.newaxis])):
        means = _mean_intervals(
            values, _TEST_RESAMPLES, confidence, np.random.default_rng([seed, 15])
        )
        table = table.assign(**_with_ends(name, means))
    beyond = rates[:, :n] - pairs[:, np.newaxis]
    p = paired_p_value(bootstrap_means(beyond, _TEST_RESAMPLES, np.random.default_rng([seed, 15])))
    model_columns = pd.DataFrame({"p": p, "p_adjusted": holm(p)})
    side = np.where(beyond.mean(axis=0) > 0, "above", "below")
    model_columns["side"] = np.where(model_columns["p_adjusted"] < 1 - confidence, side, "")
    ranks = rank_sets(rates[:, :n], _TEST_RESAMPLES, np.random.default_rng([seed, 19]), confidence)
    model_columns["rank_best"], model_columns["rank_worst"] = ranks.best, ranks.worst
    model_columns["rank_margin"] = ranks.margin
    worths = [
        _worth_row(people, labels, n_resamples=n_resamples, level=confidence, seed=seed)
        for labels in crowd.one_hot
    ]
    table = table.join(model_columns).join(pd.DataFrame(worths))
    table = table.sort_values("with_people", ascending=False, kind="stable")
    return table.fillna({"side": ""})


# How many people machines are worth


@cached_analysis(keys=("dataset", "n_members"))
def panels(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people come as near to the population as a random panel of language models.

    The average over all panels of k models, in closed form: see `metrics.panels.panel_variance`.

    One row for each number of models, ``n_members``. ``shrinkage``, ``credibility`` and the
    estimates of `scoring.worth` are those of the panel's pooled votes, with ``_low`` and ``_high``
    over items; ``people_skill`` is the skill of as many people who know the base rate.
    """
    crowd = judges_on(votes, judges)
    sizes = [*(k for k in SIZES if k < crowd.n_members), crowd.n_members]
    rows = [
        {"n_members": k, "n_items": len(crowd.votes)}
        | _worth_row(
            crowd.votes, crowd.counts / crowd.n_members, varying=panel_variance(crowd.labels, k),
            n_answers=crowd.n_members,
            n_resamples=n_resamples, level=confidence, seed=seed,
        )
        for k in sizes
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    people = table["n_members"] / (table["n_members"] + table["credibility"])
    return table.assign(people_skill=people)


@cached_analysis(keys=("dataset", "panel"))
def best_panels(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, confidence: float, seed: int
) -> pd.DataFrame:
    """Choose the best panel of five on half of the items, and judge it on the other half.

    The items are split into halves 20 times at random. Each half chooses once, among all panels, by
    squared distance.

    One row each for the best panel on the items that chose it, the best panel on the other items,
    a random panel of its size on the other items, and all models there. ``people_on_top`` is the
    mean worth over splits, as the panel is; the share `confidence` of the splits lies between
    ``_low`` and ``_high``. ``beats_all`` is the share of splits in which the panel is nearer to
    people than all models are.
    """
    crowd = judges_on(votes, judges)
    people, n = crowd.votes, crowd.n_members
    by_item = distances(people.counts, crowd.counts / n, item_groups([people])[0])
    people_noise = (1 - pairwise_agreement(people.counts)) / people.n_votes
    errors = np.moveaxis(crowd.one_hot, 0, 1) - people.shares[:, np.newaxis]
    products = errors @ np.swapaxes(errors, 1, 2)  # shape (n_items, n_models, n_models)
    products -= people_noise[:, np.newaxis, np.newaxis]
    all_panels = np.array(list(combinations(range(n), PANEL)))
    rng = np.random.default_rng([seed, 17])
    rows = []
    for _ in range(_SPLITS):
        halves = np.split(rng.permutation(len(people)), [len(people) // 2])
        for choosing, judging in (halves, halves[::-1]):
            means, judged_means = products[choosing].mean(axis=0), products[judging].mean(axis=0)
            panel_distances = means[
                all_panels[:, :, np.newaxis], all_panels[:, np.newaxis, :]
            ].mean(axis=(1, 2))
            best = all_panels[panel_distances.argmin()]
            model_distance, distance_of_all = judged_means.trace() / n, judged_means.mean()
            mean_product = (n * distance_of_all - model_distance) / (n - 1)
            judged_on = {
                ON_CHOOSING_ITEMS: (choosing, panel_distances.min()),
                ON_OTHER_ITEMS: (judging, judged_means[np.ix_(best, best)].mean()),
                RANDOM_PANEL: (judging, model_distance / PANEL + (1 - 1 / PANEL) * mean_product),
                ALL_MODELS: (judging, distance_of_all),
            }
            for name, (half, distance) in judged_on.items():
                scale = by_item.of_person[half].mean(), by_item.of_base_rate[half].mean()
                nearer = (
                    float(distance < distance_of_all)
                    if name in (ON_OTHER_ITEMS, RANDOM_PANEL)
                    else np.nan
                )
                rows.append((name, float(people_on_top(*scale, distance)), nearer))
    splits = pd.DataFrame(rows, columns=["panel", ON_TOP, "beats_all"])
    by_panel = splits.groupby("panel", sort=False)
    ends = {"low": (1 - confidence) / 2, "high": (1 + confidence) / 2}
    table = by_panel.mean()
    for end, share in ends.items():
        table[f"{ON_TOP}_{end}"] = by_panel[ON_TOP].quantile(share)
    return table.reset_index()


# What they know beside encoders


@cached_analysis(keys=("dataset", "stacked"))
def with_encoders(
    votes: Votes,
    systems: Sequence[System],
    *,
    judges: AuxiliaryData = JUDGES,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Say what language models know of people that fine-tuned encoders do not, and the reverse.

    By the recipe of `analyses.fitting`, one map takes the share of the language models that give
    each label, one takes the encoders, and one takes both. Each is fitted on the votes on other
    items, and judged on the items that all systems answered: by JSD when fitted for JSD, and by
    worth when fitted for KL.

    One row for each map, named by what is ``stacked``. Maps of encoders have another row with only
    the encoders that cannot have seen the items. ``people`` is the worth in people on top of the
    base rate. For maps of both, ``by_models`` is how much JSD falls when the language models are
    added to the encoders, and ``by_encoders`` how much it falls when the encoders are added to the
    language models. ``jsd`` and these three have ``_low`` and ``_high``, over items.
    """
    crowd = judges_on(votes, judges)
    items = common_items(crowd.votes, [system for system in systems if system.origin != "yours"])
    people = items.votes
    model_logs = pooled_logs(crowd, people)
    stacked: dict[str, tuple[int, Floats]] = {LLMS: (crowd.n_members, model_logs)}
    unseen = [index for index, system in enumerate(items.systems) if not system.caution]
    encoders = {ENCODERS: list(range(len(items.systems)))}
    if len(unseen) < len(items.systems):
        seen_families = dict.fromkeys(system.family for system in items.systems if system.caution)
        encoders[f"{ENCODERS} without {', '.join(seen_families)}"] = unseen
    for name, indices in encoders.items():
        inputs = items.inputs(indices)
        stacked[name] = len(indices), inputs
        joint_inputs = np.concatenate([inputs, model_logs], axis=1)
        stacked[name + _PLUS_LLMS] = len(indices) + crowd.n_members, joint_inputs
    fitted_for_kl, fitted = (
        [fit_recipe(name, items, inputs, objective) for name, (_, inputs) in stacked.items()]
        for objective in OBJECTIVES
    )
    pairs = [(alone, name + _PLUS_LLMS) for name in encoders for alone in (name, LLMS)]
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": confidence}
    scores = score(people, fitted, measures=("jsd",), comparisons=pairs, **bootstrap)
    scores = scores.set_index(["system", "reference"])
    rows = []
    for system, system_for_kl in zip(fitted, fitted_for_kl, strict=True):
        row = {"stacked": system.name, "n_systems": stacked[system.name][0], "n_items": len(people)}
        row |= _with_ends("jsd", scores.loc[(system.name, "")])
        if system.name.endswith(_PLUS_LLMS):
            alone = system.name.removesuffix(_PLUS_LLMS)
            row |= _with_ends("by_models", scores.loc[(alone, system.name)])
            row |= _with_ends("by_encoders", scores.loc[(LLMS, system.name)])
        estimate = worth(people, system_for_kl, **bootstrap).estimates[ON_TOP]
        rows.append(row | _with_ends("people", asdict(estimate)))
    return pd.DataFrame(rows)


def pooled_logs(crowd: Crowd, people: Votes) -> Floats:
    """Return the log-probabilities of a crowd's pooled votes on items of `people`, to be stacked.

    Each label gets half a vote more.
    """
    counts = crowd.counts[[crowd.votes.index(uid) for uid in people.uids]]
    return log_probabilities(smoothed(counts / crowd.n_members, crowd.n_members))


# Where machines and people part


@cached_analysis(keys=("dataset", "bin"))
def unanimity(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people give the language models' label, by how many of the models give it.

    One row for each bin of the share of models that give their most frequent label. The bin begins
    at ``low_share``; the last bin holds the items on which all models agree. ``n_items`` and
    ``share_of_items`` are those of the bin, and ``share`` is its mean share of models. ``people``
    is the share of people with the models' label, with ``low`` and ``high`` over the bin's items;
    ``majority`` is the share of items on which that label is people's majority label.
    """
    crowd = judges_on(votes, judges)
    people, plurality = crowd.votes, crowd.plurality
    share = crowd.counts.max(axis=1) / crowd.n_members
    items = pd.DataFrame(
        {
            "share": share,
            "people": (plurality * people.shares).sum(axis=1),
            "majority": plurality[np.arange(len(people)), people.majority],
        }
    )
    rows = []
    for k, inside in items.groupby(np.searchsorted(EDGES, share, side="right") - 1):
        rng = np.random.default_rng([seed, 13, k])
        resampled = bootstrap_means(inside[["people"]], n_resamples, rng)
        (low,), (high,) = percentile_interval(resampled, confidence)
        row = {"bin": k, "low_share": EDGES[k], "n_models": crowd.n_members, "n_items": len(inside)}
        row |= {"share_of_items": len(inside) / len(people), "low": low, "high": high}
        rows.append(row | inside.mean().to_dict())
    return pd.DataFrame(rows)


@cached_analysis(keys=("dataset", "people_label", "models_label"))
def parted(votes: Votes, *, judges: AuxiliaryData = JUDGES) -> pd.DataFrame:
    """Count the items on which nearly all language models agree on another label than most people.

    One row for each pair of people's majority label and the label of at least 90% of the models.
    The first row joins all pairs (``any``); pairs of fewer than `FEWEST_ITEMS` items are left out.

    * ``n_agreed``: the items on which at least 90% of the models agree; ``n_items``: those of them
      with this pair of labels;
    * ``people``, ``people_with_models``: the mean share of people who gave people's majority label,
      or the models' label;
    * ``old``: the share of items on which the models' label is the old one.
    """
    crowd = judges_on(votes, judges)
    people, models_label = crowd.votes, crowd.counts.argmax(axis=1)
    items, names = np.arange(len(people)), np.array(people.dataset.labels)
    is_agreed = crowd.counts.max(axis=1) >= NEARLY_ALL * crowd.n_members
    table = pd.DataFrame(
        {
            "people_label": names[people.majority],
            "models_label": names[models_label],
            "people": people.shares[items, people.majority],
            "people_with_models": people.shares[items, models_label],
            "old": people.old_label == models_label,
        }
    )
    order = np.lexsort([models_label, people.majority])
    differing = table.loc[order[(is_agreed & (models_label != people.majority))[order]]]
    any_pair = differing.assign(people_label="any", models_label="any other")
    pairs = pd.concat([any_pair, differing]).groupby(["people_label", "models_label"], sort=False)
    summary = pairs.mean().assign(n_items=pairs.size(), n_agreed=is_agreed.sum())
    return summary[summary["n_items"] >= FEWEST_ITEMS].reset_index()


# In an annotator's place


@cached_analysis(keys=("dataset", "model"))
def stand_ins(
    votes: Votes,
    *,
    answers: AuxiliaryData = ANNOTATORS,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Test which language models may stand in for an annotator, and what they are worth.

    One row for each model, one for the label that most of them gave (the first of tied labels), one
    for people, and one for each yardstick of `scoring.replacement`.

    * ``with_people``, ``with_models``: the mean share of people, or of the other models, who gave
      the same label to an item. For all models together, ``with_models`` is the agreement of two
      models;
    * ``advantage`` (ρ), ``wins_10``, ``wins_15`` and ``wins_20`` (ω at ε of 0.1, 0.15 and 0.2): the
      outcome of the alternative annotator test with ``n_annotators``;
    * ``passed_10``, ``passed_15``, ``passed_20``: 1 where ω is 0.5 or more, else 0; for simulated
      people, the share of them that passes;
    * the estimates of `scoring.worth` with ``_low`` and ``_high``; for all models together, those
      of their pooled votes.

    A label that people could not give agrees with nobody's.
    """
    annotations, n_labels = annotations_of(votes), votes.dataset.n_classes
    label_index = {label: k for k, label in enumerate(votes.dataset.labels)}
    labels_by_uid = answers.read(votes.dataset.name).pivot(
        index="uid", columns="model", values="label"
    )
    labels_by_uid = labels_by_uid.loc[list(votes.uids)].map(
        lambda label: label_index.get(label, n_labels)
    )
    model_answers = one_hot(labels_by_uid, n_labels + 1)
    counts, n = model_answers.sum(axis=0).astype(np.int64), len(model_answers)
    people = np.column_stack([votes.counts, np.zeros(len(votes), dtype=np.int64)])
    items_with_two, items = np.flatnonzero(votes.n_votes > 1), np.arange(len(votes))
    predictions = dict(zip(labels_by_uid.columns, model_answers, strict=True)) | {
        POOLED: counts / n
    }
    rows = []
    for name, predicted in predictions.items():
        chosen = predicted.argmax(axis=1)
        with_models = (counts[items, chosen] - 1) / (n - 1)
        row = {
            "model": name,
            "n_items": len(votes),
            "with_people": (people[items, chosen] / votes.n_votes).mean(),
            "with_models": (pairwise_agreement(counts) if name == POOLED else with_models).mean(),
        }
        for epsilon in EPSILONS:
            test = alternative_annotator_test(
                annotations.item, annotations.annotator, annotations.label, chosen,
                n_classes=n_labels + 1, epsilon=epsilon, ordered=votes.dataset.ordered,
            )  # fmt: skip
            row |= {"advantage": test.advantage_probability, "n_annotators": len(test.annotator)}
            row |= _at_margin(epsilon, test.winning_rate, test.passed)
        part, model = part_of(votes, items_with_two), predicted[items_with_two]
        bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": confidence, "seed": seed}
        rows.append(row | _worth_row(part, model, people[items_with_two], **bootstrap))
    pair_agreement = pairwise_agreement(votes.counts[items_with_two]).mean()
    rows.append({"model": PEOPLE, "n_items": len(votes), "with_people": pair_agreement})
    return pd.DataFrame([*rows, *_reference_rows(votes, seed)]).astype({"n_annotators": "Int64"})


def _at_margin(epsilon: float, winning_rate: float, passed: float) -> dict[str, float]:
    name = f"{100 * epsilon:.0f}"
    return {f"wins_{name}": winning_rate, f"passed_{name}": float(passed)}


def _reference_rows(votes: Votes, seed: int) -> Iterable[dict[str, Any]]:
    """Return rows of the same test for the most frequent label and for one more person."""
    rows: dict[str, dict[str, Any]] = {}
    for epsilon in EPSILONS:
        for outcome in replacement(votes, (), epsilon=epsilon, reason="as its authors", seed=seed):
            first_columns = {"model": outcome["system"], "n_items": len(votes)}
            first_columns |= {name: outcome[name] for name in ("advantage", "n_annotators")}
            row = rows.setdefault(outcome["system"], first_columns)
            row |= _at_margin(epsilon, outcome["winning_rate"], outcome["passed"])
    return rows.values()


# How tables show them


def crowd_name(row: Row) -> str:
    """Return the name of a crowd with its number of machines, as "3 seeds of RoBERTa-base"."""
    name, n = str(row["crowd"]), row["n_members"]
    if name in (LLMS, ALL, WITH_YOURS):
        return f"{n} {name.removeprefix('all ')}"
    return f"{n} seeds of {name}"


CROWD_COLUMNS = [
    DATASET,
    Column("crowd", crowd_name),
    Column("machines", "agreement", 0, percent=True, group="two agree, %"),
    Column("people", "people_agreement", 0, percent=True, group="two agree, %"),
    Column("a machine and a person agree, %", "with_people", 0, percent=True),
    Column("misplaced of 100", "misplaced", 0),
    with_ends("as it is", ON_TOP, 1, group="worth in people"),
    with_ends("recalibrated", PEOPLE_RECALIBRATED, 1, group="worth in people"),
]
PUBLISHED_COLUMNS = [
    DATASET,
    Column("quantity", "quantity", names=_QUANTITIES),
    *paper_here_delta("", "value", 4, published="paper", difference="difference"),
    Column("items", "n_items", 0),
    Column("missing", "missing", 3),
]
PANEL_COLUMNS = [
    DATASET,
    Column("panel", "panel"),
    with_ends("worth in people, as it is", ON_TOP, 1),
    Column("nearer than all models, % of splits", "beats_all", 0, percent=True),
]
STACKED_COLUMNS = [
    DATASET,
    Column("stacked", "stacked"),
    Column("systems", "n_systems", 0),
    with_ends("JSD", "jsd", 3, best="lowest"),
    with_ends("worth in people", "people", 1),
    with_ends("language models", "by_models", 3, group="fall in JSD by adding"),
    with_ends("encoders", "by_encoders", 3, group="fall in JSD by adding"),
]
PARTED_COLUMNS = [
    DATASET,
    Column("most people", "people_label"),
    Column("nearly all models", "models_label"),
    Column("items", "n_items", 0),
    Column("for their majority label", "people", 0, percent=True, group="people, %"),
    Column("for the models’ label", "people_with_models", 0, percent=True, group="people, %"),
    Column("models give the old label, % of items", "old", 0, percent=True),
]
_MODEL_NAMES = {"llama-31": "Llama 3.1", "mistral-v03": "Mistral v0.3"}  # without their dots


def _model_name(name: str) -> str:
    return _MODEL_NAMES.get(name) or language_model_name(name)


STAND_IN_COLUMNS = [
    DATASET,
    Column("model", "model", names=_model_name),
    Column("a person", "with_people", 0, percent=True, group="agrees with, %"),
    Column("a model", "with_models", 0, percent=True, group="agrees with, %"),
    Column("ρ", "advantage", 2, group="replacement test"),
    Column("ω, ε = 0.1", "wins_10", 2, group="replacement test"),
    Column("ω, ε = 0.15", "wins_15", 2, group="replacement test"),
    Column("ω, ε = 0.2", "wins_20", 2, group="replacement test"),
    with_ends("worth in people, shrunk", PEOPLE_SHRUNK, 1),
]


def member_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `members` are shown: a row for each model, datasets side by side."""
    columns = [Column("model", "model", names=language_model_name)]
    for dataset in dict.fromkeys(rows["dataset"]):
        look: dict[str, Any] = {"group": short_of(str(dataset)), "at": {"dataset": dataset}}
        columns += [
            Column(
                "agrees, %",
                "with_people",
                1,
                percent=True,
                bold=lambda row: bool(row["side"]),
                **look,
            ),
            Column("worth", PEOPLE_RECALIBRATED, 1, **look),
        ]
    return columns
