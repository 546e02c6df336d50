"""Machines as a crowd: how far they agree with each other, and how many people they are worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.inputs import Input, Later, digest
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.companions import (
    N_BERTS,
    machine_files,
    read_berts,
    read_llm_annotators,
    read_llm_judges,
)
from chaos_utils.datasets.votes import Annotations, Votes
from chaos_utils.metrics.agreement import majority_share, pairwise_agreement, quadratic_entropy
from chaos_utils.metrics.divergence import (
    entropy,
    jensen_shannon_distance,
    squared_distance,
    total_variation,
)
from chaos_utils.metrics.replacement import Replacement, alternative_annotator_test
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval, split_votes
from chaos_utils.metrics.skill import ratio_interval
from chaos_utils.report.columns import Column, Row
from chaos_utils.scoring.human_equivalents import JSD, TVD, Crowds
from chaos_utils.scoring.judging import part_of
from chaos_utils.scoring.system import System, are_votes
from chaos_utils.scoring.systems import computed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LLMS, FINISHED = "language models", "language models that finished"
ALL, WITH_YOURS = "all fine-tuned models", "all models with yours"
BERTS, PEOPLE, POOLED = "BERT-base", "people", "all of them, plurality"
LABELS, GOLD = "labels", "gold or not"  # what a crowd's votes are counted for
HARD, SOFT = "votes", "probabilities"  # what of its members is pooled
SIZES = (1, 2, 3, 5, 10, 20, 50)
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)  # of bins of the majority's share
NEARLY_ALL = 0.95
EPSILONS = (0.1, 0.15, 0.2)
_HALF = 0.5  # of a model's answers, that it must have finished
_SOME = 10  # members of a crowd, up to which each size is shown
_BINS = 10  # of the share of the gold label
_DRAWS = 20  # of as many people


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
            return pd.DataFrame(columns=["uid", "model", "label"])
        return self.rows[self.rows["dataset"] == votes.dataset.name]


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """The evidence on each dataset, and the answers that were published beside it.

    Where such a file is not available, nor are the votes: their tables are then recorded ones.
    """

    material: Material
    judges: Answers = field(default_factory=lambda: Answers(pd.DataFrame()))
    berts: Answers = field(default_factory=lambda: Answers(pd.DataFrame()))


def beside(material: Material) -> Machines:
    """Add the answers of language models, and of the hundred BERTs, to the evidence.

    Beside synthetic votes, invented ones.
    """
    if material.synthetic:
        judged = pd.concat([_invent_labels(votes, 6) for votes in material.votes])
        correct = [_invent_correct(votes) for votes in material.votes if _asked_berts(votes)]
        berts = pd.concat([pd.DataFrame(), *correct])
        return Machines(material, Answers(judged), Answers(berts))
    released = [one for one in material if one.given_votes and one.released]
    files = [name for one in released for name in machine_files(one.datasets[0])]
    if not files:
        return Machines(material)
    if not all(map(sources.find, files)):
        if any(one.own for one in material):
            return Machines(material)
        return Machines(Material(tuple(map(_unavailable, material)), material.trained))

    def answers_of_berts() -> pd.DataFrame:
        several = [votes for one in released for votes in one.votes or ()]
        correct = [
            read_berts(votes).assign(dataset=votes.dataset.name)
            for votes in several
            if votes.texts and _asked_berts(votes)
        ]
        return pd.concat([pd.DataFrame(), *correct])

    return Machines(
        material,
        _read_later(read_llm_judges, [one for one in files if "judge" in one]),
        _read_later(answers_of_berts, [one for one in files if "berts" in one]),
    )


def _asked_berts(votes: Votes) -> bool:
    return any("berts" in name for name in machine_files(votes.dataset))


def _read_later(read: Callable[[], pd.DataFrame], files: Sequence[str]) -> Answers:
    """Return the answers of files, which must be the published ones."""
    found = [(name, sources.locate(name, "released")) for name in files]
    inputs = tuple(Input(name, digest(path)) for name, path in found)
    return Answers(Later(inputs, read), inputs)


def _unavailable(evidence: Evidence) -> Evidence:
    return replace(evidence, given_votes=None, given_systems=None)


def annotated(beside: Material) -> tuple[Material, Answers]:
    """Return the datasets whose items language models have labelled beside named annotators.

    Beside the book's votes alone; beside synthetic ones, an invented dataset.
    """
    if beside.synthetic:
        votes = _with_annotators(beside.votes[0])
        evidence = Evidence((votes.dataset,), (votes,), None)
        return Material((evidence,)), Answers(_invent_labels(votes, 4))
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


# Answers to synthetic items


def _invent_labels(votes: Votes, n_models: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    power = votes.shares**3
    models = []
    for k in range(n_models):
        drawn = rng.multinomial(1, power / power.sum(axis=1, keepdims=True)).argmax(axis=1)
        labels = np.array(votes.dataset.labels)[drawn]
        about = {"dataset": votes.dataset.name, "model": f"model {k + 1}", "finished": k > 0}
        models.append(pd.DataFrame({"uid": votes.uids, "label": labels} | about))
    return pd.concat(models)


def _invent_correct(votes: Votes) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    correct = rng.binomial(N_BERTS, rng.beta(0.3, 0.2, len(votes)))
    about = {"dataset": votes.dataset.name, "uid": votes.uids}
    return pd.DataFrame(about | {"n_correct": correct})


def _with_annotators(votes: Votes) -> Votes:
    """Return five votes per item, of eight people in turn."""
    rng = np.random.default_rng(7)
    drawn = split_votes(votes.counts, (5,), rng)[0]
    item, place = np.nonzero(drawn)
    item, label = (np.repeat(some, drawn[item, place]) for some in (item, place))
    people = np.arange(len(item)) % 8
    return replace(
        votes, counts=drawn, majority=drawn.argmax(axis=1),
        annotations=Annotations(item, people, label),
    )  # fmt: skip


# Crowds


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Machines that answered the same items.

    `votes` are people's on these items; `labels` has a column per machine; `probabilities`, where
    there are any, shape (n_members, n_items, n_classes).
    """

    name: str
    votes: Votes
    labels: Ints
    probabilities: Floats | None = None

    @property
    def n_members(self) -> int:
        """How many machines these are."""
        return self.labels.shape[1]

    @property
    def one_hot(self) -> Floats:
        """Each member's label as a distribution, shape (n_members, n_items, n_classes)."""
        found: Floats = np.eye(self.votes.dataset.n_classes)[self.labels.T]
        return found

    @property
    def counts(self) -> Ints:
        """The members' votes, shape (n_items, n_classes)."""
        return self.one_hot.sum(axis=0).astype(np.int64)


def crowds_on(votes: Votes, systems: Sequence[System], answers: pd.DataFrame) -> list[Crowd]:
    """Return the crowds of machines that answered a dataset's items, or some of them.

    The language models; those of them that finished at least half of their answers; the seeds of
    each family; all systems together, without a reader's and with them. What has learned from
    votes is left out. Without two votes on each item, there is none.
    """
    if votes.n_votes.min() < 2:
        return []
    found = []
    if len(answers):
        found.append(_of_answers(LLMS, votes, answers))
        finished = answers.groupby("model")["finished"].mean()
        chosen = finished.index[finished >= _HALF]
        if 1 < len(chosen) < len(finished):
            found.append(_of_answers(FINISHED, votes, answers[answers["model"].isin(chosen)]))
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
            judged = [one.aligned_to(part) for one in some]
            found.append(
                Crowd(
                    name,
                    part,
                    np.stack([one.predicted for one in judged], axis=1),
                    np.stack([one.model for one in judged]),
                )
            )
    return found


def _of_answers(name: str, votes: Votes, answers: pd.DataFrame) -> Crowd:
    places = {label: k for k, label in enumerate(votes.dataset.labels)}
    wide = answers.pivot(index="uid", columns="model", values="label")
    rows = np.array(sorted(votes.index(uid) for uid in wide.index))
    part = part_of(votes, rows)
    labels = wide.loc[list(part.uids)].map(places.__getitem__).to_numpy(dtype=np.int64)
    return Crowd(name, part, labels)


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
    """Set each crowd of machines beside as many people.

    Returns
    -------
    DataFrame
        A row for each crowd, as `crowds_on` gives them: ``n_members``, ``n_items``; means over
        items of ``agreement`` (share of pairs that agree), ``unanimous``, ``entropy`` (bits) of the
        members' labels, and ``jsd``, ``tvd`` of these to people's votes; after ``people_`` the same
        of as many people, drawn from the votes, and judged by the others. Means have ``_low`` and
        ``_high``, over items. ``worth_jsd`` and ``worth_tvd``: how many people come as near to half
        of the votes. ``old_label`` is the share of members that gave the old label where people's
        majority is another, on ``n_contested`` items.
    """
    rows = []
    for crowd in crowds_on(votes, systems, judges.on(votes)):
        rng = np.random.default_rng([seed, 11])  # whatever other crowds there are
        counts, people = crowd.counts, crowd.votes
        machines = counts / crowd.n_members
        values = {
            "agreement": pairwise_agreement(counts),
            "unanimous": counts.max(axis=1) == crowd.n_members,
            "entropy": entropy(machines, unit="bits"),
            "jsd": jensen_shannon_distance(people.shares, machines, unit="nats"),
            "tvd": total_variation(people.shares, machines),
        } | _as_many_people(people, crowd.n_members, rng)
        row: dict[str, object] = {"crowd": crowd.name, "n_members": crowd.n_members}
        row |= {"n_items": len(people)}
        table = np.stack(list(values.values()), axis=1).astype(float)
        ends = percentile_interval(bootstrap_means(table, n_resamples, rng), confidence)
        for name, mean, low, high in zip(values, table.mean(axis=0), *ends, strict=True):
            row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        system = computed(crowd.name, people, machines)
        for one in Crowds(people, seed=seed).equivalents(
            system, n_resamples=n_resamples, level=confidence
        ):
            name = {JSD: "worth_jsd", TVD: "worth_tvd"}[one.name]
            row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            row |= {f"{name}_text": one.text}
        rows.append(row | _for_old_label(crowd))
    return _table(votes, rows, ["crowd"])


def _table(votes: Votes, rows: Sequence[dict[str, object]], keys: Sequence[str]) -> pd.DataFrame:
    found = pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(keys))
    found.insert(0, "dataset", votes.dataset.name)
    return found


def _as_many_people(votes: Votes, n: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return what so many people, drawn from the votes, would have, in expectation by item."""
    drawn: dict[str, list[Floats]] = {"entropy": [], "jsd": [], "tvd": []}
    for _ in range(_DRAWS if n < votes.n_votes.min() else 0):
        few, rest = split_votes(votes.counts, (n,), rng)
        shares, others = few / n, rest / rest.sum(axis=1, keepdims=True)
        drawn["entropy"].append(entropy(shares, unit="bits"))
        drawn["jsd"].append(jensen_shannon_distance(others, shares, unit="nats"))
        drawn["tvd"].append(total_variation(others, shares))
    unknown = [np.full(len(votes), np.nan)]
    return {
        "people_agreement": pairwise_agreement(votes.counts),
        "people_unanimous": chance_of_unanimity(votes, n),
    } | {f"people_{name}": np.mean(some or unknown, axis=0) for name, some in drawn.items()}


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


# How many people machines are worth


@recorded(keys=("dataset", "target", "crowd", "pooled", "n_members"))
def growth(
    votes: Votes, systems: Sequence[System], *, judges: Answers, berts: Answers, confidence: float
) -> pd.DataFrame:
    r"""Say how many people come as near to the population as some members of a crowd, pooled.

    Over the ways to draw k of n members, the expected squared distance is
    :math:`\sum_k (m_k - h_k)^2 + \frac{s^2}{k} (1 - \frac{k}{n})`, less the noise of the
    votes, where m is the mean over all members and s² their variance. As k and n grow it tends to
    the first term less s²/n: that of endlessly many such machines.

    Returns
    -------
    DataFrame
        A row for each ``target`` (whether all labels count, or the old label against the others),
        crowd, what is ``pooled`` of its members (votes, probabilities), and ``n_members``:
        ``worth`` in people by squared distance, with Fieller's interval (``low``, ``high``);
        ``whole``, whether these are all members; ``limit``, ``limit_low``, ``limit_high``, for
        endlessly many.
    """
    groups = []
    for crowd in crowds_on(votes, systems, judges.on(votes)):
        people = crowd.votes
        for pooled, members in ((HARD, crowd.one_hot), (SOFT, crowd.probabilities)):
            if members is None:
                continue
            groups.append((crowd.name, LABELS, pooled, people.counts, *_pooled(members)))
            if people.has_old_labels and votes.dataset.n_classes > 2:
                gold = members[:, np.arange(len(people)), people.old_label]
                two = np.stack([gold, 1 - gold], axis=2)
                groups.append((crowd.name, GOLD, pooled, _for_gold(people), *_pooled(two)))
    of_berts = berts.on(votes)
    if len(of_berts):
        share = of_berts["n_correct"].to_numpy() / N_BERTS
        mean = np.stack([share, 1 - share], axis=1)
        spread = 2 * share * (1 - share) * N_BERTS / (N_BERTS - 1)
        groups.append((BERTS, GOLD, HARD, _for_gold(votes), mean, spread, N_BERTS))
    rows: list[dict[str, object]] = []
    for name, target, pooled, counts, mean, spread, n in groups:
        of_one = quadratic_entropy(counts)
        totals = counts.sum(axis=1)
        base = squared_distance(counts / totals[:, np.newaxis], mean, totals)
        limit = ratio_interval(of_one, base - spread / n, confidence)
        ends = dict(zip(("limit", "limit_low", "limit_high"), limit, strict=True))
        about = {"target": target, "crowd": name, "pooled": pooled, "n_items": len(counts)}
        for k in range(1, n + 1) if n <= _SOME else sorted({*(k for k in SIZES if k < n), n}):
            found = ratio_interval(of_one, base + spread / k * (1 - k / n), confidence)
            values = dict(zip(("worth", "low", "high"), found, strict=True))
            rows.append(about | {"n_members": k} | values | {"whole": k == n} | ends)
    return _table(votes, rows, ["target", "crowd", "pooled", "n_members"])


def _pooled(members: Floats) -> tuple[Floats, Floats, int]:
    """Return the mean over members, their variance by item, and their number."""
    mean = members.mean(axis=0)
    return mean, ((members - mean) ** 2).sum(axis=(0, 2)) / (len(members) - 1), len(members)


def _for_gold(votes: Votes) -> Ints:
    """Return people's votes for the old label, and for all others, shape (n_items, 2)."""
    gold = votes.counts[np.arange(len(votes)), votes.old_label]
    return np.stack([gold, votes.n_votes - gold], axis=1)


@derived(keys=("panel", "crowd", "n_members"))
def grown(growth: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure draws of `growth`: votes pooled, in a panel per dataset and target.

    The old label against the others is shown where a crowd is known by that alone.
    """
    drawn = growth[(growth["pooled"] == HARD) & (growth["crowd"] != FINISHED)]
    hundreds = drawn[(drawn["crowd"] == BERTS) & (drawn["n_members"] == N_BERTS)]
    keep = (drawn["target"] == LABELS) | drawn["dataset"].isin(hundreds["dataset"])
    drawn = drawn[keep & np.isfinite(drawn["worth"]) & (drawn["worth"] > 0)].copy()
    titles = drawn["dataset"].map(dataset_name)
    drawn["panel"] = titles.where(drawn["target"] == LABELS, titles + ", gold or not")
    return drawn.sort_values("target", key=lambda cells: cells == GOLD, kind="stable")


# The hundred BERTs


@recorded(keys=("dataset", "crowd"))
def hundred(
    votes: Votes, *, berts: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Compare a hundred BERTs with a hundred people by who gave the gold label.

    Returns
    -------
    DataFrame
        A row for the BERTs and one for people: ``n_items``; ``share`` of the gold label;
        ``all`` and ``nearly_all``, the shares of items where everybody, or at least 95%, gave it;
        ``agreement``, how often two of them agree whether it is that label; ``distance``, the mean
        absolute difference of the two shares, and ``rho``, their rank correlation, in both rows;
        with ``_low`` and ``_high`` over items. Without rows where the BERTs' answers are not known.
    """
    from scipy.stats import spearmanr

    answers = berts.on(votes)
    if not len(answers):
        return _table(votes, [], ["crowd"])
    people = _for_gold(votes)
    correct = answers["n_correct"].to_numpy()
    machines = np.stack([correct, N_BERTS - correct], axis=1)
    rng = np.random.default_rng([seed, 12])
    of_people, of_machines = (some[:, 0] / some.sum(axis=1) for some in (people, machines))
    drawn = rng.integers(len(votes), size=(n_resamples, len(votes)))
    rhos = np.array([[spearmanr(of_people[some], of_machines[some])[0]] for some in drawn])
    rows = []
    for name, counts, share in ((BERTS, machines, of_machines), (PEOPLE, people, of_people)):
        values = {
            "share": share,
            "all": share == 1,
            "nearly_all": share >= NEARLY_ALL,
            "agreement": pairwise_agreement(counts),
            "distance": np.abs(of_people - of_machines),
        }
        table = np.stack(list(values.values()), axis=1).astype(float)
        means = np.append(table.mean(axis=0), spearmanr(of_people, of_machines)[0])
        resampled = np.stack([table[some].mean(axis=0) for some in drawn])
        resampled = np.concatenate([resampled, rhos], axis=1)
        row: dict[str, object] = {"crowd": name, "n_items": len(votes)}
        ends = percentile_interval(resampled, confidence)
        for what, mean, low, high in zip((*values, "rho"), means, *ends, strict=True):
            row |= {what: mean, f"{what}_low": low, f"{what}_high": high}
        rows.append(row)
    return _table(votes, rows, ["crowd"])


@recorded(keys=("dataset", "people", "machines"))
def gold_shares(votes: Votes, *, berts: Answers) -> pd.DataFrame:
    """Count items by the share of people and of BERTs that gave the gold label.

    Bins are tenths, ``people`` and ``machines`` from 0 to 9; the last includes 1. All bins have a
    row, with ``n_items``.
    """
    answers = berts.on(votes)
    if not len(answers):
        return _table(votes, [], ["people", "machines"])
    people = _for_gold(votes)
    counts = [answers["n_correct"].to_numpy() * _BINS // N_BERTS]
    counts.insert(0, people[:, 0] * _BINS // people.sum(axis=1))
    bins = [np.minimum(some, _BINS - 1) for some in counts]
    cells = np.zeros((_BINS, _BINS), dtype=np.int64)
    np.add.at(cells, tuple(bins), 1)
    found = pd.DataFrame(cells).stack().rename_axis(["people", "machines"])
    return _table(votes, found.rename("n_items").reset_index().to_dict("records"), [])


# Where machines agree and people do not


@recorded(keys=("dataset", "crowd", "bin"))
def unanimity(
    votes: Votes,
    systems: Sequence[System],
    *,
    judges: Answers,
    berts: Answers,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Say how often machines are of one mind, by how large people's majority is.

    Returns
    -------
    DataFrame
        A row for each crowd and bin of the majority's share, from ``low_share`` on: ``n_items``,
        ``unanimous`` with ``low`` and ``high`` over the bin's items, and ``people``, how likely as
        many people all give one label. The BERTs are of one mind where all give the gold label:
        where they agree on another one is not known.
    """
    groups = [
        (one.name, one.n_members, one.votes, one.counts.max(axis=1) == one.n_members)
        for one in crowds_on(votes, systems, judges.on(votes))
    ]
    of_berts = berts.on(votes)
    if len(of_berts):
        groups.append((BERTS, N_BERTS, votes, of_berts["n_correct"].to_numpy() == N_BERTS))
    rows: list[dict[str, object]] = []
    for name, n_members, people, agree in groups:
        rng = np.random.default_rng([seed, 13])
        shares = majority_share(people.counts)
        bins = np.searchsorted(EDGES, shares, side="right") - 1
        by_chance = chance_of_unanimity(people, n_members)
        for k, edge in enumerate(EDGES):
            inside = bins == k
            if not inside.any():
                continue
            values = agree[inside].astype(float)
            ends = bootstrap_means(values[:, np.newaxis], n_resamples, rng)
            (low,), (high,) = percentile_interval(ends, confidence)
            about = {"crowd": name, "bin": k, "low_share": edge, "n_members": n_members}
            rows.append(
                about
                | {"share": shares[inside].mean(), "n_items": int(inside.sum())}
                | {"unanimous": values.mean(), "low": low, "high": high}
                | {"people": by_chance[inside].mean()}
            )
    return _table(votes, rows, ["crowd", "bin"])


# In an annotator's place


@recorded(keys=("dataset", "model"))
def stand_ins(
    votes: Votes, *, answers: Answers, n_resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Test which language models may stand in for an annotator, and what they are worth.

    Returns
    -------
    DataFrame
        A row for each model, one for the label that most of them gave (the first of those that are
        tied), and one for people: ``with_people``, the share of people who gave the same label to
        an item; ``with_models``, that of the other models; ``advantage`` (ρ), ``wins_10``,
        ``wins_15`` and ``wins_20`` (ω at ε of 0.1, 0.15 and 0.2) of the alternative annotator test,
        of ``n_annotators``; ``worth`` in people by squared distance, with ``low`` and ``high``; the
        pooled votes of all models for the row of them all, where ``with_models`` is the agreement
        of two models, and ``beyond`` what it has more than that of two people, with ``_low`` and
        ``_high`` over items. A label that people could not give
        agrees with nobody's.
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
    of_one = quadratic_entropy(people[several])
    items, n = np.arange(len(votes)), labels.shape[1]
    found: list[dict[str, object]] = []
    choices = [(str(name), labels[:, k]) for k, name in enumerate(wide.columns)]
    choices.append((POOLED, counts.argmax(axis=1)))
    for name, chosen in choices:
        whole = name == POOLED
        predicted = counts / n if whole else np.eye(n_classes)[chosen]
        gaps = squared_distance(shares[several], predicted[several], votes.n_votes[several])
        row: dict[str, object] = {"model": name, "n_items": len(votes)}
        row["with_people"] = shares[items, chosen].mean()
        own = np.nan if whole else (counts[items, chosen] - 1).mean() / (n - 1)
        row["with_models"] = pairwise_agreement(counts).mean() if whole else own
        for epsilon in EPSILONS:
            test = _in_place(votes, chosen, n_classes, epsilon)
            row |= {"advantage": test.advantage_probability, "n_annotators": len(test.annotator)}
            row[f"wins_{100 * epsilon:.0f}"] = test.winning_rate
        worth = ratio_interval(of_one, gaps, confidence)
        found.append(row | dict(zip(("worth", "low", "high"), worth, strict=True)))
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
    if name in (LLMS, FINISHED, ALL, WITH_YOURS):
        return f"{n} {name.removeprefix('all ')}"
    return f"{n} seeds of {name}"


CROWD_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("crowd", crowd_name),
    Column("machines", "agreement", 0, percent=True, group="two agree, %"),
    Column("people", "people_agreement", 0, percent=True, group="two agree, %"),
    Column("machines", "unanimous", 0, percent=True, group="all agree, %"),
    Column("as many people", "people_unanimous", 0, percent=True, group="all agree, %"),
    Column("JSD", "jsd", 3, "jsd_low", "jsd_high"),
    Column("worth in people", "worth", 1, "low", "high"),
]
BERT_COLUMNS = [
    Column("crowd", "crowd", names={BERTS: "100 BERTs", PEOPLE: "100 people"}),
    Column("share", "share", 1, "share_low", "share_high", percent=True, group="gold label, %"),
    Column("from all", "all", 1, "all_low", "all_high", percent=True, group="gold label, %"),
    Column(
        "from 95% or more", "nearly_all", 1, "nearly_all_low", "nearly_all_high", percent=True,
        group="gold label, %",
    ),
    Column(
        "two agree whether it is, %", "agreement", 1, "agreement_low", "agreement_high",
        percent=True,
    ),
]  # fmt: skip
_MODELS = {
    "gemini_flash": "Gemini Flash",
    "gemini_pro": "Gemini Pro",
    "gpt-4o": "GPT-4o",
    "gpt-4o-mini": "GPT-4o mini",
    "llama-31": "Llama 3.1",
    "mistral-v03": "Mistral v0.3",
}
STAND_IN_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("model", "model", names=_MODELS),
    Column("a person", "with_people", 0, percent=True, group="agrees with, %"),
    Column("a model", "with_models", 0, percent=True, group="agrees with, %"),
    Column("ρ", "advantage", 2, group="replacement test"),
    Column("ω, ε = 0.1", "wins_10", 2, group="replacement test"),
    Column("ω, ε = 0.15", "wins_15", 2, group="replacement test"),
    Column("ω, ε = 0.2", "wins_20", 2, group="replacement test"),
    Column("worth in people", "worth", 1, "low", "high"),
]


@derived(keys=("dataset", "crowd"))
def with_worth(crowds: pd.DataFrame, growth: pd.DataFrame) -> pd.DataFrame:
    """Add to `crowds` how many people a machine, all, and endlessly many are worth.

    ``one``, ``worth`` (with ``low`` and ``high``) and ``limit`` for their votes, and ``soft`` for
    the mean of all their probabilities.
    """
    of_all = growth[growth["target"] == LABELS]
    hard, soft = (of_all[of_all["pooled"] == pooled] for pooled in (HARD, SOFT))
    ends = ["worth", "low", "high"]
    keys = ["dataset", "crowd"]
    whole = hard[hard["whole"]][[*keys, *ends, "limit", "limit_low", "limit_high"]]
    found = crowds.merge(whole, "left", on=keys)
    for name, rows in (("one", hard[hard["n_members"] == 1]), ("soft", soft[soft["whole"]])):
        names = dict(zip(ends, (name, f"{name}_low", f"{name}_high"), strict=True))
        found = found.merge(rows[[*keys, *ends]].rename(columns=names), "left", on=keys)
    return found


def drawn(unanimity: pd.DataFrame) -> pd.Series:
    """Return which rows of `unanimity` the figure draws: machines of one kind."""
    return ~unanimity["crowd"].isin([FINISHED, ALL, WITH_YOURS])
