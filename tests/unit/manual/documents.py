"""README.md and the pages of the manual, as the tests read them."""

from __future__ import annotations

import re
from pathlib import Path

import kmcompile
from kmcompile.resources import manual_dir

CHECKOUT = Path(kmcompile.__file__).resolve().parents[1]
README = CHECKOUT / "README.md"
PAGES = tuple(sorted(manual_dir().glob("*.md")))
DOCUMENTS = (README, *PAGES)
RECIPES = tuple(manual_dir() / f"{topic}.md" for topic in ("recipes", "exports"))


def name_of(document: Path) -> str:
    return document.stem


def blocks(document: Path, language: str) -> list[str]:
    """Return the code blocks of one language."""
    text = document.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(document: Path) -> list[str]:
    """Return what a reader types: the lines after `$`, joined where they go on."""
    text = "".join(blocks(document, "console")).replace("\\\n", " ")
    return re.findall(r"^\$ (.*)", text, re.MULTILINE)


def section(document: Path, heading: str) -> str:
    """Return the text under a heading, up to the next heading of its level or above."""
    text = document.read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{document.name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(found[1])}}} ", found[2], maxsplit=1, flags=re.MULTILINE)[0]


def table(document: Path, heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    rows = re.search(r"(?:^\|.*\n)+", section(document, heading), re.MULTILINE)
    assert rows, f"{document.name} has no table under {heading!r}"
    lines = rows[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings."""
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in headings}
