"""Normals of a machine as a bound sequence needs them: inner products with bounds on rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels import Kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_ROWS = 512

_MANY = 2000
"""Number of vectors from which kernels are computed by a faster formula, with a larger error."""


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """Kernel values in float64 with a bound on their relative error.

    The kernel's argument, a sum over n features, has a relative error of at most (n + 4) u. The
    kernel multiplies it by at most its condition number: the degree for poly, z exp(-z) <= 1 for
    the others.
    """

    values: Float64Array
    error: float


def gram_of(kernel: Kernel, z: Float64Array, s: Float64Array | None = None) -> Gram:
    """Return the kernels of z with s, by default with z itself."""
    error = (z.shape[1] + 12) * 2 * kernel.condition * UNIT_ROUNDOFF_64
    return Gram(kernel.values(z, z if s is None else s), error)


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """The squares of the normals W_p of a machine, with bounds on their rounding.

    Parameters
    ----------
    square : ndarray of shape (n_decisions,), float64
        |W|^2.
    size : ndarray of shape (n_decisions,), float64
        sum |beta| sqrt(K(s, s)): |W|^2 is off by `error` size^2.
    error : float
        Relative error of inner products with the normals.
    """

    square: Float64Array
    size: Float64Array
    error: float

    @classmethod
    def of(cls, machine: KernelMachine) -> Squares:
        """Return the squares of a machine, summed in extended precision where the host has one.

        Kernels of many vectors come from `Kernel.fast_values`, whose error counts.
        """
        s, groups = machine.support_vectors, _groups(machine)
        square = np.zeros(machine.n_decisions, dtype=np.longdouble)
        added = 0.0
        for start in range(0, len(s), _ROWS):  # K is symmetric
            rows, error = _kernels(machine.kernel, s[start:], s[start : start + _ROWS], len(s))
            added = max(added, error)
            for group in groups:
                square[group.decisions] += group.part_of_square(rows, start)
        size = np.zeros(machine.n_decisions)
        length = np.sqrt(machine.kernel.self_values(s))
        for group in groups:
            size[group.decisions] = np.abs(group.beta).astype(np.float64) @ length[group.own]
        precision = float(np.finfo(np.longdouble).eps)
        error = gram_of(machine.kernel, s[:1]).error + added + 2 * len(s) * precision
        return cls(square.astype(np.float64), size, error)


@dataclass(frozen=True, slots=True, eq=False)
class Normals:
    """The normal W_p of each decision, given by inner products, with bounds on their rounding.

    Parameters
    ----------
    with_z : ndarray of shape (n_decisions, n), float64
        h = <W, phi(z)>.
    square, size : ndarray of shape (n_decisions,), float64
    error : float
        Those of `Squares`.
    """

    with_z: Float64Array
    square: Float64Array
    size: Float64Array
    error: float

    @classmethod
    def of(cls, machine: KernelMachine, z: Float64Array, squares_of: Squares) -> Normals:
        """Return the normals of a machine, summed in extended precision where the host has one."""
        values = machine.kernel.values(z, machine.support_vectors)
        with_z = np.empty((machine.n_decisions, len(z)))
        for group in _groups(machine):
            with_z[group.decisions] = group.beta @ values[group.own].astype(np.longdouble)
        return cls(with_z, squares_of.square, squares_of.size, squares_of.error)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Decisions that use the same vectors.

    Parameters
    ----------
    decisions : ndarray of shape (n,), int
    own : ndarray of shape (n_own,), int
        The vectors, in increasing order.
    beta : ndarray of shape (n, n_own), longdouble
    """

    decisions: NDArray[np.intp]
    own: NDArray[np.intp]
    beta: NDArray[np.longdouble]

    def part_of_square(self, rows: Float64Array, start: int) -> NDArray[np.longdouble]:
        """Return the terms of beta^T K beta of some rows of K and of the columns that mirror them.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_sv - start), float64
            The rows of K from `start` on, without the columns before `start`.
        """
        first, inner = np.searchsorted(self.own, (start, start + len(rows))).tolist()
        if first == inner:
            return np.zeros(len(self.beta), dtype=np.longdouble)
        mine = rows[np.ix_(self.own[first:inner] - start, self.own[first:] - start)]
        ahead = self.beta[:, first:].copy()
        ahead[:, inner - first :] *= 2
        terms: NDArray[np.longdouble] = (
            self.beta[:, first:inner] * (mine.astype(np.longdouble) @ ahead.T).T
        )
        total: NDArray[np.longdouble] = terms.sum(axis=1)
        return total


def _groups(machine: KernelMachine) -> list[_Group]:
    """Return all decisions, in groups that use the same vectors."""
    beta = decision_coefficients(machine)
    alike: dict[bytes, list[int]] = {}
    for p, row in enumerate(beta != 0):
        alike.setdefault(np.packbits(row).tobytes(), []).append(p)
    groups = []
    for decisions in alike.values():
        own = np.flatnonzero(beta[decisions[0]])
        coefficients = beta[decisions][:, own].astype(np.longdouble)
        groups.append(_Group(np.array(decisions, dtype=np.intp), own, coefficients))
    return groups


def _kernels(
    kernel: Kernel, s: Float64Array, x: Float64Array, n_all: int
) -> tuple[Float64Array, float]:
    """Return kernels of vectors, shape (n_x, n_s), and the relative error of a faster formula.

    The formula is used from `_MANY` vectors on.
    """
    if n_all < _MANY:
        return kernel.values(s, x), 0.0
    values, error = kernel.fast_values(s, x)
    return values, float(error.max(initial=0.0))
