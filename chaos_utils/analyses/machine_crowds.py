"""Language models as a crowd: how near they come to people, and how many people they are worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.cached_analysis import cached_analysis
from chaos_utils.analyses.fitting import common_items, fit_recipe
from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.auxiliary_data import ANNOTATORS, JUDGES, AuxiliaryData, judges_file
from chaos_utils.datasets.catalogue import bundled_datasets, short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import majority_agreement, pairwise_agreement
from chaos_utils.metrics.divergence import Floats
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
from chaos_utils.report.columns import DATASET, Column, Row, paper_here_delta, with_ends
from chaos_utils.scoring.annotators import annotations_of
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.fitting import OBJECTIVES, log_probabilities
from chaos_utils.scoring.recalibration import smoothed
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
_SPLITS = 20  # of the items in halves, each of which chooses once
_QUANTITIES = {"nu_MSE": "ν_MSE", "gamma_co_all": "γ_co", "nu_H": "ν_H"}


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

    `votes` are people's on these items; `labels` has a column per machine. Of language models,
    `members` and `makers` have a name per machine.
    """

    name: str
    votes: Votes
    labels: Ints
    members: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()

    @property
    def n_members(self) -> int:
        """How many machines these are."""
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
        """The label that most members gave, shape (n_items, n_classes); equal parts of a tie."""
        first = self.counts == self.counts.max(axis=1, keepdims=True)
        shares: Floats = first / first.sum(axis=1, keepdims=True)
        return shares


def judges_on(votes: Votes, judges: AuxiliaryData = JUDGES) -> Crowd:
    """Return the language models on the items that all of them answered."""
    answers = judges.read(votes.dataset.name)
    wide = answers.pivot(index="uid", columns="model", values="label").dropna()
    part = part_of(votes, np.sort([votes.index(uid) for uid in wide.index]))
    places = {label: k for k, label in enumerate(votes.dataset.labels)}
    labels = wide.loc[list(part.uids)].map(places.__getitem__).to_numpy(dtype=np.int64)
    makers = answers.drop_duplicates("model").set_index("model")["maker"]
    return Crowd(LLMS, part, labels, tuple(wide.columns), tuple(makers.loc[wide.columns]))


def crowds_on(
    votes: Votes, systems: Sequence[System], judges: AuxiliaryData = JUDGES
) -> list[Crowd]:
    """Return the crowds of machines that answered a dataset's items, or some of them.

    The language models beside released votes; the seeds of each family; all systems together,
    without a reader's and with them. What has learned from votes is left out. Without two votes on
    each item, there is none.
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


def _worth(
    votes: Votes, model: Floats, counts: Ints | None = None, **options: Any
) -> dict[str, float]:
    """Return a prediction's estimates of worth with their ends, λ (``shrinkage``) and k₀.

    `counts` are people's where these have more classes than the dataset; `options` are those of
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

    A row for each crowd, as `crowds_on` gives them. Means over items: ``agreement`` (share of pairs
    of members that agree), ``people_agreement`` (of people), ``with_people`` (how often a person
    gives a member's label); of language models also ``within_maker`` and ``across_makers``, how
    often two of one maker and two of different makers agree, and ``closer``, their difference.
    ``rho`` is the correlation over items of the first two; ``left_out_agreement`` how often two
    people agree on the other items. Then ``shrinkage`` (λ), ``credibility`` (k₀) and the estimates
    of `scoring.worth` for the members' pooled votes, after ``limit_`` for endlessly many such
    members, who cannot be recalibrated, and ``uniform_human_equivalent_brier`` that of a uniform
    guess. ``old_label`` is the share of
    members that gave the old label where people's majority is another, on ``n_contested`` items,
    and ``people_old_label`` that of people.
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
        endless = _worth(people, pooled, varying=panel_variance(crowd.labels, np.inf), **bootstrap)
        of_them = _worth(people, pooled, n_answers=crowd.n_members, **bootstrap)
        row |= of_them | {
            f"limit_{name}": of for name, of in endless.items() if "recalibrated" not in name
        }
        uniform = _worth(people, np.full(pooled.shape, 1 / pooled.shape[1]), **bootstrap)
        row[f"uniform_{HUMAN_EQUIVALENT}"] = uniform.get(HUMAN_EQUIVALENT)
        if people.has_old_labels:
            items, old = np.arange(len(people)), people.old_label
            contested = pd.DataFrame(
                {
                    "old_label": (crowd.labels == old[:, np.newaxis]).mean(axis=1),
                    "people_old_label": people.shares[items, old],
                }
            )[old != people.majority]
            row |= {"n_contested": len(contested)} | contested.mean().to_dict()
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["crowd"])


def _by_maker(crowd: Crowd) -> dict[str, Floats]:
    """Return how often two of one maker, and two of different makers, agree, by item."""
    first, second = np.triu_indices(crowd.n_members, 1)
    same = crowd.labels[:, first] == crowd.labels[:, second]
    makers = np.array(crowd.makers)
    related = makers[first] == makers[second]
    within, across = same[:, related].mean(axis=1), same[:, ~related].mean(axis=1)
    return {"within_maker": within, "across_makers": across, "closer": within - across}


# What was published


@cached_analysis(keys=("dataset", "quantity"), published=("judges32",))
def published(votes: Votes, *, judges: AuxiliaryData = JUDGES) -> pd.DataFrame:
    """Set the published values of the 32 language models beside those of the released labels.

    A row for each ``quantity`` of `metrics.panels.panel_values` and for ``nu_H``, which needs a
    curve that was not released: ``paper`` on ``paper_items``, ``value`` on ``n_items``,
    ``difference``; ``missing``, what the ``n_missing`` items that one of the models has no readable
    answer to must add to the sum of an item's ``J`` or ``E``.
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

    A row for each model, and one each for ``people``, for ``the majority of the others``, which is
    the label that most other people gave, and for the label that most of the models gave:
    ``with_people``, how often a random person gives the same label, and ``beyond``, by how much
    that is more often than another person does, with ``_low`` and ``_high`` over items, the p-value
    of the paired bootstrap (``p``) and that by Holm's method over the models (``p_adjusted``), and
    ``side``, above or below people where that is below 1 − `confidence`. ``rank_best`` to
    ``rank_worst`` are the ranks that a model may have by ``with_people``, for all models at once,
    ``rank_margin`` how safe that is, by `metrics.ranks.rank_sets`. For models the estimates
    of `scoring.worth` that one label allows, and ``shrinkage`` (λ).
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
    of_models = pd.DataFrame({"p": p, "p_adjusted": holm(p)})
    side = np.where(beyond.mean(axis=0) > 0, "above", "below")
    of_models["side"] = np.where(of_models["p_adjusted"] < 1 - confidence, side, "")
    ranks = rank_sets(rates[:, :n], _TEST_RESAMPLES, np.random.default_rng([seed, 19]), confidence)
    of_models["rank_best"], of_models["rank_worst"] = ranks.best, ranks.worst
    of_models["rank_margin"] = ranks.margin
    worths = [
        _worth(people, labels, n_resamples=n_resamples, level=confidence, seed=seed)
        for labels in crowd.one_hot
    ]
    table = table.join(of_models).join(pd.DataFrame(worths))
    table = table.sort_values("with_people", ascending=False, kind="stable")
    return table.fillna({"side": ""})


# How many people machines are worth


@cached_analysis(keys=("dataset", "n_members"))
def panels(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people come as near to the population as a random panel of language models.

    On average over all ways to draw k of them, in closed form: see `metrics.panels.panel_variance`.

    A row for each number of models, ``n_members``: ``shrinkage``, ``credibility`` and the estimates
    of `scoring.worth`, of their pooled votes, with ``_low`` and ``_high`` over items;
    ``people_skill``, that of as many people who know the base rate.
    """
    crowd = judges_on(votes, judges)
    sizes = [*(k for k in SIZES if k < crowd.n_members), crowd.n_members]
    rows = [
        {"n_members": k, "n_items": len(crowd.votes)}
        | _worth(
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

    Both halves of 20 random splits choose, among all panels, by squared distance.

    A row each for the panel on the items that chose it, the same on the other items, and there a
    random panel of its size and all models: ``people_on_top``, as it is, the mean over splits, with
    ``_low`` and ``_high``, between which that share of the splits lies; ``beats_all``, the share of
    splits in which it is nearer than all models are.
    """
    crowd = judges_on(votes, judges)
    people, n = crowd.votes, crowd.n_members
    by_item = distances(people.counts, crowd.counts / n, item_groups([people])[0])
    noise = (1 - pairwise_agreement(people.counts)) / people.n_votes
    apart = np.moveaxis(crowd.one_hot, 0, 1) - people.shares[:, np.newaxis]
    products = apart @ np.swapaxes(apart, 1, 2)  # by item, of two models each
    products -= noise[:, np.newaxis, np.newaxis]
    groups = np.array(list(combinations(range(n), PANEL)))
    rng = np.random.default_rng([seed, 17])
    rows = []
    for _ in range(_SPLITS):
        halves = np.split(rng.permutation(len(people)), [len(people) // 2])
        for choosing, judging in (halves, halves[::-1]):
            means, judged = products[choosing].mean(axis=0), products[judging].mean(axis=0)
            of_panel = means[groups[:, :, np.newaxis], groups[:, np.newaxis, :]].mean(axis=(1, 2))
            best = groups[of_panel.argmin()]
            of_one, of_all = judged.trace() / n, judged.mean()
            of_pair = (n * of_all - of_one) / (n - 1)
            judged_on = {
                ON_CHOOSING_ITEMS: (choosing, of_panel.min()),
                ON_OTHER_ITEMS: (judging, judged[np.ix_(best, best)].mean()),
                RANDOM_PANEL: (judging, of_one / PANEL + (1 - 1 / PANEL) * of_pair),
                ALL_MODELS: (judging, of_all),
            }
            for name, (half, distance) in judged_on.items():
                scale = by_item.of_person[half].mean(), by_item.of_base_rate[half].mean()
                nearer = (
                    float(distance < of_all) if name in (ON_OTHER_ITEMS, RANDOM_PANEL) else np.nan
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

    One map by the recipe of `analyses.fitting` takes the share of the language models that give
    each label, one takes the encoders, one takes both: fitted on the votes on other items, and
    judged on those that all answered: by JSD when fitted for it, and by worth when fitted for KL.

    A row for each map, named by what is ``stacked``, and again for the encoders that cannot have
    seen the items: ``n_systems`` and ``n_items``; ``jsd`` and ``people``, the worth in people on
    top of the base rate, with ``_low`` and ``_high`` over items; and, of both, how much nearer in
    JSD the language models bring the same encoders (``by_models``) and these the language models
    (``by_encoders``), with the ends.
    """
    crowd = judges_on(votes, judges)
    items = common_items(crowd.votes, [system for system in systems if system.origin != "yours"])
    people = items.votes
    counts = crowd.counts[[crowd.votes.index(uid) for uid in people.uids]]
    logs = log_probabilities(smoothed(counts / crowd.n_members, crowd.n_members))
    stacked: dict[str, tuple[int, Floats]] = {LLMS: (crowd.n_members, logs)}
    unseen = [place for place, system in enumerate(items.systems) if not system.caution]
    encoders = {ENCODERS: list(range(len(items.systems)))}
    if len(unseen) < len(items.systems):
        doubtful = dict.fromkeys(system.family for system in items.systems if system.caution)
        encoders[f"{ENCODERS} without {', '.join(doubtful)}"] = unseen
    for name, places in encoders.items():
        inputs = items.inputs(places)
        stacked[name] = len(places), inputs
        both = np.concatenate([inputs, logs], axis=1)
        stacked[name + _PLUS_LLMS] = len(places) + crowd.n_members, both
    fitted_for_kl, fitted = (
        [fit_recipe(name, items, inputs, objective) for name, (_, inputs) in stacked.items()]
        for objective in OBJECTIVES
    )
    pairs = [(alone, name + _PLUS_LLMS) for name in encoders for alone in (name, LLMS)]
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": confidence}
    scores = score(people, fitted, measures=("jsd",), comparisons=pairs, **bootstrap)
    scores = scores.set_index(["system", "reference"])
    rows = []
    for system, for_kl in zip(fitted, fitted_for_kl, strict=True):
        row = {"stacked": system.name, "n_systems": stacked[system.name][0], "n_items": len(people)}
        row |= _with_ends("jsd", scores.loc[(system.name, "")])
        if system.name.endswith(_PLUS_LLMS):
            alone = system.name.removesuffix(_PLUS_LLMS)
            row |= _with_ends("by_models", scores.loc[(alone, system.name)])
            row |= _with_ends("by_encoders", scores.loc[(LLMS, system.name)])
        of_kl = worth(people, for_kl, **bootstrap).estimates[ON_TOP]
        rows.append(row | _with_ends("people", asdict(of_kl)))
    return pd.DataFrame(rows)


# Where machines and people part


@cached_analysis(keys=("dataset", "bin"))
def unanimity(
    votes: Votes, *, judges: AuxiliaryData = JUDGES, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people give the language models' label, by how many of the models give it.

    A row for each bin of the share of models that give the most frequent label, from ``low_share``
    on; the last holds the items on which all agree: ``n_items``, ``share_of_items``; ``share`` of
    the models, the bin's mean; ``people``, the share of people with that label, with ``low`` and
    ``high`` over the bin's items; ``majority``, on which share of the items it is people's majority
    label.
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

    A row for each pair of labels, that of people's majority and that of at least 90% of the models:
    ``n_items``, of ``n_agreed`` items on which so many models agree; means over them of ``people``
    (share with their majority) and ``people_with_models`` (share with the models' label); ``old``,
    on which share of them the models' label is the old one. The first row is of ``any`` two labels;
    pairs of fewer than `FEWEST_ITEMS` items are left out.
    """
    crowd = judges_on(votes, judges)
    people, theirs = crowd.votes, crowd.counts.argmax(axis=1)
    items, names = np.arange(len(people)), np.array(people.dataset.labels)
    agreed = crowd.counts.max(axis=1) >= NEARLY_ALL * crowd.n_members
    table = pd.DataFrame(
        {
            "people_label": names[people.majority],
            "models_label": names[theirs],
            "people": people.shares[items, people.majority],
            "people_with_models": people.shares[items, theirs],
            "old": people.old_label == theirs,
        }
    )
    order = np.lexsort([theirs, people.majority])
    apart = table.loc[order[(agreed & (theirs != people.majority))[order]]]
    any_pair = apart.assign(people_label="any", models_label="any other")
    pairs = pd.concat([any_pair, apart]).groupby(["people_label", "models_label"], sort=False)
    means = pairs.mean().assign(n_items=pairs.size(), n_agreed=agreed.sum())
    return means[means["n_items"] >= FEWEST_ITEMS].reset_index()


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

    A row for each model, one for the label that most of them gave (the first of those that are
    tied), one for people, and one for each yardstick of `scoring.replacement`: ``with_people``, the
    share of people who gave the same label to an item; ``with_models``, that of the other models;
    ``advantage`` (ρ), ``wins_10``, ``wins_15`` and ``wins_20`` (ω at ε of 0.1, 0.15 and 0.2) of the
    alternative annotator test, of ``n_annotators``, and ``passed_10`` … whether ω is 0.5 or more,
    of people who are simulated the share of whom it is; the estimates of `scoring.worth` with
    ``_low`` and ``_high``, those of the pooled votes of all models for the row of them all, where
    ``with_models`` is the agreement of two models. A label that people could not give agrees with
    nobody's.
    """
    annotations, n_labels = annotations_of(votes), votes.dataset.n_classes
    places = {label: k for k, label in enumerate(votes.dataset.labels)}
    wide = answers.read(votes.dataset.name).pivot(index="uid", columns="model", values="label")
    wide = wide.loc[list(votes.uids)].map(lambda label: places.get(label, n_labels))
    one_each = one_hot(wide, n_labels + 1)
    counts, n = one_each.sum(axis=0).astype(np.int64), len(one_each)
    people = np.column_stack([votes.counts, np.zeros(len(votes), dtype=np.int64)])
    several, items = np.flatnonzero(votes.n_votes > 1), np.arange(len(votes))
    panel = dict(zip(wide.columns, one_each, strict=True)) | {POOLED: counts / n}
    rows = []
    for name, predicted in panel.items():
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
        part, model = part_of(votes, several), predicted[several]
        bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": confidence, "seed": seed}
        rows.append(row | _worth(part, model, people[several], **bootstrap))
    pairs = pairwise_agreement(votes.counts[several]).mean()
    rows.append({"model": PEOPLE, "n_items": len(votes), "with_people": pairs})
    return pd.DataFrame([*rows, *_reference_rows(votes, seed)]).astype({"n_annotators": "Int64"})


def _at_margin(epsilon: float, winning_rate: float, passed: float) -> dict[str, float]:
    name = f"{100 * epsilon:.0f}"
    return {f"wins_{name}": winning_rate, f"passed_{name}": float(passed)}


def _reference_rows(votes: Votes, seed: int) -> Iterable[dict[str, Any]]:
    """Return what the most frequent label, and one more person, come to in the same test."""
    rows: dict[str, dict[str, Any]] = {}
    for epsilon in EPSILONS:
        for outcome in replacement(votes, (), epsilon=epsilon, reason="as its authors", seed=seed):
            about = {"model": outcome["system"], "n_items": len(votes)}
            about |= {name: outcome[name] for name in ("advantage", "n_annotators")}
            row = rows.setdefault(outcome["system"], about)
            row |= _at_margin(epsilon, outcome["winning_rate"], outcome["passed"])
    return rows.values()


# How tables show them


def crowd_name(row: Row) -> str:
    """Return how a crowd is called, with its number: "3 seeds of RoBERTa-base"."""
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
    with_ends("language models", "by_models", 3, group="JSD less by the"),
    with_ends("encoders", "by_encoders", 3, group="JSD less by the"),
]
PARTED_COLUMNS = [
    DATASET,
    Column("most people", "people_label"),
    Column("nearly all models", "models_label"),
    Column("items", "n_items", 0),
    Column("with their majority", "people", 0, percent=True, group="people, %"),
    Column("with the models", "people_with_models", 0, percent=True, group="people, %"),
    Column("models give the old label, % of items", "old", 0, percent=True),
]
_MODEL_NAMES = {
    "gemini_flash": "Gemini Flash",
    "gemini_pro": "Gemini Pro",
    "gpt-4o": "GPT-4o",
    "gpt-4o-mini": "GPT-4o mini",
    "llama-31": "Llama 3.1",
    "mistral-v03": "Mistral v0.3",
}
STAND_IN_COLUMNS = [
    DATASET,
    Column("model", "model", names=_MODEL_NAMES),
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
    columns = [Column("model", "model")]
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
