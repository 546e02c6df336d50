"""Plans as data, and what their runs are estimated to cost."""

import json

import pytest

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.training_records import committed_runs
from chaos_utils.training import estimates, wanted
from chaos_utils.training.plans import (
    ResolvedModel,
    WeightsFile,
    plan_names,
    read_plan,
)
from chaos_utils.training.recipes import MODELS, TINY_FAMILIES, Shape, get_model
from chaos_utils.training.settings import complete, read_settings, recorded_settings
from chaos_utils.training.trial_steps import config_in, shape_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIGURATIONS = {  # as the models' own config.json says, where transformers' defaults are others
    "minilm-l6": {"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536},
    "mpnet-base": {"max_position_embeddings": 514},
    "bert-base": {},
    "bert-large": {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16,
                   "intermediate_size": 4096},
    "xlnet-base": {"n_layer": 12, "d_model": 768, "n_head": 12, "d_inner": 3072},
    "xlnet-large": {},
    "roberta-base": {"max_position_embeddings": 514, "type_vocab_size": 1},
    "roberta-large": {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16,
                      "intermediate_size": 4096, "max_position_embeddings": 514,
                      "type_vocab_size": 1},
    "bart-large": {},
    "albert-xxlarge": {},
    "distilbert": {"vocab_size": 28996},
}  # fmt: skip


def cost(model, task="nli", card="h100", **settings):
    values = complete(read_settings({"model": model, "task": task, **settings}))[0]
    return estimates.estimate(values, get_model(model).shape, estimates.gpu_named(card))


@pytest.fixture
def checkout(plans_folder):
    """A function that writes a plan into it."""

    def write(name="mine", **changes):
        settings = {"model": "bert-base"}
        content = {"title": "a plan", "runs": [{"name": "a", "why": "x", "settings": settings}]}
        path = plans_folder / f"{name}.yml"
        path.write_text(json.dumps(content | changes))  # which is YAML too
        return path

    return write


def test_table_5_is_nine_models_on_two_tasks_by_the_papers_recipes():
    runs = read_plan("table5").runs
    settings = [complete(read_settings(spec.settings))[0] for spec in runs]
    of_paper = {name for name, model in MODELS.items() if model.published}
    made = {(one.model, one.task) for one in settings}
    assert made == {(name, task) for name in of_paper for task in ("nli", "alphanli")}
    assert len(runs) == 18
    assert {spec.needs for spec in runs} == {"gpu"}
    (bart,) = (one for one in settings if (one.model, one.task) == ("bart-large", "alphanli"))
    assert (bart.learning_rate, bart.batch_size, bart.weight_decay) == (5e-6, 64, 0.01)  # Table 8


def test_training_size_makes_equal_passes_for_both_encoders():
    by_task = {}
    for spec in read_plan("training-size").runs:
        settings = complete(read_settings(spec.settings))[0]
        sizes = by_task.setdefault((settings.task, settings.epochs), {})
        sizes.setdefault(settings.model, []).append(settings.max_train_examples)
    assert set(by_task) == {("nli", 2), ("alphanli", 1)}
    for sizes in by_task.values():
        assert sizes["minilm-l6"] == sizes["mpnet-base"] == [1000, 3162, 10000, 31623, 0]


def test_one_name_is_one_run_in_all_plans_and_the_recorded_runs_are_those():
    plans = [read_plan(), *map(read_plan, plan_names())]
    settings = {}
    for spec in (spec for plan in plans for spec in plan.runs):
        assert wanted.command_for(spec).endswith(f"--out results/{spec.name}")
        if not spec.predict:
            values = complete(read_settings(spec.settings))[0]
            assert settings.setdefault(spec.name, values) == values
    for run in committed_runs():
        if run.name in settings:
            recorded, planned = recorded_settings(run.record), settings[run.name]
            for name in ("model", "task", "epochs", "max_train_examples", "learning_rate"):
                assert getattr(recorded, name) == getattr(planned, name)


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.shape])
def test_a_shape_is_that_of_the_model_counted_on_the_meta_device(name, torch):
    from transformers import AutoConfig

    config = AutoConfig.for_model({"minilm": "bert"}.get(get_model(name).family,
                                                         get_model(name).family),
                                  **CONFIGURATIONS[name])  # fmt: skip
    assert shape_of(config.to_json_string(use_diff=False)) == get_model(name).shape


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_a_shape_is_counted_for_every_architecture(family, torch):
    folder = paths.cache() / "encoders" / f"tiny-{family}"
    shape = shape_of(config_in(folder))
    assert min(shape.layers, shape.hidden, shape.heads, shape.intermediate) > 0
    assert 1000 < shape.parameters < 1e6


def test_hours_are_those_of_launches_or_of_arithmetic_whichever_are_more():
    low, high = cost("roberta-large").hours
    steps = estimates.steps_of(complete(read_settings({"model": "roberta-large"}))[0], 942_854)
    assert low == pytest.approx(steps * 200 * 24 * 5e-6 / 3600 + 0.05)
    assert high == pytest.approx(2 * low - 0.05)
    # Only the largest is bound by arithmetic, and so faster on a faster card.
    slower = {name for name in CONFIGURATIONS
              if cost(name, card="a100").hours > cost(name).hours}  # fmt: skip
    assert "albert-xxlarge" in slower
    assert "bert-base" not in slower
    twice = cost("bert-base", epochs=4).hours[0] - 0.05
    assert twice == pytest.approx(2 * (cost("bert-base").hours[0] - 0.05))


def test_table_5_takes_one_h100_five_to_nine_hours():
    card = estimates.gpu_named("H100")
    low, high = wanted.missing_total(wanted.costed(read_plan("table5").runs, card)).hours
    assert 4.5 < low < 5.5
    assert 8 < high < 9.5


def test_memory_grows_with_parameters_items_and_length():
    small, large = cost("bert-base").memory_gib, cost("bert-large").memory_gib
    assert small < cost("bert-base", batch_size=64).memory_gib < 2 * small < 2 * large
    assert cost("bert-base", task="alphanli").memory_gib > small  # two stories for each item
    assert cost("bert-base", max_length=64).memory_gib < small
    weights = 18 * get_model("bert-large").shape.parameters / 2**30
    assert cost("bert-large", batch_size=1).memory_gib == pytest.approx(weights + 1, rel=0.05)


SMALL = {  # per family, how a configuration says layers, and all that is 64, 4 or 256 wide
    "bert": "num_hidden_layers hidden_size num_attention_heads intermediate_size",
    "roberta": "num_hidden_layers hidden_size num_attention_heads intermediate_size",
    "albert": "num_hidden_layers hidden_size num_attention_heads intermediate_size",
    "distilbert": "n_layers dim n_heads hidden_dim",
    "xlnet": "n_layer d_model n_head d_inner",
    "bart": "encoder_layers d_model encoder_attention_heads encoder_ffn_dim",
}


@pytest.mark.parametrize("family", SMALL)
def test_what_is_kept_for_the_backward_pass_is_at_most_as_estimated(family, torch):
    from transformers import AutoConfig, AutoModelForSequenceClassification

    hidden, heads, intermediate, length = 64, 1, 256, 32

    def kept(n_layers, n_sequences):
        values = dict(zip(SMALL[family].split(), (n_layers, hidden, heads, intermediate),
                          strict=True))  # fmt: skip
        if family == "bart":
            values |= {"encoder_layers": n_layers // 2, "decoder_layers": n_layers // 2}
            values |= {"decoder_attention_heads": heads, "decoder_ffn_dim": intermediate}
        config = AutoConfig.for_model(family, **values, vocab_size=300)
        model = AutoModelForSequenceClassification.from_config(config).train()
        own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
        storages = {}

        def keep(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                storages[storage.data_ptr()] = storage
            return tensor

        tokens = torch.full((n_sequences, length), 50)
        if isinstance(config.eos_token_id, int):
            tokens[:, -1] = config.eos_token_id
        with (
            torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
            torch.autocast("cpu", dtype=torch.bfloat16),
        ):
            model(input_ids=tokens)
        return sum(storage.nbytes() for storage in storages.values())

    # Of two more layers and four more sequences: neither weights nor embeddings.
    counted = kept(4, 8) - kept(4, 4) - kept(2, 8) + kept(2, 4)
    shape = Shape(0, 2, hidden, heads, intermediate)
    settings = read_settings({"model": "bert-base", "batch_size": 4, "max_length": length})
    estimated = estimates.memory_bytes(settings, shape) - 2**30
    assert 0.5 * estimated < counted <= 1.05 * estimated


def test_a_sum_fetches_a_model_once_and_has_the_checkpoints_that_can_meet():
    one, other = cost("bert-base"), cost("bert-large")
    both = estimates.total([one, other, estimates.UNKNOWN])
    assert both.hours == pytest.approx([a + b for a, b in zip(one.hours, other.hours, strict=True)])
    assert (both.memory_gib, both.scratch_gib) == (other.memory_gib, other.scratch_gib)
    together = estimates.total([one, other], at_once=2)
    assert together.scratch_gib == one.scratch_gib + other.scratch_gib
    runs = wanted.costed(read_plan("table5").runs[:2], estimates.gpu_named("h100"))
    assert runs[0].spec.model == runs[1].spec.model
    assert wanted.missing_total(runs).fetched_gib == runs[0].cost.fetched_gib


def test_votes_are_trained_on_by_folds_and_a_model_of_the_hub_has_no_estimate():
    votes = {"model": "minilm-l6", "train": "chaosnli", "loss": "soft"}
    assert estimates.training_items(complete(read_settings(votes))[0]) == 4 * (1514 + 1599)
    assert cost("owner/name") == estimates.UNKNOWN
    assert cost("tiny-bert").disk_gib is None


def test_an_unknown_card_has_no_hours_and_a_wrong_name_is_one_message():
    title = estimates.gpu_at_hand("NVIDIA A100-SXM4-80GB", 79.2)
    assert (title.tflops, title.memory_gib) == (312, 79.2)
    settings = complete(read_settings({"model": "bert-base"}))[0]
    strange = estimates.gpu_at_hand("Some Card", 8.0)
    estimate = estimates.estimate(settings, get_model("bert-base").shape, strange)
    assert estimate.hours is None
    assert estimate.memory_gib > 0
    with pytest.raises(ChaosError, match="did you mean 'h100'"):
        estimates.gpu_named("h10")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "title"),
        ({"runs": [{"name": "a", "why": "x"}]}, "entry 1(?s:.)*either settings or predict"),
        ({"runs": [{"name": "../a", "why": "x", "settings": {}}]}, "a name without spaces"),
        ({"models": {"bert-base": {"revision": "main"}}}, "40 hexadecimal digits"),
        ({"models": {"bert-bas": {}}}, "no run is of the model bert-bas; did you mean"),
        ({"run": []}, "no such field; did you mean 'runs'"),
    ],
)
def test_a_plan_that_cannot_be_read_is_one_message(changes, message, checkout):
    path = checkout(**changes)
    with pytest.raises(ChaosError, match=message) as fault:
        read_plan("mine")
    assert str(path) in str(fault.value)


def test_two_runs_of_one_name_and_a_tiny_model_that_is_pinned_are_refused(checkout):
    run = {"name": "a", "why": "x", "settings": {"model": "tiny-bert"}}
    checkout(runs=[run, run])
    with pytest.raises(ChaosError, match="two runs are called a"):
        read_plan("mine")
    checkout(runs=[run], models={"tiny-bert": {}})
    with pytest.raises(ChaosError, match="not on the hub"):
        read_plan("mine")
    with pytest.raises(ChaosError, match="did you mean 'mine'"):
        read_plan("min")
    assert read_plan().runs == []


def test_a_resolved_commit_is_kept_beside_the_plan_and_a_pinned_one_comes_first(checkout):
    checkout(models={"bert-base": {}})
    found = ResolvedModel(hub="a/b", commit=COMMIT, weights={"m": WeightsFile(size=3)})
    assert "revision" not in read_plan("mine").runs[0].settings
    read_plan("mine").keep({"bert-base": found, "other": found})
    plan = read_plan("mine")
    assert plan.resolved == {"bert-base": found}
    assert f"--revision {COMMIT}" in wanted.command_for(plan.runs[0])
    assert {entry.name for entry in plan.inputs} == {
        "results/plans/mine.yml", "results/plans/mine.revisions.json",
    }  # fmt: skip
    checkout(models={"bert-base": {"revision": COMMIT[::-1]}})
    assert read_plan("mine").runs[0].settings["revision"] == COMMIT[::-1]
    plan.revisions_path.write_text('{"models": {"bert-base": 3}}')
    with pytest.raises(ChaosError, match=r"mine\.revisions\.json"):
        _ = read_plan("mine").resolved
