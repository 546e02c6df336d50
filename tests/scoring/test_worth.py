"""What systems are worth on votes: in words, where it is undefined, and on published data."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import made_dataset, made_votes, part_of, votes_from

from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import draw_votes
from chaos_utils.scoring.beside import part_of as votes_on
from chaos_utils.scoring.systems import computed, released_systems, uniform
from chaos_utils.scoring.worth import NAMES, PEOPLE, Estimate, Worth, in_a_sentence, worth

ITEMS = 300


@pytest.fixture(scope="module")
def simulated(sample):
    rng = np.random.default_rng(0)
    truths = rng.dirichlet((0.9, 0.7, 0.5), ITEMS)
    return truths, votes_from(sample[0], rng.multinomial(20, truths))


def said(votes, values, **options):
    found = worth(votes, computed("one", votes, values), n_resamples=200, **options)
    return found, {name: found.text(name) for name in found.estimates}


def test_a_system_is_worth_more_than_the_base_rate_less_or_more_than_voted(simulated):
    truths, votes = simulated
    _, text = said(votes, np.full((ITEMS, 3), 1 / 3))
    assert text["people_on_top"].startswith("below the base rate [−")
    assert text["people_on_top_trusted"] == "0.0 [0.0, 0.0]"
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
        (3.0, np.nan, np.nan, "3.0"),
    ):
        assert Worth(9, 20, False, "why", people=Estimate(*numbers)).text(NAMES[0]) == text


def test_a_sentence_says_what_is_known_and_how_it_compares():
    given = {"people": Estimate(-0.97, -1.1, -0.84), "people_trusted": Estimate(25, 12, np.inf)}
    given |= {"skill": Estimate(-0.63), "skill_trusted": Estimate(0.98)}
    found = Worth(9, 20, False, credibility=0.5, **given)

    def sentence(one, left_out=()):
        rows = [row | {"system": "mine"} for row in one.rows if row["measure"] not in left_out]
        return in_a_sentence(rows, "SNLI")

    assert sentence(found) == (
        "On SNLI, mine is worth, in people on top of the base rate, −1.0 [−1.1, −0.8] (below the "
        "base rate; skill −0.63) as it is and 25 [12, ∞] (more than voted; skill 0.98) with one λ "
        "fitted on other items; a second crowd is worth 20 (skill 0.98)."
    )
    assert "base rate, 25 [12, ∞] (more than voted) with" in sentence(
        found, ("skill_trusted", PEOPLE)
    )
    labels = replace(found, is_hard=True)
    assert "base rate, 25 [12, ∞] (more" in sentence(labels)
    unknown = Worth(9, 20, False, "the items hardly differ")
    assert sentence(unknown).endswith("on SNLI is undefined: the items hardly differ.")


def test_one_label_per_item_is_compared_once_it_is_trusted(simulated):
    truths, votes = simulated
    labels = np.random.default_rng(2).multinomial(1, truths)
    found, text = said(votes, labels)
    assert list(text) == ["people_on_top_trusted", "skill_trusted", "human_equivalent_brier"]
    assert found.people_trusted.low < 1 < found.people_trusted.high
    assert found.skill.value < 0 < found.skill_trusted.value  # as people are, one at a time


def test_items_that_share_a_text_are_left_out_together(sample):
    votes = sample[0]
    texts = tuple({**one, "premise": str(i // 4)} for i, one in enumerate(votes.texts))
    wide = replace(votes, texts=texts)
    one = uniform(votes)
    assert worth(replace(votes, texts=()), one).skill.value != worth(wide, one).skill.value
    single = replace(votes, texts=tuple({**one, "premise": "a"} for one in texts))
    assert "at least two texts" in worth(single, one).text("skill")


def test_what_is_undefined_is_said(sample):
    for counts, why, defined in (
        (np.tile([10, 0, 0], (20, 1)), "hardly differ", []),
        (np.eye(3, dtype=int)[np.arange(30) % 3] * 5, "nobody disagrees", [NAMES[2], NAMES[3]]),
    ):
        votes = votes_from(sample[0], counts)
        found, text = said(votes, np.tile([0.5, 0.3, 0.2], (len(counts), 1)))
        assert why in text["people_on_top"]
        assert [name for name in NAMES if not text[name].startswith("undefined")] == defined
        assert np.isnan(found.people.value)


def test_two_labels_do(tmp_path):
    votes = made_votes(made_dataset(labels=("yes", "no")), n=60, old_labels=False)
    found, _ = said(votes, votes.shares * 0.8 + 0.1)
    assert found.skill_trusted.value == pytest.approx(1, abs=0.05)
    assert found.trust == pytest.approx(1 / 0.8)


# V/d, people on top and skill as it is; people and skill trusted: statistics of ChaosNLI's votes.
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
        trusted = (found.people_trusted, found.skill_trusted)
        for one, known in zip(
            (found.pooled, found.people, found.skill, *trusted), expected, strict=True
        ):
            near = 0.0051 + 0.03 * (known == 1.5)
            assert known is None or one.value == pytest.approx(known, abs=near)
    known = {"snli": (1.23, 0.45), "mnli": (2.53, 0.28), "alphanli": (0.54, 0.65)}
    for dataset, expected in known.items():
        found = worth(by_name[dataset], uniform(by_name[dataset]), n_resamples=0)
        assert (found.credibility, 1 / (1 + found.credibility)) == pytest.approx(
            expected, abs=0.005
        )


@pytest.mark.parametrize(("n_votes", "expected"), [(100, (92, 88, 95)), (5, (68, 53, 77))])
def test_the_truth_itself_has_no_full_simbench_score(released, n_votes, expected):
    """With the released shares for the truth, judged by votes that are drawn from it."""
    rng = np.random.default_rng(0)
    for votes, score in zip(released, expected, strict=True):
        drawn = replace(votes, counts=frozen(draw_votes(votes.shares, n_votes, rng)))
        judged = computed("truth", votes, votes.shares).aligned_to(drawn)
        assert MEASURES["simbench"].value(judged) == pytest.approx(score, abs=1.5)
