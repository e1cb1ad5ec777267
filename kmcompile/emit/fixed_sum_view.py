"""The view of the sum in integers, and its C functions."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.code_table_view import CodeTableView, code_table_view
from kmcompile.emit.environment import render
from kmcompile.emit.literals import unsigned_literal, wide_literal
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.layout import Member
from kmcompile.program.stages import FixedSum, RoutedFixedSum, Stage
from kmcompile.program.stages.fixed_kernel import FixedKernel
from kmcompile.target import Target

_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class FixedKernelView:
    """Values for templates/fixed_sum/products.c.j2 and kernel.c.j2.

    Parameters
    ----------
    sum_type : str
        The C type of |s - x|^2.
    coefficient_type : str
        The C type of a coefficient's magnitude.
    multiplies_long : bool
        Whether the core multiplies to 64 bits.
    exponent_text : str
        t for the comment.
    last_distance : str
        The largest |s - x|^2 below the cutoff, as a C literal.
    scaled_distance, exponent : str
        C expressions of 32 bits: |s - x|^2 so that the upper half of its product with the
        multiplier is t, or t before a shift; and t.
    """

    sum_type: str
    coefficient_type: str
    wide_coefficients: bool
    multiplies_long: bool
    exponent_text: str
    last_distance: str
    scaled_distance: str
    exponent: str


@dataclass(frozen=True, slots=True)
class FixedSumView:
    """Values for templates/stages/fixed_sum.c.j2 and templates/fixed_sum/.

    Parameters
    ----------
    unrolled : bool
        Whether lanes are scalars, for cores without vector registers, or loops.
    """

    codes: CodeTableView
    coefficient_type: str
    unrolled: bool


def fixed_kernel_view(
    scale: FixedKernel, wide: tuple[bool, bool], name: str, target: Target
) -> FixedKernelView:
    """Return the view of a kernel in integers.

    Parameters
    ----------
    scale : FixedKernel
        A stage, or one gamma of several.
    wide : (bool, bool)
        Whether |s - x|^2 has 64 bits, and whether coefficients have 32.
    name : str
        Prefix of the C names.
    target : Target
    """
    last = scale.cutoff - 1
    down, up = scale.distance_shift, min(_WORD_BITS - scale.product_shift, _WORD_BITS - 1)
    shifted = f"(distance >> {down})" if down else "distance"
    scaled = f"(distance >> {unsigned_literal(down)})" if down else "distance"
    wide_sums, wide_coefficients = wide
    if wide_sums:
        scaled = f"(uint32_t){scaled}"
    # The distance is below 2^product_shift: the multiplier is at least 2^31, t below 2^31.
    if up > 0:
        scaled = f"{scaled} << {unsigned_literal(up)}"
    exponent = f"{name}_upper_product(scaled, {unsigned_literal(scale.multiplier)})"
    if up < 0:
        exponent = f"{exponent} >> {unsigned_literal(-up)}"
    return FixedKernelView(
        sum_type="uint64_t" if wide_sums else "uint32_t",
        coefficient_type="uint32_t" if wide_coefficients else "uint16_t",
        wide_coefficients=wide_coefficients,
        multiplies_long=target.multiplies_long,
        exponent_text=f"{shifted} * {scale.multiplier} >> {scale.product_shift}",
        last_distance=wide_literal(last) if wide_sums else unsigned_literal(last),
        scaled_distance=scaled,
        exponent=exponent,
    )


def fixed_sum_sections(stage: FixedSum, target: Target, names: dict[str, str]) -> list[str]:
    """Return the functions of the sum."""
    wide = stage.codes.wide, stage.coefficients.dtype.itemsize > 2
    kernel = fixed_kernel_view(stage, wide, names["name"], target)
    view = FixedSumView(
        codes=code_table_view(stage.codes),
        coefficient_type=C_TYPES[stage.coefficients.dtype.name],
        unrolled=target.unroll_lanes,
    )
    codes = ("pack", "square", *view.codes.templates)
    return [
        *(render(f"code_table/{name}.c.j2", view=view.codes, **names) for name in codes),
        *fixed_kernel_sections(kernel, names),
        *(
            render(f"fixed_sum/{name}.c.j2", stage=stage, view=view, **names)
            for name in ("kernels", "groups")
        ),
        render("fixed_sum/decisions.c.j2", stage=stage, of_leaf=False, bound_row="p", **names),
        render("stages/fixed_sum.c.j2", view=view, **names),
    ]


def fixed_kernel_sections(view: FixedKernelView, names: dict[str, str]) -> list[str]:
    """Return the functions of a kernel and of its products with coefficients."""
    return [
        render("fixed_sum/products.c.j2", view=view, **names),
        render("scalar/exp2_fixed.c.j2", scalar=exp2_fixed.VIEW, **names),
        render("fixed_sum/kernel.c.j2", view=view, **names),
    ]


def integer_members(stage: Stage) -> list[Member]:
    """Return the sums in the workspace, which come first in it; none of a sum in float32."""
    if isinstance(stage, RoutedFixedSum):
        return list(stage.integer_members())
    if not isinstance(stage, FixedSum):
        return []
    n, rows = stage.n_decisions, stage.n_rows
    return [
        Member("uint64_t", "products", 2 * n, "kernels times coefficients, > 0 and < 0"),
        Member("uint64_t", "row_sum", rows, "products of one group of vectors"),
    ]
