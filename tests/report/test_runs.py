import time
from threading import Thread

import pytest
from helpers.manifests import make_record

from chaos_utils.base import paths
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import digest
from chaos_utils.report import runner, runs


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A notebook of a checkout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "notebooks" / "one.py").write_text("1")
    return tmp_path / "notebooks" / "one.py"


def test_a_run_is_made_by_one_at_a_time(source, monkeypatch):
    events = []

    def make(*_, **options):
        events.append("begin")
        time.sleep(0.1)
        events.append("end")

    monkeypatch.setattr(runner, "run_notebook", make)
    threads = [Thread(target=runs.run, args=(source, {})) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert events == ["begin", "end"] * 3


def test_a_run_of_another_notebook_or_other_parameters_is_not_there(source):
    values = {"seed": 1}
    folder = runs.folder_of(source, values)
    right = make_record(notebook_sha256=digest(source), parameters=values)
    for record, is_there in (
        (right, True),
        (right | {"parameters": {"seed": 2}}, False),
        (right | {"notebook_sha256": "0"}, False),
    ):
        write_json(folder / paths.RECORD_FILE, record)
        assert runs.is_there(source, values) == is_there
