"""Manifests of figures and tables, and records of runs, as they are written."""

from chaos_utils.report.manifests import Manifest
from chaos_utils.report.provenance import RunRecord

_BOTH = {
    "title": "A title", "caption": "A title. More.", "synthetic": False, "creators": ["Us"],
    "licence": "https://creativecommons.org/licenses/by/4.0/", "notebook": "one",
    "parameters": {"data": "auto"}, "inputs": [], "recorded": [], "outdated": False,
    "software": {"python": "3.11.7"}, "keys": ["x"], "columns": ["x"], "data": [{"x": 1}],
}  # fmt: skip
_FIGURE = _BOTH | {
    "kind": "figure", "formats": ["svg", "png", "pdf", "csv", "json"], "alt": "A line.",
    "size": [600, 400], "narrow_size": [350, 500],
}  # fmt: skip
_TABLE = _BOTH | {
    "kind": "table", "formats": ["csv", "json"],
    "display": {"header": [["x"]], "rows": [["1"]]},
}  # fmt: skip
_RECORD = {
    "schema": 2, "id": "one-0123456789abcdef", "notebook": "one", "title": "Chapter one",
    "notebook_sha256": "0", "parameters": {"data": "auto"}, "defaults": {"data": "auto"},
    "seed": None, "inputs": [], "recorded": [], "made_from": {},
    "code": {"version": "1.2.3", "commit": "abcdef", "uncommitted_changes": False},
    "software": {"python": "3.11.7", "chaos-utils": "1.2.3", "numpy": "2.0.0"},
    "hardware": {"cpus": 2}, "started": "2026-01-02T03:04:05+00:00", "seconds": 1.0, "outputs": {},
}  # fmt: skip


def make_manifest(id="fig-x", **changes):
    """Return the manifest of a figure or table, which its id decides."""
    data = {} if "data" not in changes else {"columns": [*changes["data"][0]]}
    usual = _FIGURE if id.startswith("fig") else _TABLE
    return Manifest.model_validate(usual | {"id": id} | data | changes)


def make_record(**changes):
    """Return the record of a run, as it is written."""
    return RunRecord.model_validate(_RECORD | changes).model_dump(by_alias=True)
