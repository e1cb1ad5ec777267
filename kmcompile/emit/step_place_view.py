"""The views of the places of a job: the steps at each, and their parts."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from kmcompile.emit.literals import unsigned_literal
from kmcompile.program.piece import ANSWERING, PieceKind
from kmcompile.program.schedule import Part, Place

_COLUMNS = 94

_ENDING: frozenset[PieceKind] = frozenset(("prepare", *ANSWERING))
"""The pieces that may answer or refuse."""

_RUNS: frozenset[PieceKind] = frozenset(("sum_block", "replay_block", "replay_pair"))
"""The pieces of which a step does several, in a function of the place's own."""


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a place: the function that does it, and whether it may end the job.

    Parameters
    ----------
    kind : str
    function : str
        Suffix of the function, behind `<prefix>_do_`.
    count : str
        C literal of the turns.
    said : str
        The part for people.
    ends : bool
        Whether it may end the job.
    asks : bool
        Whether a part before it may have ended the job.
    opens, closes : bool
        Whether it is the first, or the last, of the parts behind one question.
    """

    kind: PieceKind
    function: str
    count: str
    said: str
    ends: bool
    asks: bool
    opens: bool
    closes: bool

    @property
    def in_double(self) -> bool:
        """Whether it is a run of the sums in double."""
        return self.kind in ("replay_block", "replay_pair")

    @property
    def of_pairs(self) -> bool:
        """Whether it is a run over the pairs of classes."""
        return self.kind == "replay_pair"

    @property
    def counted_by(self) -> str:
        """The member of the progress that a run counts."""
        return "group" if self.of_pairs else "block"

    @property
    def most_constant(self) -> str:
        """The constant, without the prefix, that the member stays below."""
        return "N_DECISIONS" if self.of_pairs else "N_BLOCKS"


@dataclass(frozen=True, slots=True)
class PlaceView:
    """The steps at one place.

    Parameters
    ----------
    until : str
        C literal of the blocks that are done when all steps at this place are; "" of a single step.
    next : str
        C literal of the number of the place that follows; "" of the last one.
    """

    number: int
    lines: tuple[str, ...]
    parts: tuple[PartView, ...]
    until: str
    next: str

    @property
    def runs(self) -> tuple[PartView, ...]:
        """The parts that do several times the same."""
        return tuple(part for part in self.parts if part.kind in _RUNS)

    @property
    def ends(self) -> bool:
        """Whether the job may end here."""
        return any(part.ends for part in self.parts)

    @property
    def until_member(self) -> str:
        """The member of the progress that is compared with `until`."""
        return self.parts[0].counted_by

    @property
    def begins_pairs(self) -> bool:
        """Whether the pairs of a pair sum follow."""
        return self.parts[-1].kind == "begin_pairs"

    @property
    def sums_pairs(self) -> bool:
        """Whether these are the steps of the pairs of a pair sum."""
        return self.parts[0].kind == "pair"


def place_view(place: Place, places: tuple[Place, ...]) -> PlaceView:
    """Return the view of a place."""
    parts: list[PartView] = []
    for number, part in enumerate(place.parts, start=1):
        parts.append(_part(part, place, tuple(parts), number == len(place.parts)))
    said = ", ".join(_said(part) for part in place.parts)
    repeated = f", in {place.repeats} steps" if place.repeats > 1 else ""
    return PlaceView(
        number=place.number,
        lines=tuple(
            textwrap.wrap(f"At most {place.operations} operations{repeated}: {said}.", _COLUMNS)
        ),
        parts=tuple(parts),
        until=(
            unsigned_literal(place.parts[0].until)
            if place.repeats > 1 and not place.most_kernels
            else ""
        ),
        next="" if place.number == len(places) else unsigned_literal(place.number + 1),
    )


def _part(part: Part, place: Place, before: tuple[PartView, ...], is_last: bool) -> PartView:
    kind = part.piece.kind
    names = {"exit": part.piece.name, "sum_block": f"sum_blocks_{place.number}"}
    names["replay_block"] = f"replay_blocks_{place.number}"
    names["replay_pair"] = f"replay_pairs_{place.number}"
    ends, asks = kind in _ENDING, any(one.ends for one in before)
    return PartView(
        kind=kind,
        function=names.get(kind, kind),
        count=unsigned_literal(part.count),
        said=_said(part),
        ends=ends,
        asks=asks,
        opens=asks and before[-1].ends,
        closes=asks and (ends or is_last),
    )


def _said(part: Part) -> str:
    """Return the name of a part for people."""
    piece, several = part.piece, "s" if part.count > 1 else ""
    if piece.per_kernel:
        return f"{part.count} kernel{several} of a pair and, if it has all, the pair"
    if piece.count == 1:
        return piece.name
    return f"{part.count} {piece.name.replace(piece.each, piece.each + several, 1)}"
