"""The words of a reader's files in a run's page, in each chapter that takes them: mere words."""

import json
import re

import numpy as np
import pytest
from helpers.checkout import PROJECT
from helpers.commands import call
from helpers.pages import watch

from chaos_utils.base import paths

pytestmark = pytest.mark.browser

# Whatever has a meaning in HTML, Markdown, MyST, a table, a formula, a template or a citation.
MARKS = (
    "<img src=x onerror=window.RUN=1>", "![p](https://evil.example/p.png)",
    "[l](javascript:window.RUN=1)", "<javascript:window.RUN=1>", "https://evil.example/u",
    "</title></style><script>window.RUN=1</script>", '"><b onmouseover=window.RUN=1>b</b>',
    "`code`", "{raw}`html`", "{{7*7}}", "$$x$$", r"$\\frac$", "a|b", "**bold**", "~~gone~~",
    "<!--", "&lt;i&gt;",
)  # fmt: skip
EVIL = " ".join(MARKS)
TITLED = " ".join(one for one in MARKS if "$" not in one)  # which no title may hold
FEW = {
    "agreement": {"resamples": 20},
    "ceilings": {"draws": 2},
    "results": {"resamples": 20, "crowds": 4, "draws": 2},
    "fitting": {"resamples": 40, "repeats": 1},
    "scoreboard": {"resamples": 40},
    "calibration": {"n_temperatures": 2},
    "claims": {"resamples": 20, "intervals": 20, "n_seeds": 2},
    "crowd": {"resamples": 40, "draws": 2, "shuffles": 9, "epsilon": 0.1, "why": EVIL},
    "finetune": {"model": "tiny-bert", "n_folds": 2, "epochs": 1, "threads": 1, "resamples": 40},
    "train": {"model": "tiny-bert", "n_folds": 2, "epochs": 1, "threads": 1, "resamples": 40},
}
OTHERS_REFUSED = ("collection",)  # on what the papers have alone
QUICK = ("crowd",)  # which shows most of them
# What is live on a page, or out of its place.
_LIVE = """() => [
  ...[...document.querySelectorAll(
    'script, iframe, object, embed, base, form, img:not([src^="data:"]), [href^="javascript" i]'
  )].map(one => one.outerHTML),
  ...[...document.links].map(one => one.href).filter(one => one.includes('evil.example')),
  ...[...document.querySelectorAll('*')].filter(one => one.getAttributeNames()
    .some(name => name.startsWith('on'))).map(one => one.outerHTML),
  ...[...document.querySelectorAll('table')].filter(table => new Set([...table.rows]
    .filter(row => !row.querySelector('[rowspan], [scope=colgroup], [scope=rowgroup]')
      && !row.parentElement.querySelector('[rowspan]'))
    .map(row => row.cells.length)).size > 1).map(one => one.outerHTML.slice(0, 2000)),
  ...[...document.querySelectorAll('math')].filter(one => /frac|x/.test(one.textContent))
    .map(one => one.outerHTML),
]"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Votes with three labels, in a file that a YAML file describes, and predictions of a model."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    labels = [f"{name} {TITLED}" for name in ("a", "b", "c")]
    quoted = lambda text: '"' + text.replace('"', '""') + '"'  # noqa: E731
    fields = [f"{name} {EVIL}" for name in ("group", "own")]
    lines = [",".join(map(quoted, ["item", "who", *fields, "label", "text"]))]
    columns, rows = [label.replace(" ", "_") for label in labels], []
    for k in range(60):
        truth = rng.dirichlet((2, 1, 1))
        for annotator in range(20):
            about = f"Zorana{annotator} {EVIL}", f"g{annotator % 2} {EVIL}", f"of Zorana{annotator}"
            cells = [f"i{k} {EVIL}", *about, rng.choice(labels, p=truth), f"t{k} {EVIL}"]
            lines.append(",".join(map(quoted, cells)))
        shares = map(float, rng.dirichlet((2, 1, 1)))
        shares = dict(zip(columns, shares, strict=True))
        rows.append(json.dumps({"uid": f"i{k} {EVIL}", **shares}))
    votes, model = (
        folder / "v ![p](x) $$x$$ <b>.csv",
        folder / "m <b>bold[l](javascript&#58;1).jsonl",
    )
    votes.write_text("\n".join(lines), "utf-8")
    model.write_text("\n".join(rows), "utf-8")
    described = {
        "name": "evil", "title": f"T {TITLED}", "short": f"S {TITLED}", "warning": f"W {TITLED}",
        "labels": [{"name": label, "code": label} for label in labels], "ordered": True,
        "texts": ["text"], "text_titles": [f"F {TITLED}"], "files": [{"name": votes.name}],
        "release": dict.fromkeys(("title", "licence", "homepage", "credit"), TITLED),
        "reader": {"format": "long", "annotator": "who", "annotator_fields": fields},
    }  # fmt: skip
    (folder / "evil.yml").write_text(json.dumps(described), "utf-8")
    return folder / "evil.yml", model


def _chapters():
    for path in sorted((PROJECT / "notebooks").glob("[!_]*.py")):
        takes = re.search(r"(?m)^(data|train): str = .* a dataset", path.read_text("utf-8"))
        if takes and path.stem not in OTHERS_REFUSED:
            marks = () if path.stem in QUICK else pytest.mark.slow
            yield pytest.param(path.stem, takes[1], marks=marks)


@pytest.mark.usefixtures("warm_processes")
@pytest.mark.parametrize(("chapter", "votes"), list(_chapters()))
def test_the_words_of_files_are_mere_words_in_the_page_of_a_run(
    browser, files, chapter, votes, tmp_path, monkeypatch
):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(paths, "build", lambda: tmp_path / "_build")
    monkeypatch.setattr(paths, "runs", lambda: tmp_path / "runs")
    data, model = files
    given = {votes: data} | FEW.get(chapter, {})
    takes = set(re.findall(r"(?m)^(\w+): ", (PROJECT / "notebooks" / f"{chapter}.py").read_text()))
    others = {"predictions": model, "dataset": "evil"}
    given |= {name: value for name, value in others.items() if name in takes}
    options = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    call("run", chapter, *options)
    context = browser.new_context()
    page, troubles = context.new_page(), []
    watch(page, troubles)
    (made,) = tmp_path.glob("runs/*/page.html")
    page.goto(made.as_uri())
    live = page.evaluate(_LIVE)
    shown = page.locator("body").inner_text()
    if chapter == "crowd":  # findings come first
        whole = page.content()
        assert 0 < whole.find("Two votes on the same item differ") < whole.find("tbl-crowd")
        assert "tbl-crowd-groups" in whole
    written = [one for one in tmp_path.glob("runs/**/*") if one.is_file()]
    assert not [one for one in written if b"Zorana" in one.read_bytes()]
    context.close()
    assert not live
    assert not troubles
    assert TITLED.split("</title>")[0] in shown
