"""Refine vectors together for narrow intervals after each vector (DeCoste 2001, 4.1.2 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kmcompile.exits.certified.vectors.free import box
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.factors import cholesky, solve_triangular

_ITERATIONS = 150
EVALUATIONS = 175
"""Evaluations of the cost in one refinement, with line searches."""

_NUGGET = 1e-6
"""Relative increase of the Gram matrix's diagonal: coinciding vectors have a Cholesky factor, and
bring nothing."""
_MARGIN = 1.7
_FLOOR = 1e-12
"""Of a square, where what is left of it stops: its root has no slope at 0."""


@dataclass(frozen=True, slots=True, eq=False)
class NestedCost:
    """What the full span's intervals cost after 1, 2, ..., k vectors.

    After t vectors f_p(x) lies in centre -+ radius, centre = b_p + sum_{i<=t} q_i w_ip,
    radius = sqrt(K(x, x) - sum q_i^2) sqrt(|W_p|^2 - sum w_ip^2). Let v |f| be how far an
    interval 1.7 times as wide reaches to the wrong side, the paper's cost (4.1.2):
    max(0, 1.7 radius - y centre), y = sign f. The cost is the mean over samples and decisions of
    sum_t v / (1 + v), the last one n_sv-fold: a smooth stand-in for the number of kernels until
    the sign is proved, 0 from the step on that decides and less than 1 a step before; after the
    last step come all support vectors. Wider intervals, since fewer other queries are decided
    than these samples [measured: 1.7 is better than 1 on moons, banana, wdbc and digits].

    Parameters
    ----------
    normals : Normals
    X : ndarray of shape (n_samples, n_features), float64
        Prepared.
    f : ndarray of shape (n_samples, n_decisions), float64
        Decision values, none of them 0.
    intercept : ndarray of shape (n_decisions,), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool, optional
        The decisions that count for each sample; all of them by default.
    groups : list of (ndarray of shape (m,), ndarray of shape (k,)), intp
        Samples that the same decisions count for, with these; made from `relevant`.
    """

    normals: Normals
    X: Float64Array
    f: Float64Array
    intercept: Float64Array
    relevant: NDArray[np.bool_] | None = None
    groups: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = field(init=False)

    def __post_init__(self) -> None:
        """Group the samples once: the cost is asked hundreds of times."""
        object.__setattr__(self, "groups", self._grouped())

    def __call__(self, Z: Float64Array) -> tuple[float, Float64Array]:
        """Return the cost and its gradient at vectors of shape (k, n_features)."""
        normals, kernel, n = self.normals, self.normals.kernel, len(self.X)
        own = kernel.self_values(Z)
        gram = kernel.values(Z, Z) + _NUGGET * np.diag(own)
        lower = cholesky(gram)
        columns = np.hstack([kernel.fast_values(Z, self.X)[0].T, normals.product(Z)])
        rows = solve_triangular(lower, columns)
        cost, slope = self._of_coordinates(rows[:, :n], rows[:, n:])
        back = solve_triangular(lower, slope, trans="T")
        of_gram = _gram_slope(lower, -np.tril(back @ rows.T))
        of_gram += _NUGGET * np.diag(np.diag(of_gram))
        total = kernel.gradient(Z, self.X, back[:, :n])
        total += kernel.gradient(Z, normals.vectors, normals.sums.back(back[:, n:]))
        total += kernel.gradient(Z, Z, 2 * of_gram)
        return cost, total

    def _of_coordinates(self, q: Float64Array, w: Float64Array) -> tuple[float, Float64Array]:
        """Return the cost and its slope in [q, w], q of shape (k, n_samples)."""
        slope_q, slope_w = np.zeros_like(q), np.zeros_like(w)
        cost = 0.0
        for samples, decisions in self.groups:
            part, of_q, of_w = self._of_group(q, w, samples, decisions)
            cost += part
            slope_q[:, samples] += of_q
            slope_w[:, decisions] += of_w
        return cost, np.hstack([slope_q, slope_w])

    def _grouped(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the samples in groups of those that the same decisions count for, with these."""
        if self.relevant is None:
            return [(np.arange(len(self.f)), np.arange(self.f.shape[1]))]
        kinds, group = np.unique(self.relevant, axis=0, return_inverse=True)
        return [
            (np.flatnonzero(group.reshape(-1) == number), np.flatnonzero(kind))
            for number, kind in enumerate(kinds)
        ]

    def _of_group(
        self,
        q: Float64Array,
        w: Float64Array,
        samples: NDArray[np.intp],
        decisions: NDArray[np.intp],
    ) -> tuple[float, Float64Array, Float64Array]:
        """Return the cost of some samples and decisions, and its slopes in their q and w.

        Below, arrays of three dimensions are of steps, samples and decisions.
        """
        q, w = q[:, samples], w[:, decisions]
        square = self.normals.kernel.self_values(self.X[samples])
        total = self.normals.squares[decisions]
        outside = np.sqrt(np.maximum(square - np.cumsum(q * q, axis=0), _FLOOR * square))
        rest = np.sqrt(np.maximum(total - np.cumsum(w * w, axis=0), _FLOOR * total))
        f = self.f[np.ix_(samples, decisions)]
        f, y = np.abs(f), np.sign(f)
        centre = np.cumsum(q[:, :, None] * w[:, None], axis=0) + self.intercept[decisions]
        v = np.maximum(_MARGIN * outside[:, :, None] * rest[:, None] - y * centre, 0.0) / f
        share = np.full((len(q), 1, 1), 1.0 / self._n_counted())
        share[-1] *= len(self.normals.vectors)
        by_reach = share * (v > 0) / (1 + v) ** 2 / f
        by_radius = _MARGIN * by_reach
        by_left = _to_the_end((by_radius * rest[:, None]).sum(axis=2) / outside)
        by_rest = _to_the_end((by_radius * outside[:, :, None]).sum(axis=1) / rest)
        by_centre = _to_the_end(by_reach * y)
        of_q = -q * by_left - (by_centre @ w[:, :, None])[:, :, 0]
        of_w = -w * by_rest - (q[:, None] @ by_centre)[:, 0]
        return float((share * v / (1 + v)).sum()), of_q, of_w

    def _n_counted(self) -> int:
        return int(self.f.size if self.relevant is None else self.relevant.sum())


def _to_the_end(steps: Float64Array) -> Float64Array:
    """Return sums over this step and all later ones."""
    return np.cumsum(steps[::-1], axis=0)[::-1]


def _gram_slope(lower: Float64Array, slope: Float64Array) -> Float64Array:
    """Return the symmetric slope in G = L L' from the slope in L (Murray 2016, eq. 10)."""
    inner = np.tril(lower.T @ slope)
    inner[np.diag_indices_from(inner)] /= 2
    half = solve_triangular(lower, inner, trans="T")
    whole = solve_triangular(lower, half.T, trans="T").T
    result: Float64Array = (whole + whole.T) / 2
    return result


def refine(cost: NestedCost, start: Float64Array) -> Float64Array:
    """Return the vectors, shape (k, n_features), that L-BFGS finds from the start."""

    def loss(flat: Float64Array) -> tuple[float, Float64Array]:
        value, slope = cost(flat.reshape(start.shape))
        return value, slope.ravel()

    limits = box(cost.normals) * len(start)
    options = {"maxiter": _ITERATIONS, "maxcor": 20}
    found = minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=limits, options=options
    )
    vectors: Float64Array = found.x.reshape(start.shape)
    return vectors
