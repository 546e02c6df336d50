"""Every checkable claim of both papers, `claims.yml`, and the rules that judge them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from chaos_utils.analyses.claims_numbers import OF_SYSTEMS, quantities
from chaos_utils.analyses.names import dataset_name, listed
from chaos_utils.analyses.recorded import derived
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.report.columns import MISSING, Column, Row, number, with_interval

FILE = Path(__file__).with_name("claims.yml")
HOLDS = "holds"
NOISE = "holds within noise"
FAILS = "does not hold"
OPEN = "cannot be checked with released data"
VERDICTS = (HOLDS, NOISE, FAILS, OPEN)
PAPERS = {"nie2020": "Nie et al. 2020", "baan2022": "Baan et al. 2022"}
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rows(_Strict):
    """Which numbers, as `claims_numbers` names them.

    Each of the datasets must be there; by default all that are. By default the case is the one
    without a name, or all where there is none.
    """

    quantity: str
    datasets: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()

    @field_validator("quantity")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in quantities():
            raise ValueError(did_you_mean(name, quantities()))
        return name

    @field_validator("datasets")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(get_dataset(name).name for name in names)
        except ChaosError as fault:
            raise ValueError(" ".join(str(fault).split())) from fault


class Claim(_Strict):
    """A claim of a paper, in our own words, and how it is checked.

    `numbers` decide. `minus` is taken from them: a quantity of the same dataset, or of the one
    named; or numbers by dataset. If `total`, their sum decides. Their `rule` is one of these:

    * ``equals``: each is `to` (by dataset or case where it differs), up to `within`, half a unit of
      the last digit printed; within noise where its interval, so widened, covers `to`;
    * ``above``: each lies above, with its interval; within noise where the interval reaches to both
      sides. Without an interval the value decides, and of several numbers the worst;
    * ``all``, ``some``: how many of the cases equal `to` or lie above;
    * ``open``: the evidence was not released.

    `shows` says which of the numbers with the worst verdict is shown, by default the smallest for
    ``above``, else the first. The `note` says what it is, what it is held against, and what a
    reader should know. In its braces stand ``all`` numbers, those ``holding`` and ``failing``,
    ``n`` of them and the ``right`` ones; the ``case`` and ``dataset`` of the one shown, ``to``,
    ``splits``, and the names of `also`, other numbers that it names. `lacking` is said where a
    number is missing.
    """

    id: Annotated[str, Field(pattern=r"^c\d\d$")]
    paper: Literal["nie2020", "baan2022"]
    place: Annotated[str, Field(min_length=1)]
    claim: Annotated[str, Field(pattern=r"\.$")]
    rule: Literal["equals", "above", "all", "some", "open"]
    numbers: Rows | None = None
    minus: Rows | dict[str, float] | None = None
    total: bool = False
    to: float | dict[str, float] | None = None
    within: Annotated[float, Field(ge=0)] = 0
    above: float | None = None
    shows: Literal["", "first", "smallest", "largest"] = ""
    also: dict[str, Rows] = {}
    note: Annotated[str, Field(pattern=r"\.$")]
    lacking: str = ""

    @model_validator(mode="after")
    def _check(self) -> "Claim":
        bounds = [name for name in ("to", "above") if getattr(self, name) is not None]
        wanted = {"equals": ["to"], "above": ["above"], "some": ["above"], "open": []}
        if len(bounds) > 1 or bounds != wanted.get(self.rule, bounds):
            expected = " and ".join(wanted.get(self.rule, ["to or above"])) or "neither"
            raise ValueError(f"rule: {self.rule} takes {expected}, of to and above")
        if (self.numbers is None) != (self.rule == "open"):
            raise ValueError(f"numbers: {self.rule} takes {'none' if self.numbers else 'some'}")
        sample = pd.DataFrame([{"dataset": "", "case": "", "value": 0.0, "verdict": HOLDS}])
        try:
            self.noted(sample, sample.iloc[0], dict.fromkeys(self.also, sample), splits=1)
        except (KeyError, ValueError, AttributeError, IndexError) as fault:
            raise ValueError(f"note: {fault} cannot stand in braces") from fault
        return self

    def bound_of(self, row: Row) -> float | None:
        """Return what a number must equal."""
        if isinstance(self.to, dict):
            return self.to.get(row["case"], self.to.get(row["dataset"]))
        return self.to

    def noted(
        self, judged: pd.DataFrame, shown: Row, also: Mapping[str, pd.DataFrame], *, splits: int
    ) -> str:
        """Return the note with its numbers."""
        right = judged["verdict"] == HOLDS
        to = self.bound_of(shown)
        return self.note.format(
            all=Numbers(judged), holding=Numbers(judged[right]), failing=Numbers(judged[~right]),
            n=len(judged), right=int(right.sum()), case=shown["case"],
            dataset=_short(shown["dataset"]), to="" if to is None else f"{to:g}".replace("-", "−"),
            splits=splits, **{name: Numbers(rows) for name, rows in also.items()},
        )  # fmt: skip


class Numbers:
    """Some numbers as a note writes them: one, a list, or one for each dataset."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self.total = rows["value"].sum()
        self.names = listed(map(_short, rows["dataset"].unique())) or "none"

    def __format__(self, form: str) -> str:
        values = [f"{value:{form}}".replace("-", "−") for value in self._rows["value"]]
        if self._rows["dataset"].nunique() <= 1:
            return listed(values) or MISSING
        names = map(_short, self._rows["dataset"])
        return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def _short(dataset: str) -> str:
    return dataset_name(dataset) if dataset else ""


def read_claims(path: Path = FILE) -> list[Claim]:
    """Read claims; where a field is unknown, missing or wrong, the error names claim and field."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as fault:
        raise ChaosError(
            "The claims are not YAML.", where=path, found=" ".join(str(fault).split())
        ) from fault
    found = [_read_claim(path, n, one) for n, one in enumerate(content, start=1)]
    for n, one in enumerate(found, start=1):
        if one.id != (expected := f"c{n:02d}"):
            what = "The claims are not numbered in order."
            raise ChaosError(what, where=path, found=one.id, expected=expected)
    return found


def _read_claim(path: Path, place: int, content: Any) -> Claim:
    try:
        return Claim.model_validate(content)
    except ValidationError as fault:
        # A misspelt field first: it is also missing under its right name.
        first = min(fault.errors(), key=lambda one: one["type"] != "extra_forbidden")
        name = content.get("id") if isinstance(content, dict) else None
        *parents, field = ["the claim as a whole", *map(str, first["loc"])]
        expected = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            known = (Rows if parents[1:] else Claim).model_fields
            expected = f"no such field; {did_you_mean(field, known)}"
        raise ChaosError(
            "A claim has a fault.",
            where=f"{path}, {name or f'claim number {place}'}",
            found=f"{'.'.join([*parents[1:], field])}: {first['input']!r}"[:200],
            expected=expected,
        ) from fault


@derived(keys=("id",))
def check_claims(
    votes: pd.DataFrame,
    systems: pd.DataFrame,
    papers: pd.DataFrame,
    *,
    splits: int,
    claims: Sequence[Claim] = (),
) -> pd.DataFrame:
    """Check claims, by default all of both papers, on the numbers of `claims_numbers`.

    One row per claim. ``evidence`` says what the value is; ``low`` and ``high`` are NaN where it
    has no interval of 95%; the verdict is one of `VERDICTS`. `splits` are the draws of H1 and H2
    behind the numbers.
    """
    filled = [part for part in (votes, systems, papers) if len(part)]
    numbers = pd.concat(filled, ignore_index=True)
    known = set(votes["dataset"])
    rows = []
    for claim in claims or read_claims():
        row = {name: getattr(claim, name) for name in ("id", "paper", "place", "claim")}
        rows.append(row | _decide(claim, numbers, known, splits))
    columns = ["id", "paper", "place", "claim", "evidence", "value", "low", "high", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _decide(claim: Claim, numbers: pd.DataFrame, known: set[str], splits: int) -> dict[str, object]:
    """Return the evidence on a claim: ``evidence``, ``value``, ``low``, ``high``, ``verdict``."""
    nothing = {"value": np.nan, "low": np.nan, "high": np.nan, "verdict": OPEN}
    if claim.numbers is None:
        return nothing | {"evidence": claim.note}
    rows = _chosen(claim.numbers, numbers)
    if rows is not None and claim.minus is not None:
        rows = _subtracted(rows, claim.minus, numbers)
    if rows is None:
        return nothing | {"evidence": _lacking(claim, known)}
    if claim.total:
        rows = rows.head(1).assign(value=rows["value"].sum(), low=np.nan, high=np.nan)
    judged = rows.assign(verdict=[_judge(claim, row) for row in rows.to_dict("records")])
    worst = judged[judged["verdict"] == max(judged["verdict"], key=VERDICTS.index)]
    by = claim.shows or ("smallest" if claim.rule == "above" else "first")
    place = {"first": 0, "smallest": worst["value"].argmin(), "largest": worst["value"].argmax()}
    shown = worst.iloc[place[by]]
    found = {name: shown[name] for name in nothing}
    if claim.rule in ("all", "some"):
        right = int((judged["verdict"] == HOLDS).sum())
        enough = right == len(judged) if claim.rule == "all" else right > 0
        found = nothing | {"value": right, "verdict": HOLDS if enough else FAILS}
    also = {}
    for name, one in claim.also.items():
        datasets = one.datasets or claim.numbers.datasets
        other = _chosen(one.model_copy(update={"datasets": datasets}), numbers)
        also[name] = rows.head(0) if other is None else other
    return found | {"evidence": claim.noted(judged, shown, also, splits=splits)}


def _chosen(wanted: Rows, numbers: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows wanted, in the order of the datasets; None where one of these has none."""
    rows = numbers[numbers["quantity"] == wanted.quantity]
    cases = wanted.cases or ([""] if (rows["case"] == "").any() else rows["case"].unique())
    rows = rows[rows["case"].isin(cases)]
    parts = [rows[rows["dataset"] == name] for name in wanted.datasets]
    if rows.empty or not all(map(len, parts)):
        return None
    return pd.concat(parts) if parts else rows


def _subtracted(
    rows: pd.DataFrame, minus: Rows | Mapping[str, float], numbers: pd.DataFrame
) -> pd.DataFrame | None:
    """Return differences; of two numbers with intervals, as those of independent means."""
    if not isinstance(minus, Rows):
        return rows.assign(value=rows["value"] - rows["dataset"].map(minus))
    others = _chosen(minus, numbers)
    if others is None:
        return None
    found = []
    for one in rows.to_dict("records"):
        other = others if minus.datasets else others[others["dataset"] == one["dataset"]]
        if other.empty:
            return None
        two = other.iloc[0]
        value = one["value"] - two["value"]
        # Half-widths of independent means add in squares.
        low = value - np.hypot(one["value"] - one["low"], two["high"] - two["value"])
        high = value + np.hypot(one["high"] - one["value"], two["value"] - two["low"])
        found.append(one | {"value": value, "low": low, "high": high})
    return pd.DataFrame(found)


def _judge(claim: Claim, row: Row) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    if claim.above is not None:
        low, high = (value if np.isnan(end) else end for end in (low, high))
        return HOLDS if low > claim.above else NOISE if high > claim.above else FAILS
    to = claim.bound_of(row)
    assert to is not None
    reach = claim.within + _ROUNDING
    if abs(value - to) <= reach:
        return HOLDS
    return NOISE if low - reach <= to <= high + reach else FAILS


def _lacking(claim: Claim, known: set[str]) -> str:
    """Say why a claim is left open whose numbers are not available."""
    assert claim.numbers is not None
    missing = [name for name in claim.numbers.datasets if name not in known]
    if missing:
        return f"The votes on {listed(map(dataset_name, missing))} are not available."
    if claim.lacking or claim.numbers.quantity not in OF_SYSTEMS:
        return claim.lacking or "The votes lack what this needs."
    on = listed(map(dataset_name, claim.numbers.datasets))
    return f"No predictions on {on} are available; pass `-p predictions=FILE` with yours."


@derived(keys=("paper", "verdict"))
def count_verdicts(checked: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of `check_claims` on each paper, named for readers; 0 included."""
    papers = checked["paper"].map(PAPERS)
    index = pd.MultiIndex.from_product([papers.unique(), VERDICTS], names=["paper", "verdict"])
    counts = checked.groupby([papers, "verdict"]).size()
    return counts.reindex(index, fill_value=0).rename("n").reset_index()


def wanted_datasets() -> list[str]:
    """Return the datasets that claims are about."""
    several = [one.numbers.datasets for one in read_claims() if one.numbers]
    return list(dict.fromkeys(name for datasets in several for name in datasets))


def _value(row: Row) -> str:
    """Counts are whole; percentages need two digits, shares and distances four."""
    value = row["value"]
    whole = abs(value) >= 1 and value == round(value)
    digits = 0 if whole else 2 if abs(value) >= 5 else 4
    if np.isnan(row["low"]):
        return number(value, digits)
    return with_interval(value, row["low"], row["high"], max(digits, 2))


_MARKS = {verdict: f"{mark} {verdict}" for mark, verdict in zip("✓≈✗?", VERDICTS, strict=True)}
COLUMNS = [
    Column("id", "id"),
    Column("place", lambda row: f"{PAPERS[row['paper']]}, {row['place']}"),
    Column("claim", "claim"),
    Column("verdict", "verdict", names=_MARKS),
    Column("value", _value),
    Column("what the value is", "evidence"),
]
