from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.predictions import part_of

from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.pools import pool_systems, pool_votes
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import oracle, uniform


def test_a_pool_has_every_item_and_what_all_of_it_have(sample):
    several = sample[:2]
    pool = pool_votes(several)
    assert pool.dataset.name == "snli+mnli"
    assert len(set(pool.uids)) == len(pool) == sum(map(len, several))
    np.testing.assert_array_equal(pool.counts, np.concatenate([one.counts for one in several]))
    assert pool.old_label.tolist() == [label for one in several for label in one.old_label]
    lacking = replace(several[1], given_old_label=None)
    assert not pool_votes([several[0], lacking]).has_old_labels


def test_pooled_systems_are_scored_as_the_mean_over_all_items(sample):
    several = sample[:2]
    half = part_of(uniform(several[0]), slice(None, None, 2))
    alone = replace(uniform(several[1]), name="alone")
    systems = [[half, oracle(several[0])], [alone, oracle(several[1]), uniform(several[1])]]
    pooled = pool_systems(several, systems)
    assert [one.name for one in pooled] == ["uniform guess", "oracle"]
    found = score(pool_votes(several), pooled, measures=["jsd"]).set_index("system")
    both = zip(several, (half, systems[1][2]), strict=True)
    parts = pd.concat([score(votes, [one], measures=["jsd"]) for votes, one in both])
    even, n = found.loc["uniform guess"], parts["n_items"]
    assert even["value"] == pytest.approx(np.average(parts["value"], weights=n))
    assert even["n_items"] == n.sum() < found.loc["oracle", "n_items"]


def test_a_system_that_learned_from_the_votes_of_one_is_refused(sample):
    snli, mnli = sample[:2]
    taught = replace(oracle(mnli), trained_on=("votes of mnli",))
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        pool_systems([snli, mnli], [[oracle(snli)], [taught]])
