"""Language models as a crowd: how near they come to people, and how many people they are worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.fitting import ALL as ALL_SYSTEMS
from chaos_utils.analyses.fitting import ALL_BUT, RECIPE, common, stacks
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.inputs import Input, Later, digest
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.companions import machine_files, read_judges, read_llm_annotators
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import (
    majority_agreement,
    pairwise_agreement,
    quadratic_entropy,
)
from chaos_utils.metrics.panels import one_hot, panel_values, panel_variance
from chaos_utils.metrics.replacement import Replacement, alternative_annotator_test
from chaos_utils.metrics.resampling import (
    bootstrap_means,
    holm,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.metrics.skill import distances, people_on_top
from chaos_utils.report.columns import DATASET, Column, Row, paper_here_delta
from chaos_utils.scoring.fitting import log_probabilities, predict_out_of_fold
from chaos_utils.scoring.judging import part_of
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, are_votes
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import NAMES, PEOPLE_TRUSTED, of_distances, worth

READS = ("alttest/*", "judges32/*")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LLMS, ENCODERS = "language models", "encoders"
_AND = f" + {LLMS}"
ALL, WITH_YOURS = "all fine-tuned models", "all models with yours"
PEOPLE, MAJORITY, POOLED = "people", "the majority of the others", "all of them, plurality"
CHOSEN, JUDGED = "the best, on the items that chose it", "the best, on the other items"
RANDOM, EVERYBODY = "a random panel of that size", "all models"
SIZES = (1, 2, 3, 5, 8, 12, 20)  # of random panels, beside that of all
PANEL = 5  # models in the panel that is chosen
EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)  # of bins of the models that give one label
NEARLY_ALL = 0.9
EPSILONS = (0.1, 0.15, 0.2)
_TESTS = 10_000  # resamples for p-values of 32 comparisons
_SPLITS = 20  # of the items in halves, each of which chooses once
_RATE = "with_people"
_QUANTITIES = {"nu_MSE": "ν_MSE", "gamma_co_all": "γ_co", "nu_H": "ν_H"}


# What is available


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What machines answered, and the files that say so."""

    given: pd.DataFrame | Later[pd.DataFrame]
    inputs: tuple[Input, ...] = ()

    @property
    def rows(self) -> pd.DataFrame:
        """An answer each, read when they are first needed."""
        return self.given.value if isinstance(self.given, Later) else self.given

    def on(self, votes: Votes) -> pd.DataFrame:
        """Return the answers to a dataset's items; none beside a reader's own votes."""
        known = votes.is_released or votes.source.synthetic
        if not known or "dataset" not in self.rows:
            return pd.DataFrame(columns=["uid", "model", "maker", "label"])
        return self.rows[self.rows["dataset"] == votes.dataset.name]


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """The evidence on each dataset, and the answers that were published beside it.

    Where such a file is not available, nor are the votes: their tables are then recorded ones.
    """

    material: Material
    judges: Answers = field(default_factory=lambda: Answers(pd.DataFrame()))


def beside(material: Material) -> Machines:
    """Add the answers of language models to the evidence."""
    released = [one.datasets[0] for one in material if one.given_votes and one.released]
    judged_on = [one.name for one in released if machine_files(one)]
    files = [name for one in released for name in machine_files(one)]
    if not files:
        return Machines(material)
    if not all(map(sources.find, files)):
        if any(one.own for one in material):
            return Machines(material)
        return Machines(Material(tuple(map(_unavailable, material)), material.trained))

    def labels() -> pd.DataFrame:
        return pd.concat([read_judges(name).assign(dataset=name) for name in judged_on])

    return Machines(material, _read_later(labels, files))


def _read_later(read: Callable[[], pd.DataFrame], files: Sequence[str]) -> Answers:
    """Return the answers of files, which must be the published ones."""
    found = [(name, sources.locate(name, "released")) for name in files]
    inputs = tuple(Input(name, digest(path)) for name, path in found)
    return Answers(Later(inputs, read), inputs)


def _unavailable(evidence: Evidence) -> Evidence:
    return replace(evidence, given_votes=None, given_systems=None)


def annotated(beside: Material) -> tuple[Material, Answers]:
    """Return the datasets whose items language models have labelled beside named annotators.

    Beside the book's votes alone.
    """
    if not beside.released:
        return Material(()), Answers(pd.DataFrame())
    names = [one.name for one in bundled_datasets() if not one.in_book and machine_files(one)]
    material = gather(datasets=names)
    files = [name for one in material.datasets for name in machine_files(one)]
    if not all(map(sources.find, files)):
        return Material(tuple(map(_unavailable, material))), Answers(pd.DataFrame())

    def labels() -> pd.DataFrame:
        there = [one.name for one in material if one.given_votes]
        rows = [read_llm_annotators(name).assign(dataset=name) for name in there]
        return pd.concat([pd.DataFrame(), *rows])

    return material, _read_later(labels, files)


# Crowds


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Machines that answered the same items.

    `votes` are people's on these items; `labels` has a column per machine, `members` and `makers`
    a name.
    """

    name: str
    votes: Votes
    labels: Ints
    members: tuple[str, ...]
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
        found: Floats = first / first.sum(axis=1, keepdims=True)
        return found

    @property
    def is_nearly_unanimous(self) -> npt.NDArray[np.bool_]:
        """On which items nearly all members gave one label, shape (n_items,)."""
        return self.counts.max(axis=1) >= NEARLY_ALL * self.n_members


def judges_on(votes: Votes, answers: pd.DataFrame) -> Crowd | None:
    """Return the language models on the items that all of them answered.

    None without such an item, or two votes on each.
    """
    if votes.n_votes.min() < 2 or not len(answers):
        return None
    places = {label: k for k, label in enumerate(votes.dataset.labels)}
    wide = answers.pivot(index="uid", columns="model", values="label").dropna()
    rows = np.array(sorted(votes.index(uid) for uid in wide.index), dtype=np.int64)
    if not len(rows):
        return None
    part = part_of(votes, rows)
    makers = answers.drop_duplicates("model").set_index("model")["maker"]
    labels = wide.loc[list(part.uids)].map(places.__getitem__).to_numpy(dtype=np.int64)
    return Crowd(LLMS, part, labels, tuple(wide.columns), tuple(makers.loc[wide.columns]))


def crowds_on(votes: Votes, systems: Sequence[System], answers: pd.DataFrame) -> list[Crowd]:
    """Return the crowds of machines that answered a dataset's items, or some of them.

    The language models; the seeds of each family; all systems together, without a reader's and
    with them. What has learned from votes is left out. Without two votes on each item, there is
    none.
    """
    if votes.n_votes.min() < 2:
        return []
    judges = judges_on(votes, answers)
    found = [] if judges is None else [judges]
    fair = [one for one in systems if not any(map(are_votes, one.trained_on))]
    families: dict[str, list[System]] = {}
    for one in fair:
        if one.seed is not None:
            families.setdefault(one.family, []).append(one)
    groups = {name: some for name, some in families.items() if len(some) > 1}
    ours = [one for one in fair if one.origin != "yours"]
    for name, some in ((ALL, ours), (WITH_YOURS, fair if len(fair) > len(ours) else [])):
        if len({one.family for one in some}) > 1:
            groups[name] = some
    for name, some in groups.items():
        rows = np.arange(len(votes))
        for one in some:
            rows = np.intersect1d(rows, one.rows_in(votes))
        if len(rows):
            part = part_of(votes, rows)
            labels = np.stack([one.aligned_to(part).predicted for one in some], axis=1)
            found.append(Crowd(name, part, labels, tuple(one.name for one in some)))
    return found


def _worth(
    votes: Votes,
    model: Floats,
    *,
    counts: Ints | None = None,
    varying: Floats | float = 0.0,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> dict[str, float]:
    """Return a prediction's estimates of worth with their ends, λ (``trust``) and k₀.

    `counts` are people's where these have more classes than the dataset.
    """
    people = votes.counts if counts is None else counts
    groups = item_groups([votes])[0]
    if (groups == groups[0]).all():
        return {}
    found = of_distances(
        distances(people, model, groups, varying),
        float(votes.n_votes.mean()),
        is_hard=bool(model.max(axis=1).min() == 1),
        n_resamples=n_resamples, seed=seed, level=confidence,
    )  # fmt: skip
    row = {"trust": found.trust, "credibility": found.credibility}
    for name, one in found.estimates.items():
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    return row


@recorded(keys=("dataset", "crowd"))
def crowds(
    votes: Votes,
    systems: Sequence[System],
    *,
    judges: Answers,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Set each crowd of machines beside people.

    A row for each crowd, as `crowds_on` gives them: ``n_members``, ``n_items``; means over items of
    ``agreement`` (share of pairs of members that agree), ``unanimous`` (whether all do),
    ``with_people`` (how often a person gives a member's label), and after ``people_`` the first two
    of people, as many of them; ``rho``, the correlation over items of how often two members and two
    people disagree. All with ``_low`` and ``_high`` over items. How often two people agree on the
    other items is ``left_out_agreement``. ``trust`` (λ), ``credibility`` (k₀) and the estimates of
    `scoring.worth` for the members' pooled votes; after ``uniform_`` and ``base_rate_`` that of
    ``human_equivalent_brier`` for a uniform guess and the base rate; after ``limit_`` those of
    endlessly many such members. ``old_label`` is the share of members that gave the old label where
    people's majority is another, on ``n_contested`` items, and ``people_old_label`` that of people.
    """
    rows = []
    resampling: dict[str, Any] = {
        "n_resamples": n_resamples, "confidence": confidence, "seed": seed
    }  # fmt: skip
    for crowd in crowds_on(votes, systems, judges.on(votes)):
        rng = np.random.default_rng([seed, 11])  # whatever other crowds there are
        counts, people = crowd.counts, crowd.votes
        agreement, of_people = pairwise_agreement(counts), pairwise_agreement(people.counts)
        values = {
            "agreement": agreement,
            "people_agreement": of_people,
            "unanimous": counts.max(axis=1) == crowd.n_members,
            "people_unanimous": chance_of_unanimity(people, crowd.n_members),
            "with_people": (people.shares * counts).sum(axis=1) / crowd.n_members,
        }
        products = [agreement**2, of_people**2, agreement * of_people]
        table = np.stack([*values.values(), *products], axis=1).astype(float)
        means, resampled = table.mean(axis=0), bootstrap_means(table, n_resamples, rng)
        found = [np.append(some[..., :-3], _correlation(some)[..., np.newaxis], axis=-1)
                 for some in (means, resampled)]  # fmt: skip
        ends = percentile_interval(found[1], confidence)
        row: dict[str, object] = {"crowd": crowd.name, "n_members": crowd.n_members}
        others = ~np.isin(votes.uids, people.uids)
        row |= {"n_items": len(people), "left_out_agreement": np.nan}
        if others.any():
            row["left_out_agreement"] = pairwise_agreement(votes.counts[others]).mean()
        for name, mean, low, high in zip([*values, "rho"], found[0], *ends, strict=True):
            row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        pooled = counts / crowd.n_members
        row |= _worth(people, pooled, **resampling)
        uniform = np.full(pooled.shape, 1 / pooled.shape[1])
        row["uniform_human_equivalent_brier"] = _worth(people, uniform, **resampling).get(NAMES[-1])
        row["base_rate_human_equivalent_brier"] = row.get("credibility")
        if crowd.n_members > 1:
            many = panel_variance(crowd.labels, np.inf)
            limit = _worth(people, pooled, varying=many, **resampling)
            row |= {f"limit_{name}": value for name, value in limit.items()}
        rows.append(row | _for_old_label(crowd))
    return _table(votes, rows, ["crowd"])


def _correlation(means: Floats) -> Floats:
    """Return the correlation of the first two columns, from means; products are the last three."""
    x, y, xx, yy, xy = (means[..., k] for k in (0, 1, -3, -2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = (xy - x * y) / np.sqrt((xx - x**2) * (yy - y**2))
    return found


def _table(votes: Votes, rows: Sequence[dict[str, object]], keys: Sequence[str]) -> pd.DataFrame:
    found = pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(keys))
    found.insert(0, "dataset", votes.dataset.name)
    return found


def chance_of_unanimity(votes: Votes, n: int) -> Floats:
    """Return how likely n people, drawn from those who judged an item, all give one label.

    NaN where fewer judged it.
    """
    totals = votes.n_votes[:, np.newaxis]
    chances = np.ones(votes.counts.shape)
    for k in range(n):
        chances *= np.maximum(votes.counts - k, 0) / np.maximum(totals - k, 1)
    return np.where(votes.n_votes < n, np.nan, chances.sum(axis=1))


def _for_old_label(crowd: Crowd) -> dict[str, object]:
    votes = crowd.votes
    if not votes.has_old_labels:
        return {}
    contested = np.flatnonzero(votes.old_label != votes.majority)
    old = votes.old_label[contested]
    return {
        "n_contested": len(contested),
        "old_label": (crowd.labels[contested] == old[:, np.newaxis]).mean() if len(old) else np.nan,
        "people_old_label": votes.shares[contested, old].mean() if len(old) else np.nan,
    }


# What was published


@recorded(keys=("dataset", "quantity"), published=("judges32",))
def published(votes: Votes, *, judges: Answers) -> pd.DataFrame:
    """Set the published values of the 32 language models beside those of the released labels.

    A row for each ``quantity`` of `metrics.panels.panel_values` and for ``nu_H``, which needs a
    curve that was not released: ``paper`` on ``paper_items`` (of released votes alone), ``value``
    on ``n_items``, ``difference``; ``missing``, what the ``n_missing`` items that one of the models
    has no readable answer to must add to the sum of an item's ``J`` or ``E``.
    """
    theirs = read_published("judges32").query("dataset == @votes.dataset.name")
    if not votes.is_released:
        theirs = theirs.iloc[:0]
    crowd = judges_on(votes, judges.on(votes))
    if crowd is None:
        return _table(votes, [], ["quantity"])
    people, n = crowd.votes, len(crowd.votes)
    ours = panel_values(crowd.labels, people.shares, people.majority)
    rows: list[dict[str, object]] = []
    for name in [*ours, "nu_H"] if len(theirs) else ours:
        one = theirs[theirs["quantity"] == name]
        value, paper, items = ours.get(name, np.nan), one["value"].sum(min_count=1), n
        if len(one):
            items = int(one["n_items"].item())
        row = {"quantity": name, "paper": paper, "paper_items": items, "n_items": n}
        missing = items * paper - n * value if name in ("J", "E") and items > n else np.nan
        rows.append(
            row
            | {"value": value, "difference": value - paper}
            | {"n_missing": items - n, "missing": missing}
        )
    return _table(votes, rows, ["quantity"])


# Each model by itself


@recorded(keys=("dataset", "model"))
def members(
    votes: Votes, *, judges: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how often each language model agrees with a person, and how many people it is worth.

    A row for each model, and one each for ``people``, for ``the majority of the others``, which is
    the label that most other people gave, and for the label that most of the models gave:
    ``with_people``, how often a random person gives the same label, and ``beyond``, by how much
    that is more often than another person does, with ``_low`` and ``_high`` over items, the p-value
    of the paired bootstrap (``p``) and that by Holm's method over the models (``p_adjusted``), and
    ``side``, above or below people where that is below 1 − `confidence`. For models the estimates
    of `scoring.worth` that one label allows, and ``trust`` (λ).
    """
    crowd = judges_on(votes, judges.on(votes))
    if crowd is None:
        return _table(votes, [], ["model"])
    people, n = crowd.votes, crowd.n_members
    pairs = pairwise_agreement(people.counts)
    given = [*crowd.one_hot, crowd.plurality]
    rates = [(people.shares * one).sum(axis=1) for one in given]
    rates += [majority_agreement(people.counts), pairs]
    table = np.stack(rates, axis=1)
    table = np.concatenate([table, table - pairs[:, np.newaxis]], axis=1)
    rng = np.random.default_rng([seed, 15])
    resampled = bootstrap_means(table, _TESTS, rng)
    ends = percentile_interval(resampled, confidence)
    p = paired_p_value(resampled[:, len(rates) :])
    adjusted = np.append(holm(p[:n]), np.full(3, np.nan))
    names = [*crowd.members, POOLED, MAJORITY, PEOPLE]
    rows: list[dict[str, object]] = []
    for k, name in enumerate(names):
        row: dict[str, object] = {"model": name, "maker": crowd.makers[k] if k < n else ""}
        row["n_items"] = len(people)
        for what, place in ((_RATE, k), ("beyond", len(rates) + k)):
            row |= {what: table[:, place].mean()}
            row |= {f"{what}_low": ends[0][place], f"{what}_high": ends[1][place]}
        if k < n:
            tested = adjusted[k] < 1 - confidence
            side = "above" if table[:, len(rates) + k].mean() > 0 else "below"
            row |= {"p": p[k], "p_adjusted": adjusted[k], "side": side if tested else ""}
            row |= _worth(
                people, given[k], n_resamples=n_resamples, confidence=confidence, seed=seed
            )
        rows.append(row)
    return _table(votes, rows, ["model"]).astype({"side": "str"})


@recorded(keys=("dataset", "maker"))
def makers(
    votes: Votes, *, judges: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say whether language models of one maker agree more often than those of different makers.

    A row for each maker, and one for them all: ``n_models``; ``within``, how often two of its
    models give the same label (missing for a single one), ``across``, how often one of its models
    and one of another maker's do, and ``closer``, their difference; with ``_low`` and ``_high``
    over items. All counts each pair of models once.
    """
    crowd = judges_on(votes, judges.on(votes))
    if crowd is None:
        return _table(votes, [], ["maker"])
    of_maker = np.array(crowd.makers)
    first, second = np.triu_indices(crowd.n_members, 1)
    same = crowd.labels[:, first] == crowd.labels[:, second]
    related = of_maker[first] == of_maker[second]
    rows = []
    rng = np.random.default_rng([seed, 16])
    for name in [*dict.fromkeys(crowd.makers), ""]:
        touches = (of_maker[first] == name) | (of_maker[second] == name) | (name == "")
        size = int((of_maker == name).sum()) if name else crowd.n_members
        row: dict[str, object] = {"maker": name or "all", "n_models": size}
        found = {}
        for what, chosen in (("within", related & touches), ("across", ~related & touches)):
            found[what] = (
                same[:, chosen].mean(axis=1) if chosen.any() else np.full(len(same), np.nan)
            )
        found["closer"] = found["within"] - found["across"]
        table = np.stack(list(found.values()), axis=1)
        ends = percentile_interval(bootstrap_means(table, n_resamples, rng), confidence)
        for what, mean, low, high in zip(found, table.mean(axis=0), *ends, strict=True):
            row |= {what: mean, f"{what}_low": low, f"{what}_high": high}
        rows.append(row)
    return _table(votes, rows, ["maker"])


# How many people machines are worth


@recorded(keys=("dataset", "n_members"))
def panels(
    votes: Votes, *, judges: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people come as near to the population as a random panel of language models.

    On average over all ways to draw k of them, in closed form: see `metrics.panels.panel_variance`.

    A row for each number of models, ``n_members``: ``trust``, ``credibility`` and the estimates of
    `scoring.worth`, of their pooled votes, with ``_low`` and ``_high`` over items;
    ``people_skill``, that of as many people who know the base rate.
    """
    crowd = judges_on(votes, judges.on(votes))
    rows: list[dict[str, object]] = []
    if crowd is not None and crowd.n_members > 1:
        pooled = crowd.counts / crowd.n_members
        for k in [*(k for k in SIZES if k < crowd.n_members), crowd.n_members]:
            found = _worth(
                crowd.votes, pooled, varying=panel_variance(crowd.labels, k),
                n_resamples=n_resamples, confidence=confidence, seed=seed,
            )  # fmt: skip
            about: dict[str, object] = {"n_members": k, "n_items": len(crowd.votes)}
            people = {"people_skill": k / (k + found.get("credibility", np.nan))}
            rows.append(about | found | people)
    return _table(votes, rows, ["n_members"])


@recorded(keys=("dataset", "panel"))
def best_panels(votes: Votes, *, judges: Answers, confidence: float, seed: int) -> pd.DataFrame:
    """Choose the best panel of five on half of the items, and judge it on the other half.

    Both halves of 20 random splits choose, among all panels, by squared distance.

    A row each for the panel on the items that chose it, the same on the other items, and there a
    random panel of its size and all models: ``people_on_top`` and ``human_equivalent_brier``, as it
    is, the mean over splits, with ``_low`` and ``_high``, between which that share of the splits
    lies; ``beats_all``, the share of splits in which it is nearer than all models are.
    """
    crowd = judges_on(votes, judges.on(votes))
    if crowd is None or crowd.n_members <= PANEL or len(crowd.votes) < 4:
        return _table(votes, [], ["panel"])
    people, n = crowd.votes, crowd.n_members
    found = distances(people.counts, crowd.counts / n, item_groups([people])[0])
    noise = (quadratic_entropy(people.counts) / people.n_votes)[:, np.newaxis, np.newaxis]
    apart = np.moveaxis(crowd.one_hot, 0, 1) - people.shares[:, np.newaxis]
    products = apart @ np.swapaxes(apart, 1, 2) - noise  # by item, of two models each
    every = np.array(list(combinations(range(n), PANEL)))
    one, base = found.of_person, found.of_base_rate
    names = (CHOSEN, JUDGED, RANDOM, EVERYBODY)
    worths: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    rng = np.random.default_rng([seed, 17])
    for _ in range(_SPLITS):
        order = rng.permutation(len(people))
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        means = [products[half].mean(axis=0) for half in halves]
        for choosing, judging in ((0, 1), (1, 0)):
            sums = np.zeros(len(every))
            for a in range(PANEL):
                for b in range(PANEL):
                    sums += means[choosing][every[:, a], every[:, b]]
            best = every[sums.argmin()]
            of_one, of_all = means[judging].trace() / n, means[judging].mean()
            of_pair = (n * of_all - of_one) / (n - 1)
            values = {
                CHOSEN: (choosing, sums.min() / PANEL**2),
                JUDGED: (judging, means[judging][np.ix_(best, best)].mean()),
                RANDOM: (judging, of_one / PANEL + (1 - 1 / PANEL) * of_pair),
                EVERYBODY: (judging, of_all),
            }
            for name, (half, distance) in values.items():
                v, d0 = one[halves[half]].mean(), base[halves[half]].mean()
                nearer = float(distance < of_all) if name in (JUDGED, RANDOM) else np.nan
                worths[name].append((float(people_on_top(v, d0, distance)), v / distance, nearer))
    rows = []
    for name, values_of in worths.items():
        table = np.array(values_of)
        ends = np.quantile(table, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        row: dict[str, object] = {"panel": name, "n_models": n if name == EVERYBODY else PANEL}
        for k, what in enumerate(("people_on_top", "human_equivalent_brier")):
            row |= {what: table[:, k].mean(), f"{what}_low": ends[0, k], f"{what}_high": ends[1, k]}
        rows.append(row | {"beats_all": table[:, 2].mean()})
    return _table(votes, rows, ["panel"])


# What they know beside encoders


@recorded(keys=("dataset", "stacked"))
def with_encoders(
    votes: Votes,
    systems: Sequence[System],
    *,
    judges: Answers,
    n_folds: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Say what language models know of people that fine-tuned encoders do not, and the reverse.

    One map by the recipe of `analyses.fitting` takes the share of the language models that give
    each label, one takes the encoders, one takes both: fitted on the votes on other items, and
    judged on those that all answered.

    A row for each map, named by what is ``stacked``, and again for the encoders that cannot have
    seen the items: ``n_systems`` and ``n_items``; ``jsd``, ``kl`` and ``people``, the worth in
    people on top of the base rate, with ``_low`` and ``_high`` over items; and, of both, how much
    nearer in JSD the language models bring the same encoders (``by_models``) and these the language
    models (``by_encoders``), with the ends. No rows where votes are few.
    """
    crowd = None if votes.are_few else judges_on(votes, judges.on(votes))
    fair = [one for one in systems if one.origin != "yours"]
    if crowd is None or not fair:
        return _table(votes, [], ["stacked"])
    found = common(crowd.votes, fair)
    people, folds = found.votes, grouped_folds(found.groups, n_folds, seed)
    counts = crowd.counts[[crowd.votes.index(uid) for uid in people.uids]]
    # As if one more model had divided its vote: no label then has none.
    logs = log_probabilities((counts + 1 / counts.shape[1]) / (crowd.n_members + 1))
    stacked: dict[str, tuple[int, Floats]] = {LLMS: (crowd.n_members, logs)}
    for name, places in stacks(found.systems).items():
        if len(places) > 1 and (name == ALL_SYSTEMS or name.startswith(ALL_BUT)):
            encoders = found.inputs(places)
            name = name.replace(ALL_SYSTEMS, ENCODERS).replace(ALL_BUT, f"{ENCODERS} without")
            stacked[name] = len(places), encoders
            both = np.concatenate([encoders, logs], axis=1)
            stacked[f"{name}{_AND}"] = len(places) + crowd.n_members, both
    fitted = [
        computed(name, people, predict_out_of_fold(inputs, people.shares, folds, kind=RECIPE))
        for name, (_, inputs) in stacked.items()
    ]
    joint = [name for name in stacked if name.endswith(_AND)]
    pairs = [(alone, name) for name in joint for alone in (name.removesuffix(_AND), LLMS)]
    how: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": confidence}
    scores = score(people, fitted, measures=("jsd", "kl"), comparisons=pairs, **how)
    rows: list[dict[str, object]] = []
    for one in fitted:
        row: dict[str, object] = {"stacked": one.name, "n_systems": stacked[one.name][0]}
        row["n_items"] = len(people)
        for of in scores.query("system == @one.name and reference == ''").to_dict("records"):
            row |= _with_ends(of["measure"], of)
        for of in scores.query("reference == @one.name and measure == 'jsd'").to_dict("records"):
            row |= _with_ends("by_encoders" if of["system"] == LLMS else "by_models", of)
        of_people = asdict(worth(people, one, **how).people)
        rows.append(row | _with_ends("people", of_people))
    return _table(votes, rows, ["stacked"])


def _with_ends(name: str, found: Mapping[str, object]) -> dict[str, object]:
    return {name: found["value"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


# Where machines and people part


@recorded(keys=("dataset", "bin"))
def unanimity(
    votes: Votes, *, judges: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Say how many people give the language models' label, by how many of the models give it.

    A row for each bin of the share of models that give the most frequent label, from ``low_share``
    on; the last holds the items on which all agree: ``n_items``, ``share_of_items``; ``share`` of
    the models, the bin's mean; ``people``, the share of people with that label, with ``low`` and
    ``high`` over the bin's items; ``majority``, on which share of the items it is people's majority
    label.
    """
    crowd = judges_on(votes, judges.on(votes))
    rows: list[dict[str, object]] = []
    if crowd is not None:
        people = crowd.votes
        share = crowd.counts.max(axis=1) / crowd.n_members
        plurality = crowd.plurality
        values = np.stack(
            [(plurality * people.shares).sum(axis=1),
             plurality[np.arange(len(people)), people.majority]], axis=1,
        )  # fmt: skip
        bins = np.searchsorted(EDGES, share, side="right") - 1
        for k, edge in enumerate(EDGES):
            inside = bins == k
            if not inside.any():
                continue
            rng = np.random.default_rng([seed, 13, k])
            ends = bootstrap_means(values[inside], n_resamples, rng)
            low, high = percentile_interval(ends, confidence)
            found = values[inside].mean(axis=0)
            rows.append(
                {"bin": k, "low_share": edge, "n_models": crowd.n_members}
                | {"n_items": int(inside.sum()), "share_of_items": inside.mean()}
                | {"share": share[inside].mean(), "people": found[0]}
                | {"low": low[0], "high": high[0], "majority": found[1]}
            )
    return _table(votes, rows, ["bin"])


@recorded(keys=("dataset", "people_label", "models_label"))
def parted(votes: Votes, *, judges: Answers) -> pd.DataFrame:
    """Count the items on which nearly all language models agree on another label than most people.

    A row for each pair of labels, that of people's majority and that of at least 90% of the models:
    ``n_items``, of ``n_agreed`` items on which so many models agree; means over them of ``people``
    (share with their majority) and ``people_with_models`` (share with the models' label); ``old``,
    on which share of them the models' label is the old one. The first row is of ``any`` two labels.
    """
    crowd = judges_on(votes, judges.on(votes))
    rows: list[dict[str, object]] = []
    if crowd is not None:
        people, labels = crowd.votes, crowd.votes.dataset.labels
        agreed = crowd.is_nearly_unanimous
        theirs = crowd.counts.argmax(axis=1)
        both = np.column_stack([people.majority, theirs])
        apart = agreed & (both[:, 0] != both[:, 1])
        pairs = [(k, m) for k, _ in enumerate(labels) for m, _ in enumerate(labels) if k != m]
        chosen = {("any", "any other"): apart} | {
            (labels[k], labels[m]): apart & (both == (k, m)).all(axis=1) for k, m in pairs
        }
        for (of_people, of_models), on_these in chosen.items():
            at = np.flatnonzero(on_these)
            if not len(at) and of_people != "any":
                continue
            row = {"people_label": of_people, "models_label": of_models, "n_items": len(at)}
            row |= {"n_agreed": int(agreed.sum())}
            row |= dict.fromkeys(("people", "people_with_models", "old"), np.nan)
            if len(at):
                row["people"] = people.shares[at, both[at, 0]].mean()
                row["people_with_models"] = people.shares[at, theirs[at]].mean()
                if people.has_old_labels:
                    row["old"] = (people.old_label[at] == theirs[at]).mean()
            rows.append(row)
    return _table(votes, rows, ["people_label", "models_label"])


# In an annotator's place


@recorded(keys=("dataset", "model"))
def stand_ins(
    votes: Votes, *, answers: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Test which language models may stand in for an annotator, and what they are worth.

    A row for each model, one for the label that most of them gave (the first of those that are
    tied), and one for people: ``with_people``, the share of people who gave the same label to an
    item; ``with_models``, that of the other models; ``advantage`` (ρ), ``wins_10``, ``wins_15`` and
    ``wins_20`` (ω at ε of 0.1, 0.15 and 0.2) of the alternative annotator test, of
    ``n_annotators``; the estimates of `scoring.worth` with ``_low`` and ``_high``, those of the
    pooled votes of all models for the row of them all, where ``with_models`` is the agreement of
    two models, and ``beyond`` what it has more than that of two people. A label that people could
    not give agrees with nobody's.
    """
    rows = answers.on(votes)
    known = {label: k for k, label in enumerate(votes.dataset.labels)}
    n_classes = len(known) + 1
    wide = rows.pivot(index="uid", columns="model", values="label").loc[list(votes.uids)]
    labels = wide.map(lambda label: known.get(label, n_classes - 1)).to_numpy(dtype=np.int64)
    counts = np.eye(n_classes, dtype=np.int64)[labels].sum(axis=1)
    people = np.column_stack([votes.counts, np.zeros(len(votes), dtype=np.int64)])
    shares = people / votes.n_votes[:, np.newaxis]
    several = votes.n_votes > 1
    items, n = np.arange(len(votes)), labels.shape[1]
    found: list[dict[str, object]] = []
    choices = [(str(name), labels[:, k]) for k, name in enumerate(wide.columns)]
    choices.append((POOLED, counts.argmax(axis=1)))
    for name, chosen in choices:
        whole = name == POOLED
        predicted = counts / n if whole else np.eye(n_classes)[chosen]
        row: dict[str, object] = {"model": name, "n_items": len(votes)}
        row["with_people"] = shares[items, chosen].mean()
        own = np.nan if whole else (counts[items, chosen] - 1).mean() / (n - 1)
        row["with_models"] = pairwise_agreement(counts).mean() if whole else own
        for epsilon in EPSILONS:
            test = _in_place(votes, chosen, n_classes, epsilon)
            row |= {"advantage": test.advantage_probability, "n_annotators": len(test.annotator)}
            row[f"wins_{100 * epsilon:.0f}"] = test.winning_rate
        found.append(
            row
            | _worth(
                part_of(votes, np.flatnonzero(several)), predicted[several],
                counts=people[several], n_resamples=n_resamples, confidence=confidence, seed=seed,
            )
        )  # fmt: skip
    pairs = pairwise_agreement(votes.counts[several])
    beyond = (pairwise_agreement(counts[several]) - pairs)[:, np.newaxis]
    rng = np.random.default_rng([seed, 14])
    low, high = percentile_interval(bootstrap_means(beyond, n_resamples, rng), confidence)
    found[-1] |= {"beyond": beyond.mean(), "beyond_low": low[0], "beyond_high": high[0]}
    found.append({"model": PEOPLE, "n_items": len(votes), "with_people": pairs.mean()})
    return _table(votes, found, ["model"]).astype({"n_annotators": "Int64"})


def _in_place(votes: Votes, chosen: Ints, n_classes: int, epsilon: float) -> Replacement:
    given = votes.annotations
    assert given is not None
    return alternative_annotator_test(
        given.item,
        given.annotator,
        given.label,
        chosen,
        n_classes=n_classes,
        epsilon=epsilon,
        ordered=votes.dataset.ordered,
    )


# How tables show them


def crowd_name(row: Row) -> str:
    """Return how a crowd is called, with its number: "3 seeds of RoBERTa-base"."""
    name, n = str(row["crowd"]), row["n_members"]
    if name in (LLMS, ALL, WITH_YOURS):
        return f"{n} {name.removeprefix('all ')}"
    return f"{n} seeds of {name}"


def _people(heading: str, name: str, **look: Any) -> Column:
    return Column(heading, name, 1, f"{name}_low", f"{name}_high", **look)


CROWD_COLUMNS = [
    DATASET,
    Column("crowd", crowd_name),
    Column("machines", "agreement", 0, percent=True, group="two agree, %"),
    Column("people", "people_agreement", 0, percent=True, group="two agree, %"),
    Column("a machine and a person agree, %", "with_people", 0, percent=True),
    _people("as it is", NAMES[0], group="worth in people"),
    _people("trusted", PEOPLE_TRUSTED, group="worth in people"),
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
    _people("worth in people, as it is", NAMES[0]),
    Column("nearer than all models, % of splits", "beats_all", 0, percent=True),
]
STACKED_COLUMNS = [
    DATASET,
    Column("stacked", "stacked"),
    Column("systems", "n_systems", 0),
    Column("JSD", "jsd", 3, "jsd_low", "jsd_high", best="lowest"),
    _people("worth in people", "people"),
    Column(
        "language models",
        "by_models",
        3,
        "by_models_low",
        "by_models_high",
        group="JSD less by the",
    ),
    Column(
        "encoders", "by_encoders", 3, "by_encoders_low", "by_encoders_high", group="JSD less by the"
    ),
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
_MODELS = {
    "gemini_flash": "Gemini Flash",
    "gemini_pro": "Gemini Pro",
    "gpt-4o": "GPT-4o",
    "gpt-4o-mini": "GPT-4o mini",
    "llama-31": "Llama 3.1",
    "mistral-v03": "Mistral v0.3",
}
STAND_IN_COLUMNS = [
    DATASET,
    Column("model", "model", names=_MODELS),
    Column("a person", "with_people", 0, percent=True, group="agrees with, %"),
    Column("a model", "with_models", 0, percent=True, group="agrees with, %"),
    Column("ρ", "advantage", 2, group="replacement test"),
    Column("ω, ε = 0.1", "wins_10", 2, group="replacement test"),
    Column("ω, ε = 0.15", "wins_15", 2, group="replacement test"),
    Column("ω, ε = 0.2", "wins_20", 2, group="replacement test"),
    _people("worth in people", PEOPLE_TRUSTED),
]


def side_by_side(rows: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return a row for each value of a column, the most agreeing model first, and "all" last.

    Columns of several datasets stand side by side, named ``column dataset``.
    """
    datasets = list(dict.fromkeys(rows["dataset"]))
    wide = rows.pivot(index=key, columns="dataset")
    wide.columns = [f"{name} {dataset}" for name, dataset in wide.columns]
    if _RATE in rows:
        order = wide[[f"{_RATE} {one}" for one in datasets]].mean(axis=1).sort_values()
        wide = wide.loc[order.index[::-1]]
    else:
        wide = wide.sort_index(key=lambda names: names == "all", kind="stable")
    return wide.reset_index()


def _differs(row: Row) -> bool:
    return bool(row["side"])


def member_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `members` are shown: a row for each model, datasets side by side."""
    found = [Column("model", "model")]
    for one in dict.fromkeys(rows["dataset"]):
        look: dict[str, Any] = {"group": dataset_name(str(one)), "at": {"dataset": one}}
        found += [
            Column("agrees, %", "with_people", 1, percent=True, bold=_differs, **look),
            Column("worth", PEOPLE_TRUSTED, 1, **look),
        ]
    return found
