"""Quadratic bounds: the linear part of f and a few squares, with a bound on the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.sigmoid import SigmoidFloat32
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS, narrowed, proved
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.polynomial_sum import PolynomialSum

_ZERO = np.float32(0.0)

LEVEL_OPERATIONS = 9
"""Multiply-adds of a level beside its inner product: z^2, value, |x|^2 outside, both ends, test."""


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticBounds(EarlyExit):
    """Bounds on f = b + <l, x> + x'Q x + T_3(x) + ... + T_d(x), |T_k(x)| <= C_k |x|^k.

    T_k is the part of degree k of a polynomial; with the sigmoid kernel d is 3 and T_3 the
    remainder of Taylor's formula. Level 0 is weight folding (DeCoste 2001, section 3.2).

    Level 0 knows b + <l, x>. Level r knows r squares more: with rows v_k, which nearly are
    eigenvectors of Q, z_k = <v_k, x> and factors c_k, nearly their eigenvalues,

        f = b + <l, x> + sum_(k <= r) c_k z_k^2 + x'R_r x + T_3(x) + ... + T_d(x).

    Let Y >= |x^| + delta, x^ the prepared input and delta >= |x - x^|. The rest lies between
    -below_r q_r - radius and above_r q_r + radius, where q_r = |x|^2 - sum_(k <= r) z_k^2 is what
    the squares leave of |x|^2, the eigenvalues of R_r lie between -below_r <= 0 and above_r >= 0,
    and

        radius = sum_(k = 0..d) radii_k Y^k + delta sum_(k = 1..d) slopes_k Y^(k - 1).

    `exits.certified.lower_quadratic` derives `radii` and `slopes`, all roundings included. Every
    level is tested, and the first one that proves a sign decides.

    Parameters
    ----------
    levels : ndarray of shape (n_levels, 3), float32
        c_r (0 at level 0, which has no square), below_r and above_r.
    radii : ndarray of shape (degree + 1,), float32
        C_k and the roundings.
    intercept : float32
        b.
    largest : float32
        Largest Y; more might overflow, and proves nothing.
    """

    rows: Annotated[
        Float32Array,
        Layout(
            "Linear part l, then directions v_k of squares: [level][feature]",
            ("levels of the quadratic bounds", "N_PREPARED"),
        ),
    ]
    levels: Annotated[
        Float32Array,
        Layout(
            "Factor c of a square, and how far the rest lies below and above: [level][column]",
            ("levels of the quadratic bounds", "factors of a level"),
        ),
    ]
    radii: Annotated[
        Float32Array,
        Layout("Radius per power of y = |x| + d: [power]", ("powers of the quadratic bounds",)),
    ]
    slopes: Annotated[Float32Array, Layout("Radius per power of y times d: [power]")]
    intercept: np.float32
    largest: np.float32

    template: ClassVar[str] = "quadratic_bounds"
    exit: ClassVar[str | None] = "certified"
    prefix: ClassVar[str] = "quadratic"

    def __str__(self) -> str:
        """Return a short description for people."""
        return f"quadratic_bounds({self.n_levels - 1} squares)"

    @property
    def n_levels(self) -> int:
        """Number of levels: one more than squares."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return int(self.rows.shape[1])

    @property
    def has_squares(self) -> bool:
        """Whether there is a level with a square."""
        return self.n_levels > 1

    @property
    def degree(self) -> int:
        """Degree d of the last part."""
        return len(self.slopes)

    def radius(self, batch: Batch) -> Float32Array:
        """Return the radius of each query."""
        reach = batch.length + batch.deviation
        along = np.full(len(batch), self.radii[-1])
        moved = np.full(len(batch), self.slopes[-1])
        for k in range(self.degree - 1, 0, -1):
            along = along * reach + self.radii[k]
            moved = moved * reach + self.slopes[k - 1]
        radius: Float32Array = (along * reach + self.radii[0]) + moved * batch.deviation
        return radius

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries they decide."""
        with np.errstate(over="ignore", invalid="ignore"):  # a NaN proves nothing, as in the C
            low, high, turns = self._ends(batch)
        end = NARROW_OPERATIONS + ends.label.operations()
        spent = turns * (self.n_features + LEVEL_OPERATIONS) + (self._own_operations() + end)
        batch = replace(batch, operations=batch.operations + spent)
        batch = proved(narrowed(batch, low[:, None], high[:, None]), ends.label)
        return batch, batch.settled

    def _ends(self, batch: Batch) -> tuple[Float32Array, Float32Array, NDArray[np.int64]]:
        """Return the interval of the last level that each query reaches, and its levels."""
        radius = self.radius(batch)
        usable = batch.length + batch.deviation <= self.largest
        outside = batch.length * batch.length
        value = np.full(len(batch), self.intercept)
        low, high = np.full(len(batch), np.nan, np.float32), np.full(len(batch), np.nan, np.float32)
        turns = np.zeros(len(batch), dtype=np.int64)
        open_ = np.flatnonzero(usable)
        for level, (row, (factor, below, above)) in enumerate(
            zip(self.rows, self.levels, strict=True)
        ):
            z = _product(batch.x[open_], row)
            if level:
                square = z * z
                outside[open_] = outside[open_] - square
                value[open_] = value[open_] + factor * square
            else:
                value[open_] = value[open_] + z
            low[open_] = (value[open_] - below * outside[open_]) - radius[open_]
            high[open_] = (value[open_] + above * outside[open_]) + radius[open_]
            turns[open_] += 1
            open_ = open_[~((low[open_] > _ZERO) | (high[open_] < _ZERO))]
        return low, high, turns

    def _own_operations(self) -> int:
        """Return the multiply-adds of the radius, and of |x|^2."""
        return 2 * self.degree + 4

    def operations(self) -> int:
        """Return the multiply-adds of all levels; the label's tests come on top."""
        levels = self.n_levels * (self.n_features + LEVEL_OPERATIONS)
        return self._own_operations() + NARROW_OPERATIONS + levels

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum: in float32, of poly or sigmoid."""
        if isinstance(other, ExactSum):
            return isinstance(other.kernel, PolyFloat32 | SigmoidFloat32)
        return isinstance(other, PolynomialSum)

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        return (
            Constant("QUADRATIC_LEVELS", self.n_levels, "the linear part, then a square each"),
            Constant("QUADRATIC_DEGREE", self.degree, "of the last part of the bounds"),
        )

    def shared(self) -> Shared:
        """Return the numbers of features and decisions."""
        powers = ("powers of the quadratic bounds", len(self.slopes) + 1)
        own = (("factors of a level", 3), powers, ("N_DECISIONS", 1), ("N_CLASSES", 2))
        return (*own, *Laid.shared(self))


def _product(x: Float32Array, row: Float32Array) -> Float32Array:
    """Return the inner products with a row, plain sums in the order of the features."""
    total = np.zeros(len(x), dtype=np.float32)
    for column, factor in zip(x.T, row, strict=True):
        total += column * factor
    return total
