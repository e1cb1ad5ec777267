"""Fit class scores: one score a class, whose differences tell what the machine's pairs say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from kmcompile.exits.statistical.free_vectors_fit import (
    Axes,
    Loss,
    Size,
    blocks,
    minimised,
    started,
)
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import ClassScores, InnerProducts

_STEEPNESS = np.float32(4.0)
"""Decisions are margins: at a decision of 1 / 4 the odds of its side are e to 1."""

_CLEAR = 2.0
"""Larger decisions teach no larger differences of scores."""

_RIDGE_LINEAR = 1e-5
_ITERATIONS = 150


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Points with what the scores are to say there.

    Parameters
    ----------
    x : ndarray of shape (n_points, n_features), float64
        Prepared points.
    labels : ndarray of shape (n_points,), int32
        The machine's labels.
    margins : ndarray of shape (n_points, n_classes), float64
        The machine's decision between the label's class and each other: positive for the label's.
    counts : ndarray of shape (n_points, n_classes), bool
        Whether this decision is known; of the label's class itself it is not.
    """

    x: Float64Array
    labels: NDArray[np.int32]
    margins: Float64Array
    counts: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        x: Float64Array,
        labels: NDArray[np.int32],
        decisions: Float64Array,
        known: NDArray[np.bool_],
        n_classes: int,
    ) -> Lessons:
        """Return the lessons of decisions of pairs, (n_points, n_pairs), and which are known."""
        first, second = np.triu_indices(n_classes, 1)
        margins = np.zeros((len(x), n_classes))
        counts = np.zeros((len(x), n_classes), dtype=bool)
        for pair, (one, other) in enumerate(zip(first, second, strict=True)):
            for own, rival, sign in ((one, other, 1.0), (other, one, -1.0)):
                rows = labels == own
                margins[rows, rival] = sign * decisions[rows, pair]
                counts[rows, rival] = known[rows, pair]
        return cls(x, labels, margins, counts)

    @property
    def n_classes(self) -> int:
        """Classes."""
        return int(self.margins.shape[1])

    def loss(self) -> Loss:
        """Return the mean logistic loss of the label's lead over each other class.

        A lead is to have the odds of the machine's decision f, 1 / (1 + exp(-4 f)). Odds of 0 or 1
        would teach only the label, and a few hundred samples do not tell where it changes.
        """
        taught = np.clip(self.margins, -_CLEAR, _CLEAR).astype(np.float32)
        odds = expit(_STEEPNESS * taught)
        labels, rows = self.labels, np.arange(len(self.x))
        factor = np.float32(1.0 / max(1, int(self.counts.sum())))
        counts = self.counts.astype(np.float32) * factor

        def loss(scores: Float32Array) -> tuple[float, Float32Array]:
            steep = _STEEPNESS * (scores[rows, labels][:, None] - scores)
            lost = np.logaddexp(np.float32(0.0), steep) - odds * steep
            slope = (odds - expit(steep)) * (_STEEPNESS * counts)
            slope[rows, labels] = -slope.sum(axis=1)  # its own does not count
            return float((lost * counts).astype(np.float64).sum()), slope

        return loss

    def start(self) -> Float64Array:
        """Return scores to begin with: 0 for the label's class, minus its margin for others."""
        start = np.where(self.counts, -np.clip(self.margins, -1.0, 1.0), -1.0)
        start[np.arange(len(start)), self.labels] = 0.0
        return start


def pair_signs(n_classes: int) -> Float64Array:
    """Return 1 where a class is the first of a pair and -1 where it is the second.

    Examples
    --------
    >>> pair_signs(3).tolist()
    [[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, -1.0]]
    """
    first, second = np.triu_indices(n_classes, 1)
    classes = np.eye(n_classes)
    return classes[:, first] - classes[:, second]


def class_of(relevant: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the class of which all pairs are relevant; some class where none is.

    Parameters
    ----------
    relevant : ndarray of shape (n_points, n_pairs), bool

    Examples
    --------
    >>> class_of(np.array([[True, True, False], [False, True, True]])).tolist()
    [0, 2]
    """
    n_classes = round((1 + np.sqrt(1 + 8 * relevant.shape[1])) / 2)
    own: NDArray[np.intp] = (relevant @ np.abs(pair_signs(n_classes)).T).argmax(axis=1)
    return own


def fit_class_scores(lessons: Lessons, size: Size, lanes: int, skip_zeros: bool) -> ClassScores:
    """Return scores by free vectors, with a half-width that decides nothing yet.

    L-BFGS minimises the loss of the lessons. It begins with the principal axes, with vectors taken
    from the points and with weights by ridge regression.

    Parameters
    ----------
    lessons : Lessons
    size : Size
    lanes : int
        Lanes of a block of vectors in the C's tables.
    skip_zeros : bool
        Whether the C reads a list of the nonzero features.
    """
    axes = Axes.of(lessons.x, size.n_columns)
    start = started(axes.y, lessons.start(), size)
    fit = minimised(axes.y.astype(np.float32), start, lessons.loss(), size.iterations)
    products, triangle = axes.products(fit, skip_zeros)
    vectors, weights = blocks(fit, fit.weights, lanes)
    return _undecided(products, vectors, weights, fit.slopes.T, fit.intercept, triangle)


def fit_linear_scores(lessons: Lessons, skip_zeros: bool) -> ClassScores:
    """Return scores that are inner products, fitted by the same loss."""
    axes = Axes.of(lessons.x, None)
    found = _linear(axes.y, lessons)
    rows = (axes.axes @ found[:-1]).T / axes.unit
    products = InnerProducts.of_rows(rows, skip_zeros)
    n = lessons.n_classes
    none = np.zeros((0, n + 2, 1)), np.zeros((0, n, 1)), np.zeros((n, 0))
    return _undecided(products, *none, found[-1], np.zeros((0, 0)))


def _linear(y: Float64Array, lessons: Lessons) -> Float64Array:
    """Return the weights of linear scores and, in the last row, their constants."""
    features = np.column_stack([y, np.ones(len(y))]).astype(np.float32)
    shape = (features.shape[1], lessons.n_classes)
    ridge = np.full(shape, _RIDGE_LINEAR)
    ridge[-1] = 0
    loss = lessons.loss()

    def whole(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = theta.reshape(shape)
        value, slope = loss(features @ weights.astype(np.float32))
        gradient = (features.T @ slope).astype(np.float64) + 2 * ridge * weights
        return value + float((ridge * weights**2).sum()), gradient.ravel()

    options = {"maxiter": _ITERATIONS, "maxcor": 20}
    begin = np.zeros(ridge.size)
    found = minimize(whole, begin, jac=True, method="L-BFGS-B", options=options)
    weights: Float64Array = found.x.reshape(shape)
    return weights


def _undecided(
    products: InnerProducts,
    vectors: Float64Array | Float32Array,
    weights: Float64Array | Float32Array,
    slopes: Float64Array,
    intercept: Float64Array,
    triangle: Float64Array,
) -> ClassScores:
    return ClassScores(
        number=1,
        products=products,
        vectors=vectors.astype(np.float32),
        weights=weights.astype(np.float32),
        slopes=slopes.astype(np.float32),
        intercept=intercept.astype(np.float32),
        triangle=triangle.astype(np.float32),
        least=np.float32(-np.inf),
        largest=np.float32(np.inf),
        half_width=np.full(len(intercept), np.inf, np.float32),
    )
