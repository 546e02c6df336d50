"""What one set of votes says of its crowd, however few they are: agreement, majority, annotators.

Few votes make people look more of one mind than they are. Quantities that have an unbiased estimate
get it; the others come from a nonparametric prior (`metrics.priors`). Where there are enough votes
to take some away, `atlas.few_votes` measures how far off the prior is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses import persons
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, gather
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.adaptive import refuse_adaptive
from chaos_utils.datasets.loading import needs_votes
from chaos_utils.datasets.votes import FOR_AGREEMENT, Ints, Votes
from chaos_utils.metrics.agreement import (
    is_tied,
    kappa_from_means,
    krippendorff_alpha,
    majority_share,
    quadratic_entropy,
)
from chaos_utils.metrics.divergence import Floats, entropy, miller_madow
from chaos_utils.metrics.jackknife import TwoWay
from chaos_utils.metrics.priors import (
    SINGLE_ITEM_STEPS,
    bootstrap_masses,
    draw_truths,
    fit_dirichlet,
    fit_grid,
    posterior_means,
)
from chaos_utils.metrics.resampling import behind_holm, bootstrap_means, percentile_interval
from chaos_utils.metrics.scores import shared_top
from chaos_utils.plots.columns import DATASET, p_value
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row, number, with_ends
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.manifests import ItemText, VotesBar
from chaos_utils.scoring import replacement as replacements
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.annotators import (
    ENOUGH_VOTES,
    FEWEST_VOTES,
    agreement_over_people,
    agreement_with_rest,
    annotations_of,
    dawid_skene,
    votes_kept,
)
from chaos_utils.scoring.annotators import near_chance as found_near_chance
from chaos_utils.scoring.evaluate import (
    NOT_AVAILABLE,
    at_most,
    evaluate_systems,
    part_of,
    references,
)
from chaos_utils.scoring.human_equivalents import refusal
from chaos_utils.scoring.scores import EvaluationRequest, as_scores, score
from chaos_utils.scoring.system import System, shared_rows
from chaos_utils.scoring.systems import (
    baselines,
    guesses_by_votes,
    own_systems,
    refuse_unused,
)

OVER_ITEMS, OVER_BOTH = "items", "items and annotators"  # what intervals are over
_ROUNDING_ERROR = 1e-12  # a difference that only rounding gives
_REFITS = 100  # of the prior, for an interval
_DRAWS = 400  # of an item's true distribution, for an interval
_HALVINGS = 10  # cuts of the items into halves
_SURE_CHANCE = 0.95
_MOST_ERRORS = 50_000_000  # cells of all annotators' confusion matrices
_MOST_CHARACTERS = 600  # characters of a text
_MEASURES = ("sq_distance", "dist_ce", "jsd", "new_accuracy")
_LEVEL = 0.05
OPEN = "these votes leave it open"


def sample_items(dataset_inputs: DatasetInputs, most: int, seed: int) -> DatasetInputs:
    """Return the inputs on at most so many items, drawn at random, without annotators."""
    assert dataset_inputs.votes is not None
    (votes,) = dataset_inputs.votes
    if len(votes) <= most:
        return dataset_inputs
    sample = at_most(votes, most, seed)
    return replace(dataset_inputs, given_votes=(sample,), given_systems=((),), own=True)


def texts_of(votes: Votes) -> Callable[[str, str], Mapping[str, str] | None]:
    """Return a function that gives `report.tables.publish_table` an item's texts, cut if long."""
    titles = dict(zip(votes.dataset.text_fields, votes.dataset.text_titles, strict=True))

    def find_texts(dataset: str, uid: str) -> Mapping[str, str] | None:
        if dataset != votes.dataset.name or not votes.texts:
            return None
        texts = votes.texts[votes.index(uid)]
        return {
            titles[name]: value
            if len(value) <= _MOST_CHARACTERS
            else f"{value[:_MOST_CHARACTERS].rstrip()} …"
            for name, value in texts.items()
        }

    return find_texts


@cached_analysis(keys=("dataset",))
def contents(votes: Votes) -> pd.DataFrame:
    """Count what a file of votes holds, in one row.

    ``fewest``, ``median`` and ``most`` are votes per item; ``n_single`` counts the items with a
    single vote; ``n_annotators`` is missing where annotators are not known.
    """
    annotations = votes.annotations
    sizes = votes.n_votes
    row = {
        "n_items": len(votes),
        "n_votes": sizes.sum(),
        "n_labels": votes.dataset.n_classes,
        "fewest": sizes.min(),
        "median": np.median(sizes),
        "most": sizes.max(),
        "n_single": (sizes == 1).sum(),
        "n_annotators": None if annotations is None else len(np.unique(annotations.annotator)),
    }
    return pd.DataFrame([row]).astype({"n_annotators": "Int64"})


@cached_analysis(keys=("dataset", "quantity"))
def agreement(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Say how far people agree: by the votes as they are, and corrected for few votes.

    One row for each ``quantity``:

    * ``disagreement``: the chance that two votes on an item differ; ``evenness``: the same over its
      maximum. Both are unbiased: with few votes, they and their intervals may lie beyond what is
      possible;
    * ``alpha``: Krippendorff's α for labels without an order; ``alpha_ordered``: the same for
      ordered labels, without an interval;
    * ``alike``, where annotators are named: the chance that two annotators differ, if each counts
      alike.

    ``plain`` is computed as if the vote shares were those of all people; ``value`` is corrected,
    with a 95% interval ``over`` items (and the votes on them) or, where annotators are named, over
    items and annotators. ``of_five`` is the part of the annotators' variance that comes from five
    of them. ``n_items`` have two votes or more. An interval is missing where every item has the
    same disagreement. The order of the items does not matter.
    """
    has_two_votes = votes.n_votes >= 2
    estimates: dict[str, dict[str, Any]] = {}
    if has_two_votes.any():
        counts = votes.counts[has_two_votes]
        counts = counts[np.lexsort(counts.T)]  # resamples must not depend on the file's order
        shares = counts / counts.sum(axis=1, keepdims=True)
        largest = 1 - 1 / votes.dataset.n_classes
        disagreement, alpha = _item_intervals(counts, n_resamples, seed)
        disagreement["plain"] = float((1 - (shares**2).sum(axis=1)).mean())
        alike = {}
        if votes.annotations is not None:
            over_annotators = agreement_over_people(votes)
            disagreement |= _two_way_interval(over_annotators["disagreement"], 0, largest)
            alpha |= _two_way_interval(over_annotators["alpha"], -1, 1)
            alike = {"value": over_annotators["alike"].value} | _two_way_interval(
                over_annotators["alike"], 0, largest
            )
        scaled = {name: disagreement[name] / largest for name in ("plain", "value", "low", "high")}
        estimates = {
            "disagreement": disagreement,
            "evenness": disagreement | scaled,
            "alpha": alpha,
        }
        if votes.dataset.ordered:
            estimates["alpha_ordered"] = {"value": krippendorff_alpha(counts, ordered=True)}
        if alike:
            estimates["alike"] = alike
    columns = ["plain", "value", "low", "high", "of_five", "over"]
    table = pd.DataFrame(list(estimates.values()), columns=columns)
    table = table.astype(dict.fromkeys(columns[:-1], float))
    table.insert(0, "quantity", list(estimates))
    table["over"] = table["over"].where(table["low"].notna(), "")
    return table.assign(n_items=int(has_two_votes.sum()))


def _item_intervals(counts: Ints, n_resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield estimates of disagreement, then of α, with bootstrap intervals over items."""
    sizes, disagreement = counts.sum(axis=1), quadratic_entropy(counts)
    columns = np.column_stack([disagreement, sizes * disagreement, counts])
    means = bootstrap_means(columns, n_resamples, np.random.default_rng([seed, 0]))
    n = means[:, 2:].sum(axis=1)
    # α is κ on pooled votes, up to a correction of one vote.
    kappas = kappa_from_means(1 - means[:, 1] / n, means[:, 2:] / n[:, np.newaxis])
    # Where all items have the same disagreement, nothing says how far other items would differ.
    has_interval = np.ptp(disagreement) > _ROUNDING_ERROR
    for value, resampled in (
        (disagreement.mean(), means[:, 0]),
        (krippendorff_alpha(counts), kappas),
    ):
        low, high = map(float, percentile_interval(resampled)) if has_interval else (np.nan, np.nan)
        yield {"value": value, "low": low, "high": high, "over": OVER_ITEMS}


def _two_way_interval(jackknife: TwoWay, lowest: float, highest: float) -> dict[str, Any]:
    """Return the interval over items and annotators, cut at `lowest` and `highest`; or nothing.

    An unbiased value may lie above `highest`: the interval then reaches up to the value.
    """
    low, high = jackknife.interval(lowest, max(highest, jackknife.value))
    if np.isnan(low):
        return {}
    return {"low": low, "high": high, "of_five": jackknife.of_five, "over": OVER_BOTH}


@cached_analysis(keys=("dataset", "quantity"))
def entropies(votes: Votes, *, seed: int) -> pd.DataFrame:
    """Estimate the mean Shannon entropy in nats, which has no unbiased estimate.

    One row for each ``quantity``: ``miller_madow`` adds the first term of the bias; ``prior`` is
    what the nonparametric prior expects, with an interval over items for which the prior is
    refitted. ``plain`` is the entropy of the vote shares, as in `agreement`.
    """
    plain = float(entropy(votes.shares, unit="nats").mean())
    prior = fit_grid(votes.counts)
    point_entropies = entropy(prior.points, unit="nats")
    rng = np.random.default_rng([seed, 1])
    masses = bootstrap_masses(votes.counts, prior, _REFITS, rng)
    refitted = np.sum(list(masses.values()), axis=0) @ point_entropies
    value = posterior_means(votes.counts, prior, point_entropies[:, np.newaxis]).mean()
    low, high = map(float, percentile_interval(refitted - refitted.mean() + value))
    if (majority_share(votes.counts) == 1).all():  # nothing says how far other items would differ
        low = high = np.nan
    rows = [
        {"quantity": "miller_madow", "value": miller_madow(votes.counts, unit="nats").mean()},
        {"quantity": "prior", "value": value, "low": low, "high": high, "over": OVER_ITEMS},
    ]
    table = pd.DataFrame(rows).astype({"low": float, "high": float})
    table["over"] = table["over"].where(table["low"].notna(), "")
    return table.assign(plain=plain, n_items=len(votes))


@cached_analysis(keys=("dataset", "quantity"))
def majorities(votes: Votes) -> pd.DataFrame:
    """Say how clear the majorities are, among the votes and among all people.

    One row for each ``quantity``: ``plain`` is counted in the votes, of the first batch where there
    are several, ``value`` is what the nonparametric prior expects of all people, by all votes; NaN
    where a quantity has no such number. ``right`` is the share of items whose majority label is the
    most frequent label of all people (tied labels have equal parts of an item, as in
    `ceilings.annotation_budget`). ``sure`` is the share of items where the chance of this is 95% or
    more, by a prior that is fitted in few steps: the converged one is right on average, and too
    sure of single items. ``disagreement`` is as in `agreement`, which needs no prior: where the two
    differ much, the prior is wrong.
    """
    counts = votes.all_counts
    prior = fit_grid(counts)
    tops = prior.points.max(axis=1)
    disagreement = 1 - (prior.points**2).sum(axis=1)
    quantities = np.column_stack([tops, tops < 0.5, disagreement, shared_top(prior.points)])
    expected = posterior_means(counts, prior, quantities)
    labels = shared_top(counts / counts.sum(axis=1, keepdims=True))
    right = (labels * expected[:, 3:]).sum(axis=1)
    sure = chance_right(counts) >= _SURE_CHANCE
    shares = majority_share(votes.counts)
    nan = np.nan
    rows = [
        ("majority_share", shares.mean(), expected[:, 0].mean()),
        ("no_majority", (shares < 0.5).mean(), expected[:, 1].mean()),
        ("tied", is_tied(votes.counts).mean(), nan),
        ("unanimous", (shares == 1).mean(), nan),
        ("right", nan, right.mean()),
        ("sure", nan, sure.mean()),
        ("disagreement", (1 - (votes.shares**2).sum(axis=1)).mean(), expected[:, 2].mean()),
    ]
    if votes.dataset.n_classes == 2:
        del rows[1]  # no label of two has less than half
    table = pd.DataFrame(rows, columns=["quantity", "plain", "value"])
    return table.assign(n_items=len(votes))


def chance_right(counts: Ints) -> Floats:
    """Return the chance, item by item, that the majority label is that of all people."""
    prior = fit_grid(counts, most_steps=SINGLE_ITEM_STEPS)
    chances = posterior_means(counts, prior, shared_top(prior.points))
    shares = counts / counts.sum(axis=1, keepdims=True)
    right: Floats = (shared_top(shares) * chances).sum(axis=1)
    return right


@cached_analysis(keys=("dataset", "bin"))
def majority_sizes(votes: Votes, *, n_bins: int) -> pd.DataFrame:
    """Count items by the share of the majority label, among the votes and among all people.

    One row for each of `n_bins` equal bins between 1/k, for k labels, and 1. A bin lies between
    ``low`` and ``high``; ``plain`` is its share of items by their votes, ``value`` by the
    nonparametric prior.
    """
    edges = np.linspace(1 / votes.dataset.n_classes, 1, n_bins + 1).round(10)
    prior = fit_grid(votes.counts)
    tops = prior.points.max(axis=1).round(10)
    bin_of_point = np.clip(np.searchsorted(edges, tops, side="right") - 1, 0, n_bins - 1)
    expected = posterior_means(votes.counts, prior, np.eye(n_bins)[bin_of_point]).mean(axis=0)
    plain = np.histogram(majority_share(votes.counts).round(10), bins=edges)[0] / len(votes)
    return pd.DataFrame(
        {
            "bin": np.arange(1, n_bins + 1),
            "low": edges[:-1],
            "high": edges[1:],
            "plain": plain,
            "value": expected,
        }
    )


@cached_analysis(keys=("dataset", "uid"))
def divided_items(votes: Votes, *, n_items: int, most: int, seed: int) -> pd.DataFrame:
    """Return the items on which people are most divided, the most divided first.

    ``disagreement`` is the chance that two people give different labels, as the nonparametric prior
    expects it from the item's votes, so that two votes that differ do not yet make an item the most
    divided one. Items whose disagreement is the same to two digits are ordered by their votes.
    ``n_alike`` items have the same votes for each label. ``low`` to ``high`` is a 95% interval of
    the disagreement by a Dirichlet prior, since the nonparametric prior has few points, and its
    intervals are too short. Where the two priors contradict each other on an item that is returned,
    the votes say too little, and no item has an interval. ``counts`` are the votes by label. The
    priors are fitted on at most `most` items.
    """
    counts = votes.all_counts
    shares = counts / counts.sum(axis=1, keepdims=True)
    rng = np.random.default_rng([seed, 3])
    fitted = rng.permutation(len(votes))[:most] if len(votes) > most else np.arange(len(votes))
    prior = fit_grid(counts[fitted], most_steps=SINGLE_ITEM_STEPS)
    point_disagreement = 1 - (prior.points**2).sum(axis=1, keepdims=True)
    expected = posterior_means(counts, prior, point_disagreement)[:, 0]
    plain = 1 - (shares**2).sum(axis=1)
    order = np.lexsort((-counts.sum(axis=1), -plain.round(10), -expected.round(2)))[:n_items]
    dirichlet = fit_dirichlet(counts[fitted])
    # Items with the same votes have the same interval.
    distinct, index = np.unique(counts[order], axis=0, return_inverse=True)
    draws = 1 - (draw_truths(distinct, dirichlet, rng, _DRAWS) ** 2).sum(axis=2)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)[:, index.ravel()]
    if ((expected[order] < low) | (expected[order] > high)).any():
        low = high = np.full(len(order), np.nan)
    return pd.DataFrame(
        {
            "uid": [votes.uids[row] for row in order],
            "counts": [" ".join(map(str, counts[row].tolist())) for row in order],
            "disagreement": expected[order],
            "n_alike": [int((counts == counts[row]).all(axis=1).sum()) for row in order],
            "low": low,
            "high": high,
        }
    )


@cached_analysis(keys=("dataset", "annotator"), needs="annotators")
def annotators(votes: Votes) -> pd.DataFrame:
    """Say how each annotator's votes go with the rest, those who agree least first.

    ``annotator`` is a running number from 1, in the order of the file. ``agreement``, with a 95%
    interval, is the share of other annotators' votes that are for the same label; ``by_chance`` is
    this share for random labels, and ``corrected`` is the agreement beyond chance, over the largest
    possible one. ``accuracy`` is that of Dawid and Skene, who take each item to have one right
    label; NaN where there are too many labels and annotators to fit it. Annotators with ``few``
    votes (fewer than ten) come last, as do those who can only agree, since all votes are for one
    label.
    """
    with_rest = agreement_with_rest(votes)
    n_annotators = len(with_rest.n_votes)
    accuracy = np.full(n_annotators, np.nan)
    if n_annotators * votes.dataset.n_classes**2 <= _MOST_ERRORS:
        accuracy = dawid_skene(votes).accuracy
    table = pd.DataFrame(
        {
            "annotator": np.arange(1, n_annotators + 1),
            "n_votes": with_rest.n_votes,
            "agreement": with_rest.observed,
            "low": np.clip(with_rest.observed - 1.96 * with_rest.error, 0, 1),
            "high": np.clip(with_rest.observed + 1.96 * with_rest.error, 0, 1),
            "by_chance": with_rest.by_chance,
            "corrected": with_rest.corrected,
            "accuracy": accuracy,
        }
    )
    table["few"] = (table["n_votes"] < FEWEST_VOTES) | table["corrected"].isna()
    return table.sort_values(["few", "corrected", "annotator"], ignore_index=True)


@cached_analysis(keys=("dataset",), needs="annotators")
def annotator_totals(votes: Votes) -> pd.DataFrame:
    """Sum up the annotators in one row, and compare the labels of Dawid and Skene with majorities.

    ``median_votes`` is the median of votes per annotator; ``n_usual`` annotators have ten votes or
    more; ``relabelled`` is the share of items whose most likely label, by Dawid and Skene, is no
    majority label, NaN where `annotators` has no accuracy.
    """
    table = annotators.function(votes)
    row = {
        "n_annotators": len(table),
        "median_votes": table["n_votes"].median(),
        "n_usual": (~table["few"]).sum(),
        "relabelled": np.nan,
    }
    if table["accuracy"].notna().any():
        labels = dawid_skene(votes).chances.argmax(axis=1)
        top = votes.counts.max(axis=1)
        row["relabelled"] = (votes.counts[np.arange(len(votes)), labels] < top).mean()
    return pd.DataFrame([row])


@cached_analysis(keys=("dataset",), needs="annotators")
def near_chance(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Find annotators who agree with the rest hardly more than by chance, and what they change.

    One row:

    * ``median``: the median agreement beyond chance of the ``n_usual`` annotators with ten votes or
      more; missing where it is not clearly above chance, so that nobody stands out;
    * ``n_judged``: annotators with a hundred votes or more; ``n_near``: those of them whose
      agreement is less than half of the median, and surely less than the median;
    * ``share_of_votes``: the share of all votes that annotators near chance gave;
    * ``largest_near``, ``smallest_kept``: the largest agreement beyond chance of an annotator near
      chance, and the smallest of another judged one;
    * ``disagreement``, ``evenness``, ``alpha``: as in `agreement`, with intervals; ``…_without``:
      the same without the annotators near chance, too good since they were chosen by these votes;
    * ``disagreement_elsewhere``: not too good: annotators are chosen on one half of the items, from
      half as many votes, and left out on the other half; a mean over cuts into halves.
    """
    annotations, with_rest = annotations_of(votes), agreement_with_rest(votes)
    found = found_near_chance(with_rest)
    row: dict[str, Any] = {
        "n_annotators": (np.bincount(annotations.annotator) > 0).sum(),
        "n_usual": found.is_usual.sum(),
        "n_judged": found.is_judged.sum(),
        "n_near": found.is_near.sum(),
        "share_of_votes": found.is_near[annotations.annotator].mean(),
        "median": found.median,
        "largest_near": max(with_rest.corrected[found.is_near], default=np.nan),
        "smallest_kept": min(with_rest.corrected[found.is_judged & ~found.is_near], default=np.nan),
    }
    without = (
        votes_kept(votes, ~found.is_near[annotations.annotator]) if found.is_near.any() else None
    )
    for subset, ending in ((votes, ""), (without, "_without")):
        rows = pd.DataFrame(columns=["quantity", "value", "low", "high"])
        if subset is not None:
            rows = agreement.function(subset, n_resamples=n_resamples, seed=seed)
        rows = rows.set_index("quantity").reindex(["disagreement", "evenness", "alpha"])
        for name, values in rows.iterrows():
            row[f"{name}{ending}"] = values["value"]
            row |= {f"{name}{ending}_{end}": values[end] for end in ("low", "high")}
    row["disagreement_elsewhere"] = (
        np.nan if without is None else _other_items_disagreement(votes, seed)
    )
    return pd.DataFrame([row])


def _other_items_disagreement(votes: Votes, seed: int) -> float:
    """Return the disagreement without annotators near chance, who were found on other items."""
    annotations, rng = annotations_of(votes), np.random.default_rng([seed, 8])
    values = []
    for _ in range(_HALVINGS):
        halves = rng.permutation(len(votes)) % 2
        for half in (0, 1):
            is_choosing = halves[annotations.item] == half
            found = found_near_chance(
                agreement_with_rest(votes_kept(votes, is_choosing)), ENOUGH_VOTES // 2
            )
            is_left_out = np.isin(annotations.annotator, np.flatnonzero(found.is_near))
            other_votes = votes_kept(votes, ~is_choosing & ~is_left_out)
            counts = other_votes.counts[other_votes.n_votes >= 2]
            values += [quadratic_entropy(counts).mean()] if len(counts) else []
    return float(np.mean(values)) if values else np.nan


@cached_analysis(keys=("dataset", "annotator"), needs="annotators")
def near_bar(votes: Votes) -> pd.DataFrame:
    """Return the annotators who are near chance, and those of whom it is open, least first.

    ``annotator`` is a running number from 1, in the order of the file, as in
    `annotators`. ``corrected`` is the agreement with the rest beyond chance, with a 95%
    interval over the annotator's votes; ``bar`` is half the median annotator's. An annotator with
    a hundred votes or more stands here if ``is_near``, or if the interval holds the bar.
    """
    with_rest = agreement_with_rest(votes)
    found = found_near_chance(with_rest)
    bar = found.median / 2
    low = 2 * with_rest.corrected - with_rest.highest_corrected
    is_open = (low <= bar) & (bar <= with_rest.highest_corrected)
    rows = np.flatnonzero(found.is_judged & (found.is_near | is_open))
    table = pd.DataFrame(
        {
            "annotator": rows + 1,
            "n_votes": with_rest.n_votes[rows],
            "corrected": with_rest.corrected[rows],
            "low": np.maximum(low[rows], -1),
            "high": np.minimum(with_rest.highest_corrected[rows], 1),
            "bar": bar,
            "is_near": found.is_near[rows],
        }
    )
    return table.sort_values(["corrected", "annotator"], ignore_index=True)


@cached_analysis(keys=("dataset", "system", "measure"))
def evaluation(
    votes: Votes, systems: Sequence[System], *, most: int, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Judge systems beside perfect model, second crowd and baselines; the nearest first.

    Rows of the table of scores, with 95% intervals, and rows of the worth in people, which
    ``text`` gives in words. Items with a single vote are left out. Perfect model and second crowd
    are drawn for at most `most` items. A base rate that cannot be formed has a row without values.
    """
    votes = _with_two_votes(votes)
    all_systems = [*baselines(votes), *_mark_machine_votes(systems)]
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed}
    request = EvaluationRequest(_MEASURES, **bootstrap)
    scores = as_scores(evaluate_systems(votes, all_systems, request))
    all_references = references(votes, _MEASURES, seed=seed, most=most, recorded=False)
    reference_scores = as_scores(
        row
        for row in all_references
        if row["origin"] == "reference" or row.get("text") == NOT_AVAILABLE
    )
    systems_with_worth = [system for system in all_systems if not refusal(votes, system)]
    request = EvaluationRequest(worths.NAMES, n_resamples=1000, seed=seed)
    worth = pd.DataFrame(evaluate_systems(votes, systems_with_worth, request))
    table = pd.concat([reference_scores, scores, worth])
    order_scores = scores[scores["measure"] == _MEASURES[0]].sort_values("value", kind="stable")
    table = in_order_of(
        table, "system", pd.unique(pd.concat([reference_scores, order_scores])["system"])
    )
    columns = ["dataset", "system", "origin", "measure", "n_items", "value", "low", "high", "text"]
    columns += ["n_votes", "credibility"]
    return table.reindex(columns=columns).fillna({"text": ""})


def _mark_machine_votes(systems: Iterable[System]) -> list[System]:
    """Return the systems; names of those that are machine votes say so."""
    return [replace(system, name=f"{system.name} (machine votes)") if system.n_samples else system
            for system in systems]  # fmt: skip


@cached_analysis(keys=("dataset", "system", "reference"))
def comparisons(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compare each two systems, and each with the base rate, by what these votes can say.

    The measure is the unbiased squared distance, on items with two votes or more. ``value`` is that
    of ``system`` minus that of ``reference``, with a 95% interval. ``p_holm`` is ``p``, adjusted by
    Holm's method; ``p_behind`` is the p-value that decided it. Where ``p_holm`` is below 0.05,
    ``verdict`` names the system that is nearer to people; else it says that these votes leave it
    open. Pairs that share no item are left out.
    """
    votes = _with_two_votes(votes)
    all_systems = [*_mark_machine_votes(systems), *guesses_by_votes(votes)[1:]]
    pairs = [
        (a.name, b.name) for a, b in combinations(all_systems, 2) if len(shared_rows(votes, (a, b)))
    ]
    table = score(
        votes,
        all_systems,
        measures=_MEASURES[:1],
        comparisons=pairs,
        n_resamples=n_resamples,
        seed=seed,
    )
    table = table[table["reference"] != ""].reset_index(drop=True)
    nearer_system = np.where(table["value"] < 0, table["system"], table["reference"])
    table["verdict"] = np.where(table["p_holm"] < _LEVEL, nearer_system, OPEN)
    table["p_behind"] = behind_holm(table["p"], table["p_holm"])
    columns = ["dataset", "system", "reference", "n_items", "value", "low", "high"]
    return table[[*columns, "p", "p_holm", "p_behind", "verdict"]]


@cached_analysis(keys=("dataset", "system", "origin"))
def replacement(
    votes: Votes, systems: Sequence[System], *, epsilon: float, reason: str, seed: int
) -> pd.DataFrame:
    """Test whether systems may replace an annotator, as `scoring.replacement` does."""
    return pd.DataFrame(
        replacements.replacement(
            votes, _mark_machine_votes(systems), epsilon=epsilon, reason=reason, seed=seed
        )
    )


def check_positive(**parameters: int) -> None:
    """Refuse parameters of the notebook, passed by name, that are below 1."""
    for name, value in parameters.items():
        if value < 1:
            raise ChaosError(
                f"Parameter {name!r} has the wrong value.", found=repr(value), expected="1 or more"
            )


def replacement_margin(epsilon: Sequence[float], why: str) -> float | None:
    """Return the margin of the replacement test; None if the test is not asked for."""
    if not epsilon and not why:
        return None
    if len(epsilon) != 1:
        raise ChaosError(
            "The replacement test takes one margin, chosen before you look, and its reason.",
            found=f"epsilon={list(epsilon)}, why={why!r}",
            expected="-p epsilon=0.1 -p why='crowd workers', for example",
        )
    replacements.check_margin(epsilon[0], why)
    return epsilon[0]


def _with_two_votes(votes: Votes) -> Votes:
    return part_of(votes, np.flatnonzero(votes.n_votes >= 2))


CONTENTS_COLUMNS = [
    DATASET,
    Column("items", "n_items"),
    Column("labels", "n_labels"),
    Column("votes", "n_votes"),
    Column("votes per item", lambda row: _vote_range(row["fewest"], row["median"], row["most"])),
    Column("with a single vote", "n_single"),
    Column("annotators", "n_annotators"),
]


def _vote_range(fewest: int, median: float, most: int) -> str:
    if fewest == most:
        return str(fewest)
    return f"{_plain(median)} ({fewest} to {most})"


def _plain(value: float) -> str:
    return number(value, 0 if value % 1 == 0 else 1)


QUANTITIES: Mapping[str, str] = {
    "disagreement": "two votes on an item differ (quadratic entropy)",
    "evenness": "the same, as a share of its maximum",
    "alike": "two annotators differ, each counted equally",
    "alpha": "Krippendorff’s α",
    "alpha_ordered": "Krippendorff’s α, ordinal",
    "miller_madow": "Shannon entropy (nats), Miller–Madow",
    "prior": "Shannon entropy (nats), nonparametric prior",
    "majority_share": "share of the majority label",
    "no_majority": "items where no label has half the votes",
    "tied": "items with a tie for the majority",
    "unanimous": "unanimous items",
    "right": "majority label is also the commonest among all people",
    "sure": "items where this is 95% sure",
}
AGREEMENT_COLUMNS = [
    Column("", "quantity", names=QUANTITIES),
    Column("raw votes", "plain", 3),
    Column("corrected for few votes", "value", 3, "low", "high"),
    Column("interval over", "over"),
]
MAJORITY_COLUMNS = [
    Column("", "quantity", names=QUANTITIES),
    Column("among the votes (%)", "plain", 1, percent=True),
    Column("among all people (%)", "value", 1, percent=True),
]


def _votes_or_prior(row: Row) -> str:
    """Return a number of votes per item, marked where no item has so many."""
    beyond = " (prior alone)" if row["n_votes"] > row["most_votes"] else ""
    return f"{row['n_votes']}{beyond}"


BUDGET_INDEX = ("dataset", "n_votes")


def _error_column(heading: str, measure: str, digits: int, *, percent: bool = False) -> Column:
    at = {"quantity": "error", "measure": measure}
    return Column(heading, "value", digits, percent=percent, at=at)


BUDGET_COLUMNS = [
    Column("votes per item", _votes_or_prior),
    _error_column("DistCE (TVD) from all people", "dist_ce", 3),
    _error_column("JSD from all people", "jsd", 3),
    _error_column("majority label is that of all people (%)", "new_accuracy", 1, percent=True),
]
ITEM_COLUMNS = [
    Column("item", lambda row: ItemText(row["dataset"], row["uid"])),
    Column(
        "votes",
        lambda row: VotesBar(row["dataset"], tuple(map(int, row["counts"].split()))),
    ),
    Column("two people differ", "disagreement", 2, "low", "high"),
    Column("items with these votes", "n_alike"),
]
ANNOTATOR_COLUMNS = [
    Column("annotator", "annotator"),
    Column("votes", "n_votes"),
    Column("agree with the rest (%)", "agreement", 0, "low", "high", percent=True),
    Column("by chance (%)", "by_chance", 0, percent=True),
    Column("beyond chance", "corrected", 2),
    Column("accuracy, Dawid–Skene (%)", "accuracy", 0, percent=True),
]
TOTAL_COLUMNS = [
    Column("annotators", "n_annotators"),
    Column("median votes per annotator", "median_votes", 1),
    Column("with ten votes or more", "n_usual"),
    Column(
        "items whose likeliest label is not a majority label (%)", "relabelled", 1, percent=True
    ),
]
_DISAGREEMENT: dict[str, Any] = {"percent": True, "group": "two votes differ (%)"}
NEAR_COLUMNS = [
    DATASET,
    Column("with 100 votes or more", "n_judged", group="annotators"),
    Column("near chance", "n_near", group="annotators"),
    Column("their votes (%)", "share_of_votes", 0, percent=True),
    Column(
        "beyond chance: median, highest near chance, lowest other", lambda row: _chance_bounds(row)
    ),
    with_ends("all", "disagreement", 0, **_DISAGREEMENT),
    with_ends("without them", "disagreement_without", 0, **_DISAGREEMENT),
    Column("without, on other items", "disagreement_elsewhere", 0, **_DISAGREEMENT),
]


def _chance_bounds(row: Row) -> str:
    """Return median, largest and smallest agreement beyond chance: see `near_chance`."""
    return ", ".join(number(row[name], 2) for name in ("median", "largest_near", "smallest_kept"))


BAR_COLUMNS = [
    Column("annotator", "annotator"),
    Column("votes", "n_votes"),
    Column("beyond chance", "corrected", 2, "low", "high"),
    Column("", lambda row: "near chance" if row["is_near"] else "above, perhaps by chance"),
]
AGAIN_INDEX = ("dataset", "part")


def _again_column(heading: str, quantity: str, digits: int = 0, *, percent: bool = True) -> Column:
    at = {"quantity": quantity}
    return Column(heading, "value", digits, "low", "high", percent=percent, at=at)


AGAIN_COLUMNS = [
    Column("rounds", "part"),
    _again_column("same person differs, %", "same"),
    _again_column("two people differ, %", "two"),
    _again_column("ratio", "ratio", 2, percent=False),
    Column("items judged again", "n_items"),
    Column("by people", "n_people"),
]


def _without(columns: Sequence[Column], *values: str) -> list[Column]:
    """Return the columns that show other values than these."""
    return [column for column in columns if column.value not in values]


def shares_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `persons.shares` is shown: with two columns more where people had rounds."""
    look: dict[str, Any] = {"percent": True, "group": "of the rest"}
    in_rounds = [
        with_ends("own view, %", "opinion", 0, **look),
        with_ends("another time, %", "again", 0, **look),
    ]
    shares = _without(persons.SHARES_COLUMNS, "two_differ", "n_people")
    return [*shares, *(in_rounds if rows["again"].notna().any() else [])]


GROUPS_COLUMNS = _without(persons.GROUPS_COLUMNS, "dataset", "same", "other")
GROUP_MODEL_COLUMNS = [Column("system", "system"), *persons.MODEL_COLUMNS]
SYSTEM_INDEX = ("dataset", "system")


def _score_column(heading: str, measure: str, digits: int = 3, *, percent: bool = False) -> Column:
    at = {"measure": measure}
    return Column(heading, "value", digits, "low", "high", percent=percent, at=at)


SYSTEM_COLUMNS = [
    Column("system", "system"),
    Column("items", "n_items"),
    _score_column("squared distance, unbiased", "sq_distance"),
    _score_column("DistCE", "dist_ce"),
    _score_column("JSD", "jsd"),
    _score_column("accuracy (%)", "new_accuracy", 1, percent=True),
    *(
        Column(title, lambda row: worths.without_reason(row["text"]), at={"measure": name})
        for title, name in (
            ("worth in people", worths.PEOPLE),
            ("recalibrated", worths.PEOPLE_RECALIBRATED),
            ("shrunk", worths.PEOPLE_SHRUNK),
        )
    ),
]
REPLACEMENT_COLUMNS = [
    Column("system", "system"),
    Column("in an annotator’s place", "verdict"),
    Column("wins against", lambda row: f"{_plain(row['wins'])} of {row['n_annotators']}"),
    Column("share of annotators, ω", "winning_rate", 2),
    Column("items on which it does as well, ρ", "advantage", 2),
]


def pair_columns(n_resamples: int) -> list[Column]:
    """Return how `comparisons` is shown, with p-values of so many resamples."""
    return [
        Column("system", "system"),
        Column("against", "reference"),
        Column("nearer to people", "verdict"),
        Column("difference", "value", 3, "low", "high", signed=True),
        Column("p (Holm)", lambda row: p_value(row["p_holm"], n_resamples, raw=row["p_behind"])),
    ]


def crowd_inputs(
    data: str, dataset: str, predictions: Sequence[str], *, tests: bool = False
) -> AnalysisInputs:
    """Return the inputs on one dataset: by its name, or the first that `data` holds.

    Its systems are those of the reader's files alone. Fails where too few items have two votes, or
    if the page `tests` whether a system may replace an annotator and these are not known.
    """
    inputs = gather(data, datasets=[dataset] if dataset else ())[0]
    if inputs.votes is None:
        raise needs_votes(inputs.datasets[0])
    (votes,) = inputs.votes
    where = data if votes.source.is_own else votes.source.name
    refuse_adaptive(votes)
    n_pairs = int((votes.n_votes >= 2).sum())
    if n_pairs < FOR_AGREEMENT:
        raise ChaosError(
            "These votes cannot say how far people agree.",
            where=where,
            found=f"{counted(n_pairs, 'item')} with two votes or more, of {len(votes):,}",
            expected=f"at least {FOR_AGREEMENT}",
            todo="ask more people about the same items",
        )
    if tests:
        try:
            annotations_of(votes, where)
        except ChaosError as fault:
            untested = "; or leave out epsilon and why, and no replacement test is made"
            raise fault.advising(lambda advice: advice + untested) from fault
    systems = tuple(own_systems(votes, predictions))
    refuse_unused(predictions, inputs.votes, systems)
    own = inputs.own or bool(systems)
    return AnalysisInputs((replace(inputs, given_systems=(systems,), own=own),))


def first_and_last(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first and the last `n` rows of `annotators`, of those with enough votes."""
    usual = table[~table["few"]] if (~table["few"]).any() else table
    return usual if len(usual) <= 2 * n else pd.concat([usual.head(n), usual.tail(n)])


def label_key(votes: Votes) -> str:
    """Return the labels, in the colours of their votes, as Markdown."""
    return " ".join(
        f'<span class="vote" style="--light:{label.colour.light};--dark:{label.colour.dark};'
        f'display:inline-block;padding:0 0.5em">{in_markdown(label.name)}</span>'
        for label in votes.dataset.classes
    )
