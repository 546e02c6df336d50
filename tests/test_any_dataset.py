"""Datasets that one YAML file describes run through evaluation and chapters."""

import io
import json

import IPython.display
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.checkout import PROJECT, chaos, copy_checkout
from helpers.datasets import write_four_labels, write_two_labels
from helpers.predictions import write_shares
from scipy.spatial.distance import jensenshannon
from typer.testing import CliRunner

from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report import figures, tables
from chaos_utils.report.columns import lay_out
from chaos_utils.scoring import references
from chaos_utils.scoring.evaluate import IN_PEOPLE
from chaos_utils.scoring.references import PERFECT_MODEL

FEW = {
    "disagreement": {},
    "agreement": {"resamples": 20},
    "ceilings": {"draws": 2},
    "results": {"resamples": 20, "crowds": 4, "draws": 2},
    "fitting": {"resamples": 40, "repeats": 1},
    "calibration": {"n_temperatures": 2},
    "claims": {"resamples": 20, "intervals": 20, "n_seeds": 2},
}


@pytest.fixture(params=[write_four_labels, write_two_labels])
def described(request, tmp_path):
    """The YAML file of a dataset with four or two labels."""
    return request.param(tmp_path)


def write_predictions(described):
    """Write predictions that err, more on the last label; return the file and them."""
    (votes,) = load_all_votes(str(described))
    weights = np.arange(1, votes.dataset.n_classes + 1)
    noise = np.random.default_rng(0).dirichlet(weights, len(votes))
    predicted = 0.7 * votes.shares + 0.3 * noise
    return write_shares(described.with_name("mine.csv"), votes, predicted), votes, predicted


@pytest.fixture
def compute(monkeypatch):
    """Return a function that runs a chapter's cells here, without setting a page."""
    published, said = {}, []

    def publish_table(name, table, columns=(), shown=None, groups=(), index=(), **_):
        if len(table):
            published[name] = table.rows
            lay_out(table.rows if shown is None else shown, columns, groups, index)

    def publish_figure(name, plot, table, **_):
        publish_table(name, table)
        if len(table):
            plt.close(plot(table.rows))

    monkeypatch.setattr(tables, "publish_table", publish_table)
    monkeypatch.setattr(figures, "publish_figure", publish_figure)
    monkeypatch.setattr(IPython.display, "Markdown", said.append)
    monkeypatch.setattr(references, "REFITS", 20)

    def run(chapter, data, **more):
        """Return the rows of what it publishes, by id, and the prose that it makes."""
        published.clear()
        said.clear()
        source = (PROJECT / "notebooks" / f"{chapter}.py").read_text("utf-8")
        head, mark, rest = source.partition('tags=["parameters"]')
        parameters, _, rest = rest.partition("# %%")
        names = {}
        exec(compile(head + mark + parameters, chapter, "exec"), names)
        given = {"data": str(data)} | FEW.get(chapter, {}) | more
        assert given.keys() <= names.keys()
        exec(compile(f"# %%{rest}", chapter, "exec"), names | given)
        return dict(published), "\n".join(said)

    return run


def evaluate(path, data, *options, measures="all"):
    """Evaluate predictions as a reader does; return the rows on them."""
    given = ("--data", str(data), "--bootstrap", "40", "--measures", measures, "--csv", *options)
    done = CliRunner().invoke(app, ["evaluate", str(path), *given])
    assert done.exit_code == 0, done.stderr
    rows = pd.read_csv(io.StringIO(done.stdout), index_col="measure")
    assert {PERFECT_MODEL, "base rate", "mine"} <= set(rows.loc["jsd", "system"])
    return rows[rows["origin"] == "yours"]


def test_predictions_are_evaluated_by_the_yaml_file_or_by_the_votes_alone(described):
    path, votes, predicted = write_predictions(described)
    table = evaluate(path, described)
    by_votes_alone = evaluate(path, described.with_suffix(".csv"), measures="jsd")
    assert by_votes_alone.loc["jsd", "value"] == pytest.approx(table.loc["jsd", "value"])
    known = {one for one, measure in MEASURES.items() if measure.needs in ("", "two votes")}
    assert set(table.index) == known | set(IN_PEOPLE)
    distance = jensenshannon(votes.shares, predicted, axis=1).mean()
    assert table.loc["jsd", "value"] == pytest.approx(distance)


def test_chapters_on_votes(described, compute):
    (votes,) = load_all_votes(str(described))
    short = votes.dataset.short
    published, said = compute("annotations", described)
    assert f"*{short} has no old labels, so it is left out here.*" in said
    published, said = compute("disagreement", described)
    assert published["fig-entropy"]["n_items"].sum() == len(votes)
    assert published["fig-majority-share"]["n_at_least"].max() == len(votes)
    assert f"*A triangle needs three labels, so we leave out {short}.*" in said
    published, said = compute("ceilings", described)
    assert "*No model's predictions are available" in said
    bounds = published["tbl-noise-ceiling"].set_index("measure")
    assert bounds[["perfect_model", "uniform"]].notna().all(axis=None)
    assert list(bounds.index[bounds["second_crowd_posterior"].isna()]) == ["kl"]
    # Whether from halves of 3 votes to 13, or with 5 votes: nothing to extrapolate from.
    assert bounds["second_crowd_halves"].isna().all()
    published, said = compute("results", described)
    assert f"*No model's predictions are available for {short}: " in said
    published, _ = compute("fitting", described)
    assert set(published["tbl-fitting"]["n_systems"]) == {0}


def test_chapters_on_votes_and_predictions(described, compute):
    path, votes, predicted = write_predictions(described)
    own = {"predictions": [str(path)]}
    published, _ = compute("agreement", described, **own)
    bins = published["tbl-entropy-bins"].query("system == 'mine' and measure == 'jsd'")
    assert bins["n"].sum() == len(votes)
    assert "mine" in set(published["tbl-disagreement-signal"]["system"])
    published, _ = compute("results", described, **own)
    shown = set(published["tbl-normalised-scores"]["system"])
    assert shown == {"mine", "uniform guess", "base rate"}
    assert published["tbl-main-results"].set_index("system").loc["mine", "people"]
    published, _ = compute("fitting", described, **own)
    fitted = published["tbl-fitting"].query("inputs == 'mine'")
    distance = jensenshannon(votes.shares, predicted, axis=1).mean()
    assert fitted.loc[fitted["map"] == "as it is", "jsd"].item() == pytest.approx(distance)
    published, _ = compute("calibration", described, dataset=votes.dataset.name, **own)
    assert "fig-error-ranks" in published
    published, said = compute("claims", described, dataset=votes.dataset.name, **own)
    assert (
        f"*{votes.dataset.short} has no more than 40 votes per item, so it is left out here.*"
        in said
    )
    assert {"tbl-murphy", "fig-error-distributions"} & set(published) == {"tbl-murphy"}


@pytest.mark.slow
def test_a_chapter_is_run_on_a_reader_s_file(tmp_path):
    checkout, four = copy_checkout(tmp_path / "checkout"), write_four_labels(tmp_path)
    path, votes, _ = write_predictions(four)
    given = {"data": four, "predictions": path, "dataset": votes.dataset.name}
    options = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    done = chaos("run", "conventions", *options, "--json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    (notebook,) = checkout.glob("runs/*/notebook.ipynb")
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert not [one for one in outputs if one.get("name") == "stderr"]
    # A run's page does not say where the reader's file is.
    for manifest in notebook.parent.glob("figures/*.json"):
        shown = json.loads(manifest.read_text("utf-8"))["parameters"]["data"]
        assert shown == f"…/{four.name}"
