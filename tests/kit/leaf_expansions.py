"""Small routed machines with expansions of their leaves, for tests of `leaf_expansion`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kit.emitted import Emitted, named
from kit.routed import Routed, samples
from kit.sharing import shared
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.leaf_expansion import leaf_centres, lower_leaf_expansion
from kmcompile.exits.statistical.case import prepared, range_gate
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.program.stages import IntervalRatio, LeafExpansion
from kmcompile.target import Target


@dataclass(frozen=True)
class LeavesExpanded:
    """A routed machine whose leaves are expanded, along so many directions."""

    routed: Routed
    n_basis: int

    def __str__(self) -> str:
        return f"leaf_expansion-{self.n_basis}-{self.routed}"

    @property
    def fresh(self) -> np.ndarray:
        """Samples beside those of training, float32."""
        X, _ = samples(self.routed.data)
        rng = np.random.default_rng(1)
        return np.float32(X + rng.normal(scale=0.1, size=X.shape))

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        return self.of_machine(self.routed.machine(), target, name)

    def of_machine(
        self, machine: KernelMachine, target: str | Target, name: str = "iris"
    ) -> Emitted:
        """Return the emitted C of another machine of the same kind."""
        lowered = lower_in_format(machine, named(target), name, "float32")
        plain = Emitted(machine, lowered.program, named(target))
        exits = (self.stage(plain),)
        program = replace(plain.program, mode="certified", exits=exits)
        queries = np.concatenate([self.fresh, plain.queries])
        return Emitted(plain.machine, program, plain.target, queries)

    def stage(self, plain: Emitted) -> LeafExpansion:
        """Return the stage, fitted to half of the fresh samples."""
        budget = SearchBudget("leaf_expansion")
        centres = leaf_centres(plain.machine, plain.program, self.fresh[::2], budget)
        return lower_leaf_expansion(plain.machine, centres, self.n_basis)


@dataclass(frozen=True)
class BesideStatistical:
    """Expanded leaves between a linear filter and a test of the proved intervals."""

    expanded: LeavesExpanded

    def __str__(self) -> str:
        return f"statistical-{self.expanded}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = self.expanded.emit(target, name)
        program, X = plain.program, self.expanded.fresh
        samples = prepared(program, X)
        decisions = evaluate(plain.machine, X).decisions
        made = linear_filter(samples, decisions, np.ones(decisions.shape, dtype=bool), False)
        exits = (
            range_gate(samples, skip_zeros=False),
            replace(made, half_width=np.full_like(made.half_width, 1.0)),
            *program.exits,
            IntervalRatio(program.n_decisions, np.float32(0.25)),
        )
        program = replace(program, mode="statistical", exits=exits)
        return Emitted(plain.machine, program, plain.target, plain.queries)


CORE = (
    LeavesExpanded(Routed("iris", 5), 2),
    LeavesExpanded(Routed("iris", 6, "chain"), 0),
    LeavesExpanded(Routed("wine", 4), 4),
)
STATISTICAL = (
    BesideStatistical(LeavesExpanded(Routed("iris", 6, "chain"), 1)),
    BesideStatistical(LeavesExpanded(Routed("wine", 4), 2)),
)
