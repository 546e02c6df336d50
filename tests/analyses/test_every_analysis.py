"""What every analysis keeps: keys tell rows apart, no item is shown, papers stand by their data."""

import importlib
import inspect
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of, first_items, on_items

import chaos_utils.analyses
from chaos_utils.datasets.votes import frozen
from chaos_utils.recorded import Analysis
from chaos_utils.scoring.systems import computed, synthetic_systems

# What an analysis is given for a parameter of this name: so little that all take seconds.
GIVEN = {
    "budget": 100, "majority_below": 0.6, "measures": ["jsd", "dist_ce"],
    "most": 50, "n_bins": 3, "n_draws": 1, "n_each": 2, "n_items": 3, "n_replays": 1,
    "n_resamples": 40,
    "n_seeds": 2, "n_shuffles": 9, "seed": 0, "shown_seed": 0, "step": 10, "temperature": 2.0,
}  # fmt: skip
# What takes tables, runs, companions, names, many votes or a paper's models or items, simulates or
# takes long.
ELSEWHERE = (
    "asking.", "calibration.temperature_", "ceilings.noise_ceiling", "collection.", "fitting.",
    "forecasts.", "machine_crowds.", "persons.again", "persons.groups", "persons.models",
    "published_scoreboard.allowed_by_accuracy", "results.size_effects", "soft_labels.", "train.",
    "trajectory.", "why.", "your_votes.near_bar", "your_votes.replacement",
)  # fmt: skip


def by_module():
    """Return those that are called here, by their modules."""
    found = {}
    for module in pkgutil.iter_modules(chaos_utils.analyses.__path__, "chaos_utils.analyses."):
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, Analysis) and not one.name.startswith(ELSEWHERE):
                found.setdefault(one.name.partition(".")[0], {})[one.name] = one
    return found


ANALYSES = by_module()


def called(analysis, votes, systems):
    takes = inspect.signature(analysis.function).parameters
    given = {name: GIVEN[name] for name in GIVEN.keys() & takes.keys()}
    return analysis(evidence_of(votes, systems), **given).rows


def mine(votes, items=slice(None)):
    """Return a reader's system, on all items or on some."""
    noise = np.random.default_rng(0).dirichlet(np.ones(votes.dataset.n_classes), len(votes))
    whole = computed("mine", votes, (votes.shares + noise) / 2, origin="yours")
    return on_items(whole, np.arange(len(votes))[items])


def with_votes(votes, n):
    """Return votes of so many people per item, of whom nothing is known."""
    drawn = np.random.default_rng(1).multinomial(n, votes.shares)
    majority = frozen(drawn.argmax(axis=1))
    return replace(votes, counts=frozen(drawn), majority=majority, annotations=None)


def check_rows(analysis, votes, rows):
    """Hold a table against what every one keeps."""
    assert not rows.duplicated(list(analysis.keys)).any(), analysis.name
    cells = {cell for column in rows for cell in rows[column] if isinstance(cell, str)}
    sentences = {sentence for text in votes.texts for sentence in text.values()}
    assert not cells & sentences, analysis.name
    if "uid" not in analysis.keys:
        assert not cells & set(votes.uids), analysis.name


@pytest.mark.parametrize("module", sorted(ANALYSES))
def test_analyses_of_any_votes(module, sample, others):
    few = first_items(sample[0], 60)
    given = [(few, synthetic_systems(few)[:2]), (few, [mine(few, slice(2, None))])]
    given += [(votes, [mine(votes)]) for votes in (*others, with_votes(others[0], 2))]
    for analysis in ANALYSES[module].values():
        found = [called(analysis, votes, systems) for votes, systems in given]
        for (votes, _), rows in zip(given, found, strict=True):
            check_rows(analysis, votes, rows)
            if votes is not few:  # no paper is about these votes
                beside = rows.filter(regex="published|^difference")
                assert beside.isna().all(axis=None), analysis.name
        assert any(map(len, found)), analysis.name
