"""The C of an input tolerance: what stands behind the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import render
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.tolerance import box_slopes
from kmcompile.program.stages.tolerance.box_distance import BEYOND
from kmcompile.program.stages.tolerance.input_tolerance import InputTolerance
from kmcompile.program.stages.tolerance.poly_slopes import PolySlopes

_TEMPLATES = ("shares", "threshold", "add", "bounds")
"""The parts of the C of slopes, each after those that it calls."""


@dataclass(frozen=True, slots=True)
class AddedBlocks:
    """A function that adds the products of one block's vectors to a slope, or of two blocks'.

    Parameters
    ----------
    function : str
        Suffix of the function, behind `<prefix>_box_`.
    said : str
        Its comment.
    blocks : tuple of str
        Suffixes of the variables of each block.
    """

    function: str
    said: str
    blocks: tuple[str, ...]

    @property
    def is_one(self) -> bool:
        """Whether it is one block."""
        return len(self.blocks) == 1


@dataclass(frozen=True, slots=True)
class Growth:
    """A function of what a bound grows by with the distance of an input.

    Parameters
    ----------
    function, table, of : str
        Names without the prefix: of the function, its table, and the table of what grows.
    n_powers : str
        C literal of the powers.
    """

    function: str
    table: str
    of: str
    n_powers: str


@dataclass(frozen=True, slots=True)
class SlopesView:
    """Values for the templates in templates/input_tolerance.

    Parameters
    ----------
    most_blocks : int
        The blocks that the decisions of a label have, all together.
    n_columns : str
        C literal of the features in which a slope is summed; "" if it is all of them.
    unrolled : bool
        Whether lanes are scalars.
    lanes, later_lanes : tuple of int
    for_sign : bool
        Whether only the signs of decisions count.
    n_growths : int
        Powers of the distance with which a bend grows.
    bend, slope : str
        The bound of what is not of first order, and G, in the words of the C.
    """

    most_blocks: int
    n_columns: str
    unrolled: bool
    lanes: tuple[int, ...]
    later_lanes: tuple[int, ...]
    for_sign: bool
    n_growths: int
    bend: str
    slope: str

    levels: ClassVar[int] = box_slopes.LEVELS
    first: ClassVar[np.float32] = box_slopes.FIRST_THRESHOLD
    left_out: ClassVar[np.float32] = box_slopes.LEFT_OUT
    outward: ClassVar[np.float32] = box_slopes.OUTWARD
    added: ClassVar[tuple[AddedBlocks, ...]] = (
        AddedBlocks("one", "Adds the products w s of one block's vectors to the slope.", ("a",)),
        AddedBlocks(
            "two",
            "The same of two blocks, one after the other: a slope is read and written once for "
            "both.",
            ("a", "b"),
        ),
    )

    @classmethod
    def of(cls, box: InputTolerance, ends: Ends, view: TotalsView) -> SlopesView:
        """Return the view of a program's slopes; `view` is that of its sum."""
        assert box.slopes is not None
        columns = box.slopes.columns
        n_growths = _bend_growths(box.slopes)
        return cls(
            most_blocks=box.most_blocks(ends),
            n_columns="" if columns is None else unsigned_literal(len(columns)),
            unrolled=view.unrolled,
            lanes=view.lanes,
            later_lanes=view.later_lanes,
            for_sign=not ends.label.is_value,
            n_growths=n_growths,
            bend="box_bends[p] and its growth" if n_growths else "box_bends[p]",
            slope="sum of w s" if box.distance else "sum of w s - (f - b) x",
        )

    @property
    def counter(self) -> str:
        """The variable of the loop over features."""
        return "k" if self.n_columns else "j"

    @property
    def most_pairs(self) -> int:
        """Pairs of blocks that are added at most."""
        return self.most_blocks // 2


def _bend_growths(slopes: box_slopes.BoxSlopes | None) -> int:
    """Return the powers of the distance with which a bend grows."""
    return slopes.growths.shape[1] if isinstance(slopes, PolySlopes) else 0


def _growths(box: InputTolerance) -> list[Growth]:
    """Return the functions of what bounds grow by."""
    assert box.distance is not None
    found = [("width", "box_widths", box.distance.widths.shape[1])]
    found.append(("bend", "box_bends", _bend_growths(box.slopes)))
    return [
        Growth(f"box_{of}_growth", f"box_{of}_growths", grows, unsigned_literal(n))
        for of, grows, n in found
        if n
    ]


def kept_factors(box: InputTolerance | None, name: str) -> str:
    """Return the C of the factor of a lane that stays in the workspace; "" if none does."""
    if box is None or box.slopes is None:
        return ""
    return box.slopes.kept(name)


def _takes_input(box: InputTolerance) -> bool:
    """Return whether the bounds read the input."""
    return box.slopes is not None or box.distance is not None


def box_arguments(box: InputTolerance | None) -> str:
    """Return the arguments of the label over a box; "" without an input tolerance."""
    if box is None:
        return ""
    return "workspace, input, result" if _takes_input(box) else "workspace, result"


def box_sections(
    box: InputTolerance,
    ends: Ends,
    functions: BlockFunctions,
    early: EarlyExitsView,
    names: dict[str, str],
) -> list[str]:
    """Return the functions of the box, with those of proved intervals if no exit brings them."""
    label = ends.label
    context: dict[str, Any] = {"label_function": label.template, **names}
    context["is_binary"] = label.reads_ends
    sections = []
    if not early.proves:
        middles = {"answer": "result", "is_regression": False, "keeps_middles": False}
        needed = ("narrow",) if label.is_value else ("middle", "narrow", "proved")
        own = {**middles, **context}
        sections += [render(f"early_exits/{part}.c.j2", **own) for part in needed]
    if box.distance is not None:
        of_distance: dict[str, Any] = {"distance": box.distance, "growths": _growths(box)}
        of_distance["beyond"] = BEYOND
        sections.append(render("input_tolerance/distance.c.j2", **of_distance, **names))
    if box.slopes is not None:
        assert isinstance(ends.exact, ExactSum)
        view = SlopesView.of(box, ends, functions.of_exact_sum)
        own = {"slopes": view, "stage": box.slopes, **names}
        later = [part for part in _TEMPLATES if view.for_sign or part != "threshold"]
        parts = (box.slopes.template, *later)
        sections += [render(f"input_tolerance/{part}.c.j2", **own) for part in parts]
    context |= {"is_vote": label.by_votes, "by_largest": label.by_largest}
    context["starts_here"] = not early.proves
    context["takes_input"] = _takes_input(box)
    if label.is_value:
        context |= {"answer": "prediction", "has_tolerance": label.tolerance is not None}
        sections.append(render("input_tolerance/value.c.j2", box=box, **context))
    else:
        sections.append(render("input_tolerance/label.c.j2", box=box, **context))
    return sections
