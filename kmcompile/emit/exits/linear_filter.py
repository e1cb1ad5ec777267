"""The view of the stage `linear_filter`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.program.stages import LinearFilter


@dataclass(frozen=True, slots=True)
class LinearFilterView(ExitView):
    """Values for templates/stages/linear_filter.c.j2: the inner products with the weights."""

    products: ProductsView

    @classmethod
    def of(cls, stage: LinearFilter, site: Site) -> LinearFilterView:
        """Return the view of a stage at its place."""
        names = ("filter_products", "filter_weights")
        return cls(stage, products_view(stage.products, *names, site.functions))

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return the inner products with the filter's weights."""
        return (self.products,)

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C function of the filter."""
        return [render("stages/linear_filter.c.j2", products=self.products, **context)]
