"""The tables and sentences of the chapters on fine-tuning and on learning curves.

Of runs, `table` is what `evaluation.runs.run_table` gives; of recipes, what `recipe_table`
gives; and of training size, with its `changes`, what `growth.growth_table` gives, as are
`by_size` and `course`, of all runs and along one. `curves` are those of `curve_table`. A
`measure` is ``new_accuracy``, ``old_accuracy`` or ``jsd``; a `dataset` and a `model` are named as
in tables; `names` are at least one, but for what is missing.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from chaos_utils.datasets.catalogue import book_datasets, short_of
from chaos_utils.datasets.tasks import get_task
from chaos_utils.presentation.bins import amount
from chaos_utils.report.columns import MISSING, number, signed, with_interval

_ENCODERS = {
    "minilm-l6": "`minilm-l6` is all-MiniLM-L6-v2, six layers of width 384, distilled from BERT "
    "and then trained on sentence pairs by a contrastive loss",
    "mpnet-base": "`mpnet-base` is all-mpnet-base-v2, twelve layers of width 768, MPNet-base that "
    "was trained further on sentence pairs by a contrastive loss",
}
_FAMILIES = {"bert": "BERT", "xlnet": "XLNet", "roberta": "RoBERTa", "bart": "BART",
             "albert": "ALBERT", "distilbert": "DistilBERT"}  # fmt: skip
_MEASURES = {"new_accuracy": "new accuracy", "old_accuracy": "old accuracy", "jsd": "JSD"}

_AS_GOOD_AS_EVEN = 0.005  # in JSD


def name_of(dataset: str) -> str:
    """Return the name of a dataset, or of several joined by ``+``, as readers know it."""
    return short_of(dataset)


def scientific(value: float) -> str:
    """Write a small `value` as Table 8 does: 5e-5."""
    exponent = math.floor(math.log10(value))
    return f"{value / 10**exponent:.3g}e{exponent}"


def listed(names: Iterable[str]) -> str:
    """Join words as a sentence does."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def say_encoders(table: pd.DataFrame) -> str:
    """Return a sentence for each encoder of the runs, with its size."""
    sizes = table.dropna(subset="parameters").drop_duplicates("model").set_index("model")
    sentences = [
        f"{_ENCODERS.get(model, f'`{model}`')} ({number(n / 1e6, 1)} million parameters, head "
        "included)"
        for model, n in sizes["parameters"].items()
    ]
    return ". ".join(sentences) + "."


def say_missing(names: Iterable[str]) -> str:
    """Return a sentence about runs that are wanted and not there; nothing if all are there."""
    told = [f"`{name}`" for name in names]
    if not told:
        return ""
    first = listed(told) if len(told) <= 4 else f"{', '.join(told[:3])} and {len(told) - 3} more"
    return (
        f"> Wanted, and not computed yet: {first}. `results/README.md` lists them in order of "
        "their value, each with its command; `make wanted` trains them, and these pages then "
        "show them."
    )


def show_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Set one row per run: what was trained on what, how, what it reached and cost."""
    return pd.DataFrame([_shown_run(row) for row in table.to_dict("records")])


def _shown_run(row: dict[str, Any]) -> dict[str, str]:
    return {
        "system": f"{row['system']} ({get_task(str(row['task'])).title})",
        "trained on": _trained_on(row),
        "recipe": _recipe(row),
        "dev accuracy": _accuracies(row, "dev"),
        "test accuracy": _accuracies(row, "test"),
        "pairs/s": _cost(row, "items_per_second", 1, 0),
        "minutes": _cost(row, "training_seconds", 60, 0),
        "TFLOP": _cost(row, "flops", 1e12, 0),
        "share of peak": _percent(row.get("peak_share")),
        "GiB": _cost(row, "peak_memory_gib", 1, 1),
        "hardware": f"{row['device']}, {row['precision']}",
    }


def _float(value: Any) -> float:
    return math.nan if value is None or pd.isna(value) else float(value)


def _cost(row: dict[str, Any], name: str, unit: float, digits: int) -> str:
    value = _float(row.get(name)) / unit
    return number(value, digits if value >= 10 or math.isnan(value) else max(digits, 1))


def _percent(value: Any) -> str:
    share = _float(value)
    return MISSING if math.isnan(share) else f"{share:.0%}"


def _trained_on(row: dict[str, Any]) -> str:
    if row["kind"] == "predicted":
        return f"weights of {row['init']}"
    counts = {
        one.title: _float(row.get(f"n_train_{one.name}"))
        for one in get_task(row["task"]).files_of("train")
    }
    counts = {name: n for name, n in counts.items() if not math.isnan(n)}
    parts = " + ".join(f"{number(n)} {name}" for name, n in counts.items())
    if row["train"] == "chaosnli":
        folds = _float(row["n_folds"])
        return f"votes of {parts} items of ChaosNLI, out of fold ({number(folds)} folds)"
    total, published = _float(row["n_train"]), _float(row["n_published"])
    told = f"{number(total)} of {number(published)} pairs ({total / published:.1%})"
    return f"{told}: {parts}"


def _recipe(row: dict[str, Any]) -> str:
    if row["kind"] == "predicted":
        passes = _float(row["mc_samples"])
        return f"{number(passes)} passes with dropout" if passes else "one pass"
    epochs = _float(row["epochs"])
    parts = [
        f"rate {scientific(_float(row['learning_rate']))}",
        f"batch {row['batch_size']}",
        f"{number(epochs)} epoch{'s' if epochs > 1 else ''}",
        f"{row['loss']} labels",
    ]
    if row["label_smoothing"]:
        parts.append(f"smoothing {row['label_smoothing']}")
    if row["init"]:
        parts.append(f"from {row['init']}")
    return ", ".join(parts)


def _accuracies(row: dict[str, Any], split: str) -> str:
    found = {
        one.title: _float(row.get(f"{split}_accuracy_{one.name.replace('-', '_')}"))
        for one in get_task(row["task"]).corpora  # a held-out part is called as what it is of
    }
    parts = [f"{title} {value:.3f}" for title, value in found.items() if not math.isnan(value)]
    return ", ".join(parts) or MISSING


def show_recipes(table: pd.DataFrame) -> pd.DataFrame:
    """Set the paper's recipes and ours, a row each."""
    rows = []
    for row in table.to_dict("records"):
        published = row["source"] == "published"
        runs = row["runs"].split()
        rows.append(
            {
                "model": _FAMILIES.get(row["model"], row["model"]),
                "source": "Nie et al., Table 8" if published else "ours",
                "task": get_task(row["task"]).title,
                "learning rate": scientific(row["learning_rate"]),
                "batch": number(row["batch_size"]),
                "weight decay": f"{row['weight_decay']:g}",
                "epochs": f"at most {row['epochs']:g}" if published else f"{row['epochs']:g}",
                "decay": row["learning_rate_decay"],
                "warm-up": f"{row['warmup_ratio']:g}",
                "runs": ", ".join(runs) or MISSING,
            }
        )
    return pd.DataFrame(rows)


def say_reached(table: pd.DataFrame) -> str:
    """Return a Markdown list of what each run reached on development items."""
    lines = []
    for row in table.to_dict("records"):
        dev, test = _accuracies(row, "dev"), _accuracies(row, "test")
        more = f"; on test items, {test}" if test != MISSING else ""
        lines.append(f"- {row['system']} ({get_task(row['task']).title}): {dev}{more}.")
    return "\n".join(lines)


def say_course(curves: pd.DataFrame) -> str:
    """Return a sentence for each task: where loss and accuracy begin and end, run by run."""
    sentences = []
    for task, of_task in curves.groupby("task", sort=False):
        first = of_task[of_task["fold"] == 0]
        ends = first.groupby(["measure", "run"], sort=False)["value"].agg(["first", "last"])
        loss, accuracy = ends.loc["loss"], ends.loc["dev_accuracy"]
        n = len(loss)
        sentences.append(
            f"{get_task(str(task)).title}, {n} run{'s' if n > 1 else ''}: the loss begins between "
            f"{loss['first'].min():.2f} and {loss['first'].max():.2f} and ends between "
            f"{loss['last'].min():.2f} and {loss['last'].max():.2f}; the accuracy ends between "
            f"{accuracy['last'].min():.0%} and {accuracy['last'].max():.0%}."
        )
    return " ".join(sentences)


def show_training_size(table: pd.DataFrame) -> pd.DataFrame:
    """Set scores by number of training items, the bins side by side."""
    rows = []
    for dataset, of_dataset in table.groupby("dataset", sort=False):
        bins = of_dataset.drop_duplicates("bin").sort_values("bin")
        spans = [
            f"{number(row['entropy_low_bits'], 3)}–{number(row['entropy_high_bits'], 3)}"
            for row in bins.to_dict("records")
        ]
        rows.append([name_of(str(dataset)), "entropy (bits)", "", "", *spans])
        rows.append([name_of(str(dataset)), "items scored", "", "", *map(number, bins["n"])])
        for measure, group in of_dataset.groupby("measure", sort=False):
            start = [name_of(str(dataset)), _MEASURES[str(measure)]]
            for _, stage in group.groupby("items"):
                told = stage.iloc[0]
                cells = [
                    with_interval(row["value"], row["low"], row["high"], digits=3)
                    for row in stage.sort_values("bin").to_dict("records")
                ]
                rows.append([*start, number(told["items"]), number(told["epochs"]), *cells])
            chance = group.drop_duplicates("bin").sort_values("bin")["chance"]
            rows.append([*start, "chance", "", *(number(value, 3) for value in chance)])
    numbers = sorted(set(table["bin"]) - {0})
    heads = ["dataset", "quantity", "training items", "epochs", "all items"]
    return pd.DataFrame(rows, columns=[*heads, *(f"bin {b}" for b in numbers)])


def say_growth(changes: pd.DataFrame, measure: str) -> str:
    """Return a Markdown list: each dataset's score in each bin, before and after more training."""
    lines = []
    for dataset, group in changes[changes["measure"] == measure].groupby("dataset", sort=False):
        every = group.set_index("bin")
        bins = every.drop(index=0)
        parts = [
            f"bin {b} from {amount(row['first'], measure)} to {amount(row['last'], measure)} "
            f"({_change(row, measure)})"
            for b, row in bins.iterrows()
        ]
        first, last = every.loc[0, ["first_items", "last_items"]]
        lines.append(
            f"- {name_of(str(dataset))}, from {number(first)} to {number(last)} items: "
            f"{'; '.join(parts)}; all items {_change(every.loc[0], measure)}."
        )
    return "\n".join(lines)


def say_where(changes: pd.DataFrame, measure: str) -> str:
    """Return a sentence for each dataset: in which bins training helped, and in which it harmed."""
    better = 1 if measure.endswith("accuracy") else -1
    sentences = []
    for dataset, group in changes[changes["measure"] == measure].groupby("dataset", sort=False):
        bins = group[group["bin"] > 0]
        helped = bins.loc[(bins[["low", "high"]] * better > 0).all(axis=1), "bin"]
        harmed = bins.loc[(bins[["low", "high"]] * better < 0).all(axis=1), "bin"]
        most = bins.loc[(bins["change"] * better).idxmax(), "bin"]
        sentences.append(
            f"On {name_of(str(dataset))}, more training improved {_MEASURES[measure]} in "
            f"{_bins(helped)} and worsened it in {_bins(harmed)}; bin {most} profited most."
            if len(helped)
            else f"On {name_of(str(dataset))}, more training improved {_MEASURES[measure]} in no "
            f"bin and worsened it in {_bins(harmed)}."
        )
    return " ".join(sentences)


def say_against_chance(table: pd.DataFrame, measure: str) -> str:
    """Return a sentence for each dataset: where its last stage stands against chance, by bin."""
    better = 1 if measure.endswith("accuracy") else -1
    sentences = []
    for dataset, group in table[table["measure"] == measure].groupby("dataset", sort=False):
        last = group[group["items"] == group["items"].max()]
        bins = last[last["bin"] > 0]
        ends = bins[["over_chance_low", "over_chance_high"]] * better
        ahead, behind = bins.loc[(ends > 0).all(axis=1)], bins.loc[(ends < 0).all(axis=1)]
        total = last[last["bin"] == 0].iloc[0]
        sentences.append(
            f"On {name_of(str(dataset))}, with {number(total['items'])} items, "
            f"{_MEASURES[measure]} is better than chance in {_bins(ahead['bin'])} and worse in "
            f"{_bins(behind['bin'])}; over all items it is {amount(total['value'], measure)}, "
            f"and chance {amount(total['chance'], measure)}."
        )
    return " ".join(sentences)


def _bins(numbers: pd.Series) -> str:
    if numbers.empty:
        return "no bin"
    plural = "bins" if len(numbers) > 1 else "bin"
    return f"{plural} {listed([str(b) for b in sorted(numbers)])}"


def _change(row: pd.Series, measure: str) -> str:
    scale, digits = (100, 1) if measure.endswith("accuracy") else (1, 3)
    value, low, high = (signed(scale * row[name], digits) for name in ("change", "low", "high"))
    return f"{value}{' points' if scale == 100 else ''} [{low}, {high}]"


def say_turns(course: pd.DataFrame) -> str:
    """Return a sentence for each dataset: after how many items each bin's JSD was lowest."""
    sentences = []
    rows = course[(course["measure"] == "jsd") & (course["bin"] > 0)]
    for dataset, group in rows.groupby("dataset", sort=False):
        lowest = group.loc[group.groupby("bin")["value"].idxmin()]
        parts = [
            f"{number(row['items'])} in bin {row['bin']} ({number(row['value'], 3)})"
            for row in lowest.to_dict("records")
        ]
        sentences.append(
            f"On {name_of(str(dataset))}, JSD was lowest, of all looks, after so many items: "
            f"{listed(parts)}; the last look was after {number(group['items'].max())}."
        )
    return " ".join(sentences)


def say_start(course: pd.DataFrame) -> str:
    """Return a sentence where the first look, of every dataset, found even probabilities."""
    rows = course[(course["measure"] == "jsd") & (course["bin"] > 0)]
    first = rows[rows["items"] == rows.groupby("dataset")["items"].transform("min")]
    if (first["over_chance"].abs() > _AS_GOOD_AS_EVEN).any():
        return ""
    return (
        "At the first look the model gives all labels about even probabilities, so that its JSD "
        "is that of chance: small where people disagree most, before anything was learned."
    )


def say_stages(by_size: pd.DataFrame, course: pd.DataFrame, model: str) -> str:
    """Return what the chapter on learning curves shows, and what it lacks, in Markdown."""
    if by_size.empty and course.empty:
        return (
            f"> No committed run of `{model}` predicts these items: this page needs the released "
            "ChaosNLI items and our runs, which `make wanted` trains."
        )
    if course["runs"].str.startswith("synthetic").any():
        return "The sample has no trained models: what this page shows was simulated."
    parts = []
    for dataset, group in by_size.groupby("dataset", sort=False):
        counts = sorted(group["items"].unique())
        seeds = int(group["n_seeds"].max())
        parts.append(
            f"on {name_of(str(dataset))}, runs of `{model}` on "
            f"{listed([number(n) for n in counts])} items"
            + (f" (means of up to {seeds} seeds)" if seeds > 1 else "")
        )
    told = f"This page shows {'; '.join(parts)}." if parts else ""
    if any(group["items"].nunique() < 2 for _, group in by_size.groupby("dataset")):
        told += (
            " Where a dataset has a single size, its smaller runs are wanted and not computed yet "
            "(`make wanted`)."
        )
    absent = [
        dataset
        for dataset in (one.name for one in book_datasets())
        if dataset not in "+".join(by_size["dataset"].unique()).split("+")
    ]
    if absent:
        told += f" There is no run on {listed([name_of(dataset) for dataset in absent])} yet."
    if len(course):
        names = listed([f"`{name}`" for name in dict.fromkeys(course["runs"])])
        told += f" The trajectory is that of {names}."
    else:
        told += " No run was looked at along its way yet."
    return told


def say_stories(table: pd.DataFrame) -> str:
    """Return what the runs on αNLI reach on held-out training stories, and on how many."""
    parts = [
        f"{row['system']} is right on {row['dev_accuracy_alphanli']:.1%} of "
        f"{number(row['n_dev_alphanli'])} pairs from held-out training stories"
        for row in table.to_dict("records")
    ]
    return f"On αNLI, {'; '.join(parts)}, where a guess is right on half."


def say_cost(table: pd.DataFrame) -> str:
    """Return the total, the throughput and the share of peak, hardware by hardware."""
    sentences = []
    for (device, precision), group in table.groupby(["device", "precision"], sort=False):
        n = len(group)
        speeds = [number(speed) for speed in group["items_per_second"]]
        shares = [f"{share:.0%}" for share in group["peak_share"]]
        sentences.append(
            f"{n} run{'s' if n > 1 else ''} on {device} in {precision} saw "
            f"{number(group['items_seen'].sum())} pairs in "
            f"{number(group['training_seconds'].sum() / 60)} minutes of training steps, at "
            f"{_span(group['items_per_second'], speeds)} pairs per second, and kept the hardware "
            f"at {_span(group['peak_share'], shares)} of the peak that was measured on it."
        )
    return " ".join(sentences)


def _span(values: pd.Series, told: Sequence[str]) -> str:
    """Return the smallest and the largest of some values as shown; once if alike."""
    order = values.argsort()
    return " to ".join(dict.fromkeys([told[order.iloc[0]], told[order.iloc[-1]]]))
