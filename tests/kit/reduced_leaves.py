"""Small routed machines whose leaves are reduced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.emitted import Emitted, named
from kit.routed import Routed
from kit.sharing import shared
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.reduction.leaf_sizes import LeafSizes
from kmcompile.reduction.sizes import Answers
from kmcompile.target import Target


def sizes_of(
    machine: KernelMachine, X: np.ndarray | None = None, most_of_leaf: int | None = None
) -> LeafSizes:
    """Return the reduced machines of a routed one, two thirds of the samples being imitated."""
    if X is None:
        X = np.zeros((0, machine.n_features))
    X = np.float32(X)
    picked = np.arange(len(X)) % 3 == 0
    tolerance = None if machine.classes else 0.1
    pick = Answers.of(machine, X[picked], tolerance)
    return LeafSizes(machine, X[~picked], pick, lambda _: None, most_of_leaf)


@dataclass(frozen=True)
class ReducedLeaves:
    """A routed machine of n vectors, in the place of the trained one."""

    trained: Routed
    n: int
    most_of_leaf: int | None = None

    def __str__(self) -> str:
        return f"reduced-{self.n}-{self.most_of_leaf}-{self.trained}"

    def machine(self) -> KernelMachine:
        """Return the reduced machine."""
        machine = self.trained.machine()
        made = sizes_of(machine, most_of_leaf=self.most_of_leaf).at(self.n)
        return standing_for(machine, made.machine)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C, and the trained machine."""
        fewer = self.machine()
        assert fewer.reduced_from is not None
        lowered = lower_in_format(fewer, named(target), name, self.trained.number_format)
        program = with_distance(lowered.program, lowered.machine)
        return Emitted(fewer.reduced_from.machine, program, named(target))


CORE = (
    ReducedLeaves(Routed("iris", 5), 8),
    ReducedLeaves(Routed("iris", 5), 3),
    ReducedLeaves(Routed("wine", 5, "chain", extra="widths"), 12),
    ReducedLeaves(Routed("diabetes", 6, "chain"), 60),
    ReducedLeaves(Routed("wine", 4, number_format="int16"), 12),
    ReducedLeaves(Routed("wine", 4), 1000, 24),
)
