"""The YAML file of a dataset, written from what its votes file holds."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import KEYWORDS, bundled_datasets
from chaos_utils.datasets.cells import as_number
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.labels import cut_of, no_votes, scale_of
from chaos_utils.datasets.recognition.readings import name_of, to_dataset, yaml_of

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
    """Return the text of a dataset's YAML file, what to know of it, and the faults of the votes."""
    found, layout = check_file(votes, item=item, annotator=annotator, label=label)
    faults = Faults(votes, "votes", expected="two labels at least", todo="correct the file")
    given = f"--cut {','.join(f'{edge:g}' for edge in cut)}"
    place, folder = votes.resolve(), target.resolve().parent
    if not place.is_relative_to(folder):
        raise ChaosError(
            "The YAML file must stand in the folder of the votes, or above it.",
            where=target,
            expected=f"a file in {place.parent}",
            todo="name another with --out, or move the votes",
        )
    numbers = [as_number(name) for name in layout.labels] if layout.is_cast else [None]
    rating = [number for number in numbers if number is not None]
    if cut and len(rating) < len(numbers):
        words = "one column per label"
        if layout.is_cast:
            words = ", ".join(repr(one) for one in layout.labels if as_number(one) is None)[:60]
        raise faults.fatal(
            "Only a column of numbers can be cut.", words, "numbers alone", f"leave out {given}"
        )
    none = [name for name in no_votes(layout.labels) if cut and not _is_within(name, cut)]
    rating = [
        number for number, name in zip(rating, layout.labels, strict=False) if name not in none
    ]
    if cut and not (cut[0] <= min(rating) and max(rating) <= cut[-1]):
        raise faults.fatal(
            "Some numbers lie outside the scale that is to be cut.",
            f"{given}, and numbers from {min(rating):g} to {max(rating):g}",
            "a rule that begins with the least number of the scale, and ends with the greatest",
            "correct --cut",
        )
    if layout.rating and not cut:
        raise faults.fatal(
            "The labels are numbers on a scale, not classes.",
            layout.rating,
            "--cut with the least number, where to cut, and the greatest, such as 0,25,75,100",
            "name the rule with --cut",
        )
    notes = []
    reader: dict[str, Any] = {}
    extra: dict[str, Any] = {"files": [{"name": place.relative_to(folder).as_posix()}]}
    faults_left = [fault for fault in found.faults if fault != layout.rating]
    if layout.lacks_annotators:
        who = layout.reader["annotator"]
        reader["annotator"] = ""
        notes.append(f"the column {who!r} is left out: annotators are missing on some rows")
        faults_left = [one for one in faults_left if f"field {who!r}" not in one]
    name = name_of(votes)
    if name in KEYWORDS or name in {one.name for one in bundled_datasets()}:
        extra["name"] = f"my-{name}"
        notes.append(f"the name {name!r} is taken: the dataset is called {extra['name']!r}")
    fields = {re.sub(r"\W+", "_", name).strip("_").lower() or "text": name
              for name in found.text_columns}  # fmt: skip
    if layout.format == "chaosnli":  # whose texts have their place
        extra["texts"] = [name.removeprefix("example.") for name in fields.values()]
    elif fields:
        extra["texts"] = list(fields)
        reader["texts"] = fields
    for what, names in (("texts", found.text_columns), ("not used", found.other_columns)):
        if names:
            listed = ", ".join(f"{one!r} ({found.reasons[one]})" for one in names)
            notes.append(f"{what}: {listed}")
    if cut:
        rule = cut_of(cut)
        extra |= {"labels": list(rule.labels), "ordered": True}
        reader["cut"] = rule.model_dump(mode="json")
    if none:
        reader["missing"] = none
        notes.append(f"no answers, since {given} leaves them out: {', '.join(none)}")
    dataset = to_dataset(votes, layout, extra | ({"reader": reader} if reader else {}))
    text = yaml_of(dataset)
    is_scale = all(number is not None for number in numbers) or scale_of(layout.labels)
    if is_scale and not dataset.ordered and layout.is_cast:
        proposed = "# ordered: true  # if each label is one step from the next, in this order"
        text = re.sub(r"(?m)^(?=texts:|files:)", f"{proposed}\n", text, count=1)
    return _COMMENTS + text, notes, faults_left


def _is_within(name: str, edges: Sequence[float]) -> bool:
    """Return whether a number lies on the scale that is cut at these edges."""
    return edges[0] <= float(name) <= edges[-1]
