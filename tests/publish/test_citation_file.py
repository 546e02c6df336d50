"""CITATION.cff itself."""

import json
from importlib.resources import files

import jsonschema
import yaml
from helpers.checkout import PROJECT

from chaos_utils.report import provenance


def test_it_is_valid_against_its_schema_and_of_the_package_s_version():
    content = yaml.safe_load((PROJECT / "CITATION.cff").read_text("utf-8"))
    schemas = files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / "citation-file-format.json").read_text("utf-8"))
    assert content["cff-version"] in schema["$id"]
    validator = jsonschema.Draft7Validator(schema)
    assert [error.message for error in validator.iter_errors(content)] == []
    assert not validator.is_valid(content | {"license": "no licence"})
    assert content["version"] == provenance.version()
