"""Programs in which proved intervals are tested for their ratio, behind a short bound sequence.

For tests of the C of `interval_ratio` and of its storage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kit.certified import Certified
from kit.emitted import Emitted
from kit.sharing import shared
from kmcompile.exits.statistical.case import prepared, range_gate
from kmcompile.program.stages import BoundSequence, IntervalRatio
from kmcompile.target import Target


@dataclass(frozen=True)
class Ratio:
    """A machine with a short bound sequence, of whose intervals many are tested for their ratio.

    Parameters
    ----------
    certified : Certified
        The machine.
    ratio : float
        How many times one side of 0 must be wider than the other.
    n_blocks : int
        Blocks of the sequence.
    """

    certified: Certified
    ratio: float = 4.0
    n_blocks: int = 2

    def __str__(self) -> str:
        return f"{self.certified}-{self.ratio:g}_to_1"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = self.certified.emit(target, name)
        (sequence,) = plain.program.early_exits
        assert isinstance(sequence, BoundSequence)
        samples = prepared(plain.program, plain.queries[:100])
        share = np.float32((self.ratio - 1) / (self.ratio + 1))
        exits = (
            range_gate(samples, skip_zeros=False),
            sequence.first(self.n_blocks),
            IntervalRatio(plain.program.n_decisions, share),
        )
        program = replace(plain.program, mode="statistical", exits=exits)
        return Emitted(plain.machine, program, plain.target, plain.queries)


CORE = (
    Ratio(Certified("rbf", "moons")),
    Ratio(Certified("poly", "breast_cancer"), 2.0),
    Ratio(Certified("rbf", "wine")),
)
"""Two classes and more."""
