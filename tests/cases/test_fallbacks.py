"""What cannot be fitted on other items is not available, and nothing else stands in its row."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.commands import call, load

import chaos_utils as chaos
from chaos_utils.analyses import your_votes
from chaos_utils.analyses.power import pairs_of
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import frozen
from chaos_utils.scoring.systems import baselines

N = 40
FITTED = {"class prior", "base rate", "mean vote given the old label"}


@pytest.fixture
def described(tmp_path):
    """Return what writes votes whose first text is one of so many, and their YAML file."""

    def write(n_texts):
        rows = [
            {"item": f"m{k}", "annotator": f"w{v}", "label": ["no", "yes"][(k * v) % 3 == 0],
             "question": f"Question {k % n_texts}?", "gold": ["no", "yes"][k % 2]}
            for k in range(N) for v in range(4)
        ]  # fmt: skip
        (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "votes.yml").write_text(
            "name: tone\ntitle: Tone\nlabels: ['no', 'yes']\ntexts: [question]\n"
            "files: [{name: votes.jsonl}]\n"
            "reader: {format: long, annotator: annotator, old_label: gold}\n"
        )
        lines = [f"m{k},{0.4 + k / 200},{0.6 - k / 200}\n" for k in range(N)]
        (tmp_path / "model.csv").write_text("uid,no,yes\n" + "".join(lines))
        return tmp_path / "votes.yml"

    return write


def test_where_items_share_one_text_nothing_is_fitted(described):
    votes = load(described(1))
    assert not FITTED & {one.name for one in baselines(votes)}
    model = chaos.make_system("model", votes, np.full((N, 2), 0.5))
    found = chaos.worth(votes, model, resamples=0)
    assert set(found["system"]) == {"model", "uniform guess"}
    assert found["value"].isna().all()
    assert found["text"].str.startswith("undefined: a base rate").all()
    with pytest.raises(ChaosError, match="All items share one text"):
        chaos.replacement(votes, model, epsilon=0.1, reason="it is cheap")
    judged = your_votes.evaluation.function(votes, [model], most=100, n_resamples=0, seed=0)
    assert judged.loc[judged["system"].isin(FITTED), "value"].isna().all()
    assert your_votes.comparisons.function(votes, [model], n_resamples=50, seed=0).empty
    assert not pairs_of(votes, [model])


@pytest.mark.parametrize("form", ["", "--csv", "--markdown", "--latex"])
def test_the_row_of_a_base_rate_says_that_it_is_not_available(described, form):
    path = described(1)
    model = str(path.with_name("model.csv"))
    measures = ("--measures", "sq_distance,people_on_top", "--bootstrap", "50")
    done = call("evaluate", model, "--data", path, *measures, *filter(None, [form]))
    assert "base rate is not available: it is fitted on items of other texts" in done.output
    row = next(line for line in done.stdout.splitlines() if "base rate" in line[:40])
    assert not re.search(r"0\.[0-9]", row)


def test_a_part_of_the_items_may_share_one_text(described):
    path = described(2)
    model = path.with_name("model.csv")
    lines = model.read_text().splitlines()
    model.write_text("\n".join([lines[0], *lines[1::2]]))  # those of the first question
    options = ("--allow-missing", "--measures", "sq_distance", "--bootstrap", "50")
    done = call("evaluate", model, "--data", path, *options)
    assert "and 20 items of one text are all there is" in done.output


def test_with_fewer_texts_than_folds_each_text_is_one(described):
    votes = load(described(3))
    group = np.arange(N) % 3
    found = {one.name: one for one in baselines(votes)}
    expected = [votes.shares[group != one].mean(axis=0) for one in group]
    np.testing.assert_allclose(found["base rate"].probabilities, expected)
    given = found["mean vote given the old label"]
    assert given.notes == ("fitted on the votes of other items, in 3 folds by text",)
    old = votes.old_label
    expected = [
        votes.shares[(group != one) & (old == label)].mean(axis=0)
        for one, label in zip(group, old, strict=True)
    ]
    np.testing.assert_allclose(given.probabilities, expected)


@pytest.mark.parametrize(
    "make", [lambda k: chr(0x1F600 + k), lambda k: ":-" + ")" * k, lambda k: ""]
)
def test_emojis_and_items_without_a_text_do_not_share_one(described, make):
    path = described(N)
    rows = map(json.loads, path.with_suffix(".jsonl").read_text().splitlines())
    rows = [row | {"question": make(int(row["item"][1:]))} for row in rows]
    path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    votes = load(path)
    others = (votes.shares.sum(axis=0) - votes.shares) / (N - 1)
    found = {one.name: one for one in baselines(votes)}["base rate"]
    np.testing.assert_allclose(found.probabilities, others)


def test_an_old_label_that_only_one_fold_has_is_said(described):
    votes = load(described(N))
    lonely = replace(votes, given_old_label=frozen(np.arange(N) == 5))
    given = {one.name: one for one in baselines(lonely)}["mean vote given the old label"]
    assert "for 1 item whose old label" in given.notes[-1]
