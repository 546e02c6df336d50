import io
import json
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import yaml
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from PIL import Image

from chaos_utils.base import paths, style
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, digests
from chaos_utils.base.style import MODES, PALETTES, PINK, Hue, colour
from chaos_utils.base.table import Origin, Table
from chaos_utils.book import TITLES
from chaos_utils.report.figures import in_dark, publish_figure
from chaos_utils.report.literal import in_html
from chaos_utils.report.manifests import picture_name
from chaos_utils.report.provenance import version
from chaos_utils.report.tables import publish_table

DATA = Table(pd.DataFrame({"x": [1, 2], "y": [3.0, None]}), ("x",))
MADE_UP = Origin((Input("made-up", "0" * 64, synthetic=True),))
GIVEN = {"caption": "A line. It rises, e.g. here.", "alt": "A line that rises from left to right."}


def plot(table) -> Figure:
    figure, axis = plt.subplots()
    axis.plot(table["x"], table["y"], color=colour("blue"))
    return figure


def test_one_call_writes_every_format_of_the_same_bytes(run_folder, tmp_path, monkeypatch):
    plt.close("all")
    shown = publish_figure("fig-line", plot, DATA, **GIVEN)
    folder = run_folder / "figures"
    ends = (".svg", "-dark.svg", "-narrow.svg", "-narrow-dark.svg", ".png", ".pdf", ".csv", ".json")
    assert {path.name for path in folder.iterdir()} == {f"fig-line{end}" for end in ends}
    manifest = json.loads((folder / "fig-line.json").read_text())
    assert manifest["title"] == "A line"
    assert manifest["alt"] == GIVEN["alt"]
    assert manifest["data"] == [{"x": 1, "y": 3.0}, {"x": 2, "y": None}]
    assert manifest["formats"] == ["svg", "png", "pdf", "csv", "json"]
    assert (folder / "fig-line.csv").read_text() == "x,y\n1,3.0\n2,\n"
    bundle = shown._repr_mimebundle_()
    assert bundle["text/markdown"] == "```{published} fig-line\n```\n"
    assert 'alt="A line that rises' in bundle["text/html"]
    assert not plt.get_fignums()
    with pytest.raises(ChaosError, match="same id"):
        publish_figure("fig-line", plot, DATA, **GIVEN)
    monkeypatch.setenv("CHAOS_RUN", str(tmp_path / "again"))
    publish_figure("fig-line", plot, DATA, **GIVEN)
    assert digests(folder) == digests(tmp_path / "again" / "figures")


def test_what_must_be_said_of_a_system_is_a_mark_and_a_line_where_it_is_shown(run_folder):
    rows = pd.DataFrame({"system": ["BART", "ModernBERT-large"], "y": [1, 2]})
    table = Table(rows.assign(dataset="mnli"), ("system",))

    def named(table):
        figure, axis = plt.subplots()
        axis.set_yticks(table["y"], table["system"])
        return figure

    def unnamed(table):
        return plot(table.assign(x=table["y"]))

    shown = [publish_figure(f"fig-{one.__name__}", one, table, **GIVEN) for one in (named, unnamed)]
    shown.append(publish_figure("fig-others", unnamed, table, shown=table.rows[:1], **GIVEN))
    shown.append(publish_table("tbl-all", table, caption="All."))
    some = {"tbl-none": rows[:1], "tbl-others": rows.assign(dataset="snli")}
    shown += [publish_table(id, table, caption="Some.", shown=part) for id, part in some.items()]
    notes = ["".join(one.manifest.notes).partition(" its")[0] for one in shown]
    marked, grey = "† ModernBERT-large:", "ModernBERT-large is one of the grey lines;"
    assert notes == [marked, grey, "", marked, "", ""]
    for one in shown[:2] + shown[3:]:  # the data of all of them names it
        written = json.loads((run_folder / "figures" / f"{one.manifest.id}.json").read_text())
        assert "may have seen" in written["cautions"]["ModernBERT-large"]
        html = one._repr_mimebundle_()["text/html"]
        assert all(in_html(note) in html for note in one.manifest.notes)
    assert shown[3].manifest.display.rows[1][0] == "ModernBERT-large†"
    assert "BART†" not in shown[3].html


def test_without_rows_there_is_nothing(run_folder):
    empty = Table(DATA.rows[:0], DATA.keys)
    assert publish_figure("fig-line", plot, empty, **GIVEN) is None
    assert publish_table("tbl-line", empty, caption="A line.") is None
    assert not (run_folder / "figures").exists()


EVIL = """A *line* of {cite:t}`nie2020`, "50 %" & <b>ß</b> é \\ {(x)} 'α'. More."""
WORDS = """A line of nie2020, "50 %" & <b>ß</b> é \\ {(x)} 'α'"""
RIGHTS = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


def dublin_core(path):
    """Return the words of each Dublin Core element of an SVG."""
    work = ET.parse(path).getroot().find(".//{http://creativecommons.org/ns#}Work")
    return {element.tag.split("}")[1]: "".join(element.itertext()).strip() for element in work}


def test_metadata_is_inside_the_files(run_folder):
    (run_folder / "context.json").write_text('{"notebook": "n", "parameters": {}}')
    alt = f"What it shows: {WORDS}"
    publish_figure("fig-line", plot, DATA, caption=EVIL, alt=alt)
    folder = run_folder / "figures"
    manifest = json.loads((folder / "fig-line.json").read_text())
    author = manifest["creators"][0]
    assert manifest["licence"] in RIGHTS
    for name in ("fig-line.svg", "fig-line-dark.svg"):
        core = dublin_core(folder / name)
        assert (core["title"], core["description"]) == (WORDS, alt)
        assert (core["identifier"], core["source"]) == ("fig-line", "notebooks/n.py")
        assert (core["creator"], core["rights"]) == (author, RIGHTS)
        assert core["contributor"] == f"chaos-utils {version()}"
    with Image.open(folder / "fig-line.png") as image:
        assert round(image.info["dpi"][0]) == 300
        assert {WORDS, alt, author, RIGHTS} <= set(image.info.values())
    pdf = (folder / "fig-line.pdf").read_bytes()
    assert f"/Author ({author})".encode() in pdf
    assert "α".encode("utf-16-be") in pdf  # letters beyond Latin ones make it UTF-16
    assert b"CreationDate" not in pdf


def test_no_author_is_named_for_what_a_reader_draws(tmp_path):
    with paths.figures_in(tmp_path):
        publish_figure("fig-line", plot, DATA, **GIVEN)
    folder = tmp_path / "figures"
    assert not {"creator", "rights"} & dublin_core(folder / "fig-line.svg").keys()
    with Image.open(folder / "fig-line.png") as image:
        assert not {"Author", "Copyright"} & image.info.keys()
    pdf = (folder / "fig-line.pdf").read_bytes()
    assert b"/Author" not in pdf
    assert b"/Title (A line)" in pdf


def test_a_dollar_sign_is_not_a_formula(run_folder):
    names, drawn = [r"a$\frac$b", "a $ or $ b", "$"], []

    def plot_named(table):
        figure, axis = plt.subplots()
        axis.barh(table["system"], table["x"])
        figure.draw_without_rendering()
        drawn.extend(text._preprocess_math(text.get_text()) for text in axis.get_yticklabels())
        return figure

    table = Table(pd.DataFrame({"system": names, "x": 1.5}), ("system",))
    publish_figure("fig-named", plot_named, table, **GIVEN)
    assert drawn[:3] == [(name, False) for name in names]


def plain(axis):
    axis.plot([1, 2], [3, 4], color=colour("blue"), marker="o", linestyle="--", alpha=0.6)
    axis.fill_between([1, 2], [3, 4], color=colour(PINK), hatch="//", edgecolor=colour("text"))


def a_constant(axis):
    axis.text(0.5, 0.5, "text", color="#ffffff")


def raster(axis):
    axis.imshow([[1, 2]], cmap=ListedColormap([colour("low"), colour("high")]))


def two_dark_ones(axis):
    for shade in (PINK, Hue(light=PINK.light, dark="#ffffff")):
        axis.plot([1, 2], color=colour(shade))


def drawn(mode, draw):
    """Return a picture in a look, and the colours that it has asked for."""
    stream = io.StringIO()
    with style.drawing_look(mode) as given:
        figure, axis = plt.subplots(figsize=(style.width(), 2), layout="none")
        draw(axis)
        figure.savefig(stream, format="svg", metadata={"Date": None})
        plt.close(figure)
    return stream.getvalue(), given


def test_a_dark_picture_is_as_if_drawn():
    dark = in_dark(*drawn("light", plain))
    assert without_ids(dark) == without_ids(drawn("dark", plain)[0])
    assert PINK.light not in dark
    assert PINK.dark in dark


def test_colours_that_cannot_be_exchanged():
    for draw in (raster, two_dark_ones, a_constant):
        assert in_dark(*drawn("light", draw)) is None


@pytest.mark.parametrize(("draw", "times"), [(plain, 2), (a_constant, 4)])
def test_a_figure_is_drawn_for_each_width_and_again_in_dark_where_it_must(run_folder, draw, times):
    looks = []

    def plot(table):
        figure, axis = plt.subplots()
        draw(axis)
        looks.append((colour("text"), style.is_narrow()))
        return figure

    publish_figure("fig-line", plot, DATA, **GIVEN)
    assert len(looks) == len(set(looks)) == times
    for mode in MODES:
        for narrow in (False, True):
            svg = (run_folder / "figures" / picture_name("fig-line", mode, narrow)).read_text()
            assert [PALETTES[one]["text"] in svg for one in MODES] == [mode == one for one in MODES]


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
        marked, plain = ((folder / f"fig-{id}{mode}.svg").read_text() for id in ("line", "plain"))
        assert marked.count("<use") > plain.count("<use") + 10


def titled(width, size):
    def plot(table):
        figure, axis = plt.subplots(figsize=(width, 2))
        axis.set_title("tiny", fontsize=size)
        return figure

    return plot


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "fig-../x"}, "id cannot be used"),
        ({"id": "fig-a\n"}, "id cannot be used"),
        ({"alt": GIVEN["caption"]}, "alt text"),
        ({"caption": ""}, "caption"),
        ({"table": DATA.rows}, "table behind"),
        ({"plot": titled(9, 9)}, "9 inches"),
        ({"plot": titled(4, 8)}, "(?s)'tiny' in 8 points.*at least 8.25"),
        ({"plot": titled(4, 9)}, "4 inches"),  # too wide for a phone
    ],
)
def test_what_a_figure_needs(run_folder, change, message):
    with pytest.raises(ChaosError, match=message):
        publish_figure(**{"id": "fig-line", "plot": plot, "table": DATA} | GIVEN | change)


FOUND = "People disagree on most SNLI items. Bars are 95% intervals."
SHOWN = "How much people disagree. Bars are 95% intervals."


@pytest.mark.parametrize(
    ("name", "synthetic", "caption"),
    [
        ("chaosNLI_v1.0/chaosNLI_snli.jsonl", False, FOUND),
        ("own-data/mine.csv", False, SHOWN),
        ("sample", True, f"Synthetic sample, not a result. {SHOWN}"),
    ],
)
def test_a_caption_states_findings_of_the_book_s_votes_alone(name, synthetic, caption, run_folder):
    table = Table(DATA.rows, DATA.keys, {"snli": Origin((Input(name, "0" * 64, synthetic),))})
    publish_figure("fig-entropy", plot, table, caption=FOUND, alt="Most bars are high.")
    manifest = json.loads((run_folder / "figures" / "fig-entropy.json").read_text())
    assert manifest["caption"] == caption
    assert (manifest["alt"] == "Most bars are high.") == (caption == FOUND)
    publish_table("tbl-mine", table, caption=FOUND)  # a reader's own
    mine = json.loads((run_folder / "figures" / "tbl-mine.json").read_text())
    assert mine["caption"].endswith(FOUND)


def test_each_figure_and_table_has_a_title_without_findings():
    """None stands where the caption itself has no finding."""
    titles = yaml.safe_load(TITLES.read_text("utf-8"))
    ids = yaml.safe_load((paths.project() / "book" / "figures.yml").read_text("utf-8"))
    made = {one for one, entry in ids.items() if isinstance(entry, str)}
    crowds = {one for one in made if "-machine-" in one}  # of votes that are no reader's
    assert made - crowds <= set(titles)
