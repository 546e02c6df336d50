"""The YAML file of a dataset, written from what its votes file holds."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import KEYWORDS, bundled_datasets
from chaos_utils.datasets.cells import as_number
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.labels import cut_of, no_votes, scale_of
from chaos_utils.datasets.recognition.readings import Layout, name_of, to_dataset, yaml_of

_COMMENTS = """\
# What a votes file is. Correct what is wrong, such as the title and the order of the labels.
# More that may be said: short, warning, ordered: true (labels that are a scale), release (title,
# licence, homepage, credit); and of a label its name, code (its spelling in the file) and colour.
"""


def describe(
    votes: Path,
    target: Path,
    *,
    item: str = "",
    annotator: str = "",
    label: str = "",
    cut: Sequence[float] = (),
) -> tuple[str, list[str], list[str]]:
    """Return the text of a dataset's YAML file, notes on it, and the faults of the votes file.

    `item`, `annotator` and `label` name columns, `cut` the edges of classes on a scale.
    """
    findings, layout = check_file(votes, item=item, annotator=annotator, label=label)
    votes_path, folder = votes.resolve(), target.resolve().parent
    if not votes_path.is_relative_to(folder):
        raise ChaosError(
            "The YAML file must be in the folder of the votes, or above it.",
            where=target,
            expected=f"a file in {votes_path.parent}",
            todo="name another with --out, or move the votes",
        )
    missing = _answers_beyond(cut, layout, votes)
    notes = []
    reader: dict[str, Any] = {}
    file_name = votes_path.relative_to(folder).as_posix()
    extra: dict[str, Any] = {"files": [{"name": file_name}]}
    faults = [fault for fault in findings.faults if fault != layout.rating]
    if layout.lacks_annotators:
        annotator = layout.reader["annotator"]
        reader["annotator"] = ""
        notes.append(f"the column {annotator!r} is left out: annotators are missing on some rows")
        faults = [fault for fault in faults if f"field {annotator!r}" not in fault]
    name = name_of(votes)
    if name in KEYWORDS or name in {dataset.name for dataset in bundled_datasets()}:
        extra["name"] = f"my-{name}"
        notes.append(f"the name {name!r} is taken: the dataset is called {extra['name']!r}")
    fields = {re.sub(r"\W+", "_", name).strip("_").lower() or "text": name
              for name in findings.text_columns}  # fmt: skip
    if layout.format == "chaosnli":  # the format says in which columns the texts are
        extra["texts"] = [name.removeprefix("example.") for name in fields.values()]
    elif fields:
        extra["texts"] = list(fields)
        reader["texts"] = fields
    for use, names in (("texts", findings.text_columns), ("not used", findings.other_columns)):
        if names:
            with_reasons = ", ".join(f"{name!r} ({findings.reasons[name]})" for name in names)
            notes.append(f"{use}: {with_reasons}")
    if cut:
        rule = cut_of(cut)
        extra |= {"labels": list(rule.labels), "ordered": True}
        reader["cut"] = rule.model_dump(mode="json")
    if missing:
        reader["missing"] = missing
        notes.append(f"no answers, since {_option(cut)} leaves them out: {', '.join(missing)}")
    dataset = to_dataset(votes, layout, extra | ({"reader": reader} if reader else {}))
    return _COMMENTS + _with_proposed_order(yaml_of(dataset), dataset, layout), notes, faults


def _option(cut: Sequence[float]) -> str:
    return f"--cut {','.join(f'{edge:g}' for edge in cut)}"


def _answers_beyond(cut: Sequence[float], layout: Layout, votes: Path) -> list[str]:
    """Return the labels outside the edges of `cut` that stand for no answer.

    A rule that does not fit the other labels is a ChaosError.
    """
    faults = Faults(votes, "votes", expected="two labels at least", todo="correct the file")
    if layout.rating and not cut:
        raise faults.fatal(
            "The labels are numbers on a scale, not classes.",
            layout.rating,
            "--cut with the least number, where to cut, and the greatest, such as 0,25,75,100",
            "name the rule with --cut",
        )
    if not cut:
        return []
    numbers = {name: as_number(name) for name in layout.labels} if layout.is_cast else {}
    if not numbers or None in numbers.values():
        words = [repr(name) for name, number in numbers.items() if number is None]
        raise faults.fatal(
            "Only a column of numbers can be cut.",
            ", ".join(words)[:60] or "one column per label",
            "numbers alone",
            f"leave out {_option(cut)}",
        )
    missing = [name for name in no_votes(layout.labels) if not cut[0] <= float(name) <= cut[-1]]
    scale = [
        number for name, number in numbers.items() if number is not None and name not in missing
    ]
    if not (cut[0] <= min(scale) and max(scale) <= cut[-1]):
        raise faults.fatal(
            "Some numbers lie outside the scale that is to be cut.",
            f"{_option(cut)}, and numbers from {min(scale):g} to {max(scale):g}",
            "a rule that begins with the least number of the scale, and ends with the greatest",
            "correct --cut",
        )
    return missing


def _with_proposed_order(text: str, dataset: Dataset, layout: Layout) -> str:
    """Return the YAML text; if the labels look like a scale, propose to call them ordered."""
    are_numbers = all(as_number(name) is not None for name in layout.labels)
    if dataset.ordered or not (layout.is_cast and (are_numbers or scale_of(layout.labels))):
        return text
    proposal = "# ordered: true  # if each label is one step from the next, in this order"
    return re.sub(r"(?m)^(?=texts:|files:)", f"{proposal}\n", text, count=1)
