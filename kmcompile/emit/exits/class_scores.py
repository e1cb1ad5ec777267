"""The views of the stages `class_scores`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.exits.reduced_set import FreeVectorsView
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.program.stages import ClassScores


@dataclass(frozen=True, slots=True)
class VectorScoresView(FreeVectorsView):
    """Values for templates/stages/class_scores.c.j2 and templates/reduced_set/."""

    rows: ClassVar[str] = "scores"
    each_row: ClassVar[str] = "class\n * in their order"

    @classmethod
    def limits(cls, upper: str) -> tuple[str, str]:
        """Return `below_rows` and `n_rows` for a prefix in capitals."""
        return f"< {upper}_N_CLASSES", f"{upper}_N_CLASSES"


@dataclass(frozen=True, slots=True)
class LinearScoresView(ExitView):
    """Values for templates/stages/class_scores.c.j2 of scores that are inner products.

    Parameters
    ----------
    prefix : str
        Prefix of its functions and tables.
    products : ProductsView
        The inner products with the weights.
    """

    prefix: str
    products: ProductsView

    checks_range: ClassVar[bool] = False

    @classmethod
    def of(cls, stage: ClassScores, site: Site) -> LinearScoresView:
        """Return the view of a stage at its place."""
        names = (f"{stage.prefix}_products", f"{stage.prefix}_weights")
        return cls(stage, stage.prefix, products_view(stage.products, *names, site.functions))

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return the inner products with the weights."""
        return (self.products,)


class ClassScoresView(ExitView):
    """Class scores with or without vectors; each has a view of its own."""

    @classmethod
    def of(cls, stage: ClassScores, site: Site) -> ExitView:
        """Return the view of a stage at its place."""
        view = VectorScoresView if stage.has_vectors else LinearScoresView
        return view.of(stage, site)
