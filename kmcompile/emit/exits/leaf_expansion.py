"""The view of the stage `leaf_expansion`: expansions of the leaves of a routed machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmcompile.emit.exits.exit_view import Site
from kmcompile.emit.exits.local_expansion import LocalExpansionView
from kmcompile.program.stages import LocalExpansion


@dataclass(frozen=True, slots=True)
class LeafExpansionView(LocalExpansionView):
    """Values for templates/stages/leaf_expansion.c.j2 and templates/local_expansion/."""

    @classmethod
    def of(cls, stage: LocalExpansion, site: Site) -> LocalExpansionView:
        """Return the view of a stage at its place."""
        name, upper = site.program.name, site.program.name.upper()
        return replace(
            super(LeafExpansionView, cls).of(stage, site),
            more_centres=0,
            intercept=f"intercepts[(local->centre * {upper}_N_DECISIONS) + p]",
            basis_of=f"&{name}_local_basis[(local->centre * {upper}_FOLDED_BASIS)"
            f" * {upper}_N_PREPARED]",
        )
