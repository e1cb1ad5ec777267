"""The functions of single features of an additive machine, worked out in exact arithmetic.

With the intersection kernel f_p(x) = b_p + sum_j g_pj(x_j), g_pj(x) = sum_i beta_pi min(s_ij, x).
g_pj is continuous and linear between knots, which are the values s_ij. With s_ij in ascending order

    g_pj(x) = sum_(i <= r) beta_pi s_ij + x sum_(i > r) beta_pi, r values s_ij being at most x.

The sums cancel, so they are taken exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.lower.stored import stored
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.exact import Exact
from kmcompile.numeric.rounding import FLOAT64

Integers = NDArray[Any]
"""An array of Python's integers."""

NEGLIGIBLE = 2.0**-40
"""Slopes up to this share of sum_i |beta_pi| count as 0; the bounds have what they would change."""


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """The coefficients of an additive machine.

    Parameters
    ----------
    exact : Exact of shape (n_decisions, n_sv)
    negligible : ndarray of shape (n_decisions,), float64
        Slopes that count as 0.
    """

    exact: Exact
    negligible: Float64Array

    @classmethod
    def of(cls, coefficients: Float64Array) -> Coefficients:
        """Return the coefficients of each decision, shape (n_decisions, n_sv)."""
        negligible = NEGLIGIBLE * np.abs(coefficients).sum(axis=1)
        return cls(Exact.of(coefficients), negligible)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureFunction:
    """The functions of one feature, one for each decision, as pieces of straight lines.

    Piece k > 0 begins at its knot and ends at that of piece k + 1; the last one has no end. Piece 0
    lies before the first knot, and its line goes through the same point as that of piece 1.

    Parameters
    ----------
    knots : ndarray of shape (n_pieces,), float64
        The knot of each piece as it is stored; the first two are equal.
    values : ndarray of shape (n_pieces, n_decisions), float64
        g at the knot, rounded once.
    slopes : ndarray of shape (n_pieces, n_decisions), float64
        The slope of each piece, rounded once; that of the last piece is 0.
    sizes : ndarray of shape (n_decisions,), float64
        The largest |g| at the trained values.
    moved : ndarray of shape (n_decisions,), float64
        How far g is at most from the lines through its values at the knots with its slopes: 0 if
        every trained value is stored exactly.
    """

    knots: Float64Array
    values: Float64Array
    slopes: Float64Array
    sizes: Float64Array
    moved: Float64Array

    @property
    def widths(self) -> Float64Array:
        """Lengths of the pieces between two knots, shape (n_pieces,); 0 for the first and last."""
        return np.concatenate([[0.0], np.diff(self.knots[1:]), [0.0]]) * (1 + 2.0**-50)

    def is_constant(self, coefficients: Coefficients) -> bool:
        """Return whether every slope counts as 0."""
        return bool((np.abs(self.slopes) <= coefficients.negligible).all())


def feature_function(
    column: Float64Array, coefficients: Coefficients, low_parts: bool
) -> FeatureFunction:
    """Return the functions of one feature.

    Knots are float32, or have low parts as well. Values that are equal in float32 share a knot in
    either case, so that there are as many pieces.

    Parameters
    ----------
    column : ndarray of shape (n_sv,), float64
        The feature of the support vectors.
    coefficients : Coefficients
    low_parts : bool
        Whether the stored knots have low parts (`kmcompile.lower.stored`).
    """
    order = np.argsort(column, kind="stable")
    trained, firsts = np.unique(column[order], return_index=True)
    beta = np.add.reduceat(coefficients.exact.integers[:, order], firsts, axis=1)
    single = trained.astype(np.float32)
    starts = np.flatnonzero(np.append(True, single[1:] > single[:-1]))
    knots = stored(trained, FLOAT64, low_parts)[starts]
    both = Exact.of(np.concatenate([trained, knots]))
    s, t = np.split(both.integers, [len(trained)])
    below = _sums_before(beta * s)
    above = beta.sum(axis=1)[:, None] - _sums_before(beta)
    slopes = above[:, np.append(starts, len(trained))]
    known = np.searchsorted(trained, knots, side="right")
    values = below[:, known] + above[:, known] * t

    piece = np.searchsorted(knots, trained, side="right")
    base = np.maximum(piece - 1, 0)
    at_trained = below[:, 1:] + above[:, 1:] * s
    off_trained = at_trained - (values[:, base] + slopes[:, piece] * (s - t[base]))
    off_ends = np.diff(values) - slopes[:, 1:-1] * np.diff(t)
    off = np.abs(np.concatenate([off_trained, off_ends], axis=1)).max(axis=1)
    exponent = coefficients.exact.exponent
    whole = exponent + both.exponent
    return FeatureFunction(
        knots=np.append(knots[:1], knots),
        values=Exact(np.concatenate([values[:, :1], values], axis=1), whole).rounded().T,
        slopes=Exact(slopes, exponent).rounded().T,
        sizes=Exact(np.abs(at_trained).max(axis=1), whole).rounded(),
        moved=Exact(off, whole).rounded() * (1 + 2.0**-50),
    )


def n_pieces(column: Float64Array) -> int:
    """Return the pieces of a feature's functions.

    Examples
    --------
    >>> n_pieces(np.array([1.0, 0.0, 1.0, 1.0 + 2.0**-40]))
    3
    """
    return len(np.unique(column.astype(np.float32))) + 1


def _sums_before(terms: Integers) -> Integers:
    """Return the sums of the first r terms of each row, r = 0 ... n."""
    zero = np.zeros((len(terms), 1), dtype=object)
    return np.concatenate([zero, np.cumsum(terms, axis=1)], axis=1)


def norm_of_functions(rows: list[Float64Array]) -> Float64Array:
    """Return the Euclidean norms over functions of their values for each decision."""
    norm: Float64Array = np.sqrt((np.stack(rows) ** 2).sum(axis=0))
    return norm
