"""The manual on a terminal: its list of topics, and a page with colours and drawn tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.theme import Theme

from kmcompile.manual.pages import Page

_WIDTH_MAX = 110
"""Columns: longer lines of text are hard to follow."""

# rich's own style has a black background, which is a dark box on a white terminal.
_THEME = Theme({"markdown.code": "bold cyan"})

_TOPIC_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<topic>\w+)\.md(?:#[\w-]+)?\)")
_OTHER_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<where>[^)]+)\)")


def print_topics(pages: Sequence[Page], console: Console) -> None:
    """Print each topic with its sentence, wrapped to the terminal."""
    width = max(len(page.topic) for page in pages) + 2
    click.echo("kmcompile manual TOPIC shows one of these pages:\n")
    for page in pages:
        lines = wrap(page.sentence, width=max(20, min(console.width, _WIDTH_MAX) - width))
        for number, line in enumerate(lines):
            name = "" if number else page.topic
            click.echo(f"{name:{width}}{line}")


def print_page(page: Page, console: Console) -> None:
    """Print a page: rendered on a terminal, as plain Markdown to a file or pipe."""
    if not console.is_terminal:
        click.echo(page.text, nl=False)
        return
    # ansi_dark uses the terminal's own colours, and no background.
    markdown = Markdown(with_plain_links(page.text), code_theme="ansi_dark", hyperlinks=False)
    with console.use_theme(_THEME):
        console.print(markdown, width=min(console.width, _WIDTH_MAX))


def with_plain_links(text: str) -> str:
    """Return the Markdown with each link to a page replaced by the command that shows the page.

    Examples
    --------
    >>> with_plain_links("see [what to do](exit_codes.md#what-to-do)")
    'see what to do (`manual exit_codes`)'
    >>> with_plain_links("see [`figures`](figures.md)")
    'see `manual figures`'
    >>> with_plain_links("its code is in [this folder](../../examples/nsv)")
    'its code is in this folder'
    """
    return _OTHER_LINK.sub(r"\g<text>", _TOPIC_LINK.sub(_topic_words, text))


def _topic_words(link: re.Match[str]) -> str:
    command = f"`manual {link['topic']}`"
    is_name = link["text"] == f"`{link['topic']}`"
    return command if is_name else f"{link['text']} ({command})"
