"""The same predictions under every convention."""

import numpy as np
import pandas as pd
import pytest

from chaos_utils.analyses import conventions
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.scoring.systems import load_systems

under_every_convention = conventions.under_every_convention.function
FIRST = "synthetic model, seed 0"


@pytest.fixture(scope="module")
def table(sample):
    return under_every_convention(sample[0], load_systems(sample[0]), temperature=2.0)


def value(table, quantity, convention, system=FIRST):
    keys = {"quantity": quantity, "convention": convention, "system": system}
    return table.set_index(list(keys)).loc[[tuple(keys.values())], "value"].item()


def random_judged(seed, n=200, k=3):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(100, rng.dirichlet(np.ones(k) * 0.5), size=n)
    model = rng.dirichlet(np.ones(k), size=n)
    labels = rng.integers(0, k, size=(2, n))
    return EvalBatch(votes / 100, model, model.argmax(axis=1), votes.argmax(axis=1), labels[0])


def test_each_quantity_has_one_reference_and_each_convention_one_name():
    found = pd.DataFrame(conventions.every_convention(random_judged(0)))
    assert (found.groupby("quantity")["is_reference"].sum() == 1).all()
    assert not found.duplicated(["quantity", "convention"]).any()
    assert (found.loc[found["is_reference"], "used_by"] != "").all()


@pytest.mark.parametrize(
    ("quantity", "measure"),
    [
        ("Jensen–Shannon", "jsd"), ("KL", "kl"), ("EntCE", "ent_ce"), ("RankCS", "rank_cs"),
        ("accuracy, new majority", "new_accuracy"), ("ECE", "ece"), ("Brier score", "brier"),
    ],
)  # fmt: skip
def test_a_reference_is_the_measure_that_the_book_reports(quantity, measure):
    judged = random_judged(1)
    found = conventions.every_convention(judged)
    (reference,) = (c for c in found if c.quantity == quantity and c.is_reference)
    assert reference.value == pytest.approx(MEASURES[measure].value(judged), abs=1e-12)


def test_table_1_needs_the_conventions_of_its_paper(released):
    """Table 1 of Baan et al. (2022), seed 0; another convention prints another digit."""
    table = under_every_convention(released[0], load_systems(released[0]), temperature=2.0)

    last = "of tied labels the last, of tied votes the last"
    stated = "label as stated, gold as stored"
    for quantity, theirs, other, low, high in (
        ("accuracy, new majority", last, stated, 0.740, 0.740),
        ("EntCE", "nats", "bits", 0.305, 0.315),
        ("RankCS", "equal values by position", "tie-aware", 0.625, 0.626),
    ):
        ours = [value(table, quantity, one, "RoBERTa-base, seed 0") for one in (theirs, other)]
        assert [low <= round(one, 3) <= high for one in ours] == [True, False]


def test_the_oracle_and_a_floor_show_what_a_convention_does(sample, table):
    ece = "against the {}, 10 bins (a, b]"
    lacking = 1 - sample[0].shares.max(axis=1).mean()
    assert value(table, "ECE", ece.format("majority"), "oracle") == pytest.approx(lacking)
    assert value(table, "ECE", ece.format("vote shares"), "oracle") == pytest.approx(0, abs=1e-12)
    assert np.isinf(value(table, "KL", "model ‖ human, floor 0, nats"))
    floors = [value(table, "KL", f"model ‖ human, floor {f:g}, nats") for f in (1e-15, 1e-6, 1e-3)]
    assert floors[0] > floors[1] > floors[2]
    bits = table[(table["convention"] == "distance, bits") & (table["system"] == "uniform guess")]
    assert bits["relative"].iloc[0] == pytest.approx(1 / np.sqrt(np.log(2)))


def test_an_order_change_is_found_and_a_factor_makes_none():
    def changes(quantity, values):
        table = pd.DataFrame({"value": values, "convention": ["one", "two"] * 2})
        table = table.assign(dataset="snli", system=[*"aabb"], quantity=quantity)
        return conventions.order_changes(table.assign(is_reference=table["convention"] == "one"))

    (turned,) = changes("KL", [1, 5, 2, 3]).to_dict("records")
    assert [turned[name] for name in ("ahead", "behind", "convention")] == ["a", "b", "two"]
    assert changes("KL", [1, 2, 2, 4]).empty
    assert changes("RankCS", [1, 5, 2, 3])["ahead"].tolist() == ["b"]  # the higher the better
