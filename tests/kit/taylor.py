"""Programs with Taylor polynomials, for tests of the stage `taylor_polynomial`."""

from __future__ import annotations

from dataclasses import dataclass

from kit.emitted import Emitted
from kit.expansions import Expanded, passed
from kmcompile.exits.certified.taylor_polynomial import lower_taylor
from kmcompile.program.stages import TaylorPolynomial


@dataclass(frozen=True)
class Taylor(Expanded):
    """A machine with Taylor polynomials about the last centres of a tree.

    Parameters
    ----------
    degree : int
    """

    degree: int = 3

    def __str__(self) -> str:
        shape = "x".join(str(n) for n in self.shape)
        return f"taylor-{self.data}-{self.preprocessing}-{shape}_centres-degree_{self.degree}"

    def stage(self, plain: Emitted) -> TaylorPolynomial:
        """Return the stage, fitted to half of the fresh inputs."""
        machine = passed(plain.machine)
        return lower_taylor(machine, self.shape, self.levels(machine, plain.program), self.degree)


CORE = (
    Taylor("moons", 2.0, (3, 3), 0, degree=5),
    Taylor("wine", 0.02, (2,), 0, degree=3),
    Taylor("far", 0.01, (2,), 0, degree=2),
    Taylor("moons", 0.5, (2, 2, 2), 0, degree=6),
    Taylor("wine", 0.02, (1, 3), 0, degree=4),
)
"""One level and more, every degree, two classes and more."""
