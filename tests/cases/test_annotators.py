"""Who annotated is never shown, kept or sent: names in every format, at every door."""

import pytest
from helpers.commands import call, load
from helpers.evidence import evidence_of
from helpers.rows import write_table

from chaos_utils.analyses import persons, your_votes
from chaos_utils.analyses.crowd_findings import data_needed
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.findings import check_file

N = 12
PEOPLE = ["Zorana Qx", "zeno.q@example.org", "5f3zq7719d2", "ZQ-77"]  # occur nowhere else
LABELS = ["bad", "good"]


def text(k):
    return f"The service at table {k} took its time"


def label(k, v):
    return LABELS[(k * v) % 3 == 0]


def long(who="annotator", **beside):
    """Return a row per vote; `beside` are other columns, by a function of item and person."""
    return [
        {"item": f"m{k}", who: PEOPLE[v], "text": text(k), "label": label(k, v)}
        | {name: make(k, v) for name, make in beside.items()}
        for k in range(N) for v in range(4)
    ]  # fmt: skip


def lists(**beside):
    """Return a row per item with a list of labels."""
    return [
        {"id": f"m{k}", "text": text(k), "labels": [label(k, v) for v in range(4)]}
        | {name: make(k) for name, make in beside.items()}
        for k in range(N)
    ]  # fmt: skip


def keyed(**beside):
    return {
        f"m{k}": {"text": text(k), "annotations": {PEOPLE[v]: label(k, v) for v in range(4)}}
        | {name: make(k) for name, make in beside.items()}
        for k in range(N)
    }  # fmt: skip


def label_studio():
    return [
        {"id": k, "data": {"text": text(k)}, "created_by": PEOPLE[k % 4],
         "meta": {"team": f"Team of {PEOPLE[k % 4]} {k}"}, "annotations": [
            {"id": 10 * k + v, "completed_by": {"id": v, "email": PEOPLE[v]},
             "was_cancelled": False, "result": [
                {"from_name": "kind", "to_name": "text", "type": "choices",
                 "value": {"choices": [label(k, v)]}}]}
            for v in range(4)]}
        for k in range(N)
    ]  # fmt: skip


def argilla():
    return [
        {"id": f"m{k}", "text": text(k), "kind.responses": [label(k, v) for v in range(4)],
         "kind.responses.users": PEOPLE, "kind.responses.status": ["submitted"] * 4}
        for k in range(N)
    ]  # fmt: skip


def prodigy():
    return [
        {"text": text(k), "_input_hash": k, "_task_hash": -k, "accept": [label(k, v)],
         "answer": "accept", "_annotator_id": PEOPLE[v], "_session_id": f"set-{PEOPLE[v]}"}
        for k in range(N) for v in range(4)
    ]  # fmt: skip


def listed(k):
    return ", ".join(PEOPLE[k % 4 :])


KINDS = {
    "long": long(),
    "WorkerId": long("WorkerId"),
    "first annotator": long(**{"first annotator": lambda k, v: PEOPLE[k % 4]}),
    "reviewedBy": long(reviewedBy=lambda k, v: PEOPLE[k % 3]),
    "under another name": long(team=lambda k, v: "; ".join(PEOPLE[k % 2 :])),
    "Doe, Jane": [
        row | {"annotator": f"Qx, {row['annotator']}", "spoke": f"Qx, {PEOPLE[0]}; A, B"}
        for row in long()
    ],
    "names in one text": lists(annotators=lambda k: ", ".join(PEOPLE)),
    "list of names": lists(annotators=lambda k: PEOPLE),
    "Rater IDs": lists(**{"Rater IDs": lambda k: ",".join(PEOPLE)}),
    "prolific_pid": lists(prolific_pid=lambda k: PEOPLE[k % 4] + str(k)),
    "labelers": lists(labelers=lambda k: " ".join(PEOPLE)),
    "annotator_comment": lists(annotator_comment=lambda k: f"{PEOPLE[k % 4]} was unsure {k}"),
    "curator": keyed(curator=lambda k: f"Ann Unknown {PEOPLE[k % 4]} ({k})"),
    "some are annotators": long(desk=lambda k, v: f"some else {k}" if k % 3 else PEOPLE[k % 2]),
    "parts of names": long(desk=lambda k, v: f"zorana asked ZQ-77 again {k}" if k % 4 else str(k)),
    "names of others": lists(desk=lambda k: f"Zorana Qx ({k})"),
    "addresses": lists(desk=lambda k: "zeno.q@example.org" if k % 2 else f"@ZQ-77_{k}"),
    "names beside labels": [
        {"id": f"m{k}", "text": text(k)}
        | {f"Rater {v + 1}": PEOPLE[(k + v) % 4] for v in range(3)}
        | {f"Rater {v + 1} label": label(k, v) for v in range(3)}
        for k in range(N)
    ],
    "user": keyed(user=lambda k: PEOPLE[k % 4] + str(k)),
    "keyed": keyed(annotators=listed),
    "keyed reasons": keyed(reasons=lambda k: dict.fromkeys(PEOPLE, f"because {k}")),
    "keyed, inside": keyed(more=lambda k: {"spoke": listed(k), "why": dict.fromkeys(PEOPLE, 1)}),
    "Label Studio": label_studio(),
    "Argilla": argilla(),
    "Prodigy": prodigy(),
}  # fmt: skip


def forms_of(kind):
    """Return formats that can hold rows of a kind; those alike once they are read, once."""
    rows = KINDS[kind]
    if isinstance(rows, dict):
        return ["json"]
    cells = [cell for row in rows for cell in row.values()]
    parts = [one for cell in cells for one in (cell if isinstance(cell, list) else [cell])]
    flat = [] if any(isinstance(one, dict) for one in parts) else ["csv"]
    return ["jsonl", "parquet", *flat, *(["json", "tsv"] if kind == "long" else [])]


def written(path, rows):
    """Write rows; in CSV and TSV, lists of names or labels with commas between."""
    if path.suffix in (".csv", ".tsv"):
        rows = [{key: ",".join(value) if isinstance(value, list) else value
                 for key, value in row.items()} for row in rows]  # fmt: skip
    write_table(path, rows)


def run(*arguments):
    return call(*arguments, code=None).output


def assert_unnamed(said):
    assert not [name for name in PEOPLE if name in said or repr(name)[1:-1] in said], said[:2000]


@pytest.mark.parametrize(
    ("kind", "form"), [(kind, form) for kind in KINDS for form in forms_of(kind)]
)
def test_no_door_shows_who_annotated(tmp_path, kind, form):
    path = tmp_path / f"votes.{form}"
    written(path, KINDS[kind])
    assert_unnamed(run("dataset", "check", path))
    assert_unnamed(run("dataset", "check", path, "--json"))
    assert_unnamed(run("dataset", "init", path))
    described = path.with_suffix(".yml")
    if not described.exists():
        assert form in ("csv", "tsv")  # lists are in doubt there
        return
    assert_unnamed(described.read_text())
    votes = load(described)
    assert len(votes) == N
    assert votes.dataset.text_fields
    assert_unnamed(repr(votes))
    assert_unnamed(
        repr([your_votes.texts_of(votes)(votes.dataset.name, uid) for uid in votes.uids])
    )
    to = tmp_path / "sent"
    assert_unnamed(run("export", "batch", described, "--model", "m", "--out", to / "batch.jsonl"))
    assert_unnamed(run("export", "lm-eval", described, "--out", to))
    assert_unnamed(run("export", "prompt", described))
    files = [one.read_text() for one in to.iterdir()]
    assert len(files) == 3
    for content in files:
        assert_unnamed(content)
        assert text(3) in content or "task:" in content


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda rows: rows + rows[:1], "second vote"),
        (
            lambda rows: [*rows, rows[0] | {"annotator": ""}],
            "found an empty cell; expected an identifier",
        ),
        (lambda rows: [*rows, rows[0] | {"label": "goood"}], ""),
        (lambda rows: [*rows, rows[0] | {"text": "another"}], "text"),
    ],
)
def test_faults_do_not_quote_who_annotated(tmp_path, changed, said):
    path = tmp_path / "votes.jsonl"
    written(path, long())
    run("dataset", "init", path)
    written(path, changed(long()))
    for place in (path, path.with_suffix(".yml")):
        assert_unnamed(run("dataset", "check", place))
        assert_unnamed(run("evaluate", path, "--data", place))
    assert said in run("dataset", "check", path.with_suffix(".yml"))


@pytest.mark.parametrize("field", ["annotator", "team", "annotators"])
def test_a_column_of_annotators_that_is_named_as_a_text_is_refused(tmp_path, field):
    beside = {} if field == "annotator" else {field: lambda k, v: ", ".join(PEOPLE)}
    written(tmp_path / "votes.jsonl", long(**beside))
    (tmp_path / "votes.yml").write_text(
        f"name: v\ntitle: V\nlabels: [bad, good]\ntexts: [text, {field}]\n"
        "files: [{name: votes.jsonl}]\nreader: {format: long, annotator: annotator}\n"
    )
    with pytest.raises(ChaosError, match="names annotators, and is no text") as fault:
        load(tmp_path / "votes.yml")
    assert_unnamed(str(fault.value))


PAIRS = {  # what the columns that name people, and those of their votes, may be called
    "Rater 1": ("Rater {}", "Rater {} label"),
    "annotator1_name": ("annotator{}_name", "annotator{}_answer"),
    "two stems": ("coder_{}", "label_{}"),
    "votes first": ("judgment_by_rater_{}", "rater_{}")[::-1],
    "another word": ("Annotator {}", "Annotator {} tone"),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_of_pairs_of_a_name_and_a_label_the_labels_are_read(tmp_path, kind):
    who, what = PAIRS[kind]
    rows = [
        {"item": f"m{k}"} | {who.format(v): f"Zorana Q{'xyzwv'[(k + v) % 5]}." for v in range(3)}
        | {what.format(v): label(k, v) for v in range(3)}
        for k in range(N)
    ]  # fmt: skip
    written(tmp_path / "votes.csv", rows)
    found = check_file(tmp_path / "votes.csv")[0]
    votes = [label(k, v) for k in range(N) for v in range(3)]
    assert found.labels == {name: votes.count(name) for name in LABELS}
    assert set(found.other_columns) == {who.format(v) for v in range(3)}


def test_names_of_people_are_not_read_as_labels(tmp_path):
    rows = [{"item": f"m{k}"} | {f"rater_{v}": PEOPLE[0] + "abcde"[(k + v) % 5] for v in range(3)}
            for k in range(N)]  # fmt: skip
    written(tmp_path / "votes.csv", rows)
    for door in ("check", "init"):
        said = run("dataset", door, tmp_path / "votes.csv")
        assert "look like the names of people" in said
        assert_unnamed(said)


def test_labels_of_two_words_are_no_names(tmp_path):
    scale = ["Strongly Agree", "Rather Agree", "Rather Disagree"]
    rows = [{"item": f"m{k}"} | {f"rater_{v}": scale[(k * v) % 3] for v in range(3)}
            for k in range(N)]  # fmt: skip
    written(tmp_path / "votes.csv", rows)
    assert set(check_file(tmp_path / "votes.csv")[0].labels) == set(scale)


def test_texts_that_mention_people_and_who_speaks_are_as_they_were(tmp_path):
    rows = [
        row | {"text": row["text"] + f", says Anna {'Berg' if k % 3 else PEOPLE[0]}",
               "speaker": "ABCD"[k % 4]}
        for row in long() for k in [int(row["item"][1:])]
    ]  # fmt: skip
    written(tmp_path / "votes.jsonl", rows)
    found = check_file(tmp_path / "votes.jsonl")[0]
    assert (found.text_columns, found.other_columns) == (["text"], ["speaker"])


def test_files_that_are_named_after_annotators_have_numbers(tmp_path):
    rows = [{"id": k, "text": text(k), "label": label(k, 1)} for k in range(N)]
    for name in PEOPLE[:2]:
        written(tmp_path / f"{name}.jsonl", [{**row, "id": row["id"]} for row in rows])
    names = ", ".join(f"{{name: '{name}.jsonl'}}" for name in PEOPLE[:2])
    (tmp_path / "votes.yml").write_text(
        f"name: v\ntitle: V\nlabels: [bad, good]\ntexts: [text]\nfiles: [{names}]\n"
        "reader: {format: long, item: id, annotator: file}\n"
    )
    votes = load(tmp_path / "votes.yml")
    assert_unnamed(repr(votes.inputs))
    assert votes.annotations is not None
    assert len(set(votes.annotations.annotator.tolist())) == 2
    written(tmp_path / f"{PEOPLE[0]}.jsonl", [rows[0] | {"label": "wrong"}])
    assert_unnamed(run("dataset", "check", tmp_path / "votes.yml").replace(str(tmp_path), ""))


def test_what_each_annotator_has_alone_is_not_listed(tmp_path):
    written(tmp_path / "votes.jsonl", long(mail=lambda k, v: PEOPLE[v] + "x"))
    (tmp_path / "votes.yml").write_text(
        "name: v\ntitle: V\nlabels: [bad, good]\nfiles: [{name: votes.jsonl}]\n"
        "reader: {format: long, annotator: annotator, annotator_fields: [mail]}\n"
    )
    assert_unnamed(run("dataset", "check", tmp_path / "votes.yml"))


def test_noise_persons_and_groups_name_nobody(tmp_path):
    def twice(k, v):
        return {"round": 1 + k % 2, "item": f"m{k // 2}", "mail": PEOPLE[v] + "x"}

    rows = [row | twice(k, v) | {"desk": f"desk of {PEOPLE[v % 2]}"}
            for k, row in ((int(row["item"][1:]), row) for row in long())
            for v in [PEOPLE.index(row["annotator"])]]  # fmt: skip
    written(tmp_path / "votes.csv", [row | {"text": ""} for row in rows])
    (tmp_path / "votes.yml").write_text(
        "name: v\ntitle: V\nlabels: [bad, good]\nfiles: [{name: votes.csv}]\n"
        "reader: {format: long, annotator: annotator, round: round, "
        "annotator_fields: [mail, desk]}\n"
    )
    votes = load(tmp_path / "votes.yml")
    here = evidence_of(votes, own=True)
    found = {
        "near_chance": your_votes.near_chance(here, n_resamples=20, seed=0),
        "again": persons.again(here),
        "shares": persons.shares(here),
        "groups": persons.groups(here, n_shuffles=9, seed=0),
    }
    assert all(map(len, found.values()))
    for table in (*found.values(), your_votes.near_bar(here)):
        assert_unnamed(table.rows.to_csv())
    assert_unnamed(data_needed(votes, **found))


def test_objects_that_are_keyed_by_people_are_named_by_their_column(tmp_path):
    written(tmp_path / "votes.json", KINDS["keyed reasons"])
    assert check_file(tmp_path / "votes.json")[0].other_columns == ["reasons"]


@pytest.mark.parametrize(
    "content",
    [
        '{"annotator": "Zorana Qx", "item": "a", "label": "bad"}\n{"annotator": "ZQ-77", "item"\n',
        '{"Zorana Qx": ["bad", "good"], "ZQ-77": ["good", "good"]}',
        '{"Zorana Qx": {"a": "bad"}, "ZQ-77": {"a": "good"}}',
        '{"a": {"Zorana Qx": "bad"}, "b": {"ZQ-77": "good"}}',
        '{"id": "a", "label": {"Zorana Qx": "bad"}}\n{"id": "b", "label": {"ZQ-77": "good"}}\n',
        "item,annotator,label\na,Zorana Qx,bad\nb,Zorana Qx\n",
        'item,annotator,label\na,Zorana Qx,bad\nb,"Zorana Qx,bad\n',
    ],
)
def test_a_damaged_file_is_refused_without_names(tmp_path, content):
    path = tmp_path / "votes.json"
    path.write_text(content)
    for said in (run("dataset", "check", path), run("evaluate", path, "--data", path)):
        assert "expected" in said or "to do" in said
        assert_unnamed(said)


@pytest.mark.parametrize("name", ["gold", "GOLD_label", "majority", "adjudicated", "consensus"])
@pytest.mark.parametrize("form", ["a row per vote", "lists"])
def test_labels_that_are_made_of_others_are_asked_about(tmp_path, name, form):
    who = [*PEOPLE[:3], name]
    if form == "lists":
        rows = lists(annotators=lambda k: who)
    else:
        rows = [row | {"annotator": who[k % 4]} for k, row in enumerate(long())]
    path = tmp_path / "votes.jsonl"
    written(path, rows)
    said = run("dataset", "check", path)
    assert "labels made of others' votes" in said
    assert f"those by {name!r}" in said
    assert_unnamed(said)
    assert "in doubt" not in run(
        "dataset", "check", path, "--annotator", "annotators" if form == "lists" else "annotator"
    )


@pytest.mark.parametrize(
    ("column", "values", "are_names"),
    [("gold", [0, 1, 2], False), ("confidence", range(6), False), ("sum", range(1, 6), False),
     ("checked", range(6), True), ("list", ["0;1;2", "3;4;5"], True)],
)  # fmt: skip
def test_small_numbers_are_names_if_they_are_all_of_them(tmp_path, column, values, are_names):
    rows = [
        {"item": k, "annotator": v, "label": label(k, v), column: [*values][(k + v) % len(values)]}
        for k in range(N) for v in range(6)
    ]  # fmt: skip
    written(tmp_path / "votes.jsonl", rows)
    reasons = check_file(tmp_path / "votes.jsonl")[0].reasons
    assert (reasons[column] == "names annotators") == are_names, reasons


@pytest.mark.parametrize("who", ["labeler", "Evaluator ID", "assessor", "rater_name", "turker"])
def test_whoever_is_called_an_annotator_is_one(tmp_path, who):
    written(tmp_path / "votes.jsonl", long(who))
    assert check_file(tmp_path / "votes.jsonl")[0].annotators["number"] == len(PEOPLE)


def test_objects_that_are_keyed_by_some_annotators_numbers_show_none(tmp_path):
    rows = [
        {"item": k, "annotator": v, "label": label(k, v), "why": {"0": f"so {k}", "1": f"no {k}"}}
        for k in range(N) for v in range(6)
    ]  # fmt: skip
    written(tmp_path / "votes.jsonl", rows)
    assert check_file(tmp_path / "votes.jsonl")[0].other_columns == ["why"]


def test_labels_that_look_like_the_names_of_people_are_not_shown(tmp_path):
    """Somebody took the column of the annotators for that of the votes."""
    names = [f"{first} {last}" for first in ("Ann", "Ben", "Cleo", "Dan") for last in
             ("Abel", "Bern", "Cole", "Dorn")]  # fmt: skip
    rows = [{"item": f"i{k // 4}", "label": names[k % 16]} for k in range(64)]
    written(tmp_path / "votes.json", rows)
    found = check_file(tmp_path / "votes.json")[0]
    assert list(found.labels) == [f"label {k + 1}" for k in range(16)]
    assert any("look like people's names" in remark for remark in found.remarks)
    assert not any(name in str(found) for name in names)
