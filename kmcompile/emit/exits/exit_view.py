"""What emission asks of every early exit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.emit.environment import render
from kmcompile.emit.products_view import ProductsView
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.layout import Constant, Member
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit


@dataclass(frozen=True, slots=True)
class Site:
    """Where an early exit stands: what its C depends on beside its own constants.

    Parameters
    ----------
    program : Program
    functions : BlockFunctions
        Names the functions of blocks that stages share.
    before, behind : tuple of EarlyExit
        The exits before it and behind it.
    """

    program: Program
    functions: BlockFunctions
    before: tuple[EarlyExit, ...]
    behind: tuple[EarlyExit, ...]


@dataclass(frozen=True, slots=True)
class ExitView:
    """An early exit in C; by itself one that is written by the template of its name alone.

    An exit of more than one template, or with sums over blocks, has a view of its own class.

    Parameters
    ----------
    stage : EarlyExit
    """

    stage: EarlyExit

    @classmethod
    def of(cls, stage: Any, site: Site) -> ExitView:
        """Return the view of a stage at its place."""
        return cls(stage)

    def inner_products(self) -> tuple[ProductsView, ...]:
        """Return its inner products with the prepared input, which `projected` has room for."""
        return ()

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return its sums over features for a block of vectors."""
        return ()

    @property
    def n_projected(self) -> int:
        """Elements of `projected` that it writes; 0 where it has none."""
        return max((products.n_padded for products in self.inner_products()), default=0)

    def defines(self) -> tuple[Constant, ...]:
        """Return its private #defines."""
        return self.stage.defines()

    def members(self) -> tuple[Member, ...]:
        """Return what it has in the workspace."""
        return self.stage.members()

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return its functions, each after what it calls; what two exits return stands once.

        Parameters
        ----------
        context : dict
            What every template of an exit may use: name, upper, of_table, label_function, answer,
            decides, is_regression.
        """
        own = {**context, "stage": self.stage, "view": self}
        return [render(f"stages/{self.stage.template}.c.j2", **own)]
