"""The views of the stages `reduced_set` and of others with free vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.totals_view import TotalsView
from kmcompile.program.stages.early_exits.free_vectors import FreeVectors


@dataclass(frozen=True, slots=True)
class FreeVectorsView(ExitView):
    """Values for templates/reduced_set/: weighted sums of free vectors.

    Parameters
    ----------
    prefix, upper : str
        Prefixes of its functions and tables, and of its constants.
    products : ProductsView
        The projection.
    lifted : TotalsView
        The inner products of a block of vectors with (y, - |y|^2 / 32, 1).
    triangle_words : int
        Elements of a lower triangle that are not 0.
    has_blocks : bool
        Whether its vectors stand in several blocks.
    checks_range : bool
        Whether it checks the range of the input's component outside the projection.
    has_earlier, is_earlier : bool
        Whether an earlier stage hands on an estimate, and whether a later stage uses this stage's.
    below_rows, n_rows : str
        The condition of a loop over the sums, behind its variable, and their number.
    """

    prefix: str
    upper: str
    products: ProductsView
    lifted: TotalsView
    triangle_words: int
    has_blocks: bool
    checks_range: bool
    has_earlier: bool
    is_earlier: bool
    below_rows: str
    n_rows: str

    rows: ClassVar[str] = "estimate"
    """The member of the workspace that holds the sums."""

    each_row: ClassVar[str] = "decision\n * and then for the spread"
    """What there is a sum for."""

    @classmethod
    def of(cls, stage: FreeVectors, site: Site) -> FreeVectorsView:
        """Return the view of a stage at its place."""
        prefix, functions = stage.prefix, site.functions
        below_rows, n_rows = cls.limits(functions.upper)
        return cls(
            stage,
            prefix=prefix,
            upper=f"{functions.upper}_{prefix.upper()}",
            products=products_view(
                stage.products,
                f"{prefix}_products",
                f"{prefix}_projection",
                functions,
                columns=f"{prefix}_columns",
            ),
            lifted=functions.products(stage.n_out + 2, stage.lanes),
            triangle_words=stage.n_out * (stage.n_out + 1) // 2,
            has_blocks=stage.n_blocks > 1,
            checks_range=stage.watches_range,
            has_earlier=any(other.hands_on_estimate for other in site.before),
            is_earlier=any(other.takes_estimate for other in site.behind),
            below_rows=below_rows,
            n_rows=n_rows,
        )

    @classmethod
    def limits(cls, upper: str) -> tuple[str, str]:
        """Return `below_rows` and `n_rows` for a prefix in capitals."""
        return f"<= {upper}_N_DECISIONS", f"({upper}_N_DECISIONS + 1U)"

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return the projection."""
        return (self.products,)

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return the sums of the lifted vectors."""
        return (self.lifted,)

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        own = {**context, "stage": self.stage, "view": self}
        parts = ["bump", *(["in_range"] if self.checks_range else []), "estimate"]
        return [
            *(render(f"reduced_set/{part}.c.j2", **own) for part in parts),
            render(f"stages/{self.stage.template}.c.j2", **own),
        ]
