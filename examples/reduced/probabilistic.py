"""Matching pursuit that looks at a few random vectors in each step (RSS 2004, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.growing import LEAST_PIVOT, relative_weights
from kmcompile.passes.reduction.pools import Pool, joint_pools
from kmcompile.passes.reduction.selection import Basis, Selection

N_CANDIDATES = 59
"""1 - 0.95^59 = 0.95: the best of so many is with this probability among the best 5 % of all."""


def pursue_some(
    machine: KernelMachine,
    n: int,
    n_candidates: int = N_CANDIDATES,
    seed: int = 0,
    pools: Sequence[Pool] | None = None,
    normals: Normals | None = None,
) -> Selection:
    """Return at most n support vectors, each the best of some random ones by the paper's rule.

    As `pursue`, but only the candidates of a step are multiplied with the chosen vectors: the work
    and the memory of a step do not grow with the number of support vectors.

    Parameters
    ----------
    machine : KernelMachine
    n : int
    n_candidates : int
        Vectors that are looked at in each step.
    seed : int
    pools, normals
        As for `pursue`.

    Raises
    ------
    InputError
        The kernel is not positive definite.
    """
    normals = normals or Normals.of(machine)
    squares = normals.kernel.self_values(normals.vectors)
    pools = joint_pools(machine) if pools is None else pools
    parts = [_LazyBasis(pool, squares, normals) for pool in pools]
    rng = np.random.default_rng(seed)
    rest = np.unique(np.concatenate([pool.vectors for pool in pools]))
    order: list[int] = []
    while len(order) < n and len(rest):
        some = rest
        if n_candidates < len(rest):
            some = np.sort(rng.choice(rest, n_candidates, replace=False))
        gains = np.sum([part.gains(some) for part in parts], axis=0)
        best = int(gains.argmax())
        if gains[best] <= 0:
            rest = np.setdiff1d(rest, some)
            continue
        for part in parts:
            part.add(best, int(some[best]), len(order))
        order.append(int(some[best]))
        rest = rest[rest != some[best]]
    bases = tuple(part.basis() for part in parts)
    return Selection(machine, np.array(order, dtype=np.intp), bases, normals.squares)


class _LazyBasis:
    """The basis of the chosen vectors of one pool, without what it leaves of all others."""

    def __init__(self, pool: Pool, squares: Float64Array, normals: Normals) -> None:
        self._pool, self._squares, self._normals = pool, squares, normals
        self._relative = relative_weights(normals)[pool.decisions]
        self._chosen: list[int] = []
        self._places: list[int] = []
        self._lower = np.zeros((16, 16))
        self._weights = np.zeros((16, len(pool.decisions)))

    def gains(self, some: NDArray[np.intp]) -> Float64Array:
        """Return what candidates, indices of support vectors, gain here; 0 of other pools'."""
        t, kernel, vectors = len(self._chosen), self._normals.kernel, self._normals.vectors
        self._inside = np.flatnonzero(np.isin(some, self._pool.vectors))
        own = some[self._inside]
        self._rows = np.zeros((t, len(own)))
        if t and len(own):
            columns, _ = kernel.fast_values(vectors[own], vectors[self._chosen])
            self._rows = solve_triangular(self._lower[:t, :t], columns, lower=True)
        squares = self._squares[own]
        self._left = squares - (self._rows**2).sum(axis=0)
        self._products = self._normals.products[np.ix_(own, self._pool.decisions)]
        self._products = self._products - self._rows.T @ self._weights[:t]
        self._usable = self._left > LEAST_PIVOT * squares
        gains = np.zeros(len(some))
        by_paper = self._products**2 @ self._relative / np.where(self._usable, squares, 1.0)
        gains[self._inside] = np.where(self._usable, by_paper, 0.0)
        return gains

    def add(self, number: int, vector: int, place: int) -> None:
        """Add the candidate of a number, if it is of this pool and not in the span."""
        member = int(np.searchsorted(self._inside, number))
        if member == len(self._inside) or self._inside[member] != number:
            return
        if not self._usable[member]:
            return
        t, pivot = len(self._chosen), np.sqrt(self._left[member])
        if t == len(self._lower):
            self._lower = np.pad(self._lower, (0, t))
            self._weights = np.pad(self._weights, ((0, t), (0, 0)))
        self._lower[t, :t], self._lower[t, t] = self._rows[:, member], pivot
        self._weights[t] = self._products[member] / pivot
        self._chosen.append(vector)
        self._places.append(place)

    def basis(self) -> Basis:
        """Return the basis of the chosen vectors."""
        t, places = len(self._places), np.array(self._places, dtype=np.intp)
        return Basis(self._pool, places, self._lower[:t, :t], self._weights[:t])
