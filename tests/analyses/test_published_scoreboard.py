"""Published results: what each says of a column, and what contradicts itself or our numbers."""

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import as_released, evidence_of

from chaos_utils.analyses import published_scoreboard as board
from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.metrics import bounds, divergence
from chaos_utils.report.columns import MISSING, lay_out
from chaos_utils.scoring.systems import synthetic_systems

NO_SETS = pd.DataFrame(columns=["dataset", "n_items", "mean_entropy", "tied"])
NO_LIMITS = pd.DataFrame(columns=["dataset", "accuracy", "low", "high"])
SETS = pd.DataFrame(
    {"dataset": ["snli", "mnli", "snli+mnli"], "n_items": [1514, 1599, 3113],
     "mean_entropy": [0.5, 0.75, 0.65], "tied": 0.01}
)  # fmt: skip
DISTANCE = "JS distance (root), natural log"
IN_BITS, IN_NATS = "JS divergence, base 2", "JS divergence, nats"
KL = "KL(human||model), nats, model floor 1e-15"
CROSS_ENTROPY = "cross-entropy to vote shares, nats"
ACCURACY = "predicted label = majority of 100"


@pytest.fixture(scope="module")
def rows():
    return board.read_rows()


def read(rows, sets=SETS, allowed=NO_LIMITS):
    return board.converted(rows.reset_index(drop=True), sets, allowed)


def printed(*numbers, **about):
    """Return rows of one system: measure, convention and value of each."""
    system = {
        "paper": "A, B", "year": 2026, "model": "m", "system": "", "method": "", "items": "1514",
        "dataset": "snli", "source": "", "link": "", "grade": "read",
    }  # fmt: skip
    names = ("measure", "convention", "published")
    made = [system | about | dict(zip(names, number, strict=True)) for number in numbers]
    return pd.DataFrame(made).assign(row=range(2, len(made) + 2))


def only(rows, **wanted):
    """Return the number of the one row with these values."""
    chosen = rows[np.all([rows[name] == value for name, value in wanted.items()], axis=0)]
    assert len(chosen) == 1
    return chosen["row"].iloc[0]


# The file


def test_each_row_has_a_convention_or_a_reason_a_grade_and_an_address(rows):
    assert len(rows) > 400
    for row in rows.to_dict("records"):
        assert (row["measure"], row["convention"]) in board.READINGS or (
            row["measure"] in board.REASONS
        )
        assert row["grade"] in board.GRADES
        assert 2020 <= row["year"] <= 2026
        assert row["link"] == "" or row["link"].startswith("https://")
    by_name = rows.groupby(["dataset", "items", "paper", "model", "method", "measure"])
    assert (by_name.size() == 1).all()


def test_no_row_of_the_file_contradicts_itself(rows):
    found = read(rows)
    assert (found["fault"] == "").all(), found[found["fault"] != ""]
    assert (found["reason"] != board._UNKNOWN_CONVENTION).all()
    assert set(found["how"]) == set(board.HOWS)


# What is planted there is found


ROBERTA = {"model": "roberta-large", "dataset": "snli", "items": "1514", "grade": "recomputed"}
CHEN = {"method": "Llama3 only"}


@pytest.mark.parametrize(
    ("place", "change"),
    [
        # A distance called a divergence is more than KL allows, or the total variation.
        (ROBERTA | {"measure": "jsd"}, {"convention": IN_NATS}),
        (CHEN | {"measure": "jsd"}, {"convention": IN_NATS}),
        # A KL in the unit of another measure's root.
        (ROBERTA | {"measure": "kl"}, {"published": 0.0494}),
        (CHEN | {"measure": "tvd"}, {"published": 0.0284}),
        # Percentages.
        (ROBERTA | {"measure": "jsd"}, {"published": 22.1}),
        (ROBERTA | {"measure": "new_accuracy"}, {"published": 78.67}),
        (CHEN | {"measure": "tvd"}, {"published": -0.284}),
    ],
)
def test_a_row_with_the_wrong_convention_is_found_and_not_compared(rows, place, change):
    row = only(rows, **place)
    planted = rows.copy()
    for name, value in change.items():
        planted.loc[planted["row"] == row, name] = value
    found = read(planted).set_index("row")
    assert found.loc[row, "fault"]
    assert found.loc[row, ["how", "column"]].tolist() == [board.NOT_COMPARED, ""]
    assert np.isnan(found.loc[row, ["low", "high"]].to_numpy(dtype=float)).all()
    about = ["paper", "model", "method", "dataset"]
    elsewhere = (found[about] != found.loc[row, about]).any(axis=1)
    assert (found.loc[elsewhere, "fault"] == "").all()


def test_most_distances_called_divergences_are_found_and_no_divergence_called_a_distance(rows):
    found = {DISTANCE: [], IN_NATS: []}
    for _, system in rows.groupby(["dataset", "items", "paper", "model", "method"]):
        for place in system.index[system["measure"] == "jsd"]:
            is_distance = "distance" in system.loc[place, "convention"]
            planted = system.copy()
            planted.loc[place, "convention"] = IN_NATS if is_distance else DISTANCE
            faults = read(planted, NO_SETS)["fault"]
            found[planted.loc[place, "convention"]].append((faults != "").any())
    assert np.mean(found[IN_NATS]) > 0.7
    assert not any(found[DISTANCE])  # no bound holds from below: a limit that the chapter names
    assert min(map(len, found.values())) > 30


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [
        ([("jsd", DISTANCE, 0.2013), ("jsd", IN_BITS, 0.0581)], "0.2013 where jsd 0.0581 allows"),
        ([("jsd", DISTANCE, 0.2013), ("jsd", IN_BITS, 0.0591)], ""),
        ([("jsd", DISTANCE, 0.2013), ("jsd", DISTANCE, 0.2014)], "0.2013 and 0.2014 of one system"),
        ([("jsd", DISTANCE, 0.9)], "outside [0, 0.8326]"),
        ([("jsd", IN_BITS, 0.9013)], ""),
        ([("jsd", IN_NATS, 0.7013)], "outside [0, 0.6931]"),
        ([("kl", KL, -0.1)], "outside [0, inf]"),
        # The mean entropy of these votes is 0.5.
        ([("nll", CROSS_ENTROPY, 0.4013)], "below 0.5, the entropy of the votes"),
        ([("nll", CROSS_ENTROPY, 0.5013)], ""),
        # More than 0.57, which is what that accuracy allows.
        ([("new_accuracy", ACCURACY, 0.8013), ("jsd", DISTANCE, 0.6013)], "accuracy 0.8013 allows"),
        ([("new_accuracy", ACCURACY, 0.8013), ("jsd", DISTANCE, 0.005)], "accuracy 0.8013 allows"),
        ([("new_accuracy", ACCURACY, 0.8013), ("jsd", DISTANCE, 0.5013)], ""),
    ],
)
def test_what_a_system_s_other_numbers_allow(numbers, fault):
    limits = pd.DataFrame({"dataset": ["snli"], "accuracy": 0.8013, "low": 0.01, "high": 0.57})
    last = read(printed(*numbers), allowed=limits).iloc[-1]
    assert bool(last["fault"]) == bool(fault)
    assert fault in last["fault"]


def test_rounding_contradicts_nothing():
    # A distance of 0.3464 is printed as 0.35, whose square is more than 0.3464²; so is 0.12.
    rounded = printed(("jsd", DISTANCE, 0.35), ("jsd", IN_NATS, 0.12))
    assert (read(rounded)["fault"] == "").all()
    finer = printed(("jsd", DISTANCE, 0.3501), ("jsd", IN_NATS, 0.1201))
    assert (read(finer)["fault"] != "").all()


# What a row says


@pytest.mark.parametrize(
    ("number", "about", "expected"),
    [
        (("jsd", DISTANCE, 0.25), {}, ("jsd", board.EXACT, 0.25, 0.25)),
        (("jsd", IN_NATS, 0.09), {}, ("jsd", board.BOUNDS, 0.108101, 0.3)),
        (("jsd", IN_BITS, 0.072), {}, ("jsd", board.BOUNDS, 0.059944, 0.223398)),
        (("dist_ce", "TVD", 0.25), {}, ("dist_ce", board.EXACT, 0.25, 0.25)),
        (("kl", KL, 0.5), {}, ("kl", board.EXACT, 0.5, 0.5)),
        (("kl", "KL(human||model), nats, clip 1e-10 (code)", 0.5), {},
         ("kl", board.BOUNDS, 0.5, np.inf)),
        (("cross-entropy", "to vote shares, nats (as given)", 0.9), {},
         ("kl", board.EXACT, 0.4, 0.4)),
        (("accuracy", "majority of 100, argsort last tie", 0.7), {},
         ("new_accuracy", board.BOUNDS, 0.69, 0.71)),
        # The entropy of unknown items is not known.
        (("cross-entropy", "to vote shares, nats (as given)", 0.9), {"items": "600"},
         ("kl", board.NOT_COMPARED, np.nan, np.nan)),
        (("accuracy", "label = their gold", 0.7), {},
         ("", board.NOT_COMPARED, np.nan, np.nan)),
        # In doubt, nothing is guessed.
        (("jsd", "as given", 0.2), {}, ("", board.NOT_COMPARED, np.nan, np.nan)),
        (("brier", "as given", 0.2), {}, ("", board.NOT_COMPARED, np.nan, np.nan)),
    ],
)  # fmt: skip
def test_a_number_is_converted_exactly_by_bounds_or_not_at_all(number, about, expected):
    found = read(printed(number, **about)).iloc[0]
    assert tuple(found[["column", "how"]]) == expected[:2]
    np.testing.assert_allclose(found[["low", "high"]].astype(float), expected[2:], atol=1e-6)
    assert bool(found["reason"]) == (expected[1] == board.NOT_COMPARED)


def test_other_votes_than_the_book_s_have_no_published_numbers():
    table = board.published_rows(NO_SETS, NO_LIMITS, same_votes=False)
    assert len(table) == 0
    assert len(board.published_systems(table)) == 0
    assert len(board.uses(table)) == 0


# What is shown


def test_sets_of_items_do_not_mix_and_no_computed_system_is_among_them(rows):
    table = board.published_systems(read(rows)).rows
    assert not set(table["model"][table["paper"].str.startswith("Nie")]) - {"est-human"}
    assert table["is_whole"].is_monotonic_decreasing
    sets = table.groupby(["dataset", "items"], sort=False)
    assert (sets.ngroup().diff().fillna(0) >= 0).all()  # each stands together
    for _, group in sets:
        assert group["jsd_high"].dropna().is_monotonic_increasing
    known = table[["jsd_high", "dist_ce_high", "kl_high"]].notna()
    assert known.any(axis=1).all()
    assert (table["jsd_low"].dropna() <= table["jsd_high"].dropna()).all()


def test_bounds_are_written_outwards_and_sources_lead_out():
    rows = read(printed(("jsd", IN_BITS, 0.072), link="https://example.org/a?b=1&c"))
    table = board.published_systems(rows).rows
    _, ((set_of_items, *_, jsd, misplaced, _, _, source),) = lay_out(table, board.SYSTEM_COLUMNS)
    assert (set_of_items, jsd, misplaced) == ("SNLI, all 1,514 items", "0.059–0.224", MISSING)
    assert (source.text, source.address) == ("A 2026, read", "https://example.org/a?b=1&c")
    other = board.published_systems(read(printed(("jsd", DISTANCE, 0.25), items="50"))).rows
    _, ((set_of_items, *_, jsd, _, _, _, source),) = lay_out(other, board.SYSTEM_COLUMNS)
    assert (set_of_items, jsd, source) == ("SNLI, 50 items", "0.250", "A 2026, read")


def test_of_two_numbers_on_one_column_the_narrower_bounds_stand():
    numbers = [("jsd", DISTANCE, 0.2013), ("jsd", IN_BITS, 0.0591)]
    for order in (numbers, numbers[::-1]):
        system = board.published_systems(read(printed(*order))).rows.iloc[0]
        assert (system["jsd_low"], system["jsd_high"]) == (0.2013, 0.2013)


def test_a_pool_of_datasets_is_exact_in_bits():
    rng = np.random.default_rng(0)
    sizes = {"snli": 1514, "mnli": 1599}
    pairs = {name: rng.dirichlet(np.ones(3), (2, n)) for name, n in sizes.items()}
    means = pd.DataFrame(
        [
            {"dataset": name, "system": "s", "prediction": board.AS_IT_IS, "n_items": len(h)}
            | board._means(h, m, h.argmax(axis=1))
            for name, (h, m) in pairs.items()
        ]
    )
    partial = means.assign(system="on some items", n_items=100)
    about = {"dataset": "snli+mnli", "items": "3113"}
    rows = read(printed(("jsd", IN_BITS, 0.072), **about))
    table = board.in_bits(pd.concat([means, partial]), rows).rows.set_index("system")
    assert set(table.index) == {"s", "m"}
    h, m = np.concatenate(list(pairs.values()), axis=1)
    bits = divergence.jensen_shannon_divergence(h, m, unit="bits").mean()
    distance = divergence.jensen_shannon_distance(h, m, unit="nats").mean()
    assert table.loc["s", "divergence_bits"] == pytest.approx(bits)
    assert table.loc["s", "distance_low"] == table.loc["s", "distance_high"]
    assert table.loc["s", "distance_low"] == pytest.approx(distance)
    assert table.loc["s", "ratio"] == pytest.approx(bits / 0.072)
    assert table.loc["s", "apparent_ratio"] == pytest.approx(distance / 0.072)
    assert table.loc["m", "divergence_bits"] == pytest.approx(0.072)
    assert table.loc["m", "distance_low"] < table.loc["m", "distance_high"]


def test_every_bound_holds_on_systems_of_the_sample(sample):
    inputs = AnalysisInputs(tuple(evidence_of(one, synthetic_systems(one)) for one in sample))
    means = board.means_of_systems(inputs)
    table = board.tightness(means).rows
    assert (table["n_within"] == table["n_predictions"]).all()
    assert table["n_predictions"].min() > 5
    assert {board.AS_IT_IS, board.ONE_TEMPERATURE} <= set(means.rows["prediction"])
    assert len(table) == len(sample) * len(board.PAIRS | board._FURTHER_PAIRS)


def test_what_an_accuracy_allows_is_of_the_items_of_the_file(sample):
    # No printed accuracy is of so few items.
    assert len(board.allowed_by_accuracy(as_released(sample[0]))) == 0


# On the published data


@pytest.fixture(scope="module")
def inputs(released):
    return gather("released", [])


@pytest.fixture(scope="module")
def limits(inputs):
    """Return what conversions need of the items, and what accuracies allow on them."""
    all_items = [*inputs, *inputs.pooled()]
    return board.item_sets(all_items), board.allowed_by_accuracy(all_items)


@pytest.fixture(scope="module")
def means(inputs):
    return board.means_of_systems(inputs)


def test_no_published_row_contradicts_the_votes(limits):
    sets, allowed = limits
    table = board.published_rows(sets, allowed).rows
    assert (table["fault"] == "").all(), table[table["fault"] != ""]
    assert len(allowed) > 30
    assert set(table["dataset"][table["is_whole"]]) == {"snli", "mnli", "alphanli", "snli+mnli"}
    # A planted one does: farther from people than its accuracy allows.
    row = only(table, **ROBERTA, measure="jsd")
    planted = board.read_rows()
    planted.loc[planted["row"] == row, "published"] = 0.58
    found = read(planted[planted["measure"] != "kl"], sets.rows, allowed.rows)
    assert "accuracy 0.7867 allows" in found.set_index("row").loc[row, "fault"]


def test_every_bound_holds_on_all_computed_systems(means):
    table = board.tightness(means).rows
    assert (table["n_within"] == table["n_predictions"]).all()
    assert table["n_predictions"].min() >= 40
    medians = table.set_index(["dataset", "known", "wanted"])
    # The mean distance is a little below the root of the mean divergence.
    for dataset, ratio in (("snli", 0.87), ("mnli", 0.89)):
        row = medians.loc[(dataset, "divergence", "distance")]
        assert row["value"] / row["high"] == pytest.approx(ratio, abs=0.05)


def test_printed_numbers_of_released_systems_come_out(inputs, limits):
    table = board.published_rows(*limits)
    beside = board.beside_computed(table, board.comparable_scores(inputs))
    differing = beside.rows[~beside.rows["agrees"]]
    # The released votes are not vote for vote those of Table 5.
    assert set(differing["model"]) <= {"chance"}
    assert differing["difference"].abs().max() < 3e-4
    counts = board.count_agreeing(beside).rows
    assert counts["numbers"].sum() > 160
    assert counts["numbers"].sum() - counts["agree"].sum() == len(differing) == 4


def test_in_one_unit_the_draft_s_language_model_stands_among_models_of_2020(means, limits):
    found = board.in_bits(means, board.published_rows(*limits)).rows
    bits = found.set_index(["system", "prediction"])["divergence_bits"]
    # As computed apart from this code, on all 3,113 items.
    for system, expected in (
        ("uniform guess", 0.182),
        ("ModernBERT-large", 0.122),
        ("mean vote given the old label", 0.079),
    ):
        assert bits[system, board.AS_IT_IS] == pytest.approx(expected, abs=6e-4)
    stated, sampled = "verbalised distribution", "10 sampled answers"
    assert bits["roberta-large", board.RECALIBRATED] < bits["claude-sonnet-5", stated]
    assert bits["uniform guess", board.AS_IT_IS] < bits["claude-sonnet-5", sampled]
    assert len(board.chosen_in_bits(found)) <= 12


def test_bounds_of_the_module_are_all_used():
    names = {f"{wanted}_from_{known}" for known, wanted in board.PAIRS | board._FURTHER_PAIRS}
    made = {name for name in vars(bounds) if "_from_" in name and not name.startswith("_")}
    assert made - {"kl_from_cross_entropy"} <= names
