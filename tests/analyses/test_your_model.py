import shlex

import pytest
from helpers.evidence import as_released
from typer.testing import CliRunner

from chaos_utils.analyses import your_model
from chaos_utils.analyses.recorded import FOLDER
from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.scoring.systems import load_systems

NAME = "synthetic model, seed 1"


def in_process(command, folder, *, code):
    """Run a command as `transcript` does, without a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "80"})
    assert done.exit_code == code, done.output
    return f"$ {command}\n{done.output}"


@pytest.fixture(scope="module")
def transcript(sample):
    votes = sample[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(your_model, "transcript", in_process)
        given = {"system": NAME, "options": " --data sample"}
        table = your_model.commands.function(votes, load_systems(votes), **given)
    return table.groupby("part", sort=False)["text"].agg("\n".join)


def test_every_command_stands_above_its_answer(transcript, sample):
    header, first, *_ = transcript["file"].split("\n")
    assert header == "uid,entailment,neutral,contradiction"
    uid, *shares = first.split(",")
    assert uid == sample[0].uids[0]
    assert sum(map(float, shares)) == pytest.approx(1, abs=2e-4)
    assert list(transcript.index) == ["file", "evaluate", "compare", "gaps", "order"]
    assert transcript["evaluate"].startswith("$ chaos evaluate my-model.csv --data sample\n")
    assert "ChaosNLI-SNLI (synthetic sample), 300 items" in transcript["evaluate"]
    assert "softer − my-model" in transcript["compare"]
    assert max(map(len, transcript["evaluate"].split("\n"))) <= 80
    assert "3 of 300 items" in transcript["gaps"]
    assert "order" in transcript["order"]


@pytest.mark.slow
def test_a_record_of_it_holds_no_place_on_this_machine(sample, run_folder):
    votes = sample[2]
    evidence = as_released(votes, load_systems(votes))
    your_model.commands(evidence, system=NAME, options=" --data sample")
    (path,) = (run_folder / FOLDER).glob("*/*.csv")
    assert not any(place in path.read_text() for place in ("/home", "/tmp", str(run_folder)))


def test_flattening_is_what_the_command_answers(transcript, sample):
    votes = sample[0]
    table = your_model.flattened.function(votes, load_systems(votes), system=NAME)
    assert list(table["measure"]) == ["jsd", "kl", "sq_ce_votes"]
    line = transcript["compare"].partition("\nsofter − my-model")[2].partition("\n")[0]
    for value in table["value"]:
        assert f"{value:+.4f}".replace("-", "−") in line


def test_without_the_named_one_the_first_plays_the_model(sample):
    systems = load_systems(sample[0])
    assert your_model.your_model(systems, "nobody") is systems[0]
    with pytest.raises(ChaosError, match="needs a model"):
        your_model.your_model([], NAME)
