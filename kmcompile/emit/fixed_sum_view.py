"""The view of the sum in integers, and its C functions."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.code_table_view import CodeTableView, code_table_view
from kmcompile.emit.environment import render
from kmcompile.emit.literals import unsigned_literal, wide_literal
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.stages import FixedSum
from kmcompile.program.stages.sums.fixed_kernel import FixedKernel
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


@dataclass(frozen=True, slots=True)
class ImageScale:
    """How t comes of |s - x|^2 in code for images.

    Parameters
    ----------
    last : int
        The largest |s - x|^2 below the cutoff, without the bits that are left out.
    multiplier : int
    up : int
        Shift of the distance before the product with the multiplier, whose upper half is t.
    distance, text : str
        |s - x|^2 without these bits, in C and in the comment.
    wide : bool
        Whether the distance has 64 bits.
    """

    last: int
    multiplier: int
    up: int
    distance: str
    text: str
    wide: bool


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


def fixed_sum_sections(
    stage: FixedSum, target: Target, names: dict[str, str], in_image: bool = False
) -> list[str]:
    """Return the functions of the sum; `in_image`: those that read its numbers from an image."""
    wide = stage.codes.wide, stage.wide_coefficients
    kernel = fixed_kernel_view(stage, wide, names["name"], target)
    view = FixedSumView(
        codes=code_table_view(stage.codes, in_image),
        coefficient_type=C_TYPES[stage.coefficients.dtype.name],
        unrolled=target.unroll_lanes,
    )
    codes = ("code_table/pack", "code_table/square", *view.codes.templates)
    of_decisions = {"stage": stage, "of_leaf": False, "bound_row": "p"}
    of_decisions["shift_text"] = "result_shift" if in_image else str(stage.result_shift)
    if in_image:
        scale = image_scale(stage)
        kernels = [render("image/block_kernels.c.j2", scale=scale, view=view, **names)]
    else:
        kernels = [
            render("fixed_sum/kernel.c.j2", view=kernel, **names),
            render("fixed_sum/kernels.c.j2", view=view, **names),
        ]
    return [
        *(render(f"{name}.c.j2", view=view.codes, **names) for name in codes),
        *_product_sections(kernel, names),
        *kernels,
        render("fixed_sum/groups.c.j2", view=view, **names),
        render("fixed_sum/decisions.c.j2", **of_decisions, **names),
        render("stages/fixed_sum.c.j2", view=view, **names),
    ]


def image_scale(stage: FixedSum) -> ImageScale:
    """Return the numbers by which code for images makes t of a distance."""
    down, distance = stage.distance_shift, "both - (2U * product[lane])"
    if down:
        distance = f"({distance}) >> {unsigned_literal(down)}"
    return ImageScale(
        # From the cutoff on there is no distance, or its bits that are left out are 0.
        last=(stage.cutoff - 1) >> down,
        multiplier=stage.multiplier,
        # The distance is below 2^product_shift, as in `fixed_kernel_view`.
        up=min(_WORD_BITS - stage.product_shift, _WORD_BITS - 1),
        distance=distance,
        text=f"((|s - x|^2 >> {down})" if down else "(|s - x|^2",
        wide=stage.codes.wide,
    )


def _product_sections(view: FixedKernelView, names: dict[str, str]) -> list[str]:
    """Return the functions of products, and 2^-t."""
    return [
        render("fixed_sum/products.c.j2", view=view, **names),
        render("scalar/exp2_fixed.c.j2", scalar=exp2_fixed, **names),
    ]
