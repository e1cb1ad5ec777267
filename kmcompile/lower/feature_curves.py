"""The functions of single features with the additive chi2 kernel, as piecewise polynomials.

With this kernel f_p(x) = b_p + sum_j g_pj(x_j), and since (x - s)^2 / (x + s) = x - 3 s +
4 s^2 / (x + s), for x >= 0

    g_pj(x) = 3 sum_i beta_pi s_ij - x sum_i beta_pi - sum_(s_ij > 0) 4 beta_pi s_ij^2 / (x + s_ij).

On a piece that begins at t and is w long, the last sum is replaced by its interpolation at n + 1
points nu_j of the piece. With y = (x - t) h, D = (t + s) h and W(y) = prod_j (y - nu_j), the
polynomial of 1 / (y + D) is (1 - W(y) / W(-D)) / (y + D), and its error W(y) / (W(-D) (y + D)).
W(-D) has one sign for all D > 0, so that the error of the sum is at most max |W| times the largest
magnitude of sum_i c_i / (|W(-D_i)| (y + D_i)), c_i = 4 beta_i s_i^2 h. Terms of either sign fall
with y: at the ends of the piece they bound it. At Chebyshev's points max |W| = 2 (w h / 4)^(n + 1).

The coefficients come from (W(y) - W(-D)) / (y + D) by synthetic division (Horner). As the nu_j and
D are positive, nothing cancels in it, nor in W and W(-D): with u = 2^-53 a coefficient has a
relative error of at most (8 (n + 1) + 20) u for each vector, and the sum over m vectors (m + 2) u
more (Higham, lemma 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import SMALLEST_NORMAL, UNIT_ROUNDOFF_64

DEGREE = 7
"""A piece has 10 words of a binary machine; with degree 3 it would be an eighth as long."""

TOLERANCE = 2.0**-36
"""Of a function's error, relative to the sum of the functions' sizes: a replay in double is to
leave a thousandth of the labels open that float32 leaves open."""

REACH = 4.0
"""The last knot, over the largest trained value of the feature. It is at least the largest one of
all features: where a feature was small in training, inputs may still be as large as others are."""

_SHRINK = 2.0**-0.25
_GROW = 4.0
_MOST_PIECES = 4096
_LEAST = 2.0**-200
"""Smaller trained values s count as 0 in the sums of s^2 / (x + s), which are at most s: this moves
f by at most 4 s, and twice more between inputs that deviate."""

_POINTS = (1 - np.cos(np.pi * (2 * np.arange(DEGREE + 1) + 1) / (2 * (DEGREE + 1)))) / 2
"""Chebyshev's points on [0, 1], rounded: this changes max |W| by less than 1e-6 of it."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCurve:
    """The functions of one feature, one for each decision, as pieces of polynomials.

    The first knot is 0. The last piece has no end and is straight.

    Parameters
    ----------
    knots, scales : ndarray of shape (n_pieces,), float64
        Both are float32; y = (x - knot) scale, a power of 2, is at most 1 on a piece with an end.
    coefficients : ndarray of shape (n_pieces, DEGREE + 1, n_decisions), float64
        From c_0 on.
    errors : ndarray of shape (n_pieces, n_decisions), float64
        How far the polynomials are from the functions; on the last piece for x up to infinity, but
        for `slope_error` times x.
    slope_error : ndarray of shape (n_decisions,), float64
        Of the last piece.
    steepest : ndarray of shape (n_decisions,), float64
        The largest slope of the function itself.
    """

    knots: Float64Array
    scales: Float64Array
    coefficients: Float64Array
    errors: Float64Array
    slope_error: Float64Array
    steepest: Float64Array


class Chi2Functions:
    """The functions of one feature: their sums over the vectors.

    Parameters
    ----------
    column : ndarray of shape (n_sv,), float64
        The feature of the support vectors, 0 or more.
    beta : ndarray of shape (n_decisions, n_sv), float64
    """

    def __init__(self, column: Float64Array, beta: Float64Array) -> None:
        kept = column > _LEAST
        self.trained = column[kept]
        self.n_terms = len(column)
        factors = 4 * beta[:, kept] * self.trained**2
        self.positive, self.negative = np.maximum(factors, 0.0), np.maximum(-factors, 0.0)
        self.factors = factors
        self.slope, self.constant = -beta.sum(axis=1), 3 * (beta @ column)
        self.sizes = np.abs(beta).sum(axis=1), 3 * (np.abs(beta) @ column)
        self.lost = 12 * _LEAST * self.sizes[0]

    def values(self, x: Float64Array) -> Float64Array:
        """Return the functions in float64, shape (n_decisions, n)."""
        curved: Float64Array = self.factors @ (1 / (x + self.trained[:, None]))
        values: Float64Array = self.constant[:, None] + self.slope[:, None] * x - curved
        return values

    def steepest(self, start: float, end: float) -> Float64Array:
        """Return the largest slopes from `start` to `end`: -sum beta + sum c / (x + s)^2."""
        high, low = (1 / (x + self.trained) ** 2 for x in (start, end))
        up = self.slope + self.positive @ high - self.negative @ low
        down = self.slope + self.positive @ low - self.negative @ high
        rounding = self.rounding() * (self.sizes[0] + (self.positive + self.negative) @ high)
        slopes: Float64Array = np.maximum(np.abs(up), np.abs(down)) + rounding
        return slopes

    def error(self, start: float, width: float) -> Float64Array:
        """Return the largest error of the interpolation on a piece."""
        poles = self.trained + start
        nodes = np.prod(poles / width + _POINTS[:, None], axis=0)
        high = 2 * 4.0 ** -(DEGREE + 1) * (1 + 1e-6) / nodes / poles
        low = high * (poles / (poles + width))
        up = self.positive @ high - self.negative @ low
        down = self.negative @ high - self.positive @ low
        rounding = self.rounding() * ((self.positive + self.negative) @ high)
        errors: Float64Array = np.maximum(up, down) + rounding
        return errors

    def polynomial(
        self, start: float, width: float, scale: float
    ) -> tuple[Float64Array, Float64Array]:
        """Return the coefficients of a piece, (DEGREE + 1, n_decisions), and their error in all."""
        nodes = _POINTS * (width * scale)
        poles = (self.trained + start) * scale
        monic = np.poly(nodes)  # the highest power first
        quotient = np.empty((DEGREE + 1, len(poles)))
        quotient[DEGREE] = 1.0
        for k in range(DEGREE, 0, -1):
            quotient[k - 1] = monic[DEGREE + 1 - k] - poles * quotient[k]
        at_poles = np.prod(-poles - nodes[:, None], axis=0)
        if not np.isfinite(at_poles).all():
            raise InputError(
                "the vectors are of too different sizes for polynomials of each feature"
            )
        each = -quotient / at_poles * scale
        coefficients = -(each @ self.factors.T)
        coefficients[0] += self.slope * start + self.constant
        coefficients[1] += self.slope / scale
        size = (np.abs(each) @ np.abs(self.factors).T).sum(axis=0)
        size += self.sizes[0] * (start + 1 / scale) + self.sizes[1]
        return coefficients, self.rounding() * size

    def tail(self, start: float) -> Float64Array:
        """Return how far sum c / (x + s) is from its value at `start`, at most, for larger x."""
        apart = 1 / (start + self.trained)
        farthest: Float64Array = np.maximum(self.positive @ apart, self.negative @ apart)
        return farthest * (1 + 1e-9)

    def rounding(self) -> float:
        """Return the relative error of a sum over the vectors in float64."""
        return (self.n_terms + 8 * (DEGREE + 1) + 40) * UNIT_ROUNDOFF_64


def feature_curve(functions: Chi2Functions, tolerance: Float64Array, end: float) -> FeatureCurve:
    """Return pieces of polynomials, each as long as the tolerance allows.

    Parameters
    ----------
    functions : Chi2Functions
    tolerance : ndarray of shape (n_decisions,), float64
    end : float
        The last knot, a float32.

    Raises
    ------
    InputError
        If there are too many pieces, or if they are too short for float32.
    """
    knots, pieces = [0.0], []
    width = end / _GROW
    while knots[-1] < end:
        start = knots[-1]
        following = _end_of_piece(functions, tolerance, start, min(_GROW * width, end - start))
        if following <= start or len(knots) > _MOST_PIECES:
            raise InputError("the functions of a feature have too many pieces")
        width = following - start
        pieces.append(_Piece.between(functions, start, following))
        knots.append(following)
    pieces.append(_Piece.beyond(functions, end))
    return FeatureCurve(
        knots=np.array(knots),
        scales=np.array([piece.scale for piece in pieces]),
        coefficients=np.array([piece.coefficients for piece in pieces]),
        errors=np.array([piece.errors for piece in pieces]) * (1 + 1e-9),
        slope_error=functions.rounding() * functions.sizes[0],
        steepest=np.max([piece.steepest for piece in pieces], axis=0) * (1 + 1e-9),
    )


def _end_of_piece(
    functions: Chi2Functions, tolerance: Float64Array, start: float, width: float
) -> float:
    """Return the end of a piece that is at most so wide, a float32: where the tolerance allows."""
    while (functions.error(start, width) > tolerance).any():
        width *= _SHRINK
    end = float(np.float32(start + width))
    return end if end <= start + width else float(np.nextafter(np.float32(end), np.float32(0)))


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """One piece of a `FeatureCurve`."""

    scale: float
    coefficients: Float64Array
    errors: Float64Array
    steepest: Float64Array

    @classmethod
    def between(cls, functions: Chi2Functions, start: float, end: float) -> _Piece:
        """Return a piece with an end: the interpolation of the functions."""
        width = end - start
        scale = _scale(width)
        coefficients, rounding = functions.polynomial(start, width, scale)
        errors = functions.error(start, width) + rounding + functions.lost
        return cls(scale, coefficients, errors, functions.steepest(start, end))

    @classmethod
    def beyond(cls, functions: Chi2Functions, end: float) -> _Piece:
        """Return the last piece, a line on which the functions' curved part is constant."""
        scale = _scale(end) if end > 0 else 1.0
        coefficients = np.zeros((DEGREE + 1, len(functions.slope)))
        coefficients[0] = functions.values(np.array([end]))[:, 0]
        coefficients[1] = functions.slope / scale
        size = functions.sizes[0] * end + functions.sizes[1]
        size += np.abs(functions.factors) @ (1 / (end + functions.trained))
        errors = functions.tail(end) + functions.rounding() * size + functions.lost
        return cls(scale, coefficients, errors, functions.steepest(end, np.inf))


def _scale(width: float) -> float:
    """Return the power of 2 that makes a width less than 1 and at least 1/2."""
    scale = 2.0 ** -int(np.frexp(width)[1])
    if not SMALLEST_NORMAL <= scale <= 1 / SMALLEST_NORMAL:
        raise InputError("the functions of a feature have pieces that are too short or too long")
    return scale
