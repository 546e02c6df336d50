from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, evidence_on, first_items, on_items

from chaos_utils.analyses import fitting
from chaos_utils.analyses.fitting import ALL, AS_IT_IS, BASE_RATE, FIXED, ON_VOTES, WITH_YOURS
from chaos_utils.analyses.inputs import gather
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.splits import FOLDS, folds_of, item_groups
from chaos_utils.metrics.conformal import label_sets as sets_of_labels
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.columns import lay_out
from chaos_utils.scoring.fitting import KINDS, fit_map, log_probabilities, predict_out_of_fold
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed, synthetic_systems
from chaos_utils.scoring.training_records import kind_of
from chaos_utils.scoring.worth import PEOPLE, worth

FEW = {"n_resamples": 20, "confidence": 0.9, "seed": 0}


def yours(votes, name="mine", seed=9, **more):
    noise = np.random.default_rng(seed).dirichlet(np.ones(votes.dataset.n_classes), len(votes))
    return replace(computed(name, votes, 0.5 * votes.shares + 0.5 * noise, origin="yours"), **more)


@pytest.fixture(scope="module")
def votes(sample):
    return first_items(sample[0], 150)


@pytest.fixture(scope="module")
def systems(votes):
    return synthetic_systems(votes)[:2]


@pytest.fixture(scope="module")
def table(votes, systems):
    return fitting.methods(evidence_of(votes, systems), **FEW)


def test_stacks_are_each_system_each_family_all_and_all_with_yours(votes):
    systems = synthetic_systems(votes)
    other = [replace(one, name=f"o{one.seed}", family="other") for one in systems[:2]]
    mine = yours(votes)
    assert fitting.stacks([*systems, *other, mine]) == {
        **{one.name: [k] for k, one in enumerate([*systems, *other, mine])},
        "synthetic model, 3 seeds": [0, 1, 2], "other, 2 seeds": [3, 4],
        ALL: [0, 1, 2, 3, 4], WITH_YOURS: [0, 1, 2, 3, 4, 5],
    }  # fmt: skip
    assert fitting.stacks([]) == {}
    assert fitting.stacks([mine]) == {"mine": [0]}
    assert fitting.stacks([mine, yours(votes, "too")])[ALL] == [0, 1]
    apart = fitting.stacks([*systems, mine], alone=["synthetic model, seed 1"])
    assert (apart[ALL], apart[WITH_YOURS]) == ([0, 2], [0, 2, 3])
    assert apart["synthetic model, seed 1"] == [1]


def test_systems_are_joined_by_uid_on_the_items_that_all_have(votes, systems):
    n = len(votes)
    mixed = np.random.default_rng(0).permutation(n)
    one, other = on_items(systems[0], mixed), on_items(systems[1], mixed[mixed % 5 != 0])
    made = fitting.common_items(votes, [one, other])
    rows = np.flatnonzero(np.arange(n) % 5 != 0)
    assert made.votes.uids == tuple(votes.uids[row] for row in rows)
    assert np.array_equal(made.votes.counts, votes.counts[rows])
    for place, system in enumerate(systems):
        expected = np.log(np.maximum(system.probabilities[rows], 1e-9))
        np.testing.assert_allclose(made.logs[:, place], expected)
    assert np.array_equal(made.groups, item_groups([votes])[0][rows])
    with pytest.raises(ChaosError, match="no item in common"):
        fitting.common_items(votes, [on_items(one, range(50)), on_items(one, range(60, 90))])


def test_a_system_that_has_learned_from_votes_is_no_input(votes, systems):
    soft = yours(votes, "soft", trained_on=(votes_of(votes.dataset),), out_of_fold=True)
    made = fitting.common_items(votes, [*systems, soft])
    assert [one.name for one in made.systems] == [one.name for one in systems]
    rows = fitting.methods(evidence_of(votes, [systems[0], soft]), **FEW).rows
    (row,) = rows[rows["inputs"] == "soft"].to_dict("records")
    assert (row["map"], row["origin"]) == (ON_VOTES, "yours")
    drawn = fitting.drawn_rows(rows).set_index("label")
    assert drawn.loc["soft", "group"] == "text"  # with what is fitted on votes
    assert "soft" not in set(fitting.by_map(rows)["inputs"])
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        fitting.common_items(votes, [*systems, replace(soft, out_of_fold=False)])


def test_as_it_is_has_the_system_s_own_scores(votes, systems, table):
    rows = table.rows[table.rows["map"] == AS_IT_IS].set_index("inputs")
    found = score(votes, systems, measures=fitting.MEASURES).set_index(["system", "measure"])
    for system in systems:
        for name in fitting.MEASURES:
            expected = found.loc[(system.name, name), "value"]
            assert rows.loc[system.name, name] == pytest.approx(expected)
    mean = computed("mean", votes, np.mean([one.probabilities for one in systems], axis=0))
    expected = score(votes, [mean], measures=["jsd"])["value"].item()
    assert rows.loc[ALL, "jsd"] == pytest.approx(expected)
    people = worth(votes, mean, n_resamples=20, level=0.9).estimates[PEOPLE]
    found = rows.loc[ALL, ["people", "people_low", "people_high"]]
    assert found.tolist() == pytest.approx([people.value, people.low, people.high])


def test_ways_to_learn_are_those_of_one_encoder(votes, systems):
    trained = [
        replace(one, name=f"A, {name}", family=f"A, {name}", seed=0)
        for one, name in zip(systems, ("smoothing 0.1", "vote shares, 5 folds"), strict=True)
    ]
    trained[1] = replace(trained[1], trained_on=(votes_of(votes.dataset),), out_of_fold=True)
    plain = [replace(one, name=f"A, seed {one.seed}", family="A") for one in systems]
    rows = fitting.methods(evidence_of(votes, [*plain, *trained, yours(votes)]), **FEW).rows
    found = fitting.drawn_training_rows(rows, "A")
    of_label = found.groupby("label")["map"].agg(list).to_dict()
    both = [AS_IT_IS, "quadratic"]
    assert of_label == {
        "A": both, "A, 2 seeds": both, "A, smoothing 0.1": both, "A, T = 2": [FIXED],
        "A, vote shares": [ON_VOTES], "perfect model": ["perfect model"],
        "second crowd": ["second crowd"],
    }  # fmt: skip
    doubled = plain[0].at_temperature(2.0).aligned_to(votes)
    expected = MEASURES["jsd"].value(doubled)
    assert found.set_index("label").loc["A, T = 2", "jsd"] == pytest.approx(expected)
    assert not len(fitting.drawn_training_rows(rows, "B"))


def test_the_base_rate_for_kl_is_the_mean_share_of_the_other_folds(votes, table):
    groups = item_groups([votes])[0]
    folds = folds_of(groups)
    predicted = np.stack([votes.shares[folds != fold].mean(axis=0) for fold in folds])
    expected = score(votes, [computed("", votes, predicted)], measures=["jsd"])["value"].item()
    rows = table.rows[(table.rows["map"] == BASE_RATE) & (table.rows["access"] == "text")]
    assert rows.set_index("objective").loc["kl", "jsd"] == pytest.approx(expected, abs=1e-5)


def test_neither_the_order_of_a_file_nor_the_book_s_variants_change_other_votes(votes, systems):
    variants = fitting.variants()
    assert {kind_of(run) for run in variants} == {"smoothing", "predicted", "votes"}
    one = systems[0]
    mixed = on_items(one, np.random.default_rng(1).permutation(len(votes)))
    found = fitting.methods(evidence_of(votes, [one]), **FEW).rows
    other = fitting.methods(evidence_of(votes, [mixed]), variants=variants, **FEW).rows
    pd.testing.assert_frame_equal(found, other)


def test_other_labels_few_votes_and_no_systems(others):
    for some in others:
        found = fitting.methods(evidence_of(some, [yours(some)]), **FEW)
        rows = found.rows[found.rows["inputs"] == "mine"]
        assert set(rows["map"]) == {AS_IT_IS, FIXED, *KINDS}
        assert rows["jsd"].notna().all()
    alone = fitting.methods(evidence_of(some, []), **FEW).rows
    assert set(alone["map"]) <= {BASE_RATE, "perfect model", "second crowd"}
    assert (alone["map"] == BASE_RATE).sum() == len(fitting.objectives_for(some))
    assert len(fitting.curve(evidence_of(some, []), repeats=1, seed=0)) == 0
    assert set(fitting.by_map(alone)["inputs"]) == {""}


def test_a_map_is_carried_over_from_the_other_datasets(sample):
    several = [first_items(votes, 100) for votes in sample[:2]]

    def carried(**given):
        pool = evidence_on(several, lambda votes: given[votes.dataset.name]).pooled()
        return fitting.carried_over(pool).rows

    snli, mnli = map(synthetic_systems, several)
    rows = carried(snli=snli, mnli=mnli)
    another_order_and_one_more = [*mnli[::-1], yours(several[1])]
    pd.testing.assert_frame_equal(rows, carried(snli=snli, mnli=another_order_and_one_more))
    assert set(rows["dataset"]) == {"snli+mnli"}
    row = rows.set_index("judged_on").loc["snli"]
    mean = np.mean([one.probabilities for one in snli], axis=0)
    logs = [log_probabilities(np.stack([one.probabilities for one in some], axis=1))
            for some in (snli, mnli)]  # fmt: skip
    fitted = fit_map(logs[1], several[1].shares, kind="quadratic")
    folds = folds_of(item_groups(several[:1])[0])
    own = predict_out_of_fold(
        logs[0], several[0].shares, folds, kind="quadratic", objective="jsd"
    )  # fmt: skip
    predictions = {"as_it_is": mean, "other": fitted.predict(logs[0]), "same": own}
    for name, predicted in predictions.items():
        system = computed("", several[0], predicted)
        found = score(several[0], [system], measures=["jsd", "dist_ce"]).set_index("measure")
        jsd, apart = found["value"].loc[["jsd", "dist_ce"]]
        assert row[f"jsd_{name}"] == pytest.approx(jsd, abs=1e-6)
        assert row[f"misplaced_{name}"] == pytest.approx(100 * apart, abs=1e-4)
    assert len(carried(snli=snli, mnli=[])) == 0


def test_one_table_sets_the_maps_side_by_side_and_the_figure_their_stack(votes, systems, table):
    rows = table.rows.set_index(["access", "inputs", "map", "objective"])["jsd"]
    shown = fitting.by_map(table.rows)
    header, cells = lay_out(shown, fitting.columns_of(shown), index=["dataset", "inputs"])
    assert header[3] == ["from the text alone", "temperature"]
    # A family by its first seed, after the stack.
    assert [line[1] for line in cells] == [ALL, systems[0].name, "none (base rate)"]
    for place, kind in ((3, "temperature"), (4, "affine")):
        assert cells[0][place].strip("*") == f"{rows['text', ALL, kind, 'jsd']:.3f}"
    assert cells[2][5].startswith(f"{rows['text', '', BASE_RATE, 'jsd']:.3f} [")
    assert cells[0][7].strip("*") == f"{rows['old label', ALL, 'quadratic', 'jsd']:.3f}"
    assert cells[2][3] == "–"
    drawn = fitting.drawn_rows(table.rows)
    assert not drawn.duplicated(["group", "label"]).any()
    stacked = drawn[drawn["inputs"] == ALL].groupby("group")["map"].agg(set).to_dict()
    assert stacked == {
        "no votes": {AS_IT_IS}, "text": {"quadratic"}, "old label": {"quadratic"},
    }  # fmt: skip


def test_the_curve_ends_where_the_method_is(votes, systems, table):
    rows = table.rows[(table.rows["inputs"] == ALL) & (table.rows["access"] == "text")]
    recipe = rows[rows["map"] == "quadratic"].set_index("objective")["jsd"]
    evidence = evidence_of(votes, systems)
    curve = fitting.curve(evidence, repeats=2, seed=0).rows
    folds = folds_of(item_groups([votes])[0])
    fewest = min((folds != fold).sum() for fold in range(FOLDS))
    assert curve["n_fitted"].max() == fewest
    assert (curve["whole"] == (curve["n_fitted"] == fewest)).all()
    chosen = curve[curve["recipe"]]
    assert (chosen["objective"] == np.where(chosen["n_votes"] >= 20, "jsd", "kl")).all()
    ends = curve[curve["whole"] & (curve["n_votes"] == 100)].set_index("objective")
    assert ends["distance"].to_dict() == pytest.approx(recipe.to_dict(), abs=0.004)
    apart = 100 * rows[rows["map"] == "quadratic"].set_index("objective")["dist_ce"]
    assert ends["misplaced"].to_dict() == pytest.approx(apart.to_dict(), abs=0.5)
    drawn = fitting.drawn_curve_rows(curve)
    assert not drawn.duplicated(["dataset", "n_fitted", "n_votes"]).any()
    at_most = drawn[drawn["n_votes"] == 100].set_index("n_fitted")["distance"]
    assert at_most.iloc[0] > at_most.iloc[-1]


def test_what_a_system_adds_is_what_the_stack_loses_without_it(votes, systems):
    near = 0.98 * votes.shares + 0.02 / votes.dataset.n_classes
    mine = replace(computed("mine", votes, near, origin="released"), paper="nie2020")
    copy = replace(mine, name="copy", family="copy")
    found = fitting.contributions.function(
        votes, [*systems, mine, copy], n_resamples=200, seed=0
    ).set_index("left_out")
    assert list(found.index) == [
        "those of Nie et al. 2020", "synthetic model, 2 seeds", "mine", "copy"
    ]  # fmt: skip
    assert found.loc["those of Nie et al. 2020", ["n_systems", "verdict"]].tolist() == [2, "adds"]
    assert abs(found.loc["mine", "value"]) < found.loc["those of Nie et al. 2020", "value"] / 2
    folds = folds_of(item_groups([votes])[0])

    def distance(several):
        made = fitting.common_items(votes, several)
        predicted = predict_out_of_fold(
            made.inputs(range(len(several))), votes.shares, folds, kind="quadratic"
        )
        return MEASURES["jsd"].value(computed("", votes, predicted).aligned_to(votes))

    expected = distance(systems) - distance([*systems, mine, copy])
    assert found.loc["those of Nie et al. 2020", "value"] == pytest.approx(expected, abs=1e-6)
    alone = fitting.contributions.function(votes, systems, n_resamples=200, seed=0)
    assert alone.empty


def test_sets_hold_new_votes_and_a_better_prediction_makes_them_smaller(votes, systems, others):
    mine = yours(votes)
    table = fitting.label_sets(evidence_of(votes, [*systems, mine]), n_splits=10, seed=0)
    rows = table.rows.set_index("system")
    assert list(rows.index) == [
        BASE_RATE, fitting.THEMSELVES, systems[0].name, "mine", ALL
    ]  # fmt: skip
    # Few items: up to a vote and an item too much.
    assert rows["new_vote_held"].between(0.89, 0.95).all()
    assert (rows["most_votes_held"] > 0.88).all()
    sizes = rows[["new_vote_size", "most_votes_size"]]
    assert sizes.loc[systems[0].name].lt(sizes.loc["mine"]).all()  # half of it is noise
    assert sizes.le(sizes.loc[BASE_RATE] + 0.05).all(axis=None)
    assert (sizes["new_vote_size"] < sizes["most_votes_size"]).all()
    shown = list(fitting.shown_sets(table.rows)["system"])
    assert shown == [fitting.THEMSELVES, ALL, systems[0].name, BASE_RATE]
    for some in others:
        found = fitting.label_sets(evidence_of(some, []), n_splits=2, seed=0).rows
        assert set(found["system"]) == {BASE_RATE, fitting.THEMSELVES}
        assert found["new_vote_size"].between(1, some.dataset.n_classes).all()
        assert found["most_votes_size"].isna().all() == some.are_few


def test_no_text_helps_to_choose_its_own_threshold(votes, systems, monkeypatch):
    twice = replace(
        votes, texts=tuple(votes.texts[k - k % 2] for k in range(len(votes))), other_sources=()
    )
    groups, seen = item_groups([twice])[0], []
    monkeypatch.setattr(
        fitting, "_sets_on_halves",
        lambda p, h, half, share: (seen.append(half), (1.0, np.ones(len(half))))[1],
    )  # fmt: skip
    fitting.label_sets.function(twice, systems, n_splits=3, seed=0)
    assert len({half.tobytes() for half in seen}) == 3
    for half in seen:
        assert 0.4 < half.mean() < 0.6
        assert not set(groups[half == 0]) & set(groups[half == 1])


@pytest.mark.parametrize("name", ["snli", "mnli", "alphanli"])
def test_sets_hold_votes_on_texts_that_neither_map_nor_threshold_has_seen(name, released):
    """A fifth of the texts is left out of all fits, in turn."""
    part = next(one for one in gather("released", []).named(name))
    items = fitting.common_items(part.votes[0], part.systems[0])
    logs, shares = items.inputs(range(len(items.systems))), items.votes.shares
    held, sizes, most = [], [], []
    for left_out in range(0, FOLDS, 2):
        is_new = np.isin(items.folds, (left_out, left_out + 1))
        p = predict_out_of_fold(
            logs[~is_new], shares[~is_new], items.folds[~is_new], kind="affine", objective="kl"
        )
        new = fit_map(logs[~is_new], shares[~is_new], kind="affine", objective="kl").predict(
            logs[is_new]
        )
        sets = sets_of_labels(new, p, shares[~is_new], 0.9)
        held.extend((shares[is_new] * sets).sum(axis=1))
        sizes.extend(sets.sum(axis=1))
        sets = sets_of_labels(new, p, shares[~is_new], 0.9, held=0.9)
        most.extend((shares[is_new] * sets).sum(axis=1) >= 0.9 - 1e-9)
    assert np.mean(held) == pytest.approx(0.9, abs=0.015)
    assert np.mean(most) == pytest.approx(0.9, abs=0.03)
    assert np.mean(sizes) < {"snli": 1.65, "mnli": 2.0, "alphanli": 1.3}[name]
