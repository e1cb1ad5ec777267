"""The view of the stage `bound_sequence`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.emit.totals_view import TotalsView
from kmcompile.program.layout import Constant
from kmcompile.program.stages import BoundSequence
from kmcompile.program.stages.early_exits.sequence_state import LARGEST


@dataclass(frozen=True, slots=True)
class BoundSequenceView(ExitView):
    """Values for templates/stages/bound_sequence.c.j2 and templates/bound_sequence/.

    Parameters
    ----------
    totals : TotalsView
        The kernels' totals of a block.
    is_own_shape : bool
        Whether the blocks of this stage and of the exact sum differ in shape.
    """

    stage: BoundSequence
    totals: TotalsView
    is_own_shape: bool

    @classmethod
    def of(cls, stage: BoundSequence, site: Site) -> BoundSequenceView:
        """Return the view of a stage at its place."""
        totals = site.functions.named_totals("sequence", stage.n_features, stage.lanes)
        return cls(stage, totals, totals != site.functions.of_exact_sum)

    def block_totals(self) -> tuple[TotalsView, ...]:
        """Return the kernels' totals."""
        return (self.totals,)

    def defines(self) -> tuple[Constant, ...]:
        """Return the stage's sizes; they include the shape of its blocks if it is its own."""
        stage = self.stage
        if not self.is_own_shape:
            return stage.defines()
        words = stage.n_features * stage.lanes
        return (
            *stage.defines(),
            Constant("SEQUENCE_LANES", stage.lanes, "vectors of a block of the bound sequence"),
            Constant("SEQUENCE_WORDS", words, "N_PREPARED * SEQUENCE_LANES: of a block"),
        )

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        stage, reach = self.stage, self.stage.reach
        own = {**context, "stage": stage, "reach": reach, "largest": LARGEST, "view": self.totals}
        own.update(reach.context())
        return [
            render("bound_sequence/reach.c.j2", **context),
            render(f"bound_sequence/{reach.name}.c.j2", **own),
            render("bound_sequence/rows.c.j2", **own),
            render("stages/bound_sequence.c.j2", **own),
        ]
