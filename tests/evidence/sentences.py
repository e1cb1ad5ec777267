"""The sentences of README.md, of the manual and of the header's templates, as plain text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.:;]) (?=[A-Z`*(…])|(?<=\.\)) ")
_FEWEST_WORDS = 4


def text_of(name: str) -> str:
    """Return the text of a file in which quotes are looked for: one line, "…" for each value.

    Parameters
    ----------
    name : str
        A path in the repository: Markdown, a template or a Python module.
    """
    return " ".join(paragraph for _, paragraph in _paragraphs(name))


def sentences_of(name: str, headings: tuple[str, ...] = ()) -> list[str]:
    """Return the sentences of a file that have four words or more.

    Parameters
    ----------
    name : str
        A path in the repository.
    headings : tuple of str
        Of a Markdown file only the text under these headings, "" being the text before any; all
        of it if there are none.
    """
    return [
        sentence
        for heading, paragraph in _paragraphs(name)
        if not headings or heading in headings
        for sentence in _END.split(paragraph)
        if len(sentence.split()) >= _FEWEST_WORDS
    ]


def _paragraphs(name: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each paragraph."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        yield from _of_markdown(text)
    elif name.endswith(".py"):
        yield from (("", part) for part in _of_python(text))
    else:
        yield from (("", part) for part in _of_template(text))


def _of_markdown(text: str) -> Iterator[tuple[str, str]]:
    heading = ""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(\s*[-*] |#+ |\|)", r"\n\1", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n", text):
        plain = _one_line(_LINK.sub(r"\1", block))
        if plain.startswith("## "):
            heading = plain.removeprefix("## ")
        elif plain:
            yield heading, plain.removeprefix("- ").replace("**", "")


def _of_template(text: str) -> Iterator[str]:
    """Yield the paragraphs of the comments; of a part of a comment all are."""
    text = _VALUE.sub("…", _TAG.sub("", text))
    for comment in _COMMENT.findall(text) or [text]:
        lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.splitlines()]
        for block in re.split(r"\n\s*\n", "\n".join(lines)):
            if block.strip():
                yield _one_line(block)


def _of_python(text: str) -> Iterator[str]:
    """Yield the texts in the code, without documentation."""
    tree = ast.parse(text)
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) in inner | documentation:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield _one_line("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _one_line(node.value)


def _one_line(text: str) -> str:
    return " ".join(text.split())
