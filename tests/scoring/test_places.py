"""The places of a system among others on the same items."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import drawn, on_items

from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.scoring import places
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.places import CountedDraws, Pool, place
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_RECALIBRATED, worth

N = 560
FEW = 200  # resamples


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(0).dirichlet((0.6, 0.6, 0.6), N)


@pytest.fixture(scope="module")
def votes(sample, truth):
    return drawn(sample[0], truth, 50)


@pytest.fixture(scope="module")
def systems(votes, truth):
    """Systems that know less and less, then one label per item, and one without twenty items."""
    rng = np.random.default_rng(1)
    found = []
    for k, spread in enumerate((0.3, 0.6, 0.65, 1.5)):
        shares = (truth + 0.02) * np.exp(spread * rng.normal(size=truth.shape))
        shares /= shares.sum(axis=1, keepdims=True)
        found.append(computed(f"system {k}", votes, shares, origin="released"))
    labels = np.eye(3)[found[0].predicted]
    part = on_items(replace(found[1], name="part"), np.arange(20, N))
    return [*found, replace(computed("labels", votes, labels), one_label=True), part]


@pytest.fixture(scope="module")
def pool(votes, systems):
    worths = [worth(votes, system, n_resamples=0) for system in systems]
    return Pool("all", votes, systems, worths, [{"name": system.name} for system in systems])


def test_a_system_is_ranked_with_all_that_compare_with_it(pool, votes, systems):
    mine = replace(systems[2], name="mine")
    placing = place(pool, mine, n_resamples=FEW, seed=3)
    order = np.argsort(votes.uids)
    for name, others in ((PEOPLE_RECALIBRATED, systems), (PEOPLE, [*systems[:4], systems[5]])):
        table = np.full((N, len(others) + 1), np.nan)
        for column, system in enumerate([*others, mine]):
            rows = system.rows_in(votes)
            table[rows, column] = worth(votes, system, n_resamples=0).by_item[name]
        draws = CountedDraws(3)
        expected = rank_sets(table[order].round(4), FEW, draws, highest_first=False)
        found = placing.sets[name]
        assert (found.best == expected.best).all()
        assert (found.worst == expected.worst).all()
        columns = placing.columns(name)
        assert (columns["place_best"], columns["place_worst"]) == (found.best[2], found.worst[2])
        assert columns["n_placed"] == len(others) + 1
        assert 1 < columns["place_best"] <= columns["place_worst"] < columns["n_placed"]


def test_one_label_has_a_place_recalibrated_alone(pool, systems):
    placing = place(pool, replace(systems[4], name="mine"), n_resamples=FEW)
    assert placing.columns(PEOPLE_RECALIBRATED)["n_placed"] == 7
    assert placing.columns(PEOPLE) == {}


def test_a_pool_takes_what_covers_nearly_all_of_its_items(pool, votes, systems):
    enough = N - N // 20
    assert pool.is_covered_by(on_items(systems[0], np.arange(enough)))
    assert not pool.is_covered_by(on_items(systems[0], np.arange(enough - 1)))


def test_the_page_has_each_distance_in_the_order_of_the_uids(votes, systems):
    items = np.arange(0, N, 1)[5:]
    part = part_of(votes, items)
    worths = [worth(part, system, n_resamples=0) for system in systems]
    pool = Pool("some", part, systems, worths, [{"name": system.name} for system in systems])
    order = sorted(votes.uids)
    made = places.page_pool(pool, order)
    uids = [order[position] for position in made["items"]]
    assert uids == sorted(part.uids)
    assert len(made["folds"]) == len(uids)
    for entry, system, result in zip(made["systems"], systems, worths, strict=True):
        assert (
            set(entry["distances"])
            == set(entry["worth"])
            == ({PEOPLE_RECALIBRATED} if system.one_label else {PEOPLE, PEOPLE_RECALIBRATED})
        )
        rows = system.rows_in(part)
        values = dict(zip((part.uids[row] for row in rows), result.by_item[PEOPLE], strict=True))
        for uid, found in zip(uids, entry["distances"].get(PEOPLE, ()), strict=False):
            if uid in values:
                assert found / places.SCALE == pytest.approx(values[uid], abs=0.51 / places.SCALE)
            else:
                assert found is None


def test_draws_begin_anew_with_their_seed_and_go_on_in_blocks():
    whole = CountedDraws(5).integers(70, size=(6, 70), dtype=np.int32)
    blocks = CountedDraws(5)
    parts = [blocks.integers(70, size=(n, 70), dtype=np.int32) for n in (2, 4)]
    assert (np.concatenate(parts) == whole).all()
    assert set(np.unique(whole)) <= set(range(70))
    assert (CountedDraws(6).integers(70, size=(6, 70), dtype=np.int32) != whole).any()
