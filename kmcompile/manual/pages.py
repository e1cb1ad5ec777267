"""The pages of the manual: a topic is the name of a Markdown file of this folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from kmcompile import resources
from kmcompile.errors import UsageError

# A page starts with a line of title, then a paragraph of one sentence that names its content.
_HEAD = re.compile(r"# (?P<title>[^\n]+)\n\n(?P<sentence>[^\n].*?)\n\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the manual.

    Parameters
    ----------
    topic : str
        The word after `kmcompile manual`.
    title : str
    sentence : str
        The page's content in one sentence on one line.
    text : str
        The whole page in Markdown, title and sentence included.
    """

    topic: str
    title: str
    sentence: str
    text: str


def list_pages() -> list[Page]:
    """Return every page, in the order of the topics.

    Examples
    --------
    >>> {"commands", "exit_codes"} <= {page.topic for page in list_pages()}
    True
    """
    return [_read(path) for path in sorted(resources.manual_dir().glob("*.md"))]


def find_page(topic: str) -> Page:
    """Return the page of a topic.

    Upper case, `-` in place of `_`, and the ending `.md` are accepted.

    Raises
    ------
    UsageError
        If no page has this topic; the text names the nearest topic and all others.

    Examples
    --------
    >>> find_page("exit-codes").title
    'Exit codes'
    """
    pages = {page.topic: page for page in list_pages()}
    page = pages.get(topic.lower().removesuffix(".md").replace("-", "_"))
    if page is None:
        raise UsageError(_no_topic(topic, list(pages)))
    return page


def _read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{path.name} must begin with '# Title' and one sentence")
    sentence = " ".join(head["sentence"].split())
    return Page(topic=path.stem, title=head["title"], sentence=sentence, text=text)


def _no_topic(topic: str, topics: Sequence[str]) -> str:
    near = get_close_matches(topic.lower(), topics, n=1, cutoff=0.5)
    advice = f"; the nearest is {near[0]}" if near else ""
    half = -(-len(topics) // 2)  # a line of a message has 500 letters at most
    listed = (", ".join(part) for part in (topics[:half], topics[half:]))
    return "\n".join(
        [f"the manual has no topic {topic}{advice}", f"topics: {next(listed)},", *listed]
    )
