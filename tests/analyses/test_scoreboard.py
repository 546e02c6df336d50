"""The scoreboard: pools, places, people beside systems, and the numbers of other chapters."""

from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from helpers.checkout import PROJECT
from helpers.evidence import drawn, evidence_of, on_items
from helpers.pictures import smallest_letters

from chaos_utils.analyses import fitting, scoreboard
from chaos_utils.analyses.inputs import gather
from chaos_utils.base import style
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.plots.scoreboard import plot_scoreboard
from chaos_utils.report.columns import lay_out
from chaos_utils.scoring.evaluate import guesses, part_of
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD
from chaos_utils.scoring.submitting import OWN_ROWS
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_RECALIBRATED, worth

FEW = {"n_resamples": 100, "seed": 0}
N = 600


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(0).dirichlet((0.6, 0.6, 0.6), N)


@pytest.fixture(scope="module")
def votes(sample, truth):
    """Votes of a hundred people on each item, as if they were the published ones."""
    source = Input(sample[0].dataset.file, sample[0].dataset.files[0].sha256)
    return replace(drawn(sample[0], truth, 100), source=source, other_sources=())


@pytest.fixture(scope="module")
def own(votes):
    """The same votes as a reader's, which no language model has labelled."""
    return replace(votes, source=replace(votes.source, sha256="0" * 64))


@pytest.fixture(scope="module")
def systems(votes, truth):
    """Two models that know more and less, and the better one at another temperature."""
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, (2, *truth.shape))
    found = []
    for name, spread, shift in (("near", 0.5, noise[0]), ("far", 1.5, noise[1])):
        logs = np.log(truth + 0.01) + spread * shift
        shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
        found.append(computed(name, votes, shares, origin="released"))
    return [*found, found[0].at_temperature(0.2, "near, T = 0.2")]


@pytest.fixture(scope="module")
def judges(votes, truth):
    """Four models' labels of the first 560 items, drawn from the truth."""
    rng = np.random.default_rng(3)
    rows = [
        {"uid": uid, "model": f"m{k}", "maker": "them", "label": votes.dataset.labels[label]}
        for item, uid in enumerate(votes.uids[:560])
        for k, label in enumerate(rng.choice(3, 4, p=truth[item]))
    ]
    return AuxiliaryData("invented/*", lambda dataset: pd.DataFrame(rows))


@pytest.fixture(scope="module")
def board(votes, systems, judges):
    others = replace(
        systems[1], origin="submitted", asked="logprobs", may_have_seen="yes", date="2026-11-01"
    )
    part = on_items(replace(others, name="part", family="part"), np.arange(550))
    most = on_items(replace(others, name="most", family="most"), np.arange(20, N))
    return scoreboard.scoreboard(
        evidence_of(votes, [*systems, part, most]), judges=judges, **FEW
    )  # fmt: skip


def pool(board, name):
    return board.rows[board.rows["pool"] == name].set_index("system")


def test_places_with_and_without_a_system_are_those_of_both_boards(votes, systems, judges):
    own, others = replace(systems[0], origin="submitted"), systems[1:]
    table = scoreboard.places_beside(votes, own, others, judges=judges).set_index("system")
    for prefix, ranked in (("", [own, *others]), ("without_", others)):
        rows = scoreboard.scoreboard(evidence_of(votes, ranked), judges=judges, **FEW).rows
        rows = rows[(rows["pool"] == scoreboard.ALL) & (rows["n_placed"] > 0)].set_index("system")
        columns = ["place_best", "place_worst", "n_placed"]
        shown = table[[prefix + column for column in columns]].dropna()
        assert shown.to_numpy().tolist() == rows.loc[shown.index, columns].to_numpy().tolist()
        assert len(shown) == len(rows) > len(others)


def test_no_submission_can_be_called_as_a_row_of_the_scoreboard_is(board):
    rows = board.rows[board.rows["kind"].isin(["stack", "people", "reference"])]
    own = {*rows["system"], scoreboard.POOLED} - {PERFECT_MODEL, SECOND_CROWD}
    assert {"5 people", "all systems, stacked"} <= own
    assert all(map(OWN_ROWS.fullmatch, own))


def test_a_temperature_moves_a_place_as_it_is_and_none_that_is_recalibrated(board):
    rows = pool(board, scoreboard.ALL)
    one, other = rows.loc["near"], rows.loc["near, T = 0.2"]
    assert one[PEOPLE_RECALIBRATED] == pytest.approx(other[PEOPLE_RECALIBRATED], rel=1e-3)
    assert one["as_it_is_place_worst"] < other["as_it_is_place_best"]
    for end in ("place_best", "place_worst"):
        assert one[end] == other[end]
    assert one["place_worst"] < rows.loc["far", "place_best"]


def test_systems_stand_among_those_on_the_same_items(board, votes, systems):
    assert list(dict.fromkeys(board.rows["pool"])) == [scoreboard.ALL, "560 items"]
    rows, fewer = pool(board, scoreboard.ALL), pool(board, "560 items")
    assert "part" not in rows.index
    assert "m0" not in rows.index
    # It lacks 20 of 600 items, or of the 560 of the language models.
    assert (rows.loc["most", "n_items"], fewer.loc["most", "n_items"]) == (580, 540)
    # It covers most of theirs, so it has no pool of its own.
    assert fewer.loc["part", "n_items"] == 550
    # The others are scored again, as by their own chapters.
    part = part_of(votes, np.arange(560))
    for judged, table in ((votes, rows), (part, fewer)):
        for system in systems:
            estimates = worth(judged, system, **FEW).estimates
            for name in (PEOPLE, PEOPLE_RECALIBRATED):
                shown = table.loc[system.name, [name, f"{name}_low", f"{name}_high"]].tolist()
                assert shown == pytest.approx(astuple(estimates[name]), rel=1e-8)


def test_without_those_fitted_on_votes_the_others_are_placed_anew(board, votes, systems):
    rows = pool(board, scoreboard.ALL)
    fitted = rows[rows["votes_used"]]
    assert {"all systems, stacked", "base rate"} <= set(fitted.index)
    assert fitted[["no_votes_place_best", "no_votes_as_it_is_place_best"]].isna().all(axis=None)
    left = rows[~rows["votes_used"] & rows["no_votes_place_best"].notna()]
    assert (left["no_votes_n_placed"] == len(left)).all()
    by_name = {one.name: one for one in (*guesses(votes), *systems)}
    names = [name for name in left.index if name in by_name]
    assert set(left.index) - set(names) == {"most"}
    distances = {
        name: worth(votes, by_name[name], **FEW).by_item[PEOPLE_RECALIBRATED] for name in names
    }
    found = rank_sets(
        np.column_stack(list(distances.values())), 4000, np.random.default_rng(5),
        highest_first=False,
    )  # fmt: skip
    # Beside one system more, which has a place of its own among them.
    assert np.abs(left.loc[names, "no_votes_place_best"] - found.best).max() <= 1
    assert np.abs(left.loc[names, "no_votes_place_worst"] - found.worst).max() <= 1
    # They gain more than the places of those that were before them.
    assert left["no_votes_place_best"].min() == 1
    header, _ = lay_out(scoreboard.on_all_items(board).rows, scoreboard.COLUMNS)
    assert {column.heading for column in scoreboard.SAW_NO_VOTES.columns} <= {
        name for (name,) in header
    }
    texts = {
        row["system"]: [column.cell(row) for column in scoreboard.SAW_NO_VOTES.columns]
        for row in scoreboard.on_all_items(board).rows.to_dict("records")
        if scoreboard.SAW_NO_VOTES.is_among(row)
    }
    assert "5 people" in texts
    assert "base rate" not in texts
    assert texts["near"][0].endswith(f"600 items: {len(left)} places")
    assert texts["near"][1].startswith("1")


def test_a_label_is_ordered_with_all_and_has_nothing_as_it_is(board):
    rows = pool(board, "560 items")
    labels = rows[rows["asked"] == "label"]
    assert set(labels.index) == {"m0", "m1", "m2", "m3"}
    assert labels["place_best"].notna().all()
    assert labels[[PEOPLE, "as_it_is_place_best", "jsd", "kl"]].isna().all(axis=None)
    assert labels["dist_ce"].notna().all()
    pooled = rows.loc[scoreboard.POOLED]
    assert pooled["asked"] == "4 labels"
    assert pooled[PEOPLE_RECALIBRATED] > labels[PEOPLE_RECALIBRATED].max()
    assert set(rows.loc[rows["kind"] == scoreboard.STACK].index) == {
        "all systems, stacked", "all systems + language models, stacked"
    }  # fmt: skip
    assert rows["n_placed"].max() == rows["place_best"].notna().sum()


def test_another_system_is_placed_in_the_pools_of_the_board(
    board, votes, own, systems, judges, monkeypatch
):
    monkeypatch.setattr(scoreboard, "load_systems", lambda votes, submitted: systems)
    monkeypatch.setattr(scoreboard, "variant_runs", list)
    monkeypatch.setattr(scoreboard, "JUDGES", judges)
    whole, fewer = scoreboard.pools(votes)
    for made in (whole, fewer):
        assert len(made.votes) == {"all": N, "560 items": 560}[made.name]
        rows = pool(board, made.name)
        placed = rows[rows["place_best"].notna() & ~rows.index.isin(["part", "most"])]
        names = [system.name for system in made.systems]
        assert set(names) == set(placed.index)
        for system, result, about in zip(made.systems, made.worths, made.about, strict=True):
            expected = rows.loc[system.name, PEOPLE_RECALIBRATED]
            assert result.estimates[PEOPLE_RECALIBRATED].value == pytest.approx(expected)
            assert about["how"].startswith(rows.loc[system.name, "kind"])
    assert scoreboard.pools(own) == []
    assert scoreboard.pools(part_of(votes, np.arange(480))) == []


def test_people_are_worth_what_they_are_and_are_judged_by_others(board, votes):
    rows = pool(board, scoreboard.ALL)
    worths = rows.loc[["5 people", "10 people", "second crowd", "perfect model"]]
    assert worths[PEOPLE_RECALIBRATED].tolist() == [5, 10, 100, np.inf]
    assert worths["place_best"].isna().all()
    assert worths["dist_ce"].is_monotonic_decreasing
    # Five answers are drawn anew, and not from the votes that judge them.
    rng = np.random.default_rng(4)
    five = np.stack([rng.multinomial(5, shares) for shares in votes.shares]) / 5
    apart = np.abs(five - votes.shares).sum(axis=1).mean() / 2
    assert rows.loc["5 people", "dist_ce"] > apart


def test_it_is_sorted_by_worth_and_says_how_each_was_made(board):
    header, cells = lay_out(
        scoreboard.on_all_items(board).rows, scoreboard.COLUMNS, ["heading"]
    )  # fmt: skip
    by_name = {row[1]: dict(zip([name for (name,) in header], row, strict=True)) for row in cells}
    values = pool(board, scoreboard.ALL)[PEOPLE_RECALIBRATED]
    assert values.is_monotonic_decreasing
    assert [row[1] for row in cells[:4]] == list(values.index[:4])
    assert by_name["5 people"]["place ↓"] == "–"
    assert by_name["5 people"]["worth in people ↑"] == "5"
    assert by_name["near"]["how asked"] == "model, recomputed"
    submitted = "model, logprobs, has seen the items, submitted, recomputed"
    assert by_name["most"]["how asked"] == submitted
    assert by_name["all systems, stacked"]["how asked"] == "stack, other items’ votes, run here"
    assert by_name["near"]["dataset"].endswith("600 items: 7 places")
    _, cells = lay_out(scoreboard.on_fewer_items(board).rows, scoreboard.COLUMNS)
    label = next(row for row in cells if row[1] == "m0")
    assert label[4] == label[6] == "–"
    assert label[8] == "language model, label, may have seen the items, recomputed"


@pytest.mark.parametrize("n", [1, 2, 40])
def test_with_too_few_items_none_is_placed(own, systems, n):
    few = [on_items(systems[0], np.arange(n))]
    board = scoreboard.scoreboard(evidence_of(own, few), **FEW)
    rows = pool(board, "1 item" if n == 1 else f"{n} items")
    assert "near" in rows.index
    assert rows["place_best"].isna().all()
    text = scoreboard.on_fewer_items(board).rows["heading"].iloc[0]
    assert text.endswith("too few to rank")


def test_what_saw_the_votes_has_no_place_and_one_name_is_one_system(own, systems):
    seen = replace(systems[0], name="seen", trained_on=(votes_of(own.dataset),))
    fitted = replace(seen, name="fitted", out_of_fold=True)
    found = scoreboard.scoreboard(evidence_of(own, [seen, fitted]), **FEW).rows
    rows = found.set_index("system")
    assert "seen" not in rows.index
    assert rows.loc["fitted", "votes_used"]
    assert rows.loc["fitted", PEOPLE] == rows.loc["fitted", PEOPLE_RECALIBRATED]
    twin = replace(systems[0], name="base rate")
    with pytest.raises(ChaosError, match="same name"):
        scoreboard.scoreboard(evidence_of(own, [twin]), **FEW)
    single = replace(own, counts=np.eye(3, dtype=int)[own.majority])
    assert not len(scoreboard.scoreboard(evidence_of(single, systems), **FEW))


def test_the_figure_has_a_row_for_each_group_and_a_mark_for_each_system(board):
    names = {"system": {"uniform guess": "original votes"}}  # this data has no old ones
    rows = scoreboard.drawn(board.with_rows(board.rows.replace(names))).rows
    groups = list(dict.fromkeys(rows["group"]))
    assert groups == [group for group in scoreboard.GROUPS if group != "models of 2020"]
    best = rows[rows["is_best"]].groupby("group")["value"].first()
    largest = rows[rows["how"] == "recalibrated"].groupby("group")["value"].max()
    assert best.to_dict() == largest[best.index].to_dict()
    figure = plot_scoreboard(rows)
    (axis,) = figure.axes
    assert smallest_letters(figure) >= style.smallest_type()
    n_drawn = sum(len(marks.get_offsets()) for marks in axis.collections)
    assert n_drawn == rows["value"].between(-1.5, 10).sum()
    assert [tick.get_text() for tick in axis.get_yticklabels()] == groups


def recorded(analysis, **where):
    """Return the recorded rows on SNLI and MNLI that have these values."""
    folder = PROJECT / "results" / "tables" / analysis
    files = [file for name in ("snli", "mnli") for file in folder.glob(f"{name}-*.csv")]
    rows = pd.concat([pd.read_csv(file, comment="#", keep_default_na=False) for file in files])
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows


@pytest.mark.published("judges32/*")
def test_the_published_models_have_their_places_and_the_numbers_of_other_chapters():
    inputs = gather("released", []).named("snli", "mnli")
    found = scoreboard.scoreboard(inputs, variants=fitting.variants(), n_resamples=100, seed=0)
    rows = found.rows.set_index(["dataset", "system"])
    whole, fewer = (rows[(rows["pool"] == scoreboard.ALL) == is_all] for is_all in (True, False))

    # Once clear pairs have left the comparison, others may be told apart: within a place.
    ends = ["as_it_is_place_best", "as_it_is_place_worst", "place_best", "place_worst"]
    for dataset, name, places in (
        ("snli", "roberta-large", [3, 11, 3, 6]),
        ("mnli", "roberta-large", [12, 23, 3, 6]),
        ("snli", "DeBERTa-v3-large", [12, 27, 3, 9]),
        ("mnli", "DeBERTa-v3-large", [24, 29, 3, 8]),
    ):
        assert np.abs(whole.loc[(dataset, name), ends] - places).max() <= 1, (dataset, name)
    n_placed = whole.groupby("dataset", sort=False)[["n_placed", "as_it_is_n_placed"]].max()
    assert n_placed.to_numpy().tolist() == [[32, 31], [30, 29]]
    # No language model's label is placed above RoBERTa-large; pooled, they are, on SNLI.
    labels = fewer[fewer["asked"] == "label"]
    for dataset in ("snli", "mnli"):
        roberta = fewer.loc[(dataset, "roberta-large")]
        assert not (labels.loc[dataset, "place_worst"] < roberta["place_best"]).any()
    pooled = fewer.loc[("snli", scoreboard.POOLED)]
    assert pooled["place_worst"] < fewer.loc[("snli", "roberta-large"), "place_best"]

    def agree(table, others, name, column, by="system"):
        others = others.set_index(["dataset", by])[column].astype(float)
        shared = table[name].dropna().index.intersection(others.index)
        np.testing.assert_allclose(
            table.loc[shared, name].astype(float), others[shared], rtol=1e-6, atol=1e-7
        )
        return len(shared)

    of_one = {"measure": PEOPLE_RECALIBRATED}
    chapter = recorded("results.human_equivalents", **of_one)
    assert agree(whole, chapter, PEOPLE_RECALIBRATED, "value") == 48
    members = recorded("machine_crowds.members")
    members = members[members["maker"] != ""]
    assert agree(fewer, members, PEOPLE_RECALIBRATED, PEOPLE_RECALIBRATED, "model") == 64
    main = recorded("results.main_results", source="computed")
    assert agree(whole, main, "jsd", "jsd") > 40
    # Stacks and pools have names of their own.
    stack = {"access": "text", "inputs": fitting.ALL, "map": "quadratic", "objective": "kl"}
    stacked = recorded("fitting.methods", **stack).assign(inputs="all systems, stacked")
    assert agree(whole, stacked, PEOPLE_RECALIBRATED, "people", "inputs") == 2
    both = recorded("machine_crowds.with_encoders", stacked="encoders + language models")
    both = both.assign(stacked=f"{scoreboard.WITH_LLMS}, stacked")
    assert agree(fewer, both, PEOPLE_RECALIBRATED, "people", "stacked") == 2
    crowd = recorded("machine_crowds.crowds", crowd="language models")
    crowd = crowd.assign(crowd=scoreboard.POOLED)
    assert agree(fewer, crowd, PEOPLE_RECALIBRATED, PEOPLE_RECALIBRATED, "crowd") == 2
