"""What systems are worth on votes: in words, where it is undefined, and on published data."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import made_dataset, made_votes, part_of, votes_from

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import draw_votes
from chaos_utils.scoring.evaluate import part_of as votes_on
from chaos_utils.scoring.systems import (
    base_rate,
    computed,
    load_systems,
    original_votes,
    released_systems,
    uniform,
)
from chaos_utils.scoring.worth import (
    NAMES,
    PEOPLE,
    PEOPLE_RECALIBRATED,
    PEOPLE_SHRUNK,
    POOLED,
    SKILL,
    SKILL_RECALIBRATED,
    SKILL_SHRUNK,
    Estimate,
    Worth,
    in_a_sentence,
    of_predictions,
    worth,
)

ITEMS = 300
NOTHING = dict.fromkeys(NAMES, Estimate())


@pytest.fixture(scope="module")
def simulated(sample):
    rng = np.random.default_rng(0)
    truths = rng.dirichlet((0.9, 0.7, 0.5), ITEMS)
    return truths, votes_from(sample[0], rng.multinomial(20, truths))


def said(votes, values, **options):
    found = worth(votes, computed("one", votes, values), n_resamples=200, **options)
    return found, {name: found.text(name) for name in found.shown}


def test_a_system_is_worth_more_than_the_base_rate_less_or_more_than_voted(simulated):
    truths, votes = simulated
    _, text = said(votes, np.full((ITEMS, 3), 1 / 3))
    assert text["people_on_top"].startswith("below the base rate [−")
    assert text["people_on_top_shrunk"] == "0.0 [0.0, 0.0]"
    assert text["human_equivalent_brier"] != text["people_on_top"]
    _, text = said(votes, truths)
    assert text["human_equivalent_brier"].endswith("∞], more than voted")
    assert text["skill"].endswith("1.00]")
    half = slice(0, ITEMS, 2)
    part = part_of(computed("one", votes, truths), half)
    assert worth(votes, part) == worth(votes_on(votes, np.arange(ITEMS)[half]), part)


def test_worth_in_words():
    for *numbers, text in (
        (12.3, 9.96, 15.8, "12 [10, 16]"),
        (-0.04, -0.2, 0.04, "0.0 [−0.2, 0.0]"),
        (-0.97, -1.1, -0.84, "below the base rate [−1.1, −0.8]"),
        (np.inf, 44.0, np.inf, "∞ [44, ∞], more than voted"),
        (np.nan, np.nan, np.nan, "undefined: why"),
        (np.nan, np.nan, np.nan, "too few items to say: why"),
        (3.0, np.nan, np.nan, "3.0"),
    ):
        estimates = {**NOTHING, PEOPLE: Estimate(*numbers)}
        assert Worth(9, 20, False, text, estimates=estimates).text(PEOPLE) == text


def test_a_sentence_says_what_is_known_and_how_it_compares():
    given = NOTHING | {PEOPLE: Estimate(-0.97, -1.1, -0.84)}
    given |= {PEOPLE_SHRUNK: Estimate(25, 12, np.inf)}
    given |= {SKILL: Estimate(-0.63), SKILL_SHRUNK: Estimate(0.98)}
    mapped = given | {PEOPLE_RECALIBRATED: Estimate(30), SKILL_RECALIBRATED: Estimate(0.99)}
    found = Worth(9, 20, False, "", "too few items to say: 9", credibility=0.5, estimates=given)

    def sentence(one, left_out=()):
        rows = [row | {"system": "mine"} for row in one.rows if row["measure"] not in left_out]
        return in_a_sentence(rows, "SNLI")

    assert sentence(found) == (
        "On SNLI, mine is worth −1.0 people [−1.1, −0.8] on top of the base rate as it is (below "
        "the base rate; skill −0.63) and 25 [12, ∞] after shrinkage (more than voted; skill 0.98); "
        "a second crowd is worth 20 (skill 0.98)."
    )
    assert "and 30 after recalibration (more than voted; skill 0.99)" in sentence(
        replace(found, estimates=mapped)
    )
    alone = "25 people [12, ∞] on top of the base rate after shrinkage (more than voted"
    assert f"{alone})" in sentence(found, ("skill_shrunk", PEOPLE))
    labels = replace(found, is_hard=True)
    assert alone in sentence(labels)
    unknown = Worth(9, 20, False, "undefined: the items hardly differ")
    assert sentence(unknown).endswith("on SNLI: undefined: the items hardly differ.")


def test_one_label_per_item_is_compared_once_it_is_mapped(simulated):
    truths, votes = simulated
    labels = np.random.default_rng(2).multinomial(1, truths)
    found, text = said(votes, labels)
    assert list(text) == [name for name in NAMES if name not in (PEOPLE, SKILL)]
    assert found.estimates[PEOPLE_SHRUNK].low < 1 < found.estimates[PEOPLE_SHRUNK].high
    # As people are, one at a time.
    assert found.estimates[SKILL].value < 0 < found.estimates[SKILL_SHRUNK].value


def test_items_that_share_a_text_are_left_out_together(sample):
    votes = sample[0]
    texts = tuple({**one, "premise": str(i // 4)} for i, one in enumerate(votes.texts))
    wide = replace(votes, texts=texts)
    one = uniform(votes)
    assert (
        worth(replace(votes, texts=()), one).estimates[SKILL].value
        != worth(wide, one).estimates[SKILL].value
    )
    single = replace(votes, texts=tuple({**one, "premise": "a"} for one in texts))
    assert "at least two texts" in worth(single, one).text("skill")


def test_what_is_undefined_is_said(sample):
    alike, even = np.tile([10, 0, 0], (20, 1)), np.eye(3, dtype=int)[np.arange(900) % 3] * 5
    for counts, why in (
        (np.tile([5, 3, 2], (60, 1)), "undefined: the items hardly differ"),
        (alike, "too few items to say: people disagree on 0 of 20, and it takes 30"),
        (even[:30], "disagree on 0 of 30"),
        (even, "disagree on 0 of 900"),  # one item more would change everything
        (np.tile([5, 3, 2], (10, 1)), "disagree on 10 of 10"),
    ):
        some = np.resize(np.arange(len(sample[0])), len(counts))
        votes = votes_from(votes_on(sample[0], some), counts)
        found, text = said(votes, np.tile([0.5, 0.3, 0.2], (len(counts), 1)))
        assert why in text["people_on_top"]
        assert all("undefined" in text[n] or "too few" in text[n] for n in NAMES if n != POOLED)
        assert np.isnan(found.estimates[PEOPLE].value)


def test_one_vote_per_item_cannot_say_what_a_system_is_worth(sample):
    votes = votes_from(sample[0], np.eye(3, dtype=int)[np.arange(300) % 3])
    with pytest.raises(ChaosError, match="at least two votes"):
        said(votes, votes.shares)


def many(sample, n=1200, n_votes=30, seed=0):
    """Return truths and votes on many items, with texts of their own."""
    rng = np.random.default_rng(seed)
    truths = rng.dirichlet((0.9, 0.7, 0.5), n)
    part = votes_on(sample[0], np.resize(np.arange(len(sample[0])), n))
    part = replace(part, uids=tuple(map(str, range(n))), texts=())
    return truths, votes_from(part, rng.multinomial(n_votes, truths))


def test_recalibrated_worth_does_not_depend_on_a_temperature(sample):
    truths, votes = many(sample)
    noisy = np.exp(np.random.default_rng(1).normal(scale=0.5, size=truths.shape)) * truths
    system = computed("one", votes, noisy / noisy.sum(axis=1, keepdims=True))
    found = [worth(votes, system.at_temperature(t)) for t in (0.5, 1, 2)]
    mapped = [one.estimates[PEOPLE_RECALIBRATED].value for one in found]
    shrunk = [one.estimates[PEOPLE_SHRUNK].value for one in found]
    assert max(mapped) - min(mapped) < 0.1 * min(mapped)
    assert max(shrunk) - min(shrunk) > 0.2 * min(shrunk)
    assert (
        found[1].estimates[PEOPLE_RECALIBRATED].low
        < mapped[1]
        < found[1].estimates[PEOPLE_RECALIBRATED].high
    )


def test_what_was_fitted_out_of_fold_counts_as_recalibrated(sample):
    _, votes = many(sample, 120)
    found = worth(votes, base_rate(votes))
    assert found.estimates[PEOPLE_RECALIBRATED] == found.estimates[PEOPLE]
    assert found.estimates[PEOPLE].value == pytest.approx(0, abs=1e-9)


def test_a_map_takes_items_of_two_folds():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(9, rng.dirichlet(np.ones(3), 600))
    model, groups = np.full((600, 3), 1 / 3), np.arange(600) // 300
    found = of_predictions(counts, model, groups, np.zeros(600, dtype=int), n_resamples=0)
    assert "more texts" in found.text("people_on_top_recalibrated")


def test_too_few_items_for_a_map_are_said(sample):
    _, votes = many(sample, 499)
    system = uniform(votes)
    assert worth(votes, system).text("skill_recalibrated") == (
        "too few items to say: a map of 12 numbers takes 500 items, and these are 499"
    )


def test_two_labels_do(tmp_path):
    votes = made_votes(made_dataset(labels=("yes", "no")), n=60, old_labels=False)
    found, _ = said(votes, votes.shares * 0.8 + 0.1)
    assert found.estimates[SKILL_SHRUNK].value == 1
    assert found.shrinkage == pytest.approx(1 / 0.8)


# V/d, people on top and skill as it is; people and skill shrunk: statistics of ChaosNLI's votes.
EXPECTED = {
    ("snli", "uniform guess", 1): (1.05, -0.18, -0.17, 0, 0),
    ("mnli", "uniform guess", 1): (2.23, -0.30, -0.14, 0, 0),
    ("alphanli", "uniform guess", 1): (0.54, 0, 0, 0, 0),
    ("snli", "RoBERTa-base, seed 0", 1): (1.58, 0.34, 0.22, 1.5, 0.55),
    ("snli", "RoBERTa-base, seed 0", 2): (2.36, 1.13, 0.48, None, None),
    ("mnli", "RoBERTa-base, seed 0", 1): (1.55, -0.97, -0.63, 0.75, 0.23),
    ("mnli", "RoBERTa-base, seed 0", 2): (2.49, -0.03, -0.01, None, None),
}


def test_worth_on_the_published_votes_is_what_a_statistician_found(released):
    by_name = {votes.dataset.name: votes for votes in released}
    systems = {name: [uniform(one), *released_systems(one)] for name, one in by_name.items()}
    for (dataset, name, temperature), expected in EXPECTED.items():
        votes = by_name[dataset]
        (system,) = [one for one in systems[dataset] if one.name == name]
        found = worth(votes, system.at_temperature(temperature), n_resamples=0)
        shrunk = (found.estimates[PEOPLE_SHRUNK], found.estimates[SKILL_SHRUNK])
        for one, known in zip(
            (found.estimates[POOLED], found.estimates[PEOPLE], found.estimates[SKILL], *shrunk),
            expected,
            strict=True,
        ):
            near = 0.0051 + 0.03 * (known == 1.5)
            assert known is None or one.value == pytest.approx(known, abs=near)
    known = {"snli": (1.23, 0.45), "mnli": (2.53, 0.28), "alphanli": (0.54, 0.65)}
    for dataset, expected in known.items():
        found = worth(by_name[dataset], uniform(by_name[dataset]), n_resamples=0)
        assert (found.credibility, 1 / (1 + found.credibility)) == pytest.approx(
            expected, abs=0.005
        )


# People on top, recalibrated: another's computation.
RECALIBRATED = {
    ("snli", "DeBERTa-v3-large"): 2.73,
    ("snli", "ModernBERT-large"): 2.57,
    ("snli", "RoBERTa-base, seed 0"): 1.99,
    ("snli", "MiniLM-L6, seed 0"): 1.06,
    ("snli", "original votes"): 1.48,
    ("mnli", "DeBERTa-v3-large"): 3.77,
    ("mnli", "ModernBERT-large"): 4.00,
    ("mnli", "RoBERTa-base, seed 0"): 1.33,
    ("mnli", "original votes"): 4.14,
}


def test_recalibrated_worth_on_the_published_votes_is_what_a_statistician_found(released):
    for votes in released[:2]:
        for one in (*load_systems(votes), original_votes(votes)):
            if expected := RECALIBRATED.get((votes.dataset.name, one.name)):
                found = worth(votes, one, n_resamples=0)
                assert found.estimates[PEOPLE_RECALIBRATED].value == pytest.approx(
                    expected, abs=0.0151
                )


@pytest.mark.parametrize(("n_votes", "expected"), [(100, (92, 88, 95)), (5, (68, 53, 77))])
def test_the_truth_itself_has_no_full_simbench_score(released, n_votes, expected):
    """With the released shares for the truth, judged by votes that are drawn from it."""
    rng = np.random.default_rng(0)
    for votes, score in zip(released, expected, strict=True):
        drawn = replace(votes, counts=frozen(draw_votes(votes.shares, n_votes, rng)))
        judged = computed("truth", votes, votes.shares).aligned_to(drawn)
        assert MEASURES["simbench"].value(judged) == pytest.approx(score, abs=1.5)
