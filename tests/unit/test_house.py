"""The form of the repository's own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import kmcompile

CHECKOUT = Path(kmcompile.__file__).resolve().parents[1]
FOLDERS = ("kmcompile", "tests", "examples", "targets")
MOST_LINES = 350


def test_no_python_file_is_long() -> None:
    """A longer one has a seam: a part with a subject of its own, and a name for it."""
    files = [file for folder in FOLDERS for file in (CHECKOUT / folder).rglob("*.py")]
    assert Path(__file__) in files
    lengths = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    too_long = {str(file.relative_to(CHECKOUT)): n for file, n in lengths.items() if n > MOST_LINES}
    assert too_long == {}


TEMPLATES = sorted((CHECKOUT / "templates").rglob("*.j2"))
MOST_LINES_OF_A_TEMPLATE = 260
COMPUTES = (nodes.Compare, nodes.BinExpr)
PRINTS = (nodes.And, nodes.Or)
"""Whether a part is there may depend on several answers of a view."""
CHOOSES = ("select", "selectattr", "reject", "rejectattr")
"""Filters that compare; only the page of a report has one, by the kind of a heading."""


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name.partition(".")[0])
def test_a_template_computes_nothing(file: Path) -> None:
    """It has no comparison and no arithmetic: a property of its view has what it prints or asks."""
    text = file.read_text("utf-8")
    tree = Environment().parse(text)
    found = [one for one in tree.find_all(COMPUTES) if type(one) not in PRINTS]
    assert [(one.lineno, type(one).__name__) for one in found] == []
    compared = [one for one in tree.find_all(nodes.Filter) if one.name in CHOOSES]
    assert compared == [] or "report" in file.parts
    assert len(text.splitlines()) <= MOST_LINES_OF_A_TEMPLATE
