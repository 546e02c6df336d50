"""What a run of a language model needs: each item's texts as they are, and its uid."""

import json
from dataclasses import replace

import pytest
import yaml
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring.asking import WAYS
from chaos_utils.scoring.exporting import fill, letters

LONG = 'He said: "{label}" — 1, 2\n\n{{ premise }} \\n ' + "and so on " * 2000


@pytest.fixture
def tone(tmp_path):
    """A folder with votes of one's own, whose texts are long and hold what templates might."""
    (tmp_path / "tone.yml").write_text(
        "name: tone-2\ntitle: Tone\nlabels: [kind, not kind]\ntexts: [text, a (reply)]\n"
        "files: [{name: tone.jsonl}]\nreader: {format: columns, labels: votes}\n"
    )
    rows = [
        {"item": "m/1", "votes": ["kind", "kind", "not kind"], "text": LONG, "a (reply)": "{text}"},
        {
            "item": "m,2",
            "votes": ["not kind", "not kind"],
            "text": "Grüße \u2028",
            "a (reply)": "",
        },
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "tone.jsonl").write_text(lines)
    return tmp_path


@pytest.fixture
def votes(tone):
    return load_all_votes(str(tone / "tone.yml"))[0]


def chaos(*arguments, code=0):
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_prompt_shows_each_text_as_it_is_and_a_letter_for_each_label(votes, sample):
    prompts = fill(votes, "samples")
    assert prompts[0].startswith(f"Text: {LONG}\nA (reply): {{text}}\n")
    assert prompts[1] == (
        "Text: Grüße \u2028\nA (reply): \n\nA. kind\nB. not kind\n\n"
        "Which label fits? Answer with its letter alone.\nAnswer:"
    )
    stories = sample[2]
    text = fill(stories, "samples")[0]
    shown = [text.index(stories.texts[0][field]) for field in ("obs1", "hyp1", "hyp2", "obs2")]
    assert shown == sorted(shown)
    assert "Hypothesis 2: " in text
    assert "A. hypothesis 1\nB. hypothesis 2" in text


def test_a_prompt_of_ones_own_may_hold_braces_and_is_told_of_unknown_fields(votes):
    asked = fill(votes, "samples", 'Answer {"label": …} to {text}, {a (reply)}: {options}')[1]
    assert asked == 'Answer {"label": …} to Grüße \u2028, : A. kind\nB. not kind'
    with pytest.raises(
        ChaosError, match=r"(?s)mine\.txt.*\{premise\}.*one of: text, a \(reply\), opt"
    ):
        fill(votes, "label", "{text} {premise}", "mine.txt")
    with pytest.raises(
        ChaosError, match=r"(?s)none of the item's texts.*\{text\} or \{a \(reply\)\}"
    ):
        fill(votes, "label", "Which of {options}?")


def test_an_item_without_text_and_a_dataset_without_texts_say_what_is_needed(tone, votes):
    with pytest.raises(ChaosError, match=r"(?s)Tone has no texts.*texts: \[text\]"):
        fill(replace(votes, texts=()), "samples")
    (tone / "tone.jsonl").write_text(
        '{"item": 1, "votes": ["kind"], "text": " ", "a (reply)": ""}\n'
    )
    with pytest.raises(
        ChaosError, match=r"(?s)An item has no text.*where: +tone.jsonl\n.*found: +1\n"
    ):
        fill(load_all_votes(str(tone / "tone.yml"))[0], "samples")


def test_more_labels_than_letters_are_refused(votes):
    labels = [votes.dataset.classes[0].model_copy(update={"name": str(k)}) for k in range(27)]
    many = votes.dataset.model_copy(update={"classes": tuple(labels)})
    with pytest.raises(ChaosError, match="more labels than letters"):
        letters(many)


def test_a_task_names_its_items_file_and_holds_uid_prompt_and_majority(tone):
    told = chaos("lm-eval", tone / "tone.yml", "--out", tone / "a folder")
    task = yaml.safe_load((tone / "a folder" / "chaos_tone_2.yaml").read_text("utf-8"))
    assert (task["task"], task["doc_to_choice"]) == ("chaos_tone_2", ["A", "B"])
    items = tone / "a folder" / "chaos_tone_2.jsonl"
    assert task["dataset_kwargs"] == {"data_files": {"test": str(items)}}
    first, second = lines_of(items)
    assert (first["uid"], first["majority"], second["uid"], second["majority"]) == (
        "m/1", 0, "m,2", 1)  # fmt: skip
    assert LONG in first["prompt"]
    assert f"--include_path '{tone / 'a folder'}' --tasks chaos_tone_2" in told
    assert f"next: chaos evaluate runs/*/samples_chaos_tone_2_*.jsonl --data {tone}" in told
    assert told.endswith("--asked logprobs --answers 'A=kind,B=not kind'\n")


def test_a_batch_asks_in_one_of_four_ways_and_says_how_to_read_the_answers(tone):
    out, command = tone / "b.jsonl", ["batch", tone / "tone.yml", "--model", "m", "--out"]
    chaos(*command, out, "--n", "3", "-p", "max_tokens=null", "-p", "temperature=0.5", "-p", "x=y")
    first, _ = lines_of(out)
    (message,) = first["body"].pop("messages")
    assert (first["custom_id"], first["method"], first["url"]) == (
        "m/1", "POST", "/v1/chat/completions")  # fmt: skip
    assert message["role"] == "user"
    assert LONG in message["content"]
    assert first["body"] == {"model": "m", "n": 3, "temperature": 0.5, "x": "y"}
    questions, sampled = set(), {"n": 10, "temperature": 1, "max_tokens": 16}
    bodies = {
        "label": {"temperature": 0, "max_tokens": 16},
        "samples": sampled,
        "logprobs": {"temperature": 1, "max_tokens": 1, "logprobs": True, "top_logprobs": 20},
        "percentages": {"temperature": 0, "max_tokens": 32},
    }
    assert list(bodies) == list(WAYS)
    for way, expected in bodies.items():
        told = chaos(*command, out, "--ask", way, "--force")
        assert f"--asked {way} --answers 'A=kind,B=not kind'" in told
        body = lines_of(out)[1]["body"]
        (message,) = body.pop("messages")
        questions.add(message["content"].rpartition("\n\n")[2])
        assert body == {"model": "m"} | expected
        assert message["content"].endswith(
            chaos("prompt", tone / "tone.yml", "--ask", way).strip().rpartition("}\n\n")[2]
        )
    assert len(questions) == 3  # a letter is drawn, or its probability looked up, by one question
    chaos(*command, out, "--force")
    assert lines_of(out)[0]["body"].items() >= sampled.items()
    assert "--n goes with --ask samples" in chaos(
        *command, out, "--ask", "label", "--n", "2", code=2
    )
    assert "percentages" in chaos(*command, out, "--ask", "percentage", code=2)


def test_what_is_there_is_kept_without_force(tone):
    (tone / "task").mkdir()
    (tone / "task" / "notes.txt").write_text("mine")
    for command, path in (
        (["lm-eval", "--out", tone / "task"], tone / "task" / "chaos_tone_2.yaml"),
        (["batch", "--model", "m", "--out", tone / "b.jsonl"], tone / "b.jsonl"),
    ):
        path.write_text("mine")
        assert "pass --force" in chaos(*command, tone / "tone.yml", code=2)
        assert path.read_text() == "mine"
        chaos(*command, tone / "tone.yml", "--force")
        assert path.read_text() != "mine"
    assert (tone / "task" / "notes.txt").read_text() == "mine"
    batch = ["batch", tone / "tone.yml", "--model", "m", "--force", "--out", tone / "task"]
    assert "This is a folder" in chaos(*batch, code=2)


def test_the_prompt_that_is_printed_can_be_edited_and_used(tone):
    (tone / "p.txt").write_text(chaos("prompt", tone / "tone.yml") + "Be brief.\n")
    command = ["batch", tone / "tone.yml", "--model", "m", "--prompt", tone / "p.txt"]
    chaos(*command, "--out", tone / "b.jsonl")
    assert lines_of(tone / "b.jsonl")[1]["body"]["messages"][0]["content"].endswith("\nBe brief.")
    (tone / "p.txt").write_bytes("Grüße {text}".encode("utf-16"))
    assert "not UTF-8" in chaos(*command, "--out", tone / "c.jsonl", code=2)
    (tone / "p.txt").write_text(" \n")
    assert "is empty" in chaos(*command, "--out", tone / "c.jsonl", code=2)
    assert not (tone / "c.jsonl").exists()


def test_one_dataset_is_named(tone):
    assert "several datasets" in chaos("prompt", "sample", code=2)
    assert "{obs1}" in chaos("prompt", "alphanli", "--data", "sample")
    assert "There is no" in chaos("prompt", tone / "missing.yml", code=2)
