"""Examples import what the product has: a rename in the product is not seen by its tests."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: str(path.relative_to(EXAMPLES))
)
def test_every_name_that_an_example_imports_is_there(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("kmcompile"):
            continue
        module = import_module(node.module)
        missing = [name.name for name in node.names if not hasattr(module, name.name)]
        assert not [name for name in missing if find_spec(f"{node.module}.{name}") is None]
