import json
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from PIL import Image

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.style import NARROW, PINK, WIDE, Hue, colour, is_narrow, width
from chaos_utils.base.table import Origin, Table
from chaos_utils.report import figures
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.provenance import version

DATA = Table(pd.DataFrame({"x": [1, 2], "y": [3.0, None]}), ("x",))
MADE_UP = Origin((Input("made-up", "0" * 64, synthetic=True),))
GIVEN = {"caption": "A line. It rises, e.g. here.", "alt": "A line that rises from left to right."}


def plot(table) -> Figure:
    figure, axis = plt.subplots()
    axis.plot(table["x"], table["y"], color=colour("blue"))
    return figure


def names(folder):
    return {path.name for path in (folder / "figures").iterdir()}


def test_one_call_writes_every_format(run_folder):
    plt.close("all")
    shown = publish_figure("fig-line", plot, DATA, **GIVEN)
    pictures = (f"{end}.svg" for end in ("", "-dark", "-narrow", "-narrow-dark"))
    ends = (*pictures, ".png", ".pdf", ".csv", ".json")
    assert names(run_folder) == {f"fig-line{end}" for end in ends}
    manifest = json.loads((run_folder / "figures" / "fig-line.json").read_text())
    assert manifest["title"] == "A line"
    assert manifest["alt"] == GIVEN["alt"]
    assert manifest["data"] == [{"x": 1, "y": 3.0}, {"x": 2, "y": None}]
    assert manifest["formats"] == ["svg", "png", "pdf", "csv", "json"]
    assert (run_folder / "figures" / "fig-line.csv").read_text() == "x,y\n1,3.0\n2,\n"
    bundle = shown._repr_mimebundle_()
    assert bundle["text/markdown"] == "```{published} fig-line\n```\n"
    assert 'alt="A line that rises' in bundle["text/html"]
    assert not plt.get_fignums()


def test_letters_that_the_font_lacks_give_no_warnings(run_folder, recwarn):
    table = Table(pd.DataFrame({"x": ["\u4e2d\u6587", "b"], "y": [3.0, 4.0]}), ("x",))
    publish_figure("fig-line", plot, table, **GIVEN)
    assert not recwarn.list


EVIL = """A *line* of {cite:t}`nie2020`, "50 %" & <b>ß</b> é \\ {(x)} 'α'. More."""
WORDS = """A line of nie2020, "50 %" & <b>ß</b> é \\ {(x)} 'α'"""
RIGHTS = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


def dublin_core(path):
    """Return the words of each Dublin Core element of an SVG."""
    work = ET.parse(path).getroot().find(".//{http://creativecommons.org/ns#}Work")
    return {
        element.tag.split("}")[1]: "".join(element.itertext()).strip()
        or list(element.attrib.values())
        for element in work
    }


@pytest.mark.parametrize(
    ("caption", "title"), [(GIVEN["caption"], "A line"), (EVIL, WORDS)], ids=["plain", "markup"]
)
def test_metadata_is_inside_the_files(run_folder, caption, title):
    (run_folder / "context.json").write_text('{"notebook": "n", "parameters": {}}')
    alt = f"What it shows: {WORDS}"
    publish_figure("fig-line", plot, DATA, caption=caption, alt=alt)
    folder = run_folder / "figures"
    manifest = json.loads((folder / "fig-line.json").read_text())
    author = manifest["creators"][0]
    assert manifest["licence"] in RIGHTS
    for name in ("fig-line.svg", "fig-line-dark.svg"):
        assert dublin_core(folder / name) == {
            "type": ["http://purl.org/dc/dcmitype/StillImage"],
            "title": title,
            "description": alt,
            "format": "image/svg+xml",
            "identifier": "fig-line",
            "language": "en",
            "source": "notebooks/n.py",
            "creator": author,
            "contributor": f"chaos-utils {version()}",
            "rights": RIGHTS,
        }
    with Image.open(folder / "fig-line.png") as image:
        said = {key: text for key, text in image.info.items() if key != "dpi"}
        assert round(image.info["dpi"][0]) == 300
    assert said == {
        "Identifier": "fig-line",
        "Title": title,
        "Description": alt,
        "Source": "notebooks/n.py",
        "Software": f"chaos-utils {version()}",
        "Author": author,
        "Copyright": RIGHTS,
    }
    pdf = (folder / "fig-line.pdf").read_bytes()
    assert f"/Author ({author})".encode() in pdf
    assert f"/Keywords (fig-line, notebooks/n.py, {RIGHTS})".encode() in pdf
    if caption != EVIL:
        assert b"/Title (A line)" in pdf
    else:  # letters beyond Latin ones make it UTF-16
        assert "α".encode("utf-16-be") in pdf
    assert b"CreationDate" not in pdf


def test_no_author_is_named_for_what_a_reader_draws(tmp_path):
    with paths.figures_in(tmp_path):
        publish_figure("fig-line", plot, DATA, **GIVEN)
    folder = tmp_path / "figures"
    assert not {"creator", "rights"} & dublin_core(folder / "fig-line.svg").keys()
    with Image.open(folder / "fig-line.png") as image:
        assert not {"Author", "Copyright"} & image.info.keys()
    assert b"/Author" not in (folder / "fig-line.pdf").read_bytes()
    manifest = json.loads((folder / "fig-line.json").read_text())
    assert (manifest["creators"], manifest["licence"]) == ([], None)


@pytest.mark.parametrize("name", [r"a$\frac$b", "a $ or $ b", "$"])
def test_a_dollar_sign_is_not_a_formula(run_folder, name):
    drawn = []

    def plot_named(table):
        figure, axis = plt.subplots()
        axis.barh(table["system"], table["x"], label=table["system"][0])
        axis.legend()
        figure.draw_without_rendering()
        drawn.append(axis.get_legend().get_texts()[0])
        return figure

    table = Table(pd.DataFrame({"system": [name], "x": [1.5]}), ("system",))
    publish_figure("fig-named", plot_named, table, **GIVEN)
    assert drawn[0]._preprocess_math(drawn[0].get_text()) == (name, False)
    manifest = json.loads((run_folder / "figures" / "fig-named.json").read_text())
    assert manifest["data"] == [{"system": name, "x": 1.5}]


def test_the_same_data_gives_the_same_bytes(run_folder, tmp_path, monkeypatch):
    publish_figure("fig-line", plot, DATA, **GIVEN)
    monkeypatch.setenv("CHAOS_RUN", str(tmp_path / "again"))
    publish_figure("fig-line", plot, DATA, **GIVEN)
    for path in (run_folder / "figures").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / "figures" / path.name).read_bytes()


def plain(axis):
    axis.plot([1, 2], [3, 4], color=colour("blue"), marker="o", linestyle="--", alpha=0.6)
    axis.fill_between([1, 2], [3, 4], color=colour(PINK), hatch="//", edgecolor=colour("text"))


def between_two(axis):
    ramp = LinearSegmentedColormap.from_list("", [colour("low"), colour("high")])
    axis.scatter([1, 2, 3], [1, 2, 3], c=[1, 2, 3], cmap=ramp)


def raster(axis):
    axis.imshow([[1, 2]], cmap=ListedColormap([colour("low"), colour("high")]))


def two_dark_ones(axis):
    for shade in (PINK, Hue(light=PINK.light, dark="#ffffff")):
        axis.plot([1, 2], color=colour(shade))


def a_constant(axis):
    axis.text(0.5, 0.5, "text", color="#ffffff")


@pytest.mark.parametrize(
    ("draw", "times"),
    [(plain, 2), (between_two, 4), (raster, 4), (two_dark_ones, 4), (a_constant, 4)],
)
def test_a_dark_picture_is_as_if_drawn(run_folder, monkeypatch, draw, times):
    drawn = []

    def plot(table):
        figure, axis = plt.subplots(figsize=(width(), 2))
        draw(axis)
        drawn.append(figure)
        return figure

    publish_figure("fig-one", plot, DATA, **GIVEN)
    assert len(drawn) == times
    monkeypatch.setattr(figures, "in_dark", lambda svg, given: None)
    publish_figure("fig-two", plot, DATA, **GIVEN)
    for name in ("", "-narrow"):
        one, two = (
            (run_folder / "figures" / f"{id}{name}-dark.svg").read_text().partition("</metadata>")
            for id in ("fig-one", "fig-two")
        )
        assert without_ids(one[2]) == without_ids(two[2])
        assert (PINK.light in one[2]) is False


def without_ids(svg):
    """Number the ids of an SVG: they hash what is drawn, colours too."""
    ids = list(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))
    return re.sub(
        r"[\w-]+", lambda found: str(ids.index(found[0])) if found[0] in ids else found[0], svg
    )


def test_synthetic_data_marks_the_figure_in_every_file(run_folder):
    publish_figure("fig-plain", plot, DATA, **GIVEN)
    publish_figure("fig-line", plot, Table(DATA.rows, DATA.keys, {"": MADE_UP}), **GIVEN)
    folder = run_folder / "figures"
    manifest = json.loads((folder / "fig-line.json").read_text())
    assert manifest["synthetic"]
    assert manifest["caption"].startswith("Synthetic sample, not a result.")
    assert manifest["title"] == "A line"
    assert (folder / "fig-line.csv").read_text().splitlines()[0] == "x,y,synthetic_sample"
    assert "Synthetic sample: A line" in (folder / "fig-line.svg").read_text()
    with Image.open(folder / "fig-line.png") as image:
        assert image.info["Title"] == "Synthetic sample: A line"
    assert b"Synthetic sample: A line" in (folder / "fig-line.pdf").read_bytes()
    for mode in ("", "-dark"):  # the mark is drawn, too
        marked, plain = (
            (folder / f"{id}{mode}.svg").read_text() for id in ("fig-line", "fig-plain")
        )
        assert len(re.findall("<use", marked)) > len(re.findall("<use", plain)) + 10


@pytest.mark.parametrize(
    "id", ["line", "tbl-line", "fig-", "fig-Line", "fig-../x", "fig-a/b", "fig-a b", "fig-a\n", ""]
)
def test_an_id_that_cannot_be_used(run_folder, id):
    with pytest.raises(ChaosError, match="id cannot be used"):
        publish_figure(id, plot, DATA, **GIVEN)
    assert not (run_folder / "figures").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alt": " "}, "alt text"),
        ({"alt": GIVEN["caption"]}, "alt text"),
        ({"caption": ""}, "caption"),
        ({"table": Table(pd.DataFrame(), ())}, "table behind"),
        ({"table": DATA.rows}, "table behind"),
    ],
)
def test_what_a_figure_needs(run_folder, change, message):
    given = {"table": DATA} | GIVEN | change
    with pytest.raises(ChaosError, match=message):
        publish_figure("fig-line", plot, **given)


def test_an_id_is_used_once_in_a_notebook(run_folder):
    publish_figure("fig-line", plot, DATA, **GIVEN)
    with pytest.raises(ChaosError, match="same id"):
        publish_figure("fig-line", plot, DATA, **GIVEN)


@pytest.mark.parametrize(
    ("width", "size", "found"),
    [(9, 8, "9 inches"), (4, 6, "'tiny' in 6 points"), (4, 8, "4 inches")],
    ids=["too wide", "too small", "too wide for a phone"],
)
def test_what_could_not_be_read_on_the_page_is_refused(run_folder, width, size, found):
    def plot(table):
        figure, axis = plt.subplots(figsize=(width, 2))
        axis.set_title("tiny", fontsize=size)
        return figure

    with pytest.raises(ChaosError, match=found):
        publish_figure("fig-line", plot, DATA, **GIVEN)


def test_a_phone_has_a_layout_of_its_own(run_folder):
    def plot(table):
        figure, _ = plt.subplots(1 + is_narrow(), 2 - is_narrow(), figsize=(width(), 3))
        return figure

    manifest = publish_figure("fig-line", plot, DATA, **GIVEN).manifest
    assert manifest["size"] == [round(96 * WIDE), 288]
    assert manifest["narrow_size"] == [round(96 * NARROW), 288]
