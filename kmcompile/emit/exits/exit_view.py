"""The interface of an early exit's view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.emit.environment import render
from kmcompile.emit.products_view import ProductsView
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.program.layout import Constant
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit


@dataclass(frozen=True, slots=True)
class Site:
    """The place of an early exit: the parts of the program on which its C depends.

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
    """The view of an early exit; this class serves exits with one template, named after the stage.

    An exit with more than one template, or with sums over blocks, has its own subclass.

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
        """Return the inner products with the prepared input, which `projected` will hold."""
        return ()

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return the sums over features for a block of vectors."""
        return ()

    def defines(self) -> tuple[Constant, ...]:
        """Return the private #defines of the exit."""
        return self.stage.defines()

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions, each after the functions that it calls.

        Functions that two exits both return are written once.

        Parameters
        ----------
        context : dict
            Values for every template of an exit: name, upper, of_table, label_function, answer,
            decides, is_regression.
        """
        own = {**context, "stage": self.stage, "view": self}
        return [render(f"stages/{self.stage.template}.c.j2", **own)]
