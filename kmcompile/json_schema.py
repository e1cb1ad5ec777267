"""Documents against JSON schemas, by `jsonschema`, imported without its dearest format."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_IRIS = "rfc3987_syntax"
"""Compiles 39 grammars where it is imported: two seconds, for a format that few schemas have."""


def fault(schema: Path, document: Any) -> tuple[str, str] | None:
    """Return where a document breaks a schema of draft 2020-12, and how; None if it does not.

    Parameters
    ----------
    schema : path
        The file of the schema, which is read once.
    """
    error = _jsonschema().exceptions.best_match(_validator(schema).iter_errors(document))
    if error is None:
        return None
    return ".".join(str(part) for part in error.absolute_path), error.message


@cache
def _validator(schema: Path) -> Any:
    return _jsonschema().Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))


@cache
def _jsonschema() -> Any:
    """Return the package; what Jupyter and others have it import for IRIs waits for the first."""
    if "jsonschema" in sys.modules or _IRIS in sys.modules or find_spec(_IRIS) is None:
        return import_module("jsonschema")
    late = ModuleType(_IRIS)
    late.is_valid_syntax = _is_valid_syntax  # type: ignore[attr-defined]
    sys.modules[_IRIS] = late
    try:
        return import_module("jsonschema")
    finally:
        del sys.modules[_IRIS]


def _is_valid_syntax(term: str, value: str) -> bool:
    """Ask the package itself, which is imported now."""
    answer: bool = import_module(_IRIS).is_valid_syntax(term, value)
    return answer
