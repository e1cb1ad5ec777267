"""The view of the sum in integers, and its functions, each after what it calls."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.code_table_view import CodeTableView, code_table_view
from kmcompile.emit.environment import render
from kmcompile.emit.literals import unsigned_literal, wide_literal
from kmcompile.emit.members import Member
from kmcompile.ir.table import C_TYPES
from kmcompile.scalar import exp2_fixed
from kmcompile.stages import FixedSum
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class FixedSumView:
    """What templates/stages/fixed_sum.c.j2 and templates/fixed_sum/ need.

    Parameters
    ----------
    last_distance : str
        The largest |s - x|^2 below the cutoff, as a C literal.
    shifted_distance : str
        A C expression of 64 bits: |s - x|^2 after its shift.
    """

    codes: CodeTableView
    coefficient_type: str
    distance_shift: int
    shifts_distance: bool
    multiplier: int
    product_shift: int
    last_distance: str
    shifted_distance: str


def fixed_sum_view(stage: FixedSum, target: Target) -> FixedSumView:
    """Return the view of the sum for a target."""
    last = stage.cutoff - 1
    distance, wide = "distance[lane]", stage.codes.wide
    shift = stage.distance_shift
    if shift > 0:
        distance = f"({distance} >> {unsigned_literal(shift)})"
    return FixedSumView(
        codes=code_table_view(stage.codes),
        coefficient_type=C_TYPES[stage.coefficients.dtype.name],
        distance_shift=shift,
        shifts_distance=shift > 0,
        multiplier=stage.multiplier,
        product_shift=stage.product_shift,
        last_distance=wide_literal(last) if wide else unsigned_literal(last),
        shifted_distance=distance if wide else f"(uint64_t){distance}",
    )


def fixed_sum_sections(stage: FixedSum, target: Target, names: dict[str, str]) -> list[str]:
    """Return the functions of the sum."""
    view = fixed_sum_view(stage, target)
    codes = ("pack", *view.codes.templates, "distances")
    return [
        *(render(f"code_table/{name}.c.j2", view=view.codes, **names) for name in codes),
        render("scalar/exp2_fixed.c.j2", scalar=exp2_fixed.VIEW, **names),
        *(
            render(f"fixed_sum/{name}.c.j2", stage=stage, view=view, **names)
            for name in ("kernels", "groups", "decisions")
        ),
        render("stages/fixed_sum.c.j2", view=view, **names),
    ]


def integer_members(stage: FixedSum) -> list[Member]:
    """Return the sums of the workspace, which come first in it."""
    n, rows = stage.n_decisions, stage.n_rows
    return [
        Member("uint64_t", "products", 2 * n, "kernels times coefficients, > 0 and < 0"),
        Member("uint64_t", "row_sum", rows, "products of one group of vectors"),
    ]
