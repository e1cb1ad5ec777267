"""The view of the stage `subspace_certificate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.remainder import LEAST_SHARE
from kmcompile.numeric.scalar.power import PowerView, power_view
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.subspace_certificate import LARGEST, SubspaceCertificate


@dataclass(frozen=True, slots=True)
class SubspaceView:
    """What templates/stages/subspace_certificate.c.j2 and templates/subspace_certificate/ need.

    Parameters
    ----------
    products : ProductsView
        The projection of the input.
    totals : TotalsView
        The kernels' totals in the subspace.
    power, slope_power : PowerView
        y^m of the remainder, and the power in the error of a kernel.
    value_error : float32
        Of the kernel.
    most_touched : int
        Kernels that are computed, at most.
    """

    products: ProductsView
    totals: TotalsView
    power: PowerView
    slope_power: PowerView
    value_error: np.float32
    most_touched: int


def subspace_view(stage: SubspaceCertificate, functions: BlockFunctions) -> SubspaceView:
    """Return the view of the stage."""
    exact = functions.exact
    assert isinstance(exact, ExactSum) and isinstance(exact.kernel, PolyFloat32)
    return SubspaceView(
        products=products_view(
            stage.products,
            "subspace_products",
            "subspace_projection",
            functions,
            columns="subspace_columns",
        ),
        totals=functions.totals(stage.n_out, stage.lanes),
        power=power_view(stage.remainder.middle),
        slope_power=power_view(exact.kernel.degree - 1),
        value_error=exact.kernel.value_error,
        most_touched=min(stage.max_touched, exact.n_slots),
    )


def subspace_sections(
    stage: SubspaceCertificate, view: SubspaceView, context: dict[str, Any]
) -> list[str]:
    """Return the functions of the stage, each after what it calls."""
    own = {**context, "stage": stage, "remainder": stage.remainder, "view": view}
    own |= {"least_share": LEAST_SHARE, "largest": LARGEST}
    parts = ["remainder", "values", "test", *(["touch"] if stage.touches else [])]
    return [
        *([] if view.power.is_one else [render("scalar/power.c.j2", scalar=view.power, **context)]),
        *(render(f"subspace_certificate/{part}.c.j2", **own) for part in parts),
        render("stages/subspace_certificate.c.j2", **own),
    ]
