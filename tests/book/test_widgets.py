"""The data of widgets, which another process makes while pages are read."""

import os
from types import SimpleNamespace

import pytest

from chaos_utils.sphinx.widgets import Widget


@pytest.fixture
def app(tmp_path):
    """What a widget asks of Sphinx, for a book of one page that has the widget."""
    return SimpleNamespace(
        parallel=2, outdir=tmp_path, config=SimpleNamespace(chaos_draft=False),
        env=SimpleNamespace(found_docs={"page"}, metadata={"page": {"made": True}}),
        add_js_file=lambda name, **options: None,
    )  # fmt: skip


def _written(app, data, pages=("page",)) -> str:
    """Return what the page loads, whose data may be made ahead."""
    widget = Widget("made", (), data, folder=app.outdir)
    widget.make_ahead(app, app.env, pages)
    widget.load(app, "page", "", {}, None)
    return (app.outdir / "_static" / "made" / "data.js").read_text("utf-8")


def _who(app) -> dict[str, str]:
    return {"data.js": str(os.getpid())}


def test_data_are_made_by_another_process_where_all_pages_are_read(app):
    assert _written(app, _who) != str(os.getpid())
    assert _written(app, _who, pages=()) == str(os.getpid())
    app.parallel = 1
    assert _written(app, _who) == str(os.getpid())


def test_what_another_process_cannot_make_the_page_makes_and_tells_its_faults(app):
    here = os.getpid()

    def only_here(app) -> dict[str, str]:
        assert os.getpid() == here
        return _who(app)

    def nowhere(app) -> dict[str, str]:
        raise LookupError("no votes")

    assert _written(app, only_here) == str(here)
    with pytest.raises(LookupError, match="no votes"):
        _written(app, nowhere)
