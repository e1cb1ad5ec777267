"""What is told of a report, described once for the page and the terminal: sections of parts.

`look` is the macro of `templates/report/parts.html.j2` that shows a part on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kmcompile.report.drawing import Plot


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value, or the reason why it is not available."""

    label: str
    value: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is more than text.

    Attributes
    ----------
    kind, badge, bar : str
        Classes of the cell, of a badge around the text, of a bar below it.
    width : str
        How long the bar is, in CSS.
    why : str
        Why there is no value.
    swatch : str
        Class of a coloured square before the text.
    names_row : bool
    """

    text: str
    kind: str = ""
    badge: str = ""
    bar: str = ""
    width: str = ""
    why: str = ""
    swatch: str = ""
    names_row: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Labelled values."""

    facts: Sequence[Fact]
    kind: str = ""
    heading: str = ""
    look: ClassVar[str] = "facts"

    def __len__(self) -> int:
        return len(self.facts)


@dataclass(frozen=True, slots=True)
class Rows:
    """A table; a head is a text, or a tuple of a text and of the heads that stand below it."""

    heads: Sequence[str | tuple[str, ...]]
    rows: Sequence[Sequence[str | Cell]]
    heading: str = ""
    kind: str = ""
    name: str = ""
    look: ClassVar[str] = "table"

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[list[str]]:
        """Return the texts of the cells."""
        return [[one if isinstance(one, str) else one.text for one in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "muted"
    heading: ClassVar[str] = ""
    look: ClassVar[str] = "text"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of texts."""

    items: Sequence[str]
    heading: str = ""
    look: ClassVar[str] = "items"

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Figures:
    """Plots in columns."""

    plots: Sequence[Plot]
    columns: str = "three"
    heading: ClassVar[str] = ""
    look: ClassVar[str] = "figures"

    def __len__(self) -> int:
        return len(self.plots)


class Part(Protocol):
    """What a section has of."""

    @property
    def heading(self) -> str:
        """What stands above it."""

    @property
    def look(self) -> str:
        """The macro that shows it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A section; `name` is unique on the page."""

    name: str
    title: str
    parts: Sequence[Part]

    @property
    def facts(self) -> list[Fact]:
        """All labelled values."""
        return [fact for part in self.parts if isinstance(part, Facts) for fact in part.facts]

    @property
    def notes(self) -> list[str]:
        """All notes."""
        return [one.text for one in self.parts if isinstance(one, Text) and one.kind == "note"]

    @property
    def tables(self) -> list[Rows]:
        """All tables."""
        return [part for part in self.parts if isinstance(part, Rows)]


def told(name: str, title: str, *parts: Part | None) -> Told:
    """Return a section of the parts that have something in them."""
    return Told(name, title, [part for part in parts if part])


def notes(texts: Iterable[str]) -> list[Text]:
    """Return texts as notes."""
    return [Text(text, "note") for text in texts]
