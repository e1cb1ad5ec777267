"""The view of the sum in integers, and its C functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.emit.code_table_view import CodeTableView, code_table_view
from kmcompile.emit.environment import render
from kmcompile.emit.literals import unsigned_literal, wide_literal
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.layout import Member
from kmcompile.program.stages import FixedSum
from kmcompile.target import Target

_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class FixedSumView:
    """Values for templates/stages/fixed_sum.c.j2 and templates/fixed_sum/.

    Parameters
    ----------
    multiplies_long : bool
        Whether the core multiplies to 64 bits.
    unrolled : bool
        Whether lanes are scalars, for cores without vector registers, or loops.
    exponent_text : str
        t for the comment.
    last_distance : str
        The largest |s - x|^2 below the cutoff, as a C literal.
    scaled_distance, exponent : str
        C expressions of 32 bits: |s - x|^2 so that the upper half of its product with the
        multiplier is t, or t before a shift; and t.
    """

    codes: CodeTableView
    coefficient_type: str
    wide_coefficients: bool
    multiplies_long: bool
    unrolled: bool
    exponent_text: str
    last_distance: str
    scaled_distance: str
    exponent: str


def fixed_sum_view(stage: FixedSum, name: str, target: Target) -> FixedSumView:
    """Return the view of the sum for a target; `name` is the prefix of the functions."""
    last, wide = stage.cutoff - 1, stage.codes.wide
    down, up = stage.distance_shift, min(_WORD_BITS - stage.product_shift, _WORD_BITS - 1)
    shifted = f"(distance >> {down})" if down else "distance"
    scaled = f"(distance >> {unsigned_literal(down)})" if down else "distance"
    if wide:
        scaled = f"(uint32_t){scaled}"
    # The distance is below 2^product_shift: the multiplier is at least 2^31, t below 2^31.
    if up > 0:
        scaled = f"{scaled} << {unsigned_literal(up)}"
    exponent = f"{name}_upper_product(scaled, {unsigned_literal(stage.multiplier)})"
    if up < 0:
        exponent = f"{exponent} >> {unsigned_literal(-up)}"
    return FixedSumView(
        codes=code_table_view(stage.codes),
        coefficient_type=C_TYPES[stage.coefficients.dtype.name],
        wide_coefficients=stage.coefficients.dtype == np.uint32,
        multiplies_long=target.multiplies_long,
        unrolled=target.unroll_lanes,
        exponent_text=f"{shifted} * {stage.multiplier} >> {stage.product_shift}",
        last_distance=wide_literal(last) if wide else unsigned_literal(last),
        scaled_distance=scaled,
        exponent=exponent,
    )


def fixed_sum_sections(stage: FixedSum, target: Target, names: dict[str, str]) -> list[str]:
    """Return the functions of the sum."""
    view = fixed_sum_view(stage, names["name"], target)
    codes = ("pack", "square", *view.codes.templates)
    return [
        *(render(f"code_table/{name}.c.j2", view=view.codes, **names) for name in codes),
        render("fixed_sum/products.c.j2", view=view, **names),
        render("scalar/exp2_fixed.c.j2", scalar=exp2_fixed.VIEW, **names),
        *(
            render(f"fixed_sum/{name}.c.j2", stage=stage, view=view, **names)
            for name in ("kernels", "groups", "decisions")
        ),
        render("stages/fixed_sum.c.j2", view=view, **names),
    ]


def integer_members(stage: FixedSum) -> list[Member]:
    """Return the sums in the workspace, which come first in it."""
    n, rows = stage.n_decisions, stage.n_rows
    return [
        Member("uint64_t", "products", 2 * n, "kernels times coefficients, > 0 and < 0"),
        Member("uint64_t", "row_sum", rows, "products of one group of vectors"),
    ]
