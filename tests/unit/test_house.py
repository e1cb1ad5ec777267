"""The form of the repository's own files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import Environment, meta, nodes

import kmcompile
from kmcompile.emit.environment import FLOAT

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


FOLDER = CHECKOUT / "templates"
OF_FOLDER = {"package": {"view", "own"}, "boot": {"boot"}}
"""What all templates of a folder may use unsaid."""
COMMENT = re.compile(r"\{#(.*?)#\}", re.DOTALL)
INCLUDE = re.compile(r'\{% include "([^"]+)" %\}')
GIVEN = re.compile(r'\b(\w+)=|"(\w+)":')


def whole(file: Path) -> str:
    """Return the text of a template with those that it includes in their places."""

    def included(found: re.Match[str]) -> str:
        return f"{{% with %}}{whole(FOLDER / found[1])}{{% endwith %}}"

    return INCLUDE.sub(included, file.read_text("utf-8"))


def listed(file: Path) -> set[str]:
    """Return the inputs that the comment of a template lists, with those of files it refers to."""
    comment = COMMENT.match(file.read_text("utf-8"))
    text = re.sub(r"\([^()]*\)", "", comment[1] if comment else "").partition("Needs ")[0]
    names = set(re.findall(r"\w+", text))
    if "those of" in text:
        for other in re.findall(r"[\w/]+\.c\.j2", text):
            tree = Environment().parse((FOLDER / other).read_text("utf-8"))
            names |= listed(FOLDER / other)
            names |= {one.name for one in tree.find_all(nodes.Macro)}
            names |= {one.name for one in tree.find_all(nodes.Name) if one.ctx == "store"}
    for other in re.findall(r"[\w/]+\.py", text):
        found = GIVEN.findall((CHECKOUT / other).read_text("utf-8"))
        names.update(*found)
    return names


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name.partition(".")[0])
def test_a_template_lists_its_inputs(file: Path) -> None:
    """They are the names that it and the templates it includes use and do not set."""
    environment = Environment()
    tree = environment.parse(whole(file))
    environment.filters |= {one.name: str for one in tree.find_all(nodes.Filter)}
    unsaid = OF_FOLDER.get(file.relative_to(FOLDER).parts[0], set())
    used = meta.find_undeclared_variables(tree) - set(FLOAT) - unsaid
    assert used - listed(file) == set()
