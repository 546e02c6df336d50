"""Claims, the rules that judge them, and what the released data say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chaos_utils.analyses import claims, claims_numbers, error_distributions
from chaos_utils.analyses.claims import FAILS, HOLDS, NOISE, OPEN, VERDICTS, Claim
from chaos_utils.analyses.claims_numbers import classwise_columns, classwise_percent
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics import scores
from chaos_utils.metrics.calibration import classwise_calibration_error
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES
from chaos_utils.plots.claims import plot_claims
from chaos_utils.presentation.claims import say_counts, say_failed, say_proper
from chaos_utils.report.columns import lay_out
from chaos_utils.report.parameters import find_notebook, read_parameters
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.systems import load_systems, oracle, uniform

SPLITS = 10
DRAWN = {"n_resamples": 200, "n_splits": SPLITS, "seed": 0}
ABOUT = {"id": "c01", "paper": "nie2020", "place": "Table 1", "claim": "It is so."}


def numbers_of(all_votes, systems=None):
    """Return the numbers of votes and of systems, by dataset; the available ones by default."""
    evidence = []
    for votes in all_votes:
        given = load_systems(votes, trained=False) if systems is None else systems
        ours = [one for one in given if one.dataset.name == votes.dataset.name]
        evidence.append(Evidence((votes.dataset,), (votes,), (tuple(ours),), own=True))
    return (
        claims_numbers.vote_numbers(evidence, **DRAWN),
        claims_numbers.system_numbers(evidence, **DRAWN),
    )


def check(of_votes, of_systems, some=()):
    checked = claims.check_claims(
        of_votes, of_systems, claims_numbers.paper_numbers(), splits=SPLITS, claims=some
    )
    return checked.rows.set_index("id")


@pytest.fixture(scope="module")
def available(released):
    found = {votes.dataset.name: load_systems(votes, trained=False) for votes in released}
    if not found["snli"]:
        pytest.skip("the released predictions are not available")
    return found


@pytest.fixture(scope="module")
def numbers(released, available):
    return numbers_of(released)


@pytest.fixture(scope="module")
def table(numbers):
    return check(*numbers)


@pytest.fixture
def changed(released, numbers):
    """Check with other votes, or other systems, on one dataset; the rest as it was."""

    def checked(votes=None, systems=None, dataset="snli"):
        (own,) = [one for one in released if one.dataset.name == dataset]
        of_votes, of_systems = (one.rows for one in numbers)
        new_votes, new_systems = numbers_of([votes or own], systems or [])
        if votes is not None:
            of_votes = pd.concat([of_votes[of_votes["dataset"] != dataset], new_votes.rows])
        if systems is not None:
            of_systems = pd.concat([of_systems[of_systems["dataset"] != dataset], new_systems.rows])
        return check(of_votes, of_systems)["verdict"]

    return checked


def judged(rows, **fields):
    """Return what becomes of one claim about some rows: dataset, case, value, low, high."""
    columns = ["dataset", "case", "value", "low", "high"]
    numbers = pd.DataFrame(rows, columns=columns).assign(quantity="mean_entropy")
    about = {"numbers": {"quantity": "mean_entropy"}, "note": "A number."} | fields
    claim = Claim.model_validate(ABOUT | about)
    return check(numbers, pd.DataFrame(columns=columns), [claim]).iloc[0]


def one(value, low=np.nan, high=np.nan, *, dataset="snli", case=""):
    return (dataset, case, value, low, high)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (one(0.7496, 0.7, 0.8), HOLDS),
        (one(0.7495, 0.7, 0.8), HOLDS),
        (one(0.74, 0.7, 0.8), NOISE),
        (one(0.74, 0.73, 0.7494), FAILS),
        (one(0.74, 0.73, 0.7495), NOISE),
        (one(0.74), FAILS),
        (one(0.75), HOLDS),
    ],
)
def test_a_number_is_judged_by_its_digits_then_by_its_interval(row, verdict):
    assert judged([row], rule="equals", to=0.75, within=0.0005)["verdict"] == verdict


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (one(2, 1.1, 3), HOLDS),
        (one(2, 0.9, 3), NOISE),
        (one(0.9, 0.5, 1.2), NOISE),
        (one(0.5, 0.2, 0.9), FAILS),
        (one(1.5), HOLDS),
        (one(1), FAILS),
    ],
)
def test_an_order_is_judged_by_the_side_that_the_interval_is_on(row, verdict):
    assert judged([row], rule="above", above=1)["verdict"] == verdict


def test_a_claim_about_all_falls_with_one_exception_and_one_about_some_with_all():
    rows = [one(1, case="a"), one(2, case="b"), one(0, case="c", dataset="mnli")]
    note = "Of {n}, {right}: {holding:.0f}; not on {failing.names}."
    found = judged(rows, rule="all", above=0, note=note)
    assert (found["verdict"], found["value"]) == (FAILS, 2)
    assert found["evidence"] == "Of 3, 2: 1 and 2; not on MNLI."
    found = judged(rows[:2], rule="all", above=0, note=note)
    assert (found["verdict"], found["value"]) == (HOLDS, 2)
    assert found["evidence"].endswith("not on none.")
    assert judged(rows, rule="all", to=1, within=1)["verdict"] == HOLDS
    assert judged(rows, rule="some", above=1)["verdict"] == HOLDS
    assert judged(rows, rule="some", above=2)["verdict"] == FAILS


def test_of_several_numbers_the_worst_decides():
    rows = [one(3, 2, 4, case="a"), one(-2, case="b"), one(1, -1, 2, case="c"), one(-4, case="d")]
    assert judged(rows, rule="above", above=0)[["value", "verdict"]].tolist() == [-4, FAILS]
    for shows, value in (("first", -2), ("largest", -2), ("smallest", -4)):
        assert judged(rows, rule="above", above=0, shows=shows)["value"] == value
    found = judged(rows, rule="equals", to={"a": 3, "b": -2, "c": 5, "d": -4}, note="{case}, {to}.")
    assert found[["value", "verdict", "evidence"]].tolist() == [1, FAILS, "c, 5."]
    assert judged(rows[:1], rule="equals", to=3)["verdict"] == HOLDS


def test_numbers_are_chosen_by_dataset_and_case():
    rows = [one(1), one(2, dataset="mnli"), one(5, dataset="mnli", case="a")]
    assert judged(rows, rule="equals", to=1)["verdict"] == FAILS
    wanted = {"quantity": "mean_entropy", "datasets": ["mnli", "snli"]}
    found = judged(rows, rule="equals", to=0, numbers=wanted, note="{all:+.1f} on {dataset}.")
    assert found["evidence"] == "MNLI +2.0, SNLI +1.0 on MNLI."
    found = judged(rows, rule="equals", to=5, numbers=wanted | {"datasets": [], "cases": ["a"]})
    assert found["verdict"] == HOLDS
    assert judged(rows, rule="equals", to=3, total=True)["verdict"] == HOLDS


def test_numbers_are_subtracted():
    rows = [one(1, 0.7, 1.4), one(3, 2.6, 3.3, dataset="mnli")]
    wanted = {"quantity": "mean_entropy", "datasets": ["mnli"]}
    minus = {"quantity": "mean_entropy", "datasets": ["snli"]}
    found = judged(rows, rule="above", above=0, numbers=wanted, minus=minus)
    assert found["value"] == 2
    # Half-widths 0.4 and 0.4 below, 0.3 and 0.3 above.
    assert found[["low", "high"]].tolist() == pytest.approx([2 - 0.32**0.5, 2 + 0.18**0.5])
    found = judged(rows, rule="equals", to=0, minus={"snli": 1, "mnli": 2.5}, within=0.6)
    assert found["verdict"] == HOLDS
    own = judged(rows, rule="equals", to=0, minus={"quantity": "mean_entropy"})
    assert own["verdict"] == HOLDS


def test_what_is_not_available_is_left_open():
    wanted = {"quantity": "mean_entropy", "datasets": ["alphanli", "snli"]}
    found = judged([one(1)], rule="equals", to=1, numbers=wanted)
    assert (found["verdict"], np.isnan(found["value"])) == (OPEN, True)
    assert found["evidence"] == "The votes on αNLI are not available."
    wanted = {"quantity": "rank_range", "datasets": ["snli"]}
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
  numbers: {quantity: change_rate, datasets: [snli]}
  to: 25
  note: Per cent; {to} is printed.
"""


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("rule:", "rul:", ["c01", "rul: ", "did you mean 'rule'?"]),
        ("to: 25", "to: 25\n  witin: 1", ["c01", "witin", "did you mean 'within'?"]),
        (
            "quantity: change_rate",
            "quantity: chang_rate",
            ["c01", "numbers.quantity", "change_rate"],
        ),
        ("quantity: ", "quantty: ", ["c01", "numbers.quantty", "did you mean 'quantity'?"]),
        ("[snli]", "[snlii]", ["c01", "numbers.datasets", "did you mean 'snli'?"]),
        ("equals", "equal", ["c01", "rule: 'equal'"]),
        ("to: 25", "above: 25", ["c01", "equals takes to"]),
        ("to: 25", "to: 25\n  above: 1", ["c01", "equals takes to"]),
        ("rule: equals", "rule: open", ["c01", "open takes neither"]),
        ("  numbers: {quantity: change_rate, datasets: [snli]}\n", "", ["c01", "numbers"]),
        ("{to}", "{too}", ["c01", "note: 'too' cannot stand in braces"]),
        ("{to}", "{all:.2q}", ["c01", "note"]),
        ("change.", "change", ["c01", "claim: 'A quarter change'"]),
        ("nie2020", "nie2021", ["c01", "paper: 'nie2021'"]),
        ("id: c01", "id: c02", ["not numbered in order", "c02"]),
        ("claim: A", "claim: A: A", ["not YAML", "line"]),
        ("place: Table 2\n", "place:\n", ["c01", "place: None"]),
    ],
)
def test_a_fault_in_the_yaml_names_the_claim_and_the_field(tmp_path, right, wrong, words):
    path = tmp_path / "claims.yml"
    path.write_text(WELL)
    assert claims.read_claims(path)[0].to == 25
    assert right in WELL
    path.write_text(WELL.replace(right, wrong, 1))
    with pytest.raises(ChaosError) as fault:
        claims.read_claims(path)
    for word in (*words, str(path)):
        assert word in str(fault.value), fault.value


def test_claims_are_numbered_worded_and_many():
    known = claims.read_claims()
    assert len(known) == 61
    assert {claim.paper for claim in known} == {"nie2020", "baan2022"} == set(claims.PAPERS)
    assert claims.wanted_datasets() == ["snli", "mnli", "alphanli"]


def test_printed_numbers_are_those_of_the_published_tables():
    to = {claim.id: claim.to for claim in claims.read_claims()}
    rates = read_published("nie2020_table2").set_index("dataset")
    assert [to[i] for i in ("c02", "c03", "c04")] == [
        rates.loc[name, "change_rate_percent"] for name in ("snli", "mnli", "alphanli")
    ]
    assert [to["c07"], to["c08"]] == rates["change_rate_full_dev_percent"].dropna().tolist()
    assert to["c09"] == read_published("nie2020_other")["value"].item()
    table_1 = read_published("baan2022_table1").set_index("system")
    assert to["c40"] == table_1.loc["oracle", "ece"]
    other = read_published("baan2022_other").set_index(["quantity", "system"])["value"]
    for claim, measure in (("c49", "ece"), ("c50", "dist_ce")):
        assert to[claim] == {name: other[measure, name] for name in ("roberta", "roberta-ts")}
    table_2 = read_published("baan2022_table2").dropna(subset="dist_ce").set_index("system")
    assert [to["c51"], to["c52"]] == table_2.loc[["h1", "h2"], "dist_ce"].tolist()
    for claim, key in (
        ("c56", ("classwise_ece_percent", "roberta")),
        ("c57", ("classwise_ece_percent", "roberta-ts")),
        ("c58", ("classwise_ece_percent", "oracle")),
        ("c59", ("signed_ent_ce", "roberta")),
        ("c60", ("signed_ent_ce", "roberta-ts")),
    ):
        assert to[claim] == other[key]
    systems = read_published("baan2022_systems").set_index("system")
    assert to["c48"] == claims_numbers.TEMPERATURE == systems.loc["roberta-ts", "temperature"]


def test_verdicts_on_the_released_data(table):
    verdicts = table["verdict"]
    assert set(verdicts) == set(VERDICTS)
    expected = {
        HOLDS: ["c01", "c02", "c03", "c04", "c07", "c08", "c09", "c10", "c11", "c12", "c13", "c17",
                "c18", "c19", "c21", "c22", "c26", "c27", "c28", "c29", "c30", "c31", "c33", "c35",
                "c37", "c38", "c40", "c41", "c42", "c43", "c44", "c45", "c46", "c47", "c48", "c49",
                "c50", "c53", "c54", "c56", "c58", "c59"],
        FAILS: ["c06", "c14", "c15", "c23", "c24", "c25", "c32", "c34", "c36", "c57", "c60", "c61"],
        NOISE: ["c05", "c16"],
        OPEN: ["c20", "c39", "c55"],
    }  # fmt: skip
    for verdict, ids in expected.items():
        assert (verdicts[ids] == verdict).all(), verdicts[ids]


def test_numbers_of_the_released_data(table):
    value = table["value"]
    assert value["c01"] == 464_500
    assert value[["c04", "c02", "c03"]].round(2).tolist() == [10.64, 24.97, 31.77]
    assert value["c06"] == pytest.approx(1.77)
    assert value["c15"] == pytest.approx(0.8326, abs=5e-5)
    assert value["c23"] == pytest.approx(0.2128 - 0.2215)
    assert value["c40"] == pytest.approx(0.245, abs=5e-4)
    assert value[["c24", "c25", "c27", "c32", "c34", "c43"]].tolist() == [1, 2, 3, 23, 21, 35]
    assert value["c48"] == 2
    assert value["c51"] == pytest.approx(0.0705, abs=0.001)
    assert value["c58"] == pytest.approx(16.50, abs=0.01)
    known = table.dropna(subset="low")
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    assert not table["evidence"].str.contains(r"[{}]|nan|–\.", regex=True).any()


def test_a_verdict_follows_the_votes(table, changed, released):
    """With nothing changed, the change rates of Table 2 do not hold; nor do other votes' means."""
    snli, mnli, _ = released
    same = changed(replace(snli, majority=snli.old_label))
    assert table.loc[["c02", "c07", "c09", "c12"], "verdict"].tolist() == [HOLDS] * 4
    assert same[["c02", "c07"]].tolist() == [FAILS, FAILS]
    # The first items of MNLI in the place of SNLI's: people disagree more on them.
    more = changed(replace(snli, counts=mnli.counts[: len(snli)]))
    assert more["c09"] == FAILS
    assert more["c12"] != HOLDS


def test_a_shape_follows_the_votes(table, changed, released):
    snli, _, alphanli = released
    flat = np.tile([90, 10], (len(alphanli), 1))
    assert changed(replace(alphanli, counts=flat), dataset="alphanli")["c10"] == FAILS
    unanimous = changed(replace(snli, counts=np.tile([100, 0, 0], (len(snli), 1))))
    assert table.loc["c11", "verdict"] == HOLDS
    assert unanimous["c11"] != HOLDS
    assert unanimous["c13"] == FAILS


def test_verdicts_on_models_follow_the_predictions(changed, released, available):
    """A perfect model is not better calibrated than the oracle, nor worse than twenty people."""
    perfect = oracle(released[0])
    verdicts = changed(systems=[perfect])
    assert verdicts[["c42", "c44", "c45", "c53"]].tolist() == [FAILS] * 4
    assert verdicts["c35"] != HOLDS
    assert verdicts[["c38", "c43", "c48", "c54", "c56", "c59"]].tolist() == [OPEN] * 6
    # Together with the paper's, it decides about all; the printed table is of those alone.
    both = changed(systems=[*available["snli"], perfect])
    assert both["c42"] == FAILS
    assert both["c43"] == HOLDS


def test_without_predictions_claims_about_models_are_open(numbers):
    found = check(numbers[0], numbers[1].rows.head(0))
    open_ones = ["c35", "c38", "c42", "c43", "c44", "c53", "c54", "c56", "c59"]
    assert (found.loc[open_ones, "verdict"] == OPEN).all()
    assert found.loc[open_ones, "evidence"].str.contains("available|released").all()
    assert found.loc["c02", "verdict"] == HOLDS


def test_on_the_sample_every_claim_has_a_verdict(sample):
    found = check(*numbers_of(sample))
    assert len(found) == 61
    assert set(found["verdict"]) <= set(VERDICTS)
    assert {"c07", "c08", "c43"} <= set(found.index[found["verdict"] == OPEN])
    assert not found["evidence"].str.contains(r"[{}]|nan", regex=True).any()


def test_datasets_that_no_paper_has_leave_claims_open(others):
    found = check(*numbers_of(others[:1], []))
    verdicts = found["verdict"]
    assert (verdicts[["c01", "c02", "c42"]] == OPEN).all()
    assert verdicts["c21"] == HOLDS  # printed numbers need no votes


def test_differences_are_resampled_on_the_same_items(released, available):
    given = claims_numbers.Given(released[0], available["snli"], 200, SPLITS, 0)
    first, second = list(given.judged.values())[:2]
    gap = given.score("jsd", [second, first], (1, -1))
    assert gap == given.score("jsd", [second, first], (1, -1))
    apart = [given.score("jsd", [system]) for system in (first, second)]
    assert gap.value == pytest.approx(apart[1].value - apart[0].value)
    assert gap.high - gap.low < sum(one.high - one.low for one in apart)
    assert given.score("ece", [first, first], (1, -1)).value == 0
    scaled = replace(first, model=temper(first.model, 2.0))
    expected = MEASURES["ece"].value(scaled) - MEASURES["ece"].value(first)
    assert given.score("ece", [scaled, first], (1, -1)).value == pytest.approx(expected)


def test_a_percentile_is_that_of_the_chapter_on_errors(table, released):
    """Both chapters draw H1 and H2 alike, so a printed value has one place among the draws."""
    by_draw = error_distributions.errors_by_draw(released[0], [], n_seeds=SPLITS, first_seed=0)
    summary = error_distributions.summarise_draws(released[0], by_draw)
    summary = summary.set_index(["measure", "system"])
    for claim, name in (("c51", "H1"), ("c52", "H2")):
        row = summary.loc[("dist_ce", name)].query("reference == 'all'").iloc[0]
        assert table.loc[claim, "value"] == pytest.approx(row["mean"], abs=1e-8)
        assert f"{row['percentile_notebook']:.0f}% of the splits" in table.loc[claim, "evidence"]
    chapters = [
        {one.name: one.default for one in read_parameters(find_notebook(name))}
        for name in ("claims", "error_distributions")
    ]
    assert (chapters[0]["splits"], chapters[0]["seed"]) == (
        chapters[1]["n_seeds"],
        chapters[1]["seed"],
    )


@pytest.mark.parametrize("divide_by", ["all", "binned"])
def test_classwise_error_from_means_is_the_measure(released, divide_by):
    one = oracle(released[0]).aligned_to(released[0])
    found = classwise_percent(classwise_columns(one).mean(axis=0), divide_by=divide_by)
    expected = classwise_calibration_error(
        one.model, one.first_majority, BAAN_BINS, divide_by=divide_by
    )
    assert found == pytest.approx(100 * expected)


def test_the_temperature_of_least_ece_is_the_best_of_the_tenths(released, available):
    given = claims_numbers.Given(released[0], available["snli"], 20, SPLITS, 0)
    found = claims_numbers.OF_SYSTEMS["least_ece_temperature"](given)
    seeds = given.tabulated["roberta"]
    tenths = np.arange(10, 31) / 10
    errors = np.array(
        [
            [MEASURES["ece"].value(replace(one, model=temper(one.model, t))) for t in tenths]
            for one in seeds.values()
        ]
    )
    assert found[""].value == tenths[errors.mean(axis=0).argmin()]
    best = {f"seed {seed}": tenths[row.argmin()] for seed, row in zip(seeds, errors, strict=True)}
    assert {name: one.value for name, one in found.items() if name} == best


def test_total_variation_to_single_votes_prefers_the_majority(released):
    """The majority alone is nearer to one vote than the truth is; by Brier score it is not."""
    votes = released[0]
    found = claims_numbers.OF_VOTES["majority_advantage"](
        claims_numbers.Given(votes, (), 20, SPLITS, 0)
    )
    human, labels = votes.shares, np.eye(votes.dataset.n_classes)
    majority = labels[human.argmax(axis=1)]
    for name, score in (("tvd", total_variation), ("brier", scores.brier_of_votes)):
        # Over every single vote, one label after the other.
        expected = [
            sum(
                human[:, k] * score(np.broadcast_to(label, human.shape), model)
                for k, label in enumerate(labels)
            ).mean()
            for model in (majority, human)
        ]
        assert found[name].value == pytest.approx(expected[0] - expected[1])
    assert found["tvd"].high < 0 < found["brier"].low
    even = np.array([[0.5, 0.5, 0.0], [0.6, 0.3, 0.1]])
    assert total_variation(labels[[0, 0]], even) == pytest.approx([0.5, 0.4])


def test_counts_and_their_figure(table):
    counts = claims.count_verdicts(table.reset_index()).rows
    assert counts["n"].sum() == len(table)
    assert len(counts) == 2 * len(VERDICTS)
    (axis,) = plot_claims(counts).axes
    widths = sum(patch.get_width() for patch in axis.patches)
    assert widths == len(table)
    said = say_counts(counts)
    assert "do not hold and 3 cannot be checked" in said
    assert "1 does not hold" in say_counts(counts.assign(n=1).head(4))


def test_what_does_not_hold_is_listed(table):
    rows = table.reset_index()
    said = say_failed(rows)
    assert said.count("\n") + 1 == (rows["verdict"] == FAILS).sum()
    assert "(c23; {cite:t}`nie2020`, section 5.3)" in said
    assert say_failed(rows.head(4)) == "There is none."
    assert "lower against single votes" in say_proper(rows)
    assert "does not score lower" in say_proper(rows.assign(value=1.0))
    assert say_proper(rows.assign(verdict=OPEN)) == rows.set_index("id").loc["c61", "evidence"]


def test_the_table_is_set_with_marks_and_intervals():
    table = pd.DataFrame(
        {
            "id": ["c01", "c02", "c03", "c04"],
            "paper": "nie2020",
            "place": "Table 2",
            "claim": "It is so.",
            "evidence": "A rate.",
            "value": [24.967, 35, np.nan, 2],
            "low": [22.9, np.nan, np.nan, 1.8],
            "high": [27.1, np.nan, np.nan, 2.1],
            "verdict": [HOLDS, FAILS, OPEN, NOISE],
        }
    )
    _, cells = lay_out(table, claims.COLUMNS)
    assert [row[4] for row in cells] == ["24.97 [22.90, 27.10]", "35", "–", "2.00 [1.80, 2.10]"]
    assert cells[1][3] == "✗ does not hold"
    assert cells[0][1] == "Nie et al. 2020, Table 2"


def test_the_uniform_guess_ranks_nothing(sample):
    """A claim's check takes a system whose labels are all tied."""
    verdicts = check(*numbers_of(sample[:1], [uniform(sample[0])]))["verdict"]
    assert verdicts["c47"] == HOLDS
    assert verdicts["c42"] in VERDICTS


def test_too_few_items_for_bins_are_said(released):
    few = [
        replace(
            o, uids=o.uids[:3], counts=o.counts[:3], majority=o.majority[:3],
            given_old_label=o.old_label[:3], given_old_votes=o.old_votes[:3], texts=o.texts[:3],
        )
        for o in released
    ]  # fmt: skip
    found = check(*numbers_of(few, [])).loc["c37"]
    assert found["verdict"] == OPEN
    assert "too few items" in found["evidence"]
