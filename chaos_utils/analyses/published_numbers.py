"""Every number that the papers print, beside ours, and what other chapters computed for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from chaos_utils.analyses import calibration, claims_numbers, error_distributions
from chaos_utils.analyses.agreement import entropy_bins
from chaos_utils.analyses.baan import agrees, digits_of, in_paper, paper_datasets
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.table import Table
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy
from chaos_utils.report.columns import MISSING, Column, Row, number, signed
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.scores import resampled
from chaos_utils.scoring.system import System

_FOLDS, _SEED = 10, 0  # of the temperatures in the chapter on calibration
_KEYS = ("paper", "table", "dataset", "row", "column")
_PUBLISHED = (
    "nie2020_table1", "nie2020_table2", "nie2020_table5", "nie2020_table7", "nie2020_other",
    "nie2020_entropy_bins", "baan2022_table1", "baan2022_table2", "baan2022_other",
    "baan2022_systems",
)  # fmt: skip
_FEW = 20  # numbers of one table without ours; more are shown as one row
_NO_ANNOTATORS = "No record of single annotators was released."
_NO_PREDICTIONS = (
    "The predictions of the nine models on SNLI and MNLI are in an archive that we could not "
    "download."
)
_NO_SECOND_CROWD = "The votes of the second crowd were not released."
_GIVEN = "Given by the corpus; taken over."
_OTHER_DRAW = "Another draw of the votes, whose seed was not kept."
_OTHER_VOTES = "The released votes are not vote for vote those of the paper's tables."
_NOT_HERE = "What it needs is not available here."
_OTHERS = "The votes here are others than the paper's."


@dataclass(frozen=True, slots=True)
class Chapters:
    """Tables of other chapters, each without rows where its predictions are not available."""

    table_1: Table
    rounded: Table
    classwise: Table
    signed: Table
    choices: Table
    by_temperature: Table
    released: Table

    def numbers(self) -> Table:
        """Return the quantities among them that decide claims."""
        found: Table = claims_numbers.chapter_numbers(
            self.table_1, self.rounded, self.classwise, self.signed, self.choices,
            self.by_temperature, self.released,
        )  # fmt: skip
        return found


def of_chapters(material: Sequence[Evidence]) -> Chapters:
    """Return what the chapters on calibration and on error distributions compute of the papers.

    `material` has the models that this project trained, as these chapters do.
    """
    both = [one for one in material if one.name in paper_datasets() and _has_models(one)]
    own = [one for one in both if one.name == paper_datasets()[0]]
    table_1 = calibration.human_calibration(both)
    first = table_1.on(own[0].name) if own else table_1
    outside = calibration.find_outside(own)
    return Chapters(
        table_1,
        calibration.rounded_values(first) if len(first) else first,
        calibration.classwise_errors(own),
        calibration.signed_entropy_errors(both),
        calibration.temperature_choices(own, outside=outside, n_folds=_FOLDS, seed=_SEED),
        calibration.ece_by_temperature(own, development=calibration.find_development(own)),
        error_distributions.released_draw(own),
    )


def _has_models(evidence: Evidence) -> bool:
    """Whether there are models to judge, or recorded tables of them."""
    if evidence.given_votes is None or evidence.given_systems is None:
        return True
    if evidence.recordable:  # what was released on a dataset of the paper is the paper's
        return evidence.has_systems
    systems = (evidence.systems or ())[0]
    return bool(in_paper(systems)) or any(one.origin in ("trained", "yours") for one in systems)


@recorded(keys=("dataset", "bin"))
def bin_edges(votes: Votes) -> pd.DataFrame:
    """Return ends (bits) and number of items of the five entropy bins of Nie et al. (2020)."""
    bits = entropy(votes.shares, unit="bits")
    if len(votes) < 5:
        return pd.DataFrame(columns=["dataset", "bin", "low", "high", "n"])
    bins = entropy_bins(bits, 5)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "bin": np.arange(1, len(bins.low) + 1),
            "low": bins.low,
            "high": bins.high,
            "n": np.bincount(bins.of_item),
        }
    )


@recorded(keys=("dataset", "bin", "system", "measure"))
def model_scores(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Score the models of Nie et al. (2020) on all items, ``bin`` 0, and in the five entropy bins.

    ``value`` of each measure of Table 5; without rows where their predictions are not available.
    """
    columns = ["dataset", "bin", "system", "measure", "value"]
    models = [one for one in systems if one.paper == "nie2020"]
    if not models:
        return pd.DataFrame(columns=columns).astype({"bin": int, "value": float})
    of_item = entropy_bins(entropy(votes.shares, unit="bits"), 5).of_item
    groups = {"0": np.ones(len(votes), dtype=bool)} | {f"{b + 1}": of_item == b for b in range(5)}
    found = resampled(votes, models, measures=TABLE_5, groups=groups, n_resamples=1, seed=0).values
    rows = [
        (votes.dataset.name, int(place), one.name, measure, float(found[b, s, m]))
        for (b, place), (s, one), (m, measure) in product(
            enumerate(groups), enumerate(models), enumerate(TABLE_5)
        )
    ]
    return pd.DataFrame(rows, columns=columns)


@derived(keys=_KEYS, published=_PUBLISHED)
def published_beside_ours(
    votes: pd.DataFrame,
    statistics: pd.DataFrame,
    counts: pd.DataFrame,
    edges: pd.DataFrame,
    models: pd.DataFrame,
    table_1: pd.DataFrame,
    classwise: pd.DataFrame,
    signed: pd.DataFrame,
    released: pd.DataFrame,
    *,
    same_votes: bool,
) -> pd.DataFrame:
    """List every number that the papers print, beside ours.

    Parameters
    ----------
    votes : DataFrame
        As `claims_numbers.vote_numbers` gives it.
    statistics, counts : DataFrame
        As `annotations` gives them (``data_statistics``, ``label_counts``).
    edges, models : DataFrame
        As `bin_edges` and `model_scores` give them.
    table_1, classwise, signed, released : DataFrame
        As in `Chapters`.
    same_votes : bool
        Whether the votes are the released ones; nothing is compared with others.

    Returns
    -------
    DataFrame
        ``paper``, ``table``, ``dataset``, ``row``, ``column``, ``published``, ``ours`` (NaN where
        there is none), ``difference`` (ours minus theirs), ``agrees`` (to the digits printed, <NA>
        without ours), ``reason`` why there is none, or why they differ.
    """
    ours: Ours = {}
    if same_votes:
        ours |= _of_nie(votes, statistics, counts, edges, models)
        ours |= _of_baan(table_1, classwise, signed, released)
    rows = []
    for *keys, value, reason in [*_printed_by_nie(), *_printed_by_baan()]:
        found = float(ours.get(tuple(keys[1:]), np.nan))
        known = not np.isnan(found)
        same = agrees(found, value) if known else None
        if known:
            reason = "" if same else reason or _OTHER_VOTES
        elif not reason or reason == _OTHER_VOTES:
            reason = _NOT_HERE if same_votes else _OTHERS
        row: dict[str, object] = dict(zip(_KEYS, keys, strict=True))
        row |= {"published": value, "ours": found, "difference": found - value}
        rows.append(row | {"agrees": same, "reason": reason})
    return pd.DataFrame(rows).astype({"agrees": "boolean"})


Printed = tuple[str, str, str, str, str, float, str]
Ours = dict[tuple[str, ...], float]


def _printed_by_nie() -> list[Printed]:
    """Return keys, number and why ours may be missing, or differ, of Nie et al. (2020)."""
    paper = "nie2020"
    rows: list[Printed] = []

    def add(table: str, name: str, by: str, reasons: Mapping[str, str]) -> None:
        long = read_published(name).melt(["dataset", by] if by else ["dataset"], var_name="column")
        for row in long.dropna(subset="value").to_dict("records"):
            key = str(row[by]) if by else ""
            reason = reasons.get(row["column"], reasons.get(key, reasons.get("", "")))
            rows.append(
                (paper, table, row["dataset"], key, row["column"], float(row["value"]), reason)
            )

    add("Table 1", "nie2020_table1", "", {"": _NO_ANNOTATORS})
    add("Table 2", "nie2020_table2", "", {"full_dev_size": _GIVEN})
    reasons = {"chance": _OTHER_VOTES, "est-human": _NO_SECOND_CROWD, "": _NO_PREDICTIONS}
    add("Table 5", "nie2020_table5", "model", reasons)
    add("Table 7", "nie2020_table7", "statistic", {"": _OTHER_VOTES})
    bins = read_published("nie2020_entropy_bins")
    for (dataset, place), group in bins.groupby(["dataset", "bin"], sort=False):
        first = group.iloc[0]
        for column in ("entropy_low_bits", "entropy_high_bits", "n"):
            rows.append((paper, "Figures 4, 5", str(dataset), f"bin {place}", column,
                         float(first[column]), ""))  # fmt: skip
        for row in group.to_dict("records"):
            for column in ("jsd", "kl", "old_accuracy", "new_accuracy"):
                rows.append((paper, "Figures 4, 5", str(dataset), f"bin {place}, {row['model']}",
                             column, float(row[column]), _NO_PREDICTIONS))  # fmt: skip
    for row in read_published("nie2020_other").to_dict("records"):
        rows.append((paper, row["where"], row["dataset"], "", row["quantity"], row["value"], ""))
    return rows


def _printed_by_baan() -> list[Printed]:
    paper, dataset = "baan2022", paper_datasets()[0]
    rows: list[Printed] = []
    for row in read_published("baan2022_table1").to_dict("records"):
        for column in calibration.TABLE_1:
            rows.append((paper, "Table 1", dataset, _system(row), column, float(row[column]), ""))
    for row in read_published("baan2022_table2").to_dict("records"):
        in_text = str(row["source"]).startswith("paper")
        table = "Table 2, text" if in_text else "Table 2, released notebook"
        for column in ("ece", "dist_ce", "kl_from_h1"):
            if not np.isnan(row[column]):
                against = column if row["reference"] == "all" else f"{column}, sixty votes"
                reason = _OTHER_DRAW if in_text else ""
                rows.append((paper, table, dataset, _system(row), against, row[column], reason))
    for row in read_published("baan2022_other").to_dict("records"):
        note = str(row["note"]) if isinstance(row["note"], str) else ""
        reason = note[:1].upper() + note[1:] + "." if note.startswith("not reproduced") else ""
        rows.append((paper, row["where"], dataset, str(row["system"]), row["quantity"],
                     row["value"], reason))  # fmt: skip
    return rows


def _system(row: Mapping[str, object]) -> str:
    seed = row["seed"]
    return f"{row['system']}, seed {seed:g}" if seed == seed else str(row["system"])


def _of_nie(
    votes: pd.DataFrame,
    statistics: pd.DataFrame,
    counts: pd.DataFrame,
    edges: pd.DataFrame,
    models: pd.DataFrame,
) -> Ours:
    """Return our numbers by table, dataset, row and column."""
    found: Ours = {}
    for row in statistics.to_dict("records"):
        for column in ("n_examples", "change_rate_percent", "change_rate_full_dev_percent"):
            found["Table 2", row["dataset"], "", column] = row[column]
    for row in counts.to_dict("records"):
        found["Table 7", row["dataset"], row["statistic"], row["label"]] = row["value"]
    for row in votes.to_dict("records"):
        if row["quantity"] == "chance":
            found["Table 5", row["dataset"], "chance", row["case"]] = row["value"]
        if row["quantity"] == "mean_entropy":
            found["footnote", row["dataset"], "", "mean_entropy_bits"] = row["value"]
    names = {"low": "entropy_low_bits", "high": "entropy_high_bits", "n": "n"}
    for row in edges.to_dict("records"):
        for ours, theirs in names.items():
            found["Figures 4, 5", row["dataset"], f"bin {row['bin']}", theirs] = row[ours]
    for row in models.to_dict("records"):
        table, of_bin = ("Figures 4, 5", f"bin {row['bin']}, ") if row["bin"] else ("Table 5", "")
        found[table, row["dataset"], f"{of_bin}{row['system']}", row["measure"]] = row["value"]
    return found


def _of_baan(
    table_1: pd.DataFrame, classwise: pd.DataFrame, signed: pd.DataFrame, released: pd.DataFrame
) -> Ours:
    systems = read_published("baan2022_systems").set_index(["origin", "family", "temperature"])
    names = systems["system"].to_dict()
    dataset = paper_datasets()[0]

    def named(table: pd.DataFrame) -> pd.DataFrame:
        if not len(table):
            return table
        keys = zip(table["origin"], table["family"], table["temperature"], strict=True)
        own = table.assign(system=[names.get(key) for key in keys])
        return own[own["system"].notna() & (own["dataset"] == dataset)]

    found: Ours = {}
    in_table = named(table_1)
    for row in in_table.to_dict("records"):
        seed = float("nan") if pd.isna(row["seed"]) else row["seed"]
        key = _system({"system": row["system"], "seed": seed})
        for column in calibration.TABLE_1:
            found["Table 1", dataset, key, column] = row[column]
    for name, group in in_table.groupby("system") if len(in_table) else ():
        for column in ("ece", "dist_ce"):
            found["section 5.2", dataset, str(name), column] = group[column].mean()
    # The appendices do not name a seed: the first.
    for row in _first_seeds(named(classwise)).to_dict("records"):
        error = 100 * row["classwise_ece_binned"]
        found["appendix D", dataset, row["system"], "classwise_ece_percent"] = error
    for row in _first_seeds(named(signed)).to_dict("records"):
        found["appendix B", dataset, row["system"], "signed_ent_ce"] = row["mean"]
    columns = {"ece": "ece", "dist_ce": "dist_ce", "kl": "kl_from_h1"}
    for row in named(released).to_dict("records"):
        seed = float("nan") if pd.isna(row["seed"]) else row["seed"]
        key = _system({"system": row["system"], "seed": seed})
        column = columns[row["measure"]]
        against = column if row["reference"] == "all" else f"{column}, sixty votes"
        found["Table 2, released notebook", dataset, key, against] = row["value"]
    return found


def _first_seeds(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop_duplicates("system") if len(table) else table


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `published_beside_ours` to show: many without ours as one, by the reason."""
    groups = ["paper", "table", "reason"]
    many = table.groupby(groups)["published"].transform("size") > _FEW
    ours = table["ours"].notna() | ~many
    grouped = table[~ours].groupby(groups, sort=False).size().rename("n").reset_index()
    grouped = grouped.assign(
        dataset="", row=[f"{n:,} numbers" for n in grouped["n"]], column="", agrees=pd.NA,
        **dict.fromkeys(("published", "ours", "difference"), np.nan),
    )  # fmt: skip
    shown = pd.concat([table[ours], grouped.drop(columns="n")], ignore_index=True)
    tables = list(dict.fromkeys(zip(table["paper"], table["table"], strict=True)))
    order = [tables.index(pair) for pair in zip(shown["paper"], shown["table"], strict=True)]
    return shown.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


@derived(keys=("paper", "table"))
def count_numbers(beside: pd.DataFrame) -> pd.DataFrame:
    """Count the rows of `published_beside_ours`, for each table of a paper.

    How many numbers are ``printed``, how many of them have ``ours``, how many of these are the
    ``same`` to the digits printed or ``differ``; ``reason`` says why there is none, or why.
    """
    groups = beside.groupby(["paper", "table"], sort=False)
    found = groups.agg(
        printed=("published", "size"),
        ours=("ours", "count"),
        same=("agrees", lambda agrees: int(agrees.sum())),
        reason=("reason", lambda reasons: " ".join(filter(None, dict.fromkeys(reasons)))),
    ).reset_index()
    found.insert(5, "differ", found["ours"] - found["same"])
    return found


_COLUMN_NAMES = {
    "jsd": "JSD", "kl": "KL", "old_accuracy": "old accuracy", "new_accuracy": "new accuracy",
    "n_examples": "items", "change_rate_percent": "change rate (%)",
    "change_rate_full_dev_percent": "of the development set (%)", "accuracy": "accuracy",
    "ece": "ECE", "rank_cs": "RankCS", "ent_ce": "EntCE", "dist_ce": "DistCE",
    "kl_from_h1": "KL from H1", "ece, sixty votes": "ECE, sixty votes",
    "dist_ce, sixty votes": "DistCE, sixty votes", "kl_from_h1, sixty votes":
    "KL from H1, sixty votes", "entropy_low_bits": "entropy from (bits)",
    "entropy_high_bits": "to (bits)", "n": "items", "mean_entropy_bits": "mean entropy (bits)",
    "qualification_fail_rate_percent": "failed the qualification (%)",
    "filter_rate_percent": "filtered out (%)", "annotators": "annotators",
    "mean_seconds_per_example": "mean seconds", "median_seconds_per_example": "median seconds",
    "full_dev_size": "development set", "classwise_ece_percent": "class-wise ECE (%)",
    "signed_ent_ce": "signed EntCE",
}  # fmt: skip
_ROW_NAMES = SYSTEM_NAMES | {
    "old_majority": "old majority", "new_majority": "new majority",
    "old_raw_count": "old votes", "new_raw_count": "new votes", "roberta": "RoBERTa",
    "roberta-ts": "RoBERTa-TS", "h1": "H1", "h2": "H2",
}  # fmt: skip


def _row_name(row: Row) -> str:
    name, *seed = str(row["row"]).split(", ", 1)
    return ", ".join([_ROW_NAMES.get(name, name), *seed])


def _printed(row: Row) -> str:
    value = row["published"]
    return MISSING if np.isnan(value) else number(value, digits_of(value))


def _here(row: Row) -> str:
    """Write ours with one digit more than is printed."""
    value = row["ours"]
    if np.isnan(value) or value == round(value):
        return number(value)
    return number(value, digits_of(row["published"]) + 1)


def _gap(row: Row) -> str:
    """Write a difference, bold where it exceeds rounding; else nothing but that there is none."""
    if row["agrees"] is pd.NA or pd.isna(row["agrees"]):
        return MISSING
    if row["agrees"]:
        return "0"
    return f"**{signed(row['difference'], digits_of(row['published']) + 1)}**"


_PAPERS = {"nie2020": "Nie 2020", "baan2022": "Baan 2022"}


def _what(row: Row) -> str:
    """Name the dataset, the row and the column in which a paper prints a number."""
    dataset = dataset_name(row["dataset"]) if row["dataset"] else ""
    column = _COLUMN_NAMES.get(row["column"], row["column"])
    return ": ".join(filter(None, (dataset, _row_name(row), column)))


def _place(row: Row) -> str:
    return f"{_PAPERS[row['paper']]}, {row['table']}"


COUNT_COLUMNS = [
    Column("place", _place),
    Column("numbers printed", "printed", 0),
    Column("checked here", "ours", 0),
    Column("agree", "same", 0),
    Column("differ", "differ", 0),
    Column("why not checked, or why they differ", lambda row: row["reason"] or MISSING),
]
COLUMNS = [
    Column("place", _place),
    Column("dataset: row: column", _what),
    Column("paper", _printed),
    Column("here", _here),
    Column("Δ", _gap),
    Column("note", "reason"),
]
