"""Claims, the rules that judge them, and what the released data say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on, first_items
from helpers.faults import refused

from chaos_utils.analyses import claims, claims_numbers, claims_tables
from chaos_utils.analyses.baan import FIXED_TEMPERATURE
from chaos_utils.analyses.claim_cards import card_html
from chaos_utils.analyses.claims import FAILS, HOLDS, NOISE, OPEN, READING, VERDICTS, Claim
from chaos_utils.analyses.inputs import AnalysisInputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics import scores
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.resampling import holm
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.systems import load_systems, uniform

VOTES = "claims_numbers.vote_numbers"
BESIDE = "published_numbers.published_beside_ours"


def at(quantity="mean_entropy", **where):
    """Return the address of numbers of votes."""
    words = (f"{name}={value}" for name, value in where.items())
    return " ".join([VOTES, f"quantity={quantity}", *words, "value"])


ABOUT = {
    "id": "c01", "paper": "nie2020", "place": "Table 1", "claim": "It is so.", "numbers": at(),
    "note": "A number.",
}  # fmt: skip
COLUMNS = ["dataset", "quantity", "case", "value", "low", "high", "p"]


def tables_of(all_votes, systems=None, n_resamples=100):
    """Return the tables on votes, with these systems or the available ones."""

    def given(votes):
        if systems is None:
            return load_systems(votes, trained=False)
        return [one for one in systems if one.dataset.name == votes.dataset.name]

    evidence = AnalysisInputs(
        tuple(replace(one, own=True) for one in evidence_on(all_votes, given))
    )
    return claims_tables.tables(evidence, evidence, n_resamples=n_resamples, seed=0)


def numbers_of(votes, n_resamples):
    """Return what claims about votes alone need, by quantity and case."""
    table = claims_numbers.vote_numbers.function(votes, n_resamples=n_resamples, seed=0)
    return table.set_index(["quantity", "case"])


def check(tables, some=()):
    return claims.check_claims(claims=some, **tables).rows.set_index("id")


@pytest.fixture(scope="module")
def tables(released):
    return tables_of(released, n_resamples=1000)


@pytest.fixture(scope="module")
def table(tables):
    return check(tables)


def judged(rows, **fields):
    """Return what becomes of one claim about some rows, all of one quantity or of several."""
    tables = {VOTES: pd.DataFrame(rows, columns=COLUMNS)}
    return check(tables, [Claim.model_validate(ABOUT | fields)]).iloc[0]


def one(value, low=np.nan, high=np.nan, p=np.nan, *, dataset="snli", case="", of="mean_entropy"):
    return (dataset, of, case, value, low, high, p)


@pytest.mark.parametrize(
    ("rule", "row", "verdict"),
    [
        # A number is judged by its digits: what the items are is no matter of sampling.
        ({"rule": "equals", "to": 0.75, "within": 0.0005}, one(0.7496, 0.7, 0.8), HOLDS),
        ({"rule": "equals", "to": 0.75, "within": 0.0005}, one(0.74, 0.7, 0.8), FAILS),
        # An order is judged by its p-value.
        ({"rule": "above", "above": 1}, one(2, 1.1, 3, 0.01), HOLDS),
        ({"rule": "above", "above": 1}, one(2, 0.9, 3, 0.2), NOISE),
        ({"rule": "above", "above": 1}, one(0.9, 0.5, 1.2, 0.3), NOISE),
        ({"rule": "above", "above": 1}, one(0.5, 0.2, 0.9, 0.01), FAILS),
        ({"rule": "above", "above": 1}, one(1.5), HOLDS),
        ({"rule": "above", "above": 1}, one(1), FAILS),
    ],
)
def test_one_number_is_judged_by_its_digits_or_its_p_value(rule, row, verdict):
    found = judged([row], **rule)
    assert found["verdict"] == verdict
    assert np.isnan(found["low"]) == ("to" in rule or np.isnan(row[4]))


@pytest.mark.parametrize(
    ("values", "p", "verdicts"),
    [
        ((1, 1, -1), (0.02, 0.001, 0.03), [HOLDS, HOLDS, FAILS]),
        ((1, 1, -1), (0.02, 0.001, 0.06), [HOLDS, HOLDS, NOISE]),
        ((1, 1, -1), (0.03, 0.001, 0.04), [NOISE, HOLDS, NOISE]),
        ((1,), (0.03,), [HOLDS]),  # alone, it is enough
    ],
)
def test_orders_are_corrected_together(values, p, verdicts):
    cells = zip("abc", values, (0, 0, -2), (2, 2, 0), p, strict=False)
    rows = [one(*numbers, case=case) for case, *numbers in cells]
    several = []
    for n, (_, quantity, case, *_) in enumerate(rows, start=1):
        wanted = {"id": f"c{n:02d}", "numbers": at(quantity, case=case)}
        several.append(Claim.model_validate(ABOUT | wanted | {"rule": "above", "above": 0}))
    found = check({VOTES: pd.DataFrame(rows, columns=COLUMNS)}, several)
    assert found["p"].tolist() == list(p)
    assert found["p_holm"].tolist() == pytest.approx(holm(p).tolist())
    assert found["verdict"].tolist() == verdicts


def test_what_lies_below_is_judged_by_its_evidence_and_not_by_its_size():
    rows = [one(-0.01, -0.02, -0.005, 0.0002, case="a"), one(-0.02, -0.1, 0.1, 0.5, case="b")]
    for several in (rows, rows[::-1], [*rows, one(1, -1, 3, 0.6, case="c")]):
        found = judged(several, rule="above", above=0)
        assert found[["verdict", "p", "value"]].tolist() == [FAILS, 0.0004, -0.01]
    # Two that lie below are two chances of a small p; what lies above cannot make it smaller.
    rows[0] = one(-0.01, -0.02, -0.001, 0.03, case="a")
    found = judged([*rows, one(1, 0.5, 2, 0.0002, case="c")], rule="above", above=0)
    assert found[["verdict", "p"]].tolist() == [NOISE, 0.06]
    found = judged([rows[0], one(1, 0.5, 2, 0.9, case="c")], rule="above", above=0)
    assert found[["verdict", "p"]].tolist() == [FAILS, 0.03]
    assert judged([one(0, -1, 1, 0.9), one(-1, -3, 1, 0.7)], rule="above", above=0)["p"] == 1


def test_mean_and_median_must_both_be_the_stated_one_in_one_case():
    rows = [one(value, case=case) for case, value in zip("abc", (1, 1, 3), strict=True)]
    rows += [one(v, case=case, of="contested") for case, v in zip("abc", (2, 1, 1), strict=True)]

    def found(cases, rows=rows, **rule):
        both = {"numbers": "mean_entropy", "together": "contested"}
        both = {name: at(of, case="|".join(cases)) for name, of in both.items()}
        rule = rule or {"rule": "some", "to": 1, "within": 0.1}
        row = judged(rows, note="Of {n}: {all:.0f}.", **both, **rule)
        return row[["value", "verdict", "evidence"]].tolist()

    assert found("abc") == [1, HOLDS, "Of 3: 2, 1 and 3."]
    assert found("ac") == [0, FAILS, "Of 2: 2 and 3."]
    assert found("b", rule="equals", to=1)[:2] == [1, HOLDS]
    assert found("abc", rows=rows[:5])[1] == OPEN
    with pytest.raises(ValueError, match="only beside to"):
        found("a", rule="above", above=0)


def test_that_there_is_no_correlation_can_fail_or_stay_open():
    for value, p, verdict in ((-0.9, 0.01, FAILS), (0.9, 0.01, FAILS), (0.7, 0.1, NOISE)):
        rows = [one(-0.1, p=0.8, case="a"), one(value, p=p, case="b")]
        assert judged(rows, rule="absent")[["value", "verdict"]].tolist() == [value, verdict]


def test_a_claim_about_all_falls_with_one_exception_and_one_about_some_with_all():
    rows = [one(1, case="a"), one(2, case="b"), one(0, case="c", dataset="mnli")]
    note = "Of {n}, {right}: {holding:.0f}; not on {failing.names}."
    found = judged(rows, rule="all", above=0, note=note)
    assert (found["verdict"], found["value"]) == (FAILS, 2)
    assert found["evidence"] == "Of 3, 2: 1 and 2; not on MNLI."
    found = judged(rows[:2], rule="all", above=0, note=note)
    assert (found["verdict"], found["value"]) == (HOLDS, 2)
    assert found["evidence"].endswith("not on none.")
    for limits, words in (
        ((0, 2), "two of the three"),
        ((-1, 3), "all three"),
        ((5, 0), "none of the three"),
    ):
        found = judged(rows, rule="some", above=limits[0], note="For {right_of_n} models.")
        assert (found["value"], found["evidence"]) == (limits[1], f"For {words} models.")
    assert judged(rows, rule="all", to=1, within=1)["verdict"] == HOLDS
    for bound, verdict in (({"above": 1}, HOLDS), ({"above": 2}, FAILS), ({"to": 5}, FAILS)):
        assert judged(rows, rule="some", **bound)["verdict"] == verdict


def test_of_several_numbers_the_worst_decides():
    rows = [one(3, case="a"), one(-2, case="b"), one(1, case="c"), one(-4, case="d")]
    assert judged(rows, rule="above", above=0)[["value", "verdict"]].tolist() == [-4, FAILS]
    for shows, value in (("first", -2), ("largest", -2), ("smallest", -4)):
        assert judged(rows, rule="above", above=0, shows=shows)["value"] == value
    found = judged(rows, rule="equals", to={"a": 3, "b": -2, "c": 5, "d": -4}, note="{case}.")
    assert found[["value", "verdict", "evidence"]].tolist() == [1, FAILS, "c."]
    assert judged(rows[:1], rule="equals", to=3)["verdict"] == HOLDS


def test_numbers_are_chosen_by_dataset_and_case():
    rows = [one(1), one(2, dataset="mnli"), one(5, dataset="mnli", case="a")]
    assert judged(rows, rule="equals", to=1, numbers=at(case=""))["verdict"] == FAILS
    wanted = at(case="", dataset="mnli|snli")
    found = judged(rows, rule="equals", to=0, numbers=wanted, note="{all:+.1f} on {dataset}.")
    assert found["evidence"] == "+2.0 (MNLI) and +1.0 (SNLI) on MNLI."
    assert judged(rows, rule="equals", to=5, numbers=at(case="a"))["verdict"] == HOLDS
    assert judged(rows, rule="equals", to=8, total=True)["verdict"] == HOLDS
    several = [at(case="a"), at(dataset="snli")]
    assert judged(rows, rule="all", above=0, numbers=several)["value"] == 2
    assert judged(rows, rule="equals", to=10, times=10, numbers=at(dataset="snli"))["value"] == 10


@pytest.mark.parametrize(
    ("aggregate", "note"), [("min", "2 a, 1 b."), ("max", "5 c, 1 b."), ("mean", "3 , 1 .")]
)
def test_an_aggregate_is_taken_on_each_dataset(aggregate, note):
    rows = [one(5, case="c", dataset="mnli"), one(2, case="a", dataset="mnli"),
            one(3, case="d", dataset="mnli", of="other"), one(2, case="e", dataset="mnli"),
            one(1, case="b")]  # fmt: skip
    wanted = at().replace("value", f"{aggregate}:value")
    shown = (
        judged(rows, rule="equals", to=0, numbers=wanted, shows=shows, note="{value:.0f} {case}.")
        for shows in ("largest", "smallest")
    )
    assert ", ".join(found["evidence"][:-1] for found in shown) + "." == note


def test_numbers_are_subtracted():
    gap = {"rule": "above", "above": 0, "numbers": f"{at(dataset='mnli')} - {at(dataset='snli')}"}
    found = judged([one(1, 0.7, 1.4), one(3, 2.6, 3.3, dataset="mnli")], **gap)
    assert found["value"] == 2
    # Half-widths 0.35 and 0.35; the p-value is that of the same normal distribution.
    assert found[["low", "high"]].tolist() == pytest.approx([2 - 0.245**0.5, 2 + 0.245**0.5])
    assert found["p"] < 1e-6
    found = judged([one(1.05, 0.55, 1.55), one(1.55, 1.55, 1.55, dataset="mnli")], **gap)
    assert (found["low"], found["p"]) == pytest.approx((0, 0.05), abs=1e-6)
    rows = [one(1, 0.5, 1.5, 0.001), one(3, 2, 4, 0.001, dataset="mnli")]
    assert judged(rows, rule="equals", to=0, numbers=f"{at()} - {at()}")["verdict"] == HOLDS
    found = judged(rows, rule="above", above=-5, times=-1)
    assert found[["value", "low", "high"]].tolist() == [-3, -4, -2]
    # Of several others, that of the same case.
    rows = [one(1, case="a"), one(5, case="b"), one(1, case="a", of="less"),
            one(5, case="b", of="less"), one(9, case="c")]  # fmt: skip
    found = judged(rows, rule="all", to=0, numbers=f"{at()} - {at('less')}", note="Of {n}.")
    assert found[["verdict", "evidence"]].tolist() == [HOLDS, "Of 2."]


def test_what_is_not_available_is_left_open():
    wanted = at(dataset="alphanli|snli")
    found = judged([one(1)], rule="equals", to=1, numbers=wanted)
    assert (found["verdict"], np.isnan(found["value"])) == (OPEN, True)
    assert found["evidence"] == "The votes on αNLI are not available."
    wanted = "claims_numbers.gains dataset=snli measure=rank_cs value"
    found = judged([one(1)], rule="equals", to=1, numbers=wanted)
    assert found["evidence"].startswith("No predictions on SNLI are available")
    assert judged([one(1)], rule="equals", to=1, numbers=wanted, lacking="No.")["evidence"] == "No."
    found = judged([one(1)], rule="open", numbers=None, note="Not released.")
    assert (found["verdict"], found["evidence"]) == (OPEN, "Not released.")


WELL = """
- id: c01
  paper: nie2020
  place: Table 2
  claim: A quarter change.
  rule: equals
  numbers: annotations.data_statistics dataset=snli change_rate_percent
  to: 25
  note: Per cent of {n}.
"""


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("rule:", "rul:", ["c01", "rul: ", "did you mean 'rule'?"]),
        ("=snli", "=snlii", ["c01", "numbers: ", "did you mean 'snli'?"]),
        ("data_stat", "datastat", ["c01", "did you mean 'annotations.data_statistics'?"]),
        ("dataset=snli", "snli", ["c01", "numbers: ", "a condition such as dataset=mnli"]),
        ("numbers: anno", "numbers: [2] # ", ["c01", "numbers: ", "the address of a number"]),
        ("percent", "percent - nie2020_table2 a - nie2020_table2 b", ["c01", "one minus at most"]),
        ("equals", "equal", ["c01", "rule: found 'equal'; expected 'equals', 'above'"]),
        ("to: 25", "above: 25", ["c01", "equals takes to"]),
        ("rule: equals", "rule: open", ["c01", "open takes neither"]),
        ("  numbers:", "  together:", ["c01", "numbers"]),
        ("{n}", "{nn}", ["c01", "note: 'nn' cannot stand in braces"]),
        ("change.", "change", ["c01", "claim: found 'A quarter change'; expected a text"]),
        ("claim: A", "claim: A: A", ["cannot be read", "line"]),
        (WELL, WELL + WELL, ["one id"]),
    ],
)
def test_a_fault_in_the_yaml_names_the_claim_and_the_field(tmp_path, right, wrong, words):
    path = tmp_path / "claims.yml"
    path.write_text(WELL)
    assert claims.read_claims(path)[0].to == 25
    assert right in WELL
    path.write_text(WELL.replace(right, wrong, 1))
    with refused(where=str(path), any=tuple(words)):
        claims.read_claims(path)


def test_a_column_that_a_table_lacks_names_table_and_file():
    with pytest.raises(ChaosError, match=f"(?s){claims.FILE.name}.*{VOTES}.*no column 'mean'"):
        judged([one(1)], rule="equals", to=1, numbers=at().replace(" value", " mean"))


def test_numbers_that_do_not_come_out_are_the_printed_ones():
    """Of the others a wrong one would change the verdict."""
    to = {claim.id: claim.to for claim in claims.read_claims()}
    other = read_published("baan2022_other").set_index(["quantity", "system"])["value"]
    assert to["c57"] == other["classwise_ece_percent", "roberta-ts"]
    assert to["c60"] == other["signed_ent_ce", "roberta-ts"]
    systems = read_published("baan2022_systems").set_index("system")
    assert to["c48"] == FIXED_TEMPERATURE == systems.loc["roberta-ts", "temperature"]


def test_verdicts_on_the_released_data(table):
    verdicts = table["verdict"]
    fail = ["c64", "c65", "c05", "c06", "c14", "c15", "c16", "c23", "c24", "c57", "c60"]
    others = ((NOISE, ["c66", "c25", "c26", "c27"]), (READING, ["c62", "c61"]), (OPEN, []))
    for verdict, ids in ((FAILS, fail), *others):
        assert verdicts.index[verdicts == verdict].tolist() == ids
    assert set(verdicts) == {*VERDICTS} - {OPEN}
    assert not table["evidence"].str.contains(r"[{}]|nan|–\.|\.\.", regex=True).any()


@pytest.mark.parametrize(
    ("parts", "one_peak", "like_a_u"),
    [
        ([100, 300, 600, 350, 164], HOLDS, FAILS),
        ([164, 250, 300, 350, 450], FAILS, FAILS),  # only rises
        ([450, 350, 300, 250, 164], FAILS, FAILS),  # only falls
        ([500, 250, 100, 250, 414], FAILS, HOLDS),
        ([100, 500, 100, 600, 214], FAILS, FAILS),  # two peaks
    ],
)
def test_one_peak_and_a_u_are_shapes(sample, parts, one_peak, like_a_u):
    few = np.repeat([0, 5, 10, 15, 28], parts)  # so many items in each fifth of the range
    votes = replace(sample[0], counts=np.column_stack([100 - 2 * few, few, few]))
    found = numbers_of(votes, n_resamples=1000).loc["shape"]
    verdicts = {"peak": one_peak == HOLDS, "valley": like_a_u == HOLDS}
    assert (found["value"] > 0).to_dict() == verdicts
    assert (found["p"] < 0.05).all()


@pytest.fixture
def few_resamples(monkeypatch):
    """Let the tables of other chapters take as many resamples as are given here."""
    for name in ("_RESAMPLES", "COMPARISONS"):
        monkeypatch.setattr(claims_tables, name, 40)
    monkeypatch.setitem(claims_tables._BIN_PARAMETERS, "n_resamples", 40)


@pytest.mark.usefixtures("few_resamples")
def test_on_the_sample_every_claim_has_a_verdict(sample):
    few = [first_items(votes, 60) for votes in sample]
    tables = tables_of(few, [load_systems(votes)[0] for votes in few], n_resamples=40)
    found = check(tables)
    assert len(found) == len(claims.read_claims())
    assert set(found["verdict"]) <= set(VERDICTS)
    assert {"c07", "c08", "c43"} <= set(found.index[found["verdict"] == OPEN])
    assert not found["evidence"].str.contains(r"[{}]|nan", regex=True).any()
    # Of other votes than the paper's, nothing is compared with it.
    table = tables[BESIDE].rows
    assert table["ours"].isna().all()
    assert (table["reason"] != "").all()


@pytest.mark.usefixtures("few_resamples")
def test_odd_votes_and_systems_leave_a_verdict_or_say_why_not(sample, others):
    found = check(tables_of(others[:1], [], n_resamples=40))["verdict"]
    assert (found[["c01", "c02", "c42"]] == OPEN).all()
    some = [first_items(sample[0], 60)]
    # A claim's check takes a system whose labels are all tied: it ranks nothing.
    mine = replace(uniform(*some), origin="yours")
    found = check(tables_of(some, [mine], n_resamples=40))["verdict"]
    assert found["c47"] == HOLDS
    assert found["c42"] in VERDICTS
    few = [first_items(one, 3) for one in sample]
    found = check(tables_of(few, [], n_resamples=40)).loc["c37"]
    assert found["verdict"] == OPEN
    assert "too few items" in found["evidence"]


def test_total_variation_to_single_votes_prefers_the_majority(sample):
    """The majority alone is nearer to one vote than the truth is; by Brier score it is not."""
    votes = sample[0]
    found = numbers_of(votes, n_resamples=20).loc["majority_advantage"]
    human, labels = votes.shares, np.eye(votes.dataset.n_classes)
    for name, score in (("tvd", total_variation), ("brier", scores.brier_of_votes)):
        # Over every single vote, one label after the other.
        majority, truth = (
            sum(human[:, k] * score(np.broadcast_to(label, human.shape), model)
                for k, label in enumerate(labels)).mean()
            for model in (labels[human.argmax(axis=1)], human)
        )  # fmt: skip
        assert found.loc[name, "value"] == pytest.approx(majority - truth)
    assert found.loc["tvd", "high"] < 0 < found.loc["brier", "low"]


def test_every_published_number_is_listed_once_and_differs_for_a_reason(tables):
    beside = tables[BESIDE].rows
    names = (
        "nie2020_table1", "nie2020_table2", "nie2020_table5", "nie2020_table7", "nie2020_other",
        "baan2022_table1", "baan2022_table2", "baan2022_other",
    )  # fmt: skip
    tables = [read_published(name).drop(columns="seed", errors="ignore") for name in names]
    wanted = sum(int(table.select_dtypes("number").count().sum()) for table in tables)
    bins = read_published("nie2020_entropy_bins")
    wanted += 15 * 3 + len(bins) * 4
    assert len(beside) == wanted
    assert not beside.duplicated(["paper", "table", "dataset", "row", "column"]).any()

    known = beside[beside["ours"].notna()]
    agrees = known["agrees"].astype(bool)
    assert len(known) == 805
    nine = beside[beside["row"].str.contains("|".join(published_models()["model"].unique()))]
    of_nie = nine[nine["paper"] == "nie2020"]
    assert of_nie["agrees"].eq(True).groupby(of_nie["table"]).sum().to_dict() == {
        "Table 5": 108, "Figures 4, 5": 540,
    }  # fmt: skip
    assert set(known.loc[~agrees, "table"]) == {"Table 5", "Table 7", "appendix B", "appendix D"}
    assert ((known["reason"] == "") == agrees).all()
    assert (beside.loc[beside["ours"].isna(), "reason"] != "").all()


def test_a_card_has_verdict_claim_place_evidence_and_rule():
    row = {
        "id": "c07", "paper": "nie2020", "place": "Table 2 & text", "claim": "x < y is <b>so</b>.",
        "criterion": "is 25, ± 0.5", "evidence": "It is 24.97% of <all>. The rest & more. As said.",
        "value": 24.967, "low": 22.9, "high": 27.1, "p": 2 / 1001, "p_holm": 6 / 1001,
        "verdict": HOLDS, "kind": HOLDS, "items": "Items & more", "selection": "dataset=snli",
    }  # fmt: skip
    shown = card_html(row, 1000, "../explorer.html?a=1&b=2")
    for words in (
        "✓</span> holds</span>",
        "x &lt; y is &lt;b&gt;so&lt;/b&gt;.&nbsp;<a ",
        'href="#claim-c07"',
        '<span class="claim-place">c07 · Nie et al. 2020, Table 2 &amp; text</span>',
        '<p class="claim-found">It is 24.97% of &lt;all&gt;.</p>',
        "<dd>24.97 [22.90, 27.10]</dd>",
        "<dd>≤ 0.006</dd>",  # no draw of a thousand was below
        '<a href="../explorer.html?a=1&amp;b=2">Items &amp; more</a>',
    ):
        assert words in shown
    shown = card_html(row | {"evidence": "It is so at 2 and at 1."}, 1000)
    assert '<p class="claim-found">It is so at 2 and at 1.</p>' in shown
