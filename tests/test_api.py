"""`import chaos_utils as chaos`: what it offers, what it refuses, and what it does not import."""

import re
import subprocess
import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from helpers.checkout import PROJECT, chaos_environment
from helpers.faults import fields_of, refused
from helpers.predictions import blurred, write_shares
from helpers.rows import write_dataset

import chaos_utils as chaos


@pytest.fixture(scope="module")
def votes():
    return chaos.load("snli", "sample")


@pytest.fixture(scope="module")
def even(votes):
    return np.full(votes.shares.shape, 1 / votes.dataset.n_classes)


def test_every_public_name_is_there_and_listed():
    assert set(dir(chaos)) == set(chaos.__all__)
    for name in chaos.__all__:
        assert getattr(chaos, name)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert chaos.__version__ == project["version"]
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        chaos.evaluat  # noqa: B018


def test_a_table_of_scores_of_arrays_and_systems(votes, even):
    given = {"model": blurred(votes), "even": even}
    table = chaos.evaluate(votes, given, measures=["jsd", "new_accuracy"])
    assert list(table["system"]) == ["model", "model", "even", "even"]
    assert table["value"].between(table["low"], table["high"]).all()
    model = chaos.make_system("model", votes, blurred(votes))
    alone = chaos.evaluate(votes, model, measures="jsd", resamples=0)
    assert alone["value"].item() == pytest.approx(table["value"][0])
    assert alone["low"].isna().all()


def test_one_seed_gives_one_table(votes, even):
    one, other = chaos.make_system("a", votes, blurred(votes)), chaos.make_system("b", votes, even)

    def intervals(seed):
        given = {"measures": "jsd", "resamples": 50, "seed": seed}
        (alone,) = chaos.evaluate(votes, one, **given).itertuples()
        (found,) = chaos.compare(one, other, votes, **given).itertuples()
        assert (found.system, found.reference) == ("a", "b")
        assert found.low < found.value < found.high < 0  # a minus b
        return np.array([alone.low, found.low])

    assert (intervals(1) == intervals(1)).all()
    assert (intervals(1) != intervals(2)).all()


def test_how_many_people_systems_are_worth(votes, even):
    given = {"blurred": blurred(votes), "even": even}
    table = chaos.worth(votes, given, resamples=50)
    systems = ["blurred", "even", "uniform guess", "base rate"]
    assert list(table["system"]) == [name for name in systems for _ in range(7)]
    value = table.set_index(["system", "measure"])["value"]
    mapped = value["blurred"].index.str.endswith("recalibrated")  # of 300 items, there is no map
    assert value["blurred"][mapped].isna().all()
    assert (value["blurred"] > value["even"])[~mapped].all()
    assert value["base rate", "people_on_top"] == 0
    assert chaos.worth(votes, given, resamples=0)["low"].isna().all()
    assert len(chaos.human_equivalents(votes, given, resamples=50)) == 8
    (alone,) = chaos.human_equivalents(
        votes, given, measures="human_equivalent_tvd", judges=10, resamples=0
    ).query("system == 'even'").itertuples()  # fmt: skip
    assert (alone.n_judges, alone.n_items) == (10, len(votes))
    assert np.isnan(alone.low)


def test_files_are_read_with_votes_or_with_a_dataset(votes, tmp_path):
    path = write_shares(tmp_path / "mine.csv", votes, blurred(votes))
    (given,) = chaos.read_predictions(path, votes)
    (named,) = chaos.read_predictions(str(path), dataset="snli", data="sample")
    (found,) = chaos.read_predictions(path, data="sample")
    assert given.name == named.name == found.name == "mine"
    np.testing.assert_array_equal(given.probabilities, found.probabilities)
    write_shares(path, votes, 100 * blurred(votes))
    with pytest.raises(chaos.ChaosError, match="divide by 100"):
        chaos.read_predictions(path, votes)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda even: even[:-1], "shape (299, 3)"),
        (lambda even: np.log(even), "row 0, sample-snli-000, [-1.09"),
        (lambda even: np.where(np.arange(300)[:, None] == 7, np.nan, even), "row 7, sample-snli-0"),
        (lambda even: even.astype(str), "values of type <U"),
        (lambda even: [*even[:-1].tolist(), [0.5, 0.5]], "rows of different lengths"),
    ],
)
def test_an_array_that_does_not_fit_is_refused_by_name(votes, even, change, found):
    with refused(any="'my model'", found=found) as fault:
        chaos.evaluate(votes, {"my model": change(even)})
    assert re.search(r"shape \(300, 3\)|sum 1", fields_of(fault.value)["expected"])


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("argument dataset is of the wrong type", lambda v, m: chaos.load(None)),
        ("argument measures is of", lambda v, m: chaos.evaluate(v, m, measures=3)),
        ("found:     resamples='a'", lambda v, m: chaos.evaluate(v, m, resamples="a")),
        ("did you mean 'snli'", lambda v, m: chaos.load("snly")),
        ("pass it as data=", lambda v, m: chaos.load(str(PROJECT / "pyproject.toml"))),
        ("argument votes is of", lambda v, m: chaos.read_predictions("m.csv", "snli")),
        ("argument answers is of", lambda v, m: chaos.read_predictions("m.csv", v, answers={0: 1})),
        ("This is not a system", lambda v, m: chaos.evaluate(v, v.shares)),
        ("There is no system", lambda v, m: chaos.evaluate(v, [])),
        ("A system needs a name", lambda v, m: chaos.evaluate(v, {"a\x1b[31m": v.shares})),
        ("No measure is named", lambda v, m: chaos.evaluate(v, m, measures=[])),
        ("A measure is named twice", lambda v, m: chaos.evaluate(v, m, measures=["jsd", "jsd"])),
        ("at least 20", lambda v, m: chaos.evaluate(v, m, resamples=5)),
        ("seed is out of range", lambda v, m: chaos.evaluate(v, m, seed=-1)),
        ("argument b is of", lambda v, m: chaos.compare(m, v.shares, v)),
        ("needs resamples", lambda v, m: chaos.compare(m, replace(m, name="b"), v, resamples=0)),
        ("argument epsilon is of", lambda v, m: chaos.replacement(v, m, epsilon="a", reason="b")),
        ("argument reason is of", lambda v, m: chaos.replacement(v, m, epsilon=0.1, reason=2)),
        ("not known who gave", lambda v, m: chaos.replacement(v, m, epsilon=0.1, reason="b")),
        ("Unknown measure", lambda v, m: chaos.human_equivalents(v, m, measures="jsd")),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_error(votes, message, call):
    system = chaos.make_system("model", votes, blurred(votes))
    with pytest.raises(chaos.ChaosError, match=message):
        call(votes, system)


def test_a_light_install_is_enough_to_evaluate(tmp_path, votes):
    """A package that is None in `sys.modules` is, to Python, not installed."""
    folder = write_dataset(tmp_path / "data")
    three = chaos.load("snli", folder)
    write_shares(tmp_path / "mine.csv", three, blurred(three))
    code = """
import sys
import chaos_utils
assert not {"numpy", "pandas", "pydantic", "scipy", "typer", "yaml"} & set(sys.modules)
sys.modules.update(dict.fromkeys(["matplotlib", "PIL", "bs4", "jupytext", "torch", "tqdm"]))
from chaos_utils.cli.__main__ import app
def call(*words):
    try:
        app([*words])
    except SystemExit as stop:
        return stop.code
    return 0
assert call("--help") == 0
assert not {"numpy", "pandas", "snakemake", "transformers"} & set(sys.modules)
given = ["evaluate", "mine.csv", "--data", "data", "--dataset", "snli"]
assert call(*given) == 0
assert call(*given, "--out", "out") == 2
assert call("finetune", "--model", "tiny-bert") == 2
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=chaos_environment(PROJECT),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pip install '.[book]'") == 1
    assert done.stderr.count("pip install '.[train]'") == 1
    assert not (tmp_path / "out").exists()
