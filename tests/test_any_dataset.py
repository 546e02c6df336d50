"""Datasets that one YAML file describes run through evaluation, chapters and explorer."""

import io
import json
import shutil
import zlib
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from chaos_book import book_votes, explorer
from helpers.checkout import PROJECT, chaos, copy_checkout
from helpers.datasets import write_four_labels, write_two_labels
from scipy.spatial.distance import jensenshannon

from chaos_utils.datasets import catalogue
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring import human_equivalents
from chaos_utils.scoring.references import PERFECT_MODEL

FEW = {"annotations": {"resamples": 20}, "agreement": {"resamples": 20},
       "ceilings": {"resamples": 20, "draws": 2}, "results": {"resamples": 20},
       "fitting": {"resamples": 100, "repeats": 1, "folds": 3}}  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout of the project, for runs to be made in."""
    return copy_checkout(tmp_path_factory.mktemp("any") / "checkout")


@pytest.fixture
def four(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", {})
    return write_four_labels(tmp_path)


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", {})
    return write_two_labels(tmp_path)


def run(checkout, chapter, described, **more):
    """Run a chapter as a reader does; return its folder and the prose that it makes."""
    given = {"data": described} | FEW.get(chapter, {}) | more
    options = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    done = chaos("run", chapter, *options, "--json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["run"])
    cells = json.loads((folder / "notebook.ipynb").read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert not [one for one in outputs if one.get("name") == "stderr"]
    said = ["".join(one["data"].get("text/markdown", "")) for one in outputs if "data" in one]
    return folder / "figures", "\n".join(said)


def write_predictions(described):
    """Write predictions that err, more on the last label; return the file and them."""
    (votes,) = load_all_votes(str(described))
    weights = np.arange(1, votes.dataset.n_classes + 1)
    noise = np.random.default_rng(0).dirichlet(weights, len(votes))
    table = pd.DataFrame(0.7 * votes.shares + 0.3 * noise, columns=votes.dataset.labels)
    path = described.with_name("mine.csv")
    table.set_index(pd.Index(votes.uids, name="uid")).to_csv(path)
    return path, votes, table.to_numpy()


@pytest.mark.parametrize("name", ["four", "two"])
def test_predictions_are_evaluated_by_the_yaml_file_or_by_the_votes_alone(name, request, tmp_path):
    described = request.getfixturevalue(name)
    path, votes, predicted = write_predictions(described)

    def evaluate(data, *options):
        given = ("--data", str(data), "--bootstrap", "40", "--measures", "all", "--csv", *options)
        done = chaos("evaluate", str(path), *given, cwd=tmp_path, PYTHONPATH=str(PROJECT))
        assert done.returncode == 0, done.stderr
        assert all(line.startswith("wrote ") for line in done.stderr.splitlines())
        rows = pd.read_csv(io.StringIO(done.stdout), index_col="measure")
        assert {PERFECT_MODEL, "mean vote", "mine"} <= set(rows.loc["jsd", "system"])
        return rows[rows["origin"] == "yours"]

    table = evaluate(described, "--out", str(tmp_path / "out"))
    by_votes_alone = evaluate(described.with_suffix(".csv"))
    assert by_votes_alone.loc["jsd", "value"] == pytest.approx(table.loc["jsd", "value"])
    known = {one for one, measure in MEASURES.items() if measure.needs in ("", "two votes")}
    assert set(table.index) == known | set(human_equivalents.NAMES)
    assert (table["n_items"] == len(votes)).all()
    distance = jensenshannon(votes.shares, predicted, axis=1).mean()
    assert table.loc["jsd", "value"] == pytest.approx(distance)
    assert table.loc["jsd", ["low", "high"]].notna().all()
    figures = {file.stem for file in (tmp_path / "out" / "figures").glob("*.svg")}
    dataset = votes.dataset.name
    assert {f"fig-{kind}-{dataset}" for kind in ("reliability", "distce", "entropy-bins")} < figures


def check_counts(figures, votes):
    """See that every vote on every label is in the table, none lost and none added."""
    counts = pd.read_csv(figures / "tbl-label-counts.csv")
    found = counts[counts["statistic"] == "new_raw_count"].set_index("label")["value"]
    assert found.to_dict() == dict(zip(votes.dataset.labels, votes.counts.sum(axis=0), strict=True))
    examples = pd.read_csv(figures / "tbl-examples.csv", index_col="uid")
    for uid, row in examples.filter(like="votes_").iterrows():
        assert row.tolist() == votes.counts[votes.index(uid)].tolist()


def test_annotations_and_explorer_of_four_labels(four, checkout, monkeypatch):
    (votes,) = load_all_votes(str(four))
    figures, said = run(checkout, "annotations", four)
    check_counts(figures, votes)
    assert "*Severity has no old labels: left out here.*" in said
    assert "*Severity has no texts: items are shown without them.*" in said

    manifests = {path.stem: json.loads(path.read_text()) for path in figures.glob("*.json")}
    for manifest in manifests.values():  # a run's page does not say where the reader's file is
        assert manifest["parameters"]["data"] == f"…/{four.name}"
        manifest["parameters"]["data"] = str(four)
    app = SimpleNamespace(srcdir=checkout / "book")
    monkeypatch.setattr(book_votes, "manifests", lambda: manifests)
    book_votes._read.cache_clear()
    items, texts = (read(script) for script in explorer._data(app).values())
    (shown,) = items["datasets"]
    assert shown["labels"] == ["none", "mild", "strong", "extreme"]
    assert len({tuple(colours) for colours in shown["colours"]}) == 4
    rows = [votes.index(uid) for uid in shown["uids"]]
    assert np.array_equal(np.transpose(shown["votes"]), votes.counts[rows])
    assert (shown["old_votes"], shown["old_label"], shown["fields"]) == (None, None, [])
    assert texts == {"severity": []}


def read(script):
    """Return what a script sets, as a browser would read it."""
    packed = script.partition(' = "')[2]
    return json.loads(zlib.decompress(b64decode(packed)))


def test_disagreement_of_four_labels(four, checkout):
    (votes,) = load_all_votes(str(four))
    figures, said = run(checkout, "disagreement", four)
    assert pd.read_csv(figures / "fig-entropy.csv")["n_items"].sum() == len(votes)
    assert pd.read_csv(figures / "fig-majority-share.csv")["n_at_least"].max() == len(votes)
    assert not (figures / "fig-simplex.csv").exists()
    assert "*The triangle leaves out Severity: it needs three labels.*" in said
    assert "*Severity has no old votes: left out here.*" in said


def check_ceilings(figures):
    bounds = pd.read_csv(figures / "tbl-noise-ceiling.csv").set_index("measure")
    assert bounds[["floor", "uniform"]].notna().all(axis=None)
    assert list(bounds.index[bounds["ceiling_posterior"].isna()]) == ["kl"]
    # Whether from halves of 3 votes to 13, or with 5 votes: nothing to extrapolate from.
    assert bounds["ceiling_halves"].isna().all()


@pytest.mark.slow
def test_ceilings_of_four_labels_with_a_reader_s_model(four, checkout):
    path, _, _ = write_predictions(four)
    figures, said = run(checkout, "ceilings", four, predictions=path)
    check_ceilings(figures)
    scores = pd.read_csv(figures / "tbl-normalised-scores.csv")
    assert set(scores["system"]) == {"mine", "uniform", "mean vote"}
    assert "No model's predictions" not in said


@pytest.mark.slow
def test_ceilings_of_two_labels_and_five_votes(two, checkout):
    figures, said = run(checkout, "ceilings", two)
    check_ceilings(figures)
    assert "*No model's predictions are available for Pairs" in said


@pytest.mark.slow
def test_the_other_chapters_of_two_labels(two, checkout):
    (votes,) = load_all_votes(str(two))
    figures, _ = run(checkout, "annotations", two)
    check_counts(figures, votes)
    figures, said = run(checkout, "disagreement", two)
    assert pd.read_csv(figures / "fig-entropy.csv")["n_items"].sum() == len(votes)
    assert "*Pairs is left out here: a triangle needs three labels.*" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four", "two"])
def test_chapters_on_systems(name, request, checkout):
    described = request.getfixturevalue(name)
    path, votes, _ = write_predictions(described)
    figures, said = run(checkout, "agreement", described, predictions=path)
    bins = pd.read_csv(figures / "tbl-entropy-bins.csv")
    of_mine = bins[(bins["system"] == "mine") & (bins["measure"] == "jsd")]
    assert of_mine["n"].sum() == len(votes)
    assert f"*{votes.dataset.short} has no old labels: left out here.*" in said
    figures, said = run(checkout, "results", described)
    assert not (figures / "tbl-disagreement-signal.csv").exists()
    assert (
        f"*Without predictions of a model, nothing can be said here of {votes.dataset.short}.*"
        in said
    )
    figures, said = run(checkout, "results", described, predictions=path)
    assert set(pd.read_csv(figures / "tbl-disagreement-signal.csv")["system"]) >= {"mine"}
    assert "Without predictions" not in said
    assert "mine" in set(pd.read_csv(figures / "tbl-main-results.csv")["system"])
    run(checkout, "your_model", described, predictions=path, dataset=votes.dataset.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four", "two"])
def test_maps_are_fitted_to_a_reader_s_predictions(name, request, checkout):
    described = request.getfixturevalue(name)
    path, votes, predicted = write_predictions(described)
    figures, _ = run(checkout, "fitting", described)
    assert set(pd.read_csv(figures / "tbl-fitting.csv")["n_systems"]) == {0}
    assert not (figures / "fig-fitting-curve.csv").exists()
    figures, _ = run(checkout, "fitting", described, predictions=path)
    fitted = pd.read_csv(figures / "tbl-fitting.csv")
    maps = fitted.loc[(fitted["inputs"] == "mine") & (fitted["objective"] == "jsd"), "map"]
    assert set(maps) == {"temperature", "vector", "affine", "quadratic"}
    assert (figures / "fig-fitting-curve.svg").exists()
    assert not (figures / "tbl-fitting-old-label.csv").exists()
    of_mine = fitted[(fitted["inputs"] == "mine") & (fitted["map"] == "as it is")]
    distance = jensenshannon(votes.shares, predicted, axis=1).mean()
    assert of_mine["jsd"].item() == pytest.approx(distance)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnli", "alphanli"])
def test_a_folder_with_one_of_chaosnli_s_files(
    name, checkout, released_root, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHAOS_DATA", str(released_root))  # for the released predictions
    dataset = catalogue.get_dataset(name)
    shutil.copy(released_root / dataset.file, tmp_path)
    for chapter in ("annotations", "disagreement", "agreement", "ceilings", "results"):
        _, said = run(checkout, chapter, tmp_path)
        assert dataset.short in said
