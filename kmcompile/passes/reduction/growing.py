"""Selections that grow vector by vector, all weights fitted again after each (RSS 2004, 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.pools import Pool, joint_pools
from kmcompile.passes.reduction.selection import Basis, Selection

LEAST_PIVOT = 1e-7
"""Least share of |phi(s)|^2 outside the span of the vectors before, of a vector that joins them.
The coefficients of a smaller one would be so large that their rounding errors would matter."""


class GrowingBasis:
    """The basis of the chosen vectors of one pool, and what it leaves of all vectors and normals.

    Parameters
    ----------
    pool : Pool
    squares : ndarray of shape (n_sv,), float64
        |phi(s_j)|^2.
    normals : Normals
    least_pivot : float
        Least share of |phi(s)|^2 outside the span, of a vector that joins it.
    """

    def __init__(
        self, pool: Pool, squares: Float64Array, normals: Normals, least_pivot: float
    ) -> None:
        self.pool = pool
        self.squares = squares[pool.vectors]
        self.left = self.squares.copy()
        self.products = normals.products[np.ix_(pool.vectors, pool.decisions)]
        self.relative = relative_weights(normals)[pool.decisions]
        self._least_pivot = least_pivot
        self._places: list[int] = []
        self._members: list[int] = []
        self._rows = np.zeros((16, len(pool.vectors)))
        self._weights = np.zeros((16, len(pool.decisions)))

    @property
    def usable(self) -> np.ndarray:
        """Which members are outside the span, shape (n_members,), bool."""
        usable: np.ndarray = self.left > self._least_pivot * self.squares
        return usable

    def add(self, member: int, place: int, column: Float64Array) -> None:
        """Add a member with its kernels with all members, if it is not in the span of the others.

        All weights are fitted again (backfitting): the Cholesky factor grows by a row (eq. 10).
        """
        t, left = len(self._places), self.left[member]
        if left <= self._least_pivot * self.squares[member]:
            return
        if t == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
        row = (column - self._rows[:t, member] @ self._rows[:t]) / np.sqrt(left)
        weight = self.products[member] / np.sqrt(left)
        self._rows[t], self._weights[t] = row, weight
        self.left -= row * row
        self.left[member] = 0.0
        self.products -= row[:, None] * weight
        self._places.append(place)
        self._members.append(member)

    def basis(self) -> Basis:
        """Return the basis of the chosen vectors."""
        t = len(self._places)
        lower = np.tril(self._rows[:t, self._members].T)
        return Basis(self.pool, np.array(self._places, dtype=np.intp), lower, self._weights[:t])


Gains = Callable[[GrowingBasis], Float64Array]
"""What each member of a pool is worth, shape (n_members,); 0 of one that must not be chosen."""


class Growth:
    """A selection that grows, a basis for each pool."""

    def __init__(
        self,
        machine: KernelMachine,
        pools: Sequence[Pool] | None,
        normals: Normals | None,
        least_pivot: float = LEAST_PIVOT,
    ) -> None:
        self._machine = machine
        self._normals = normals = normals or Normals.of(machine)
        squares = normals.kernel.self_values(normals.vectors)
        self._parts = [
            GrowingBasis(pool, squares, normals, least_pivot)
            for pool in (joint_pools(machine) if pools is None else pools)
        ]
        self._order: list[int] = []

    def add(self, vector: int) -> list[int]:
        """Add a support vector to the bases of its pools and return the indices of these."""
        vectors = self._normals.vectors
        column, _ = self._normals.kernel.fast_values(vectors[vector : vector + 1], vectors)
        places = self._places_of(vector)
        for number, member in places:
            part = self._parts[number]
            part.add(member, len(self._order), column[part.pool.vectors, 0])
        self._order.append(vector)
        return [number for number, _ in places]

    def add_best(self, n: int, gains_of: Gains) -> None:
        """Add the best vectors, one after the other, until there are n or none gains anything.

        The gains of a vector in several pools are added.
        """
        gains = [gains_of(part) for part in self._parts]
        total = np.zeros(len(self._normals.vectors))
        for part, own in zip(self._parts, gains, strict=True):
            total[part.pool.vectors] += own
        while len(self._order) < n:
            best = int(total.argmax())
            if total[best] <= 0:
                break
            # What is left of a total whose gains are all 0 now is a rounding error.
            if not any(gains[number][member] > 0 for number, member in self._places_of(best)):
                total[best] = 0.0
                continue
            for number in self.add(best):
                part = self._parts[number]
                own = gains_of(part)
                total[part.pool.vectors] += own - gains[number]
                gains[number] = own
            total[best] = 0.0

    def _places_of(self, vector: int) -> list[tuple[int, int]]:
        """Return the pools of a support vector and its place among the members of each."""
        places = []
        for number, part in enumerate(self._parts):
            member = int(np.searchsorted(part.pool.vectors, vector))
            if member < len(part.pool.vectors) and part.pool.vectors[member] == vector:
                places.append((number, member))
        return places

    def selection(self) -> Selection:
        """Return the vectors so far."""
        bases = tuple(part.basis() for part in self._parts)
        order = np.array(self._order, dtype=np.intp)
        return Selection(self._machine, order, bases, self._normals.squares)


def relative_weights(normals: Normals) -> Float64Array:
    """Return 1 / |W_p|^2, or 0 for a normal of 0, shape (n_decisions,)."""
    return np.array([1.0 / square if square > 0 else 0.0 for square in normals.squares])
