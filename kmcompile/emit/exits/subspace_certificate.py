"""The view of the stage `subspace_certificate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import TotalsView
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.remainder import LEAST_SHARE
from kmcompile.numeric.scalar.power import PowerView, power_view
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.early_exits.subspace_certificate import LARGEST, SubspaceCertificate


@dataclass(frozen=True, slots=True)
class SubspaceView(ExitView):
    """Values for the templates subspace_certificate.c.j2 and templates/subspace_certificate/.

    Parameters
    ----------
    products : ProductsView
        The projection of the input.
    totals : TotalsView
        The kernels' totals in the subspace.
    power, slope_power : PowerView
        y^m of the remainder, and the power in the error of a kernel.
    value_error : float32
        Error of the kernel's value.
    """

    stage: SubspaceCertificate
    products: ProductsView
    totals: TotalsView
    power: PowerView
    slope_power: PowerView
    value_error: np.float32

    @classmethod
    def of(cls, stage: SubspaceCertificate, site: Site) -> SubspaceView:
        """Return the view of a stage at its place."""
        functions = site.functions
        exact = functions.exact
        assert isinstance(exact, ExactSum) and isinstance(exact.kernel, PolyFloat32)
        return cls(
            stage,
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
        )

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return the projection."""
        return (self.products,)

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return the kernels' totals in the subspace."""
        return (self.totals,)

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        stage = self.stage
        own = {**context, "stage": stage, "remainder": stage.remainder, "view": self}
        own |= {"least_share": LEAST_SHARE, "largest": LARGEST}
        parts = ["remainder", "values", "test", *(["touch"] if stage.touches else [])]
        return [
            *(
                []
                if self.power.is_one
                else [render("scalar/power.c.j2", scalar=self.power, **context)]
            ),
            *(render(f"subspace_certificate/{part}.c.j2", **own) for part in parts),
            render("stages/subspace_certificate.c.j2", **own),
        ]
