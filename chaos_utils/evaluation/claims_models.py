"""The claims of Nie et al. (2020) about models, in our own words, each with what decides it."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import spearmanr

from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation.bins import entropy_bins
from chaos_utils.evaluation.claims_rules import (
    HOLDS,
    Claim,
    Estimate,
    Evidence,
    Grounds,
    UnavailableError,
    by_count,
    by_number,
    by_order,
    closed,
    least_favourable,
    listed,
    numbered,
    weakest,
)
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance

_KEY = "nie2020"
_NEAR_PERFECT = 0.95
_BARELY = 0.10  # above the guess; what "barely" is taken to mean
_N_BINS = 5
_CRITICAL_P = 0.05
_FEWEST_ERRORS = 10  # items; fewer have no share worth resampling
_ALIKE = 0.8  # a rank correlation above which two orders are taken as much alike


def _table_5() -> pd.DataFrame:
    return read_published("nie2020_table5")


def _models() -> pd.DataFrame:
    table = _table_5()
    return table[~table["model"].isin(["chance", "est-human"])]


def _row(model: str, column: str) -> pd.Series:
    table = _table_5()
    return table[table["model"] == model].set_index("dataset")[column]


def _range(material: Grounds) -> Evidence:
    apart = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    largest = float(jensen_shannon_distance(*apart, unit="nats")[0])
    in_bits = float(jensen_shannon_distance(*apart, unit="bits")[0])
    text = (
        "Largest possible Jensen–Shannon distance with natural logarithms, which is what the "
        f"printed values are; with base 2 it is {in_bits:g}. The conclusions do not depend on it."
    )
    return by_number(Estimate(largest), 1, 0, text)


def _chance(material: Grounds) -> Evidence:
    printed = _table_5().query("model == 'chance'").set_index("dataset")
    parts = []
    for dataset in (one.name for one in book_datasets()):
        votes = material.votes(dataset)
        even = np.full_like(votes.shares, 1 / votes.dataset.n_classes)
        # The guess is the label that is most frequent in the data as a whole.
        top_old = np.bincount(votes.old_label).argmax()
        top_new = np.bincount(votes.majority).argmax()
        by_item = {
            "jsd": jensen_shannon_distance(votes.shares, even, unit="nats"),
            "kl": np.log(votes.dataset.n_classes) - entropy(votes.shares, unit="nats"),
            "old_accuracy": votes.old_label == top_old,
            "new_accuracy": votes.majority == top_new,
        }
        for column, values in by_item.items():
            gap = material.estimate(values - float(printed.loc[dataset, column]))
            parts.append(by_number(gap, 0, 0.00005, ""))
    exact = sum(part.verdict == HOLDS for part in parts)
    text = (
        f"Ours minus theirs, for the first of the {len(parts)} values with the least favourable "
        f"verdict; {exact} of them agree to four digits. The released votes are not vote for "
        "vote those of the paper's tables."
    )
    return least_favourable(parts, text)


def _human_gap(material: Grounds, column: str) -> Evidence:
    models = _models()
    ratio = (models[column] / models["dataset"].map(_row("est-human", column))).groupby(
        models["dataset"]
    )
    text = (
        f"Smallest {column.upper()} of a model over the estimated human's, where it is smallest; "
        f"by dataset: {listed(ratio.min(), '.1f')}. More than twice is taken as far."
    )
    return by_order(Estimate(float(ratio.min().min())), 2, text)


def _human_accuracy(material: Grounds) -> Evidence:
    models = _models()
    gap = models["dataset"].map(_row("est-human", "new_accuracy")) - models["new_accuracy"]
    by_dataset = gap.groupby(models["dataset"]).min()
    text = f"Estimated human minus the best model, in new accuracy: {listed(by_dataset, '.3f')}."
    return by_order(Estimate(float(by_dataset.min())), 0, text)


def _mnli_chance(material: Grounds, column: str) -> Evidence:
    models = _models().query("dataset == 'mnli'")
    guess = float(_row("chance", column)["mnli"])
    best = models.loc[models[column].idxmin()]
    text = (
        f"Best model's {column.upper()} ({best['model']}, {best[column]:.4f}) minus the uniform "
        f"guess's ({guess:.4f}), as printed: above 0, all {len(models)} models are further off."
    )
    return by_order(Estimate(float(best[column]) - guess), 0, text)


def _best_alpha(material: Grounds) -> Evidence:
    jsd = _models().query("dataset == 'alphanli'").set_index("model")["jsd"]
    first, other = jsd.drop("roberta-large").nsmallest(1), float(jsd["roberta-large"])
    text = (
        f"JSD of RoBERTa-large in Table 5 ({other:.4f}) minus the best of the other models "
        f"({first.index[0]}, {first.iloc[0]:.4f}): above 0, another model would be the best."
    )
    return by_order(Estimate(other - float(first.iloc[0])), 0, text)


def _no_correlation(material: Grounds, column: str) -> Evidence:
    found = {
        dataset: spearmanr(group["new_accuracy"], group[column])
        for dataset, group in _models().groupby("dataset")
    }
    free = sum(result.pvalue > _CRITICAL_P for result in found.values())
    rhos = listed({str(dataset): result.statistic for dataset, result in found.items()}, "+.2f")
    text = (
        f"Datasets of {len(found)} on which the ranks of new accuracy and {column.upper()} over "
        f"the nine published models do not correlate (p > {_CRITICAL_P:g}). Spearman's ρ: {rhos}."
    )
    return by_count(free, len(found), text)


def _pairs(column: str) -> pd.Series:
    """Return large minus base, for each dataset and family."""
    wide = _models().pivot(index="dataset", columns="model", values=column)
    gaps = {f: wide[f"{f}-large"] - wide[f"{f}-base"] for f in ("bert", "xlnet", "roberta")}
    return pd.DataFrame(gaps).stack()


def _larger_is_more_accurate(material: Grounds) -> Evidence:
    gaps = _pairs("new_accuracy")
    text = f"Pairs of {len(gaps)} (three families, three datasets) where large beats base."
    return by_count(int((gaps > 0).sum()), len(gaps), text)


def _larger_is_not_always_nearer(material: Grounds) -> Evidence:
    gaps = _pairs("jsd")
    text = (
        f"Pairs of {len(gaps)} in which the large model has the larger JSD; one would do. They "
        f"are on {', '.join(get_dataset(t).short for t in gaps[gaps > 0].index.unique('dataset'))}."
    )
    return by_order(Estimate(int((gaps > 0).sum())), 0, text)


def _shift(material: Grounds, dataset: str, sign: int) -> Evidence:
    models = _models().query("dataset == @dataset")
    gain = sign * (models["new_accuracy"] - models["old_accuracy"])
    text = (
        f"Models of {len(models)} with a {'higher' if sign > 0 else 'lower'} accuracy against "
        "the new majority than against the old label."
    )
    return by_count(int((gain > 0).sum()), len(models), text)


def _same_order(material: Grounds) -> Evidence:
    models = _models()
    by_dataset = models.groupby("dataset")
    new, old = (by_dataset[column].idxmax() for column in ("new_accuracy", "old_accuracy"))
    rho = {
        str(dataset): float(spearmanr(group["old_accuracy"], group["new_accuracy"]).statistic)
        for dataset, group in by_dataset
    }
    text = (
        f"Smallest rank correlation of old and new accuracy over the nine models (Spearman's ρ: "
        f"{listed(rho, '.2f')}); more than {_ALIKE:g} is taken as much alike. The best model is "
        f"the same on {int((new == old).sum())} of {len(new)} datasets."
    )
    return by_order(Estimate(min(rho.values())), _ALIKE, text)


def _bins() -> pd.DataFrame:
    table = read_published("nie2020_entropy_bins")
    return table.sort_values(["dataset", "model", "bin"]).groupby(["dataset", "model"])


def _ends(material: Grounds, column: str, sign: int) -> Evidence:
    change = sign * _bins()[column].agg(lambda values: values.iloc[-1] - values.iloc[0])
    name = {"new_accuracy": "accuracy lost", "jsd": "JSD gained"}[column]
    dataset, model = change.idxmin()
    text = (
        f"Smallest {name} between the first and the last of five entropy bins, over "
        f"{len(change)} pairs of model and dataset ({model}, {get_dataset(dataset).short}); "
        "published bins."
    )
    return by_order(Estimate(float(change.min())), 0, text)


def _steps(material: Grounds, column: str, sign: int) -> Evidence:
    steady = _bins()[column].agg(lambda values: bool((sign * values.diff().dropna() > 0).all()))
    broken = steady[~steady].index.unique("dataset")
    text = (
        f"Pairs of model and dataset, of {len(steady)}, with a change the same way at every step."
        + (
            f" The others are on {', '.join(get_dataset(dataset).short for dataset in broken)}."
            if len(broken)
            else ""
        )
    )
    return by_count(int(steady.sum()), len(steady), text)


def _bins_of_items(human: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    if len(human) < _N_BINS:
        raise UnavailableError(f"{len(human)} items are too few for {_N_BINS} entropy bins.")
    return entropy_bins(entropy(human, unit="bits"), _N_BINS).of_item


def _bins_of_systems(material: Grounds) -> Evidence:
    parts = []
    for dataset in (one.name for one in book_datasets()):
        for judged in material.everyone(dataset) if material.systems.get(dataset) else []:
            bins = _bins_of_items(judged.human)
            correct = (judged.predicted == judged.majority).astype(np.float64)
            first, last = bins == 0, bins == bins.max()
            columns = np.column_stack([correct * first, first, correct * last, last])
            parts.append(
                material.estimate(columns, lambda m: m[..., 0] / m[..., 1] - m[..., 2] / m[..., 3])
            )
    if not parts:
        raise UnavailableError(
            "No predictions are available; pass `-p predictions=FILE` with your own."
        )
    text = (
        f"Smallest accuracy lost between the first and the last of five entropy bins, over the "
        f"{len(parts)} available pairs of system and dataset."
    )
    return by_order(weakest(parts), 0, text)


def _near_perfect(material: Grounds) -> Evidence:
    first = read_published("nie2020_entropy_bins").query("bin == 1")
    best = first.groupby("dataset")["new_accuracy"].max()
    text = (
        f"Best model's new accuracy in the first entropy bin, where it is lowest: "
        f"{listed(best, '.3f')}. {_NEAR_PERFECT:.0%} is taken as near-perfect. The published bins "
        "are per dataset; in the paper's figure SNLI and MNLI are pooled, and the first pooled bin "
        "ends lower than MNLI's."
    )
    return by_order(Estimate(float(best.min())), _NEAR_PERFECT, text)


def _barely(material: Grounds) -> Evidence:
    last = read_published("nie2020_entropy_bins").query(f"bin == {_N_BINS}")
    guesses, gains = {}, {}
    for dataset, group in last.groupby("dataset"):
        votes = material.votes(str(dataset))
        bins = _bins_of_items(votes.shares)
        gold = votes.majority[bins == bins.max()]
        guesses[str(dataset)] = float(np.bincount(gold).max() / len(gold))
        gains[str(dataset)] = float(group["new_accuracy"].mean()) - guesses[str(dataset)]
    parts = [
        by_number(Estimate(gain), _BARELY / 2, _BARELY / 2, "")
        for gain in sorted(gains.values(), reverse=True)
    ]
    text = (
        f"Mean published new accuracy in the last entropy bin minus the share of its most frequent "
        f"majority ({listed(guesses, '.3f')}): {listed(gains, '+.3f')}. From 0 to {_BARELY:g} "
        "is taken as barely better."
    )
    return least_favourable(parts, text)


def _common_errors(material: Grounds) -> Evidence:
    judged = material.everyone("snli")
    if any(len(one.human) != len(judged[0].human) for one in judged):
        judged = material.in_paper("snli")
    bits = entropy(judged[0].human, unit="bits")
    wrong = np.all([one.predicted != one.majority for one in judged], axis=0)
    if wrong.sum() < _FEWEST_ERRORS:
        raise UnavailableError(f"Only {int(wrong.sum())} items are errors of all systems.")
    low_agreement = bits > np.median(bits)
    found = material.estimate(
        np.column_stack([wrong & low_agreement, wrong]), lambda m: m[..., 0] / m[..., 1]
    )
    text = (
        f"Of the {int(wrong.sum())} SNLI items that all {len(judged)} available systems get wrong, "
        "the share with more than the median entropy. The nine models' answers are not available."
    )
    return by_order(found, 0.5, text)


MODELS: tuple[Claim, ...] = (
    numbered(15, _KEY, "measures",
             "JSD ranges from 0 to 1.",
             _range),
    numbered(16, _KEY, "Table 5",
             "The chance rows.",
             _chance),
    numbered(17, _KEY, "abstract, Table 5",
             "Models are far from the human distribution: in JSD, further than an estimated human.",
             _human_gap, column="jsd"),
    numbered(18, _KEY, "abstract, Table 5",
             "Models are far from the human distribution: in KL, further than an estimated human.",
             _human_gap, column="kl"),
    numbered(19, _KEY, "Table 5",
             "An estimated human is more accurate than every model.",
             _human_accuracy),
    numbered(20, _KEY, "Table 5",
             "How the estimated human's row comes about.",
             closed, text="It rests on a second set of annotators, whose votes were not released."),
    numbered(21, _KEY, "Table 5",
             "On MNLI no model has a smaller JSD than the uniform guess.",
             _mnli_chance, column="jsd"),
    numbered(22, _KEY, "Table 5",
             "On MNLI no model has a smaller KL than the uniform guess.",
             _mnli_chance, column="kl"),
    numbered(23, _KEY, "discussion of Table 5",
             "The best JSD on αNLI is that of a model other than RoBERTa-large.",
             _best_alpha),
    numbered(24, _KEY, "discussion of Table 5",
             "A model's accuracy says little about its JSD.",
             _no_correlation, column="jsd"),
    numbered(25, _KEY, "discussion of Table 5",
             "A model's accuracy says little about its KL.",
             _no_correlation, column="kl"),
    numbered(26, _KEY, "Table 5",
             "Larger models are more accurate than the smaller ones of their family.",
             _larger_is_more_accurate),
    numbered(27, _KEY, "discussion of Table 5",
             "Larger models are not always nearer to people in JSD.",
             _larger_is_not_always_nearer),
    numbered(28, _KEY, "Table 5",
             "On SNLI every model is more accurate against the new majority.",
             _shift, dataset="snli", sign=1),
    numbered(29, _KEY, "Table 5",
             "On MNLI every model is less accurate against the new majority.",
             _shift, dataset="mnli", sign=-1),
    numbered(30, _KEY, "Table 5",
             "Models rank much alike under old and new labels.",
             _same_order),
    numbered(31, _KEY, "Figure 4",
             "Accuracy is lower where people disagree most than where they agree.",
             _ends, column="new_accuracy", sign=-1),
    numbered(32, _KEY, "Figure 4, step by step",
             "Accuracy falls from each entropy bin to the next, for all nine models.",
             _steps, column="new_accuracy", sign=-1),
    numbered(33, _KEY, "Figure 5",
             "JSD is larger where people disagree most than where they agree.",
             _ends, column="jsd", sign=1),
    numbered(34, _KEY, "Figure 5, step by step",
             "JSD rises from each entropy bin to the next, for all nine models.",
             _steps, column="jsd", sign=1),
    numbered(35, _KEY, "Figure 4",
             "Accuracy is lower where people disagree most, for other models too.",
             _bins_of_systems),
    numbered(36, _KEY, "abstract",
             "Where people agree, models are near-perfect.",
             _near_perfect),
    numbered(37, _KEY, "abstract",
             "Where people disagree most, models barely beat a guess.",
             _barely),
    numbered(38, _KEY, "abstract",
             "Most common errors lie where people disagree.",
             _common_errors),
)  # fmt: skip
