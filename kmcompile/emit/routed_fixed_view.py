"""The C functions of the sum of a routed machine in integers."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.environment import render
from kmcompile.emit.fixed_sum_view import fixed_kernel_view
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages import RoutedFixedSum
from kmcompile.target import Target


def routed_fixed_sections(
    stage: RoutedFixedSum, target: Target, names: dict[str, str]
) -> list[str]:
    """Return the functions of the sum of a leaf."""
    wide = stage.wide, stage.wide_coefficients
    view = fixed_kernel_view(stage.scales.scale(0), wide, names["name"], target)
    kernel = "routed_sum/kernel_of_gamma" if stage.scales.several else "fixed_sum/kernel"
    own: dict[str, Any] = {"stage": stage, "view": view, **names}
    own["shift_text"] = str(stage.result_shift)
    row = ("own" if stage.own_pairs else "row") if stage.has_leaf_bounds else "p"
    parts = [render("routed_sum/fixed_linear.c.j2", **own)] if stage.linear else []
    return [
        render("fixed_sum/products.c.j2", view=view, **names),
        render("scalar/exp2_fixed.c.j2", scalar=exp2_fixed, **names),
        render(f"{kernel}.c.j2", **own),
        render("routed_sum/fixed_scores.c.j2", stage=stage, route=stage.route, **names),
        render("routed_sum/route.c.j2", route=stage.route, in_integers=True, **names),
        render("routed_sum/fixed_leaf.c.j2", **own),
        *parts,
        render("fixed_sum/decisions.c.j2", of_leaf=True, bound_row=row, **own),
        render("routed_sum/fixed_leaf_sum.c.j2", stage=stage, **names),
        render(
            "stages/routed_fixed_sum.c.j2", stage=stage, in_integers=True, walked=False, **names
        ),
    ]
