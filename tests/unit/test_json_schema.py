"""The package of JSON schemas is imported without the two seconds of a format's grammars."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.tools import succeed
from kmcompile import json_schema

_IRIS = """
import sys
from kmcompile import json_schema
from kmcompile.target import load_target
load_target("host")
assert "jsonschema" in sys.modules and "rfc3987_syntax" not in sys.modules
from jsonschema import Draft202012Validator, FormatChecker
checker = Draft202012Validator.FORMAT_CHECKER
print([checker.conforms(text, "iri") for text in ("https://example.org/é", "no iri")])
print("rfc3987_syntax" in sys.modules)
"""


@pytest.mark.exhaustive
def test_the_format_of_iris_is_imported_where_the_first_is_checked():
    pytest.importorskip("rfc3987_syntax")
    assert succeed([sys.executable, "-c", _IRIS]) == "[True, False]\nTrue\n"


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"a": [1, 2]}, None),
        ({"a": [1, "x"]}, ("a.1", "'x' is not of type 'integer'")),
        ([], ("", "[] is not of type 'object'")),
    ],
)
def test_a_fault_has_its_place_and_its_rule(tmp_path: Path, document, fault):
    schema = tmp_path / "schema.json"
    schema.write_text(
        '{"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}', "utf-8"
    )
    assert json_schema.fault(schema, document) == fault
