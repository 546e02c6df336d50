"""The sentences of the chapter on fine-tuning.

`table` holds rows of `finetuning.run_table`, `curves` those of `curve_table`; `names` are at least
one, but for what is missing.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from chaos_utils.analyses.finetuning import accuracies
from chaos_utils.analyses.names import listed
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report.columns import MISSING, number

_ENCODERS = {
    "minilm-l6": "`minilm-l6` is all-MiniLM-L6-v2, six layers of width 384, distilled from BERT "
    "and then trained on sentence pairs by a contrastive loss",
    "mpnet-base": "`mpnet-base` is all-mpnet-base-v2, twelve layers of width 768, MPNet-base that "
    "was trained further on sentence pairs by a contrastive loss",
}


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
    runs = [f"`{name}`" for name in names]
    if not runs:
        return ""
    first = listed(runs) if len(runs) <= 4 else f"{', '.join(runs[:3])} and {len(runs) - 3} more"
    them = "them" if len(runs) > 1 else "it"
    return (
        f"> Wanted, and not computed yet: {first}. `results/README.md` lists what is wanted, in "
        f"order of value and with the commands; `make wanted` trains {them}, and these pages then "
        f"show {them}."
    )


def say_reached(table: pd.DataFrame) -> str:
    """Return a Markdown list of what each run reached on development items."""
    lines = []
    for row in table.to_dict("records"):
        dev, test = accuracies(row, "dev"), accuracies(row, "test")
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
        begins, stops = (_between([f"{x:.2f}" for x in sorted(loss[e])]) for e in ("first", "last"))
        sentences.append(
            f"{get_task(str(task)).title}, {n} run{'s' if n > 1 else ''}: the loss begins {begins} "
            f"and ends {stops}; the accuracy ends "
            f"{_between([f'{x:.0%}' for x in sorted(accuracy['last'])])}."
        )
    return " ".join(sentences)


def _between(values: Sequence[str]) -> str:
    """Say where values in rising order lie."""
    first, last = values[0], values[-1]
    return f"at {first}" if first == last else f"between {first} and {last}"


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
        n, seconds = len(group), group["training_seconds"].sum()
        time = f"{number(seconds / 60)} minutes" if seconds >= 120 else f"{number(seconds)} seconds"
        speeds = [number(speed) for speed in group["items_per_second"].sort_values()]
        shares = [f"{share:.0%}" for share in group["peak_share"].sort_values()]
        sentences.append(
            f"{n} run{'s' if n > 1 else ''} on {device} in {precision} saw "
            f"{number(group['items_seen'].sum())} pairs in {time} of training steps, at "
            f"{_span(speeds)} pairs per second, and kept the hardware at {_span(shares)} of the "
            "peak that was measured on it."
        )
    return " ".join(sentences)


def _span(values: Sequence[str]) -> str:
    """Say the first and the last of values in rising order; once if alike."""
    return " to ".join(dict.fromkeys([values[0], values[-1]]))
