"""Every checkable claim of both papers, `claims.yml`, and the rules that judge them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, Field, model_validator

from chaos_utils.analyses.agreement import LEVEL, adjusted_p
from chaos_utils.analyses.claims_tables import SYSTEM_TABLES, TABLES
from chaos_utils.analyses.names import in_words, join_names
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.numbers import true_minus
from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets.catalogue import get_dataset, short_of
from chaos_utils.metrics.resampling import behind_holm, holm
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number, with_interval
from chaos_utils.report.values import Address, parse_address

FILE = Path(__file__).with_name("claims.yml")
HOLDS = "holds"
NOISE = "holds within noise"
READING = "depends on the reading"
FAILS = "does not hold"
OPEN = "cannot be checked with released data"
VERDICTS = (HOLDS, NOISE, READING, FAILS, OPEN)
SUBSTANCE, PRINT = "does not hold in substance", "slip in print"  # kinds of what does not hold
KINDS = (HOLDS, NOISE, READING, SUBSTANCE, PRINT, OPEN)
PAPERS = {"nie2020": "Nie et al. 2020", "baan2022": "Baan et al. 2022"}
_FAULTS = {"print": PRINT, "substance": SUBSTANCE}
_QUANTILE = 1.959963985  # of the normal distribution: half-widths of 95% in standard errors
_VOTES = "claims_numbers.vote_numbers"  # has every dataset whose votes are available
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone
_CASES = ("case", "model", "system", "family", "temperature")  # what tells rows of a dataset apart


@dataclass(frozen=True, slots=True)
class SelectedNumbers:
    """Numbers of tables, at addresses in the syntax of ``{value}``, or their differences.

    With `minus`, the number at that address is subtracted. An aggregate is taken for each dataset.
    Every dataset that an address names must have a number; numbers come in the order of the names.
    """

    addresses: tuple[Address, ...]
    minus: Address | None = None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets that the first address names."""
        return self.addresses[0].where.get("dataset", ())

    def rows(self, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
        """Return columns ``dataset``, ``case``, ``value``, ``low``, ``high``, ``p``, or None."""
        parts = [_rows_at(address, tables) for address in self.addresses]
        filled = [part for part in parts if part is not None]
        if len(filled) < len(parts):
            return None
        rows = pd.concat(filled, ignore_index=True)
        if self.minus is None:
            return rows
        subtrahends = _rows_at(self.minus, tables)
        if subtrahends is None:
            return None
        return _subtract(rows, subtrahends, anywhere="dataset" in self.minus.where)


def _rows_at(address: Address, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """Return the numbers at one address, with the columns of `SelectedNumbers.rows`, or None."""
    table = tables.get(address.table)
    if table is None or table.empty:
        return None
    try:
        rows = address.rows(table).dropna(subset=address.column)
    except ValueError as fault:
        where = f"{FILE}, {address.table}"
        raise ChaosError(
            "A claim's number is not in its table.", where=where, found=str(fault)
        ) from fault
    column, datasets = address.column, address.where.get("dataset", ())
    # The case is the first of these columns of which the address leaves several values open.
    open_columns = (
        name for name in _CASES if name in rows and len(address.where.get(name, ())) != 1
    )
    case = next(open_columns, "")
    numbers = pd.DataFrame({"value": rows[column].astype(float)})
    numbers.insert(0, "dataset", rows.get("dataset", ""))
    numbers.insert(1, "case", rows[case].map(_as_text) if case else "")
    prefix = "" if column == "value" else f"{column}_"
    for name in ("low", "high", "p"):
        numbers[name] = rows.get(f"{prefix}{name}", np.nan)
    if address.aggregate:
        numbers = _aggregate(numbers, address.aggregate)
    parts = [numbers[numbers["dataset"] == name] for name in datasets]
    if numbers.empty or not all(map(len, parts)):
        return None
    return pd.concat(parts, ignore_index=True) if parts else numbers.reset_index(drop=True)


def _as_text(case: object) -> str:
    return f"{case:g}" if isinstance(case, float) else str(case)


def _aggregate(rows: pd.DataFrame, aggregate: str) -> pd.DataFrame:
    """Return a row per dataset: the smallest or largest number with its case, or an aggregate."""
    values = rows.groupby("dataset", sort=False)["value"]
    if aggregate in ("min", "max"):
        return rows.loc[values.idxmin() if aggregate == "min" else values.idxmax()]
    totals = values.agg(aggregate).reset_index().assign(case="", low=np.nan, high=np.nan, p=np.nan)
    return totals[list(rows)]


def _subtract(
    rows: pd.DataFrame, subtrahends: pd.DataFrame, *, anywhere: bool
) -> pd.DataFrame | None:
    """Return differences of independent numbers, within each dataset unless `anywhere`.

    Where there are several subtrahends, the one of the same case is subtracted.
    """
    differences = []
    for row in rows.to_dict("records"):
        matches = subtrahends if anywhere else subtrahends[subtrahends["dataset"] == row["dataset"]]
        if len(matches) > 1:
            matches = matches[matches["case"] == row["case"]]
        if len(matches):
            differences.append(row | _difference(row, matches.iloc[0]))
    return pd.DataFrame(differences) if differences else None


def _parse_numbers(texts: Any) -> SelectedNumbers:
    """Read addresses: one, two with a minus between, or a list."""
    all_texts = texts if isinstance(texts, list) else [texts]
    if not all_texts or not all(isinstance(text, str) for text in all_texts):
        raise ValueError("expected the address of a number, or a list of some")
    parts = [[parse_address(part) for part in text.split(" - ")] for text in all_texts]
    for address in (address for part in parts for address in part):
        if address.table not in TABLES:
            raise ValueError(did_you_mean(address.table, TABLES))
        try:
            for pool in address.where.get("dataset", ()):
                for name in pool.split("+"):
                    get_dataset(name)
        except ChaosError as fault:
            raise ValueError(" ".join(str(fault).split())) from fault
    if max(map(len, parts)) > (2 if len(parts) == 1 else 1):
        raise ValueError("expected one minus at most, and none in a list")
    return SelectedNumbers(
        tuple(part[0] for part in parts), parts[0][1] if len(parts[0]) > 1 else None
    )


At = Annotated[SelectedNumbers, BeforeValidator(_parse_numbers)]


class Selection(StrictModel):
    """Items that the explorer shows, in words and as a query of its address."""

    words: str
    selection: str


class Claim(StrictModel):
    """A claim of a paper, in our own words, and how it is checked.

    `place` is the claim's section, table or figure. `numbers` are addresses in recorded tables or
    in the papers' own; they decide, `times` a factor where the paper has another unit. If `total`,
    the sum of the numbers decides. The `rule` is one of these:

    * ``equals``: each number is `to` (by dataset or case where it differs), up to `within`, half a
      unit of the last digit printed. Such a claim is about these very items and votes, so sampling
      is no excuse;
    * ``above``: each number lies above `above`. Numbers that are means over items have intervals
      and p-values, and the p-values are corrected together for all such claims; a claim holds
      within noise where p is not below 0.05. If all numbers lie above, the largest p decides; if
      some lie below, the smallest p of these, times how many they are. Published values have no p,
      and the comparison alone decides;
    * ``all``, ``some``: all of the cases, or at least one, equal `to` or lie above `above`;
    * ``absent``: no number differs from 0 with p below 0.05. A few models cannot show that there is
      no effect, so the claim can only fail, or hold within noise; the smallest p decides;
    * ``open``: the evidence was not released.

    If a claim says that two numbers equal `to`, the second is in `together`, for the same datasets
    and cases; the number that is further from `to` decides.

    `reading` says how a word such as *barely* was understood. `shows` says which of the numbers
    with the worst verdict is shown, by default the smallest for ``above``, the one with the
    smallest p for ``absent``, else the first. A claim that fails, but would hold with the numbers
    of `otherwise`, depends on the reading. `fault` says whether a claim that fails is a slip in
    ``print`` or fails in ``substance``: this is our judgement, and no verdict depends on it.
    `same_as` names a claim with the same fault.

    The `note` has the number in its first sentence, which a card shows, then details; no verdict
    depends on it. Its fields in braces are: the shown ``value`` with its ``case`` and ``dataset``;
    ``all`` numbers; the numbers ``holding`` and ``failing``; the counts ``n`` of all numbers and
    ``right`` of those that hold, and both before a plural, ``right_of_n``; and the names in `also`,
    which are further numbers. `lacking` is the evidence where a number is missing. `explorer` is a
    selection of the items that the claim is about.
    """

    id: Annotated[str, Field(pattern=r"^c\d\d$")]
    paper: Literal["nie2020", "baan2022"]
    place: Annotated[str, Field(min_length=1)]
    claim: Annotated[str, Field(pattern=r"\.$", description="a text that ends with a full stop")]
    rule: Literal["equals", "above", "all", "some", "absent", "open"]
    numbers: At | None = None
    together: At | None = None
    times: float = 1
    total: bool = False
    to: float | dict[str, float] | None = None
    within: Annotated[float, Field(ge=0)] = 0
    above: float | None = None
    reading: str = ""
    shows: Literal["", "first", "smallest", "largest"] = ""
    otherwise: At | None = None
    fault: Literal["print", "substance"] = "print"
    same_as: str = ""
    also: dict[str, At] = Field(default_factory=dict)
    note: Annotated[str, Field(pattern=r"\.$", description="a text that ends with a full stop")]
    lacking: str = ""
    explorer: Selection | None = None

    @model_validator(mode="after")
    def _check(self) -> "Claim":
        """Check that the fields fit the rule, and that the note can be filled in."""
        bounds = [name for name in ("to", "above") if getattr(self, name) is not None]
        required = {"equals": ["to"], "above": ["above"], "absent": [], "open": []}
        if len(bounds) > 1 or bounds != required.get(self.rule, bounds):
            expected = " and ".join(required.get(self.rule, ["to or above"])) or "neither"
            raise ValueError(f"rule: {self.rule} takes {expected}, of to and above")
        if (self.numbers is None) != (self.rule == "open"):
            raise ValueError(f"numbers: {self.rule} takes {'none' if self.numbers else 'some'}")
        if self.together is not None and bounds != ["to"]:
            raise ValueError("together: only beside to")
        sample = pd.DataFrame([{"dataset": "", "case": "", "value": 0.0, "verdict": HOLDS}])
        try:
            self.noted(sample, sample.iloc[0], dict.fromkeys(self.also, sample))
        except (KeyError, ValueError, AttributeError, IndexError) as fault:
            raise ValueError(f"note: {fault} cannot stand in braces") from fault
        return self

    def bound_of(self, row: Row) -> float | None:
        """Return what a number must equal."""
        if isinstance(self.to, dict):
            return self.to.get(row["case"], self.to.get(row["dataset"]))
        return self.to

    def noted(self, judged: pd.DataFrame, shown: Row, also: Mapping[str, pd.DataFrame]) -> str:
        """Return the note with numbers in place of its braces."""
        right = judged["verdict"] == HOLDS
        n_right = int(right.sum())
        case = SYSTEM_NAMES.get(shown["case"], shown["case"])
        text = self.note.format(
            value=Numbers(pd.DataFrame([shown])), all=Numbers(judged),
            holding=Numbers(judged[right]), failing=Numbers(judged[~right]),
            n=len(judged), right=n_right, right_of_n=_of_all(n_right, len(judged)),
            case=case, dataset=_short(shown["dataset"]),
            **{name: Numbers(rows) for name, rows in also.items()},
        )  # fmt: skip
        return re.sub(r"(?<!\w)-(?=\d)", "−", text)

    @property
    def criterion(self) -> str:
        """The rule with its numbers, and how a word was understood, in words."""
        to = self.to if isinstance(self.to, dict) else {} if self.to is None else {"": self.to}
        values = join_names(true_minus(f"{value:,.9g}") for value in to.values())
        printed = self.within > _ROUNDING
        bound = f"is {values}, ± {self.within:g}" if printed else f"is {values}"
        if self.above is not None:
            bound = f"is above {self.above:g}"
        words = {
            "equals": bound,
            "above": bound,
            "all": f"each {bound}",
            "some": f"at least one {bound}",
            "absent": "differs from 0 in no case, after Holm",
            "open": "",
        }[self.rule]
        return "; ".join(filter(None, [words, self.reading]))


class Numbers:
    """Numbers as a note writes them: a number, a list, or a number for each dataset."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self.total = rows["value"].sum()
        self.smallest = rows["value"].min()
        self.names = join_names(map(_short, rows["dataset"].unique())) or "none"

    def __format__(self, form: str) -> str:
        values = [true_minus(f"{value:{form}}") for value in self._rows["value"]]
        if self._rows["dataset"].nunique() <= 1:
            return join_names(values) or MISSING
        names = map(_short, self._rows["dataset"])
        return join_names(f"{value} ({name})" for name, value in zip(names, values, strict=True))


def _of_all(count: int, n: int) -> str:
    """Say before a plural noun how many of `n` are meant: ``all three``, ``one of the three``."""
    if count == n:
        return f"all {in_words(n)}"
    return f"{in_words(count) if count else 'none'} of the {in_words(n)}"


def _short(dataset: str) -> str:
    return short_of(dataset) if dataset else ""


def read_claims(path: Path = FILE) -> list[Claim]:
    """Read claims; where a field is unknown, missing or wrong, the error names claim and field."""
    content = read_yaml(path)
    if not isinstance(content, list):
        raise ChaosError("The claims cannot be read.", where=path, expected="a list")
    claims = [_read_claim(path, n, entry) for n, entry in enumerate(content, start=1)]
    names = [claim.id for claim in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ChaosError("Two claims have one id.", where=path, found=twice)
    return claims


def _read_claim(path: Path, index: int, content: Any) -> Claim:
    name = content.get("id") if isinstance(content, dict) else None
    return validate(content, Claim, f"{path}, {name or f'claim number {index}'}", "A claim")


@derived_table(keys=("id",))
def check_claims(*, claims: Sequence[Claim] = (), **tables: pd.DataFrame) -> pd.DataFrame:
    """Check claims, by default all of both papers, on the tables that `claims_tables.tables` names.

    One row per claim:

    * ``criterion``: what decides; ``evidence``: what was found;
    * ``value`` with ``low`` and ``high``, the ends of its 95% interval, NaN where there is none;
    * ``p``: the p-value of a claim by the rule ``above``; ``p_holm``: the same, adjusted for all of
      these claims; ``p_behind``: the p-value, maybe of another claim, that decided ``p_holm``;
    * ``verdict``: one of `VERDICTS`; ``kind``: the verdict, or `SUBSTANCE` or `PRINT` for a claim
      that does not hold; ``same_as``: the claim with the same fault;
    * ``items``, ``selection``: the words and the query of a selection in the explorer, empty where
      there is none.
    """
    votes = tables.get(_VOTES)
    datasets = set() if votes is None or votes.empty else set(votes["dataset"])
    all_claims = claims or read_claims()
    all_rows = [_rows_of(claim, tables) for claim in all_claims]
    p = np.array([_p_of(claim, rows) for claim, rows in zip(all_claims, all_rows, strict=True)])
    checked, p_holm = [], holm(p)
    by_claim = zip(all_claims, all_rows, p, p_holm, behind_holm(p, p_holm), strict=True)
    for claim, rows, raw, adjusted, behind in by_claim:
        row = {name: getattr(claim, name) for name in ("id", "paper", "place", "claim")}
        row |= {"criterion": claim.criterion, "p": raw, "p_holm": adjusted, "p_behind": behind}
        row |= _decide(claim, rows, tables, datasets, adjusted)
        failed = row["verdict"] == FAILS
        row["kind"] = _FAULTS[claim.fault] if failed else row["verdict"]
        row["same_as"] = claim.same_as if failed else ""
        items = claim.explorer or Selection(words="", selection="")
        checked.append(row | {"items": items.words, "selection": items.selection})
    columns = ["id", "paper", "place", "claim", "criterion", "evidence", "value", "low", "high",
               "p", "p_holm", "p_behind", "verdict", "kind", "same_as", "items",
               "selection"]  # fmt: skip
    return pd.DataFrame(checked, columns=columns)


def _rows_of(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """Return the numbers that decide, in the paper's unit; None where one is missing."""
    rows = None if claim.numbers is None else claim.numbers.rows(tables)
    if rows is None:
        return None
    ends = np.sort(claim.times * rows[["low", "high"]].to_numpy(float), axis=1)
    rows = rows.assign(value=claim.times * rows["value"], low=ends[:, 0], high=ends[:, 1])
    if claim.together is not None:
        alternatives = claim.together.rows(tables)
        if alternatives is None or len(alternatives) < len(rows):
            return None
        to = rows.apply(claim.bound_of, axis=1)
        is_nearer = (rows["value"] - to).abs() < (alternatives["value"] - to).abs()
        rows = rows.where(~is_nearer, alternatives)
    if claim.total:
        rows = rows.head(1).assign(value=rows["value"].sum(), low=np.nan, high=np.nan, p=np.nan)
    return rows


def _p_of(claim: Claim, rows: pd.DataFrame | None) -> float:
    """Return the p-value of a claim by the rule ``above``, NaN for others.

    If all numbers lie above, it is their largest p. Else it is the smallest p of the numbers that
    lie below, times how many they are: that one of them really lies below.
    """
    if rows is None or claim.rule != "above" or rows["p"].isna().any():
        return float("nan")
    p = rows.loc[~(rows["value"] > claim.above), "p"]
    return min(1.0, len(p) * float(p.min())) if len(p) else float(rows["p"].max())


def _decide(
    claim: Claim,
    rows: pd.DataFrame | None,
    tables: Mapping[str, pd.DataFrame],
    datasets: set[str],
    p: float,
) -> dict[str, object]:
    """Return the evidence on a claim: ``evidence``, ``value``, ``low``, ``high``, ``verdict``."""
    no_number = {"value": np.nan, "low": np.nan, "high": np.nan, "verdict": OPEN}
    if claim.numbers is None:
        return no_number | {"evidence": claim.note}
    if rows is None:
        return no_number | {"evidence": _missing_reason(claim, datasets)}
    any_below = claim.rule == "above" and not (rows["value"] > claim.above).all()
    verdicts = [_judge(claim, row, p, any_below=any_below) for row in rows.to_dict("records")]
    judged = rows.assign(verdict=verdicts)
    worst = judged[judged["verdict"] == max(judged["verdict"], key=VERDICTS.index)]
    if claim.rule == "absent" or (any_below and not np.isnan(p)):
        worst = worst[worst["p"] == worst["p"].min()]  # the number whose p is the claim's
    shows = claim.shows or ("smallest" if claim.rule == "above" else "first")
    index = {"first": 0, "smallest": worst["value"].argmin(), "largest": worst["value"].argmax()}
    shown_row = worst.iloc[index[shows]]
    result = {name: shown_row[name] for name in no_number}
    if claim.rule == "equals":  # no sampling error counts, so no interval
        result |= {"low": np.nan, "high": np.nan}
    if claim.rule in ("all", "some"):
        n_right = int((judged["verdict"] == HOLDS).sum())
        enough = n_right == len(judged) if claim.rule == "all" else n_right > 0
        result = no_number | {"value": n_right, "verdict": HOLDS if enough else FAILS}
    if result["verdict"] == FAILS and claim.otherwise is not None:
        alternative = claim.otherwise.rows(tables)
        if alternative is not None and all(
            _judge(claim, row, p, any_below=False) == HOLDS
            for row in alternative.to_dict("records")
        ):
            result["verdict"] = READING
    other_numbers = {name: source.rows(tables) for name, source in claim.also.items()}
    also = {
        name: rows.head(0)
        if selected is None
        else selected.assign(value=claim.times * selected["value"])
        for name, selected in other_numbers.items()
    }
    return result | {"evidence": claim.noted(judged, shown_row, also)}


def _difference(minuend: Row, subtrahend: Row) -> dict[str, float]:
    """Return a difference of independent means, with the normal interval and its p-value."""
    value = minuend["value"] - subtrahend["value"]
    # Half-widths of independent means add in squares.
    half_width = float(
        np.hypot(minuend["high"] - minuend["low"], subtrahend["high"] - subtrahend["low"]) / 2
    )
    if np.isnan(half_width) or half_width == 0:
        return {"value": value, "low": np.nan, "high": np.nan, "p": np.nan}
    p = math.erfc(_QUANTILE * abs(value) / half_width / math.sqrt(2))
    return {"value": value, "low": value - half_width, "high": value + half_width, "p": p}


def _judge(claim: Claim, row: Row, p: float, *, any_below: bool) -> str:
    """Return the verdict on one number.

    `p` is the claim's. It tests the numbers above the claim's limit or, if `any_below`, those that
    are not above it.
    """
    value = row["value"]
    if claim.rule == "absent":
        return FAILS if row["p"] < LEVEL else NOISE
    if claim.above is not None:
        is_above = value > claim.above
        p_tests_this = claim.rule == "above" and is_above != any_below and not np.isnan(row["p"])
        if p_tests_this and not p < LEVEL:
            return NOISE
        return HOLDS if is_above else FAILS
    to = claim.bound_of(row)
    assert to is not None
    return HOLDS if abs(value - to) <= claim.within + _ROUNDING else FAILS


def _missing_reason(claim: Claim, datasets: set[str]) -> str:
    """Say why a number of a claim is missing, which leaves the claim open."""
    assert claim.numbers is not None
    missing = [name for name in claim.numbers.datasets if not datasets.issuperset(name.split("+"))]
    if missing:
        return f"The votes on {join_names(map(short_of, missing))} are not available."
    if claim.lacking or claim.numbers.addresses[0].table not in SYSTEM_TABLES:
        return claim.lacking or "The votes lack what this needs."
    on = join_names(map(short_of, claim.numbers.datasets))
    return f"No predictions on {on} are available; pass `-p predictions=FILE` with yours."


@derived_table(keys=("paper", "kind"))
def count_verdicts(checked: pd.DataFrame) -> pd.DataFrame:
    """Count the claims of each paper by kind, with rows for kinds that no claim has.

    ``claims`` counts every claim; ``n`` counts a fault that several claims share once.
    """
    papers = checked["paper"].unique()
    index = pd.MultiIndex.from_product([papers, KINDS], names=["paper", "kind"])
    failed = checked.loc[checked["verdict"] == FAILS, "id"]
    counted = checked.assign(first=~checked["same_as"].isin(failed))
    counts = counted.groupby(["paper", "kind"])["first"].agg(claims="size", n="sum")
    return counts.reindex(index, fill_value=0).reset_index()


SUM_COLUMNS = [
    Column("", "kind"),
    *(Column(name, "claims", at={"paper": paper}) for paper, name in PAPERS.items()),
]


def claim_datasets() -> list[str]:
    """Return the names of the datasets that claims are about."""
    pools = [name for claim in read_claims() if claim.numbers for name in claim.numbers.datasets]
    return list(dict.fromkeys(name for pool in pools for name in pool.split("+")))


def shown_value(row: Row) -> str:
    """Write a claim's number with its interval; a dash where there is none.

    Counts have no decimals, percentages and ratios have two, shares and distances four.
    """
    value = row["value"]
    digits = 2 if abs(value) >= 1 else 4
    if np.isnan(row["low"]):
        return number(value, digits if value % 1 > _ROUNDING else 0)
    return with_interval(value, row["low"], row["high"], digits)


MARKS = dict(zip(KINDS, "✓≈⇄✗✎?", strict=True))


def columns_for(n_resamples: int) -> list[Column]:
    """Return how the rows of `check_claims` are shown, with p-values of so many resamples."""
    return [
        Column("id", "id"),
        Column("claim", "claim"),
        Column("place", lambda row: f"{PAPERS[row['paper']]}, {row['place']}"),
        Column("verdict", lambda row: f"{MARKS[row['kind']]} {row['kind']}"),
        Column("value", shown_value),
        Column("Holm p", lambda row: adjusted_p(row, n_resamples)),
    ]
