"""The bounds-width cost of P^ and N^ (2001, 4.1.2), with analytic gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bound_search.points import DistanceForm, Pair, Point, inner
from kmcompile.numeric.arrays import Float64Array

_FLOOR = 1e-12
"""Of a square, where it stops to shrink: a root has no slope at 0, a line of no length no
direction."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSlope:
    """The slope of the cost in weights and vectors of P^ and N^, in the shapes that these have."""

    positive: Point
    negative: Point


@dataclass(frozen=True, slots=True, eq=False)
class _Slopes:
    """Slopes in the inner products that the bounds are made of.

    pp, pn, nn of P^ and N^ with each other, wp and wn with W, qp and qn with the samples.
    """

    pp: float
    pn: float
    nn: float
    wp: float
    wn: float
    qp: Float64Array
    qn: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class WidthCost:
    """How far the line form's intervals reach to the wrong side of 0, in the mean of some samples.

    cost(x) = |f_L| where f > 0 and f_L < 0, f_H where f < 0 and f_H > 0, otherwise 0: with
    y = sign f, max(0, r - y c) of the interval c -+ r. The paper takes the y that was trained; here
    it is the model's, whose sign the bounds prove.

    Parameters
    ----------
    form : DistanceForm
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), float64
        Signs of f.
    own, square : ndarray of shape (n_samples,), float64, and float
        K(x, x) and |W|^2.
    """

    form: DistanceForm
    X: Float64Array
    y: Float64Array
    own: Float64Array
    square: float

    @classmethod
    def of(cls, form: DistanceForm, X: Float64Array) -> WidthCost:
        """Return the cost for samples of shape (n_samples, n_features)."""
        normal = form.normal
        y = np.where(form.decisions(X) >= 0, 1.0, -1.0)
        square = inner(form.kernel, normal, normal)
        return cls(form, X, y, form.kernel.self_values(X), square)

    def __call__(self, pair: Pair) -> tuple[float, PairSlope]:
        """Return the cost of a pair and its slope."""
        kernel, W, p, n = self.form.kernel, self.form.normal, pair.positive, pair.negative
        Z = np.concatenate([p.vectors, n.vectors])
        others = np.concatenate([Z, W.vectors, self.X])
        values, _ = kernel.fast_values(others, Z)
        ends = np.cumsum([len(p), len(n), len(W)])
        of_p, of_n = np.split(values, [len(p)])
        p_p, p_n, p_W, p_X = np.split(p.weights @ of_p, ends)
        _, n_n, n_W, n_X = np.split(n.weights @ of_n, ends)
        cost, by = self._of_products(
            float(p_p @ p.weights),
            float(p_n @ n.weights),
            float(n_n @ n.weights),
            float(p_W @ W.weights),
            float(n_W @ W.weights),
            p_X,
            n_X,
        )
        in_p = np.concatenate([2 * by.pp * p.weights, by.pn * n.weights, by.wp * W.weights, by.qp])
        in_n = np.concatenate([by.pn * p.weights, 2 * by.nn * n.weights, by.wn * W.weights, by.qn])
        factors = np.vstack([np.outer(p.weights, in_p), np.outer(n.weights, in_n)])
        slope_p, slope_n = np.split(kernel.gradient(Z, others, factors), [len(p)])
        return cost, PairSlope(Point(slope_p, of_p @ in_p), Point(slope_n, of_n @ in_n))

    def _of_products(
        self,
        pp: float,
        pn: float,
        nn: float,
        wp: float,
        wn: float,
        qp: Float64Array,
        qn: Float64Array,
    ) -> tuple[float, _Slopes]:
        """Return the cost from the inner products, and its slopes in them.

        With e = N^ - P^: l = |e|^2, h = <e, Q - P^>, o = <e, W>,
        c = b + <W, P^> + h o / l, r^2 = R^2 D^2, R^2 = d_Qp^2 - h^2 / l, D^2 = |W|^2 - o^2 / l.
        """
        floor = _FLOOR * max(pp, nn)
        length2 = max(pp - 2 * pn + nn, floor)
        h, o = qn - qp - pn + pp, wn - wp
        R = np.sqrt(np.maximum(self.own - 2 * qp + pp - h * h / length2, _FLOOR * (self.own + pp)))
        D = float(np.sqrt(max(self.square - o * o / length2, _FLOOR * self.square)))
        reach = R * D - self.y * (self.form.intercept + wp + h * o / length2)
        cost = float(np.maximum(reach, 0.0).mean())

        by_c = -self.y * (reach > 0) / len(reach)
        by_R2 = (reach > 0) / len(reach) * D / (2 * R)
        by_D2 = float((reach > 0) @ R) / len(reach) / (2 * D)
        by_h = by_c * o / length2 - by_R2 * 2 * h / length2
        by_o = float(by_c @ h) / length2 - by_D2 * 2 * o / length2
        by_length2 = float(by_R2 @ (h * h) - by_c @ h * o) / length2**2 + by_D2 * (o / length2) ** 2
        return cost, _Slopes(
            pp=float(by_R2.sum() + by_h.sum()) + by_length2,
            pn=-float(by_h.sum()) - 2 * by_length2,
            nn=by_length2,
            wp=float(by_c.sum()) - by_o,
            wn=by_o,
            qp=-2 * by_R2 - by_h,
            qn=by_h,
        )
