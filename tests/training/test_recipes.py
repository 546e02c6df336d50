import shlex
from typing import get_args

import pytest
from helpers.checkout import PROJECT
from helpers.engine import small
from helpers.runs import write_run

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.parameters import read_parameters
from chaos_utils.scoring.training_records import Device, RecordedSettings, TrainingRecord
from chaos_utils.training.names import command_of, names_of
from chaos_utils.training.plans import plan_names, read_plan
from chaos_utils.training.recipes import get_model, recipe_of
from chaos_utils.training.settings import (
    Settings,
    chosen,
    complete,
    family_name,
    read_settings,
    recorded_settings,
)


def test_an_unknown_model_is_reported_with_the_ways_to_get_one():
    for name in ("minilm-l", "owner/"):
        with pytest.raises(ChaosError, match="come as packages"):
            get_model(name)
    assert get_model("owner/encoder").hub == "owner/encoder"


def test_what_is_not_given_comes_from_the_recipe():
    settings, _ = complete(Settings(model="minilm-l6", epochs=7, weight_decay=0.0))
    assert (settings.epochs, settings.weight_decay) == (7, 0.0)
    assert settings.learning_rate == recipe_of(get_model("minilm-l6"), "nli").learning_rate
    bart = recipe_of(get_model("bart-large"), "alphanli")  # as in Nie et al., Table 8
    assert (bart.batch_size, bart.weight_decay, bart.warmup_ratio) == (64, 0.01, 0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 2**31}, "seed: found 2147483648; expected at most 2147483647$"),
        ({"seed": -1, "epochs": "3"}, r"seed: .*at least 0\n.*epochs: .*a whole number$"),
        ({"learning_rate": 2.0}, "at most 1$"),
        ({"weight_decay": -0.5}, "at least 0$"),
        ({"loss": "gentle"}, "'hard', 'soft' or 'jsd'"),
        ({"loss": "soft"}, "teacher"),
        ({"teacher": "x"}, "loss=soft"),
        ({"head": "affine"}, "fitted to votes"),
        ({"head": "affine", "train": "chaosnli"}, "init=RUN"),
        ({"train": "chaosnli", "max_train_examples": 10}, "uses folds"),
        ({"train": ""}, "train: "),
        ({"train": "v.csv", "max_train_examples": 10}, "no subset: leave it out$"),
        ({"train": "v.csv", "teacher": "x"}, "learnt themselves"),
        ({"train": "v.csv", "dev_examples": 10}, "no development items"),
        ({"train": "v.csv", "data": "sample"}, "named by train"),
        ({"train": "v.csv", "task": "alphanli"}, "set the task"),
        ({"train": "v.csv", "pair": "reply"}, "name the first one"),
        ({"train": "v.csv", "text": "post", "pair": "post"}, "two fields"),
        ({"train": "v.csv", "held_out": 0.2, "n_folds": 3}, "n_folds and held_out"),
        ({"train": "v.csv", "held_out": 0.95}, "at most 0.9"),
        ({"train": "chaosnli", "text": "post"}, "text: only for your own votes"),
        ({"held_out": 0.2}, "held_out: only for your own votes"),
        ({"task": "votes"}, "add train=FILE"),
        ({"learning_rate": float("nan")}, "learning_rate"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, message):
    with pytest.raises(ChaosError, match=message):
        read_settings({"model": "tiny-bert", **given})


def test_a_record_gives_its_settings_back():
    settings, model = complete(Settings(model="tiny-bert", train="chaosnli", loss="soft", seed=3))
    assert read_settings(settings.model_dump()) == settings
    with pytest.raises(ChaosError, match="did you mean 'epochs'"):
        read_settings({"model": "tiny-bert", "epoch": 7})
    assert family_name(settings, model) == "tiny bert, vote shares alone, 5 folds"


def test_a_command_names_what_is_not_usual():
    given = {"train": "chaosnli", "init": "a b", "head": "kept", "patience": 0}
    settings = complete(Settings(model="minilm-l6", **given))[0]
    words = "--model minilm-l6 --train chaosnli --init 'a b' --head kept --patience 0"
    assert command_of(settings, "x") == f"chaos finetune {words} --out results/x"


@pytest.mark.parametrize("plan", ["", *plan_names()])
def test_the_command_of_every_wanted_run_says_all_that_was_asked_for(plan):
    for spec in read_plan(plan).runs:
        if spec.settings:
            asked = complete(read_settings(spec.settings))[0]
            words = iter(shlex.split(command_of(asked, spec.name))[2:])
            options = zip(words, words, strict=True)
            said = {name[2:].replace("-", "_"): value for name, value in options}
            del said["out"]
            assert complete(Settings.model_validate_strings(said, strict=False))[0] == asked, (
                spec.name
            )


def test_the_settings_of_every_edition_s_records_are_read():
    settings, _ = complete(Settings(model="tiny-bert", threads=2, dev_examples=40))
    values = settings.model_dump()

    def recorded(title):
        device = Device(title=title, precision="fp32")
        record = TrainingRecord.model_construct(settings=RecordedSettings(**values), device=device)
        return recorded_settings(record)

    assert recorded("CPU, 4 threads") == settings
    values["token_budget"] = 4096  # what earlier engines cut steps by
    for name in ("threads", "trainer", "head"):
        del values[name]
    earlier = recorded("CPU, 4 threads")
    assert (earlier.head, earlier.threads, earlier.trainer) == ("kept", 4, "")
    assert earlier.dev_examples == 0  # all were predicted, however many were looked at
    assert recorded("NVIDIA A100").threads == 0


def test_the_notebook_s_parameters_are_the_settings():
    declared = {one.name: one for one in read_parameters(PROJECT / "notebooks" / "finetune.py")}
    own = ["device", "checkpoint_seconds", "resamples", "output"]
    assert [*declared] == [*Settings.model_fields, *own]
    for name, field in Settings.model_fields.items():
        assert declared[name].meaning == field.title
        assert declared[name].choices == get_args(field.annotation)
        assert declared[name].choices or declared[name].kind == field.annotation.__name__
    values = {name: parameter.default for name, parameter in declared.items()}
    assert chosen(values) == Settings(model="minilm-l6")


def test_a_name_that_is_taken_is_given_the_settings_that_differ(sample, tmp_path):
    def named(name, mc_samples=0, **more):
        usual = {"max_train_examples": 32, "threads": 1}
        settings, model = complete(small(**(usual | more)))
        family = family_name(settings, model)
        names = names_of(family, settings, tmp_path / name, mc_samples)
        record = {"predicted": {"mc_samples": mc_samples}} if mc_samples else {}
        record |= {"settings": settings.model_dump(), "system": names[0]}
        write_run(tmp_path / name, sample[:2], [one.shares for one in sample[:2]], **record)
        return names

    plain, longer = "tiny bert, 32 items", "tiny bert, 32 items, epochs 2"
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")  # which stops nothing
    assert named("plain") == (f"{plain}, seed 0", plain)
    assert named("longer", epochs=2)[1] == longer
    assert named("both", epochs=2, batch_size=8)[1] == f"{longer}, batch size 8"
    # another seed belongs to those that it differs from in nothing else
    assert named("plain-s1", seed=1, threads=2) == (f"{plain}, seed 1", plain)
    dropout = ", MC dropout"
    assert named("mc-2", 2) == (f"{plain}, seed 0{dropout}", plain + dropout)
    assert named("mc-3", 3)[0] == f"{plain}, mc samples 3, seed 0{dropout}"
    # a run takes its own name again
    settings, model = complete(small(max_train_examples=32))
    assert names_of(family_name(settings, model), settings, tmp_path / "plain")[1] == plain
