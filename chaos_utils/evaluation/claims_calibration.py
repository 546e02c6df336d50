"""The claims of Baan et al. (2022), in our own words, each with what decides it."""

from dataclasses import replace
from functools import partial

import numpy as np

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation.baan import in_paper, paper_systems
from chaos_utils.evaluation.calibrations import FIXED_TEMPERATURE, outside_file, read_outside
from chaos_utils.evaluation.claims_numbers import (
    classwise_columns,
    classwise_percent,
    votes_scored,
)
from chaos_utils.evaluation.claims_rules import (
    Claim,
    Estimate,
    Evidence,
    Floats,
    Grounds,
    UnavailableError,
    by_count,
    by_number,
    by_order,
    least_favourable,
    not_checkable,
    numbered,
    weakest,
)
from chaos_utils.evaluation.error_distributions import compare_histograms, draw_samples, share_below
from chaos_utils.metrics import calibration, scores
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.resampling import percentile_interval
from chaos_utils.scoring.recalibration import (
    losses_by_temperature,
    lowest_temperature,
    temper,
)
from chaos_utils.scoring.systems import oracle

_KEY = "baan2022"
_TEMPERATURES = np.exp(np.linspace(np.log(0.5), np.log(4), 61))
_TABLE_1 = ("ece", "rank_cs", "ent_ce", "dist_ce")


def _at(judged: Judged, temperature: float = FIXED_TEMPERATURE) -> Judged:
    return replace(judged, model=temper(judged.model, temperature))


def _oracle(material: Grounds, dataset: str = "snli") -> Judged:
    votes = material.votes(dataset)
    return oracle(votes).aligned_to(votes)


def _in_row(material: Grounds, name: str, seed: int | None = None) -> list[Judged]:
    """Return what the paper calls by a name in its tables: each seed of it, or one."""
    row = paper_systems().loc[name]
    if row["origin"] == "reference":
        return [_oracle(material)]
    judged = material.in_paper(str(row["dataset"]), seed)
    same = row["temperature"] == 1
    return judged if same else [_at(one, float(row["temperature"])) for one in judged]


def _oracle_ece(material: Grounds) -> Evidence:
    printed = read_published("baan2022_table1").set_index("system").loc["oracle", "ece"]
    found = material.score("ece", [_oracle(material)])
    text = f"ECE of the human distribution itself against its majority; {printed} is printed."
    return by_number(found, float(printed), 0.0005, text)


def _oracle_identity(material: Grounds) -> Evidence:
    gaps = [
        MEASURES["ece"].value(_oracle(material, dataset))
        - (1 - material.votes(dataset).shares.max(axis=1).mean())
        for dataset in material.by_dataset
    ]
    text = (
        "Largest distance between the oracle's ECE and 1 − mean majority share, over the datasets."
    )
    return by_number(Estimate(float(np.abs(gaps).max())), 0, 1e-9, text)


def _beats_oracle(material: Grounds) -> Evidence:
    gaps = []
    for judged in material.everyone("snli"):
        gaps.append(material.gain("ece", judged, replace(judged, model=judged.human)))
    text = (
        f"The oracle's ECE minus a model's, smallest over the {len(gaps)} available systems: above "
        "0, ECE prefers the model to a perfect prediction of what people say."
    )
    return by_order(weakest(gaps), 0, text)


def _table_1(material: Grounds) -> Evidence:
    if not material.released:
        raise UnavailableError("The printed values are of the released votes.")
    printed = read_published("baan2022_table1")
    right = total = 0
    for row in printed.to_dict("records"):
        seed = None if np.isnan(row["seed"]) else int(row["seed"])
        (judged,) = _in_row(material, row["system"], seed)
        last = [scores.top_label(p, ties="last") for p in (judged.model, judged.human)]
        values = {name: MEASURES[name].value(judged) for name in _TABLE_1}
        values["accuracy"] = float((last[0] == last[1]).mean())
        right += sum(abs(value - row[name]) <= 0.0005 + 1e-9 for name, value in values.items())
        total += len(values)
    return by_count(right, total, f"Values of {total} that agree to three digits.")


def _improves(material: Grounds, measure: str) -> Evidence:
    gains = [material.gain(measure, _at(one), one) for one in material.everyone("snli")]
    text = (
        f"{MEASURES[measure].title} at T = 1 minus T = {FIXED_TEMPERATURE:g}, smallest over the "
        f"{len(gains)} available systems on SNLI."
    )
    return by_order(weakest(gains), 0, text)


def _rank_unchanged(material: Grounds) -> Evidence:
    values = np.array(
        [
            [MEASURES["rank_cs"].value(_at(one, t)) for t in (0.5, 1.0, FIXED_TEMPERATURE, 4.0)]
            for one in material.everyone("snli")
        ]
    )
    text = "Largest difference of RankCS between temperatures from 0.5 to 4, over all systems."
    return by_number(Estimate(float(np.ptp(values, axis=1).max())), 0, 1e-12, text)


def _temperature(material: Grounds) -> Evidence:
    votes = material.votes("snli")
    files = [outside_file(votes, one) for one in in_paper(material.systems.get("snli", ()))]
    found = [read_outside(path, votes) for path in files if path]
    if not found:
        raise UnavailableError("The released predictions on development items are not available.")
    fits = [
        material.estimate(
            losses_by_temperature(*outside, _TEMPERATURES),
            partial(lowest_temperature, temperatures=_TEMPERATURES),
        )
        for outside in found
    ]
    values = ", ".join(f"{fit.value:.2f}" for fit in fits)
    text = (
        f"Temperature of least negative log-likelihood of the gold labels on {len(found[0][1]):,} "
        f"SNLI development items outside ChaosNLI, seed by seed ({values}); the one nearest to "
        f"{FIXED_TEMPERATURE:g} is shown."
    )
    nearest = min(fits, key=lambda fit: abs(fit.value - FIXED_TEMPERATURE))
    return by_number(nearest, FIXED_TEMPERATURE, 0.05, text)


def _split_errors(material: Grounds) -> tuple[Floats, Floats]:
    """Return the items' DistCE of H1 and of H2, shapes (n_splits, n_items)."""
    votes = material.votes("snli")
    seeds = range(material.seed, material.seed + material.n_splits)
    draws = [draw_samples(votes, seed)[0] for seed in seeds]
    errors = [[total_variation(votes.shares, one.probabilities) for one in pair] for pair in draws]
    stacked = np.array(errors)
    return stacked[:, 0], stacked[:, 1]


def _over_splits(values: Floats) -> Estimate:
    low, high = percentile_interval(values)
    return Estimate(float(values.mean()), float(low), float(high))


def _crowd(material: Grounds, which: int) -> Evidence:
    printed = read_published("baan2022_table2").set_index(["system", "source"])["dist_ce"]
    claimed = float(printed[(f"h{which + 1}", "released notebook")])
    means = _split_errors(material)[which].mean(axis=1)
    text = (
        f"Mean DistCE of twenty of an item's votes against all of them, over "
        f"{material.n_splits} random splits, with the interval over splits; {claimed} is printed, "
        f"and {share_below(means, claimed):.0%} of the splits lie below it."
    )
    return by_number(_over_splits(means), claimed, 0.0005, text)


def _worse_than_crowd(material: Grounds) -> Evidence:
    crowd = _split_errors(material)[0].mean(axis=0)  # each item's, over the splits
    votes = material.votes("snli")
    gaps = []
    for system, judged in zip(material.systems["snli"], material.everyone("snli"), strict=True):
        rows = system.rows_in(votes)
        for one in (judged, _at(judged)):
            gaps.append(material.estimate(total_variation(one.human, one.model) - crowd[rows]))
    text = (
        "A model's DistCE minus that of twenty people, smallest over the available systems, each "
        f"as it is and at T = {FIXED_TEMPERATURE:g}."
    )
    return by_order(weakest(gaps), 0, text)


def _histogram_kl(material: Grounds) -> Evidence:
    """The first seed of the tabulated model, as it is and scaled, against H1's errors."""
    first = material.in_paper("snli")[0]
    errors = [total_variation(one.human, one.model) for one in (first, _at(first))]
    raw, scaled = (
        np.array([compare_histograms(h1, error)["kl"] for h1 in _split_errors(material)[0]])
        for error in errors
    )
    finite = np.isfinite(raw) & np.isfinite(scaled)
    if not finite.any():
        raise UnavailableError("The divergence is infinite for every split.")
    text = (
        "KL of H1's histogram of errors from the unscaled model's, minus that from the scaled "
        f"model's, over the splits for which both are finite; {np.mean(~finite):.0%} of "
        f"{material.n_splits} splits give an infinite value."
    )
    return by_order(_over_splits((raw - scaled)[finite]), 0, text)


def _classwise(material: Grounds, system: str) -> Evidence:
    printed = read_published("baan2022_other").set_index(["quantity", "system"])["value"]
    claimed = float(printed[("classwise_ece_percent", system)])
    judged = _in_row(material, system)
    found = [
        material.estimate(classwise_columns(one), partial(classwise_percent, divide_by="binned"))
        for one in judged
    ]
    by_all = material.estimate(
        classwise_columns(judged[0]), partial(classwise_percent, divide_by="all")
    )
    others = ", ".join(f"{one.value:.1f}" for one in found[1:])
    text = (
        f"Class-wise ECE in per cent, divided by the binned items as in the released code; "
        f"{claimed:g} is printed. Divided by all items: {by_all.value:.1f}."
        + (f" This is seed 0; the other seeds give {others}." if others else "")
    )
    return by_number(found[0], claimed, 0.5, text)


def _signed_entropy(material: Grounds, system: str) -> Evidence:
    printed = read_published("baan2022_other").set_index(["quantity", "system"])["value"]
    claimed = float(printed[("signed_ent_ce", system)])
    one = _in_row(material, system)[0]
    errors = calibration.entropy_error(one.human, one.model)
    text = (
        f"Mean of H(model) − H(human) in nats, seed 0; {claimed:g} is printed. The median is "
        f"{np.median(errors):.3f}."
    )
    return by_number(material.estimate(errors), claimed, 0.005, text)


def _means_of_seeds(material: Grounds, measure: str) -> Evidence:
    printed = read_published("baan2022_other").query("where == 'section 5.2'")
    printed = printed.set_index(["quantity", "system"])["value"]
    parts, told = [], []
    for system in ("roberta", "roberta-ts"):
        claimed = float(printed[(measure, system)])
        found = material.score(measure, _in_row(material, system))
        parts.append(by_number(found, claimed, 0.005, ""))
        told.append(f"{found.value:.4f} for {claimed:g}")
    text = f"Mean over seeds, at T = 1 and T = {FIXED_TEMPERATURE:g}: {' and '.join(told)} printed."
    return least_favourable(parts, text)


def _proper(material: Grounds) -> Evidence:
    human = material.votes("snli").shares
    majority = np.eye(human.shape[1])[human.argmax(axis=1)]
    by_tvd, by_brier = (
        votes_scored(human, majority, score) - votes_scored(human, human, score)
        for score in (total_variation, scores.brier_of_votes)
    )
    text = (
        "Expected total variation to single votes: of the majority alone, minus of the "
        "true shares. "
        "A proper score would be smallest for the truth; below 0, it rewards saying the majority. "
        f"For the Brier score, which is proper, the same difference is {by_brier.mean():+.3f}. "
        "Held against the whole distribution, as DistCE is, TVD is smallest for the truth."
    )
    return by_order(material.estimate(by_tvd), 0, text)


def _lost_seed(material: Grounds) -> Evidence:
    return not_checkable(
        "The seed of the split behind the printed 0.004, 0.611 and 0.688 was not kept; the "
        "released notebook's output has other values."
    )


CALIBRATION: tuple[Claim, ...] = (
    numbered(40, _KEY, "Table 1",
             "The oracle's ECE is 0.245.",
             _oracle_ece),
    numbered(41, _KEY, "section 3",
             "A perfect prediction of people is miscalibrated by ECE, by 1 − the mean majority "
             "share.",
             _oracle_identity),
    numbered(42, _KEY, "Table 1",
             "By ECE, fine-tuned models are better calibrated than the oracle.",
             _beats_oracle),
    numbered(43, _KEY, "Table 1",
             "All 35 values of the table.",
             _table_1),
    numbered(44, _KEY, "Table 1",
             "Temperature scaling lowers ECE.",
             _improves, measure="ece"),
    numbered(45, _KEY, "Table 1",
             "Temperature scaling lowers DistCE.",
             _improves, measure="dist_ce"),
    numbered(46, _KEY, "Table 1",
             "Temperature scaling lowers EntCE.",
             _improves, measure="ent_ce"),
    numbered(47, _KEY, "Table 1",
             "Temperature scaling leaves RankCS as it is.",
             _rank_unchanged),
    numbered(48, _KEY, "released code",
             "T = 2 is what a fit on the development set gives.",
             _temperature),
    numbered(49, _KEY, "section 5.2",
             "Mean ECE of 0.14, scaled 0.03.",
             _means_of_seeds, measure="ece"),
    numbered(50, _KEY, "section 5.2",
             "Mean DistCE of 0.26, scaled 0.22.",
             _means_of_seeds, measure="dist_ce"),
    numbered(51, _KEY, "Table 2",
             "Twenty votes (H1) are 0.072 from all hundred in DistCE.",
             _crowd, which=0),
    numbered(52, _KEY, "Table 2",
             "Twenty other votes (H2) are 0.073 from all hundred in DistCE.",
             _crowd, which=1),
    numbered(53, _KEY, "Figure 2, Table 2",
             "Models are much worse than twenty people.",
             _worse_than_crowd),
    numbered(54, _KEY, "Table 2",
             "The scaled model's errors are distributed more like people's (KL).",
             _histogram_kl),
    numbered(55, _KEY, "section 5",
             "The printed KL values of Figure 2's text.",
             _lost_seed),
    numbered(56, _KEY, "appendix D",
             "Class-wise ECE of 10% for RoBERTa.",
             _classwise, system="roberta"),
    numbered(57, _KEY, "appendix D",
             "Class-wise ECE of 5% for scaled RoBERTa.",
             _classwise, system="roberta-ts"),
    numbered(58, _KEY, "appendix D",
             "Class-wise ECE of 16% for the oracle.",
             _classwise, system="oracle"),
    numbered(59, _KEY, "appendix B",
             "RoBERTa's entropy is 0.26 nats too low on average.",
             _signed_entropy, system="roberta"),
    numbered(60, _KEY, "appendix B",
             "Scaled RoBERTa's entropy is 0.12 nats too high on average.",
             _signed_entropy, system="roberta-ts"),
    numbered(61, _KEY, "measures",
             "Total variation is a proper scoring rule.",
             _proper),
)  # fmt: skip
