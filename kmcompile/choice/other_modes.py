"""What else than mode statistical can be asked for where its samples are too few."""

from __future__ import annotations

from kmcompile.exits.candidates.samples import LEAST_TO_CHOOSE
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.request.asked_mode import instead, settling
from kmcompile.request.plan import Plan
from kmcompile.request.values import flag


def other_modes(plan: Plan, n: int) -> str:
    """Return a line on the modes that n usable samples support; "" if the plan has one of them."""
    if plan.mode != "statistical":
        return ""
    statistical = {fit.kind.template for fit in statistical_fits()}
    needed = [f for f in ("stages", "require") if statistical & {*(getattr(plan.given, f) or ())}]
    if n >= LEAST_TO_CHOOSE:
        proved = f"use {instead('certified', plan.given, needed)}"
    else:
        sizes = [f for f in ("window", "dimensions") if getattr(plan.given, f) is not None]
        lists = [f for f in ("stages", "require") if getattr(plan.given, f)]
        left_out = [*settling(plan.given), *(flag(field) for field in (*sizes, *lists))]
        proved = f"leave out {' and '.join(left_out)} for mode certified"
    exact = instead("exact", plan.given)
    return f"\nor {proved}, with proved exits, or use {exact}, with no exits"
