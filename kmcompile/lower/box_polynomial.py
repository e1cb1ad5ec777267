"""How far polynomial decisions move, and bend, over a box of inputs: forms bounded once for all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import FLOAT32
from kmcompile.program.stages.tolerance.box_distance import BoxDistance

_ROUNDED = 1 + 1e-9
"""Covers the float64 roundings of these constants."""

_FORM_ERROR = 1e-10
"""More than the relative error of sums over the vectors and of eigenvalues."""

_MOST_FEATURES = 256
"""Most features for which norms are eigenvalues; otherwise they are Euclidean."""

_LARGEST = 2.0**100

_LEAST_TYPICAL = 2.0**-60
"""Least typical distance: any distance gives bounds, and float32 holds the inverse of this one."""
_BLOCK_VALUES = 1 << 24
"""Values in one work array."""


@dataclass(frozen=True, slots=True, eq=False)
class Growths:
    """Bounds |f(x + d) - f(x)| <= sum_k widths_k D^k and |R| <= sum_k bends_k D^k over the box.

    With D >= |x - z|, R what is not of first order in d.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), float32
        z.
    typical : float
        An ordinary |x - z|, positive.
    widths : ndarray of shape (n_decisions, degree), float64
    bends : ndarray of shape (n_decisions, degree - 1), float64
    """

    centre: Float32Array
    typical: float
    widths: Float64Array
    bends: Float64Array

    def at_typical(self, bounds: Float64Array) -> Float64Array:
        """Return the sums over the powers at the typical distance."""
        powers: Float64Array = bounds @ self.typical ** np.arange(bounds.shape[1])
        return powers

    def distance(self) -> BoxDistance | None:
        """Return what D is on the board; None if no bound depends on it."""
        n = len(self.centre)
        if self.widths.shape[1] < 2:
            return None
        up = 1 + 4 * FLOAT32.gamma_factor(n + 8)
        tiny = (n + 4) * 4 * FLOAT32.smallest_normal * (1 + 1 / self.typical)
        return BoxDistance(
            self.centre,
            FLOAT32.bound_constant(up / (2 * self.typical)),
            FLOAT32.bound_constant(up * self.typical / 2 + tiny),
            self._farthest(),
            rows(self.widths),
        )

    def _farthest(self) -> np.float32:
        """Return a D up to which no power of it, times its coefficients, exceeds `_LARGEST`."""
        powers = np.arange(1, self.widths.shape[1])
        largest = self.widths[:, 1:].max(axis=0) * len(powers) + 2.0**-100
        farthest = float(np.min((_LARGEST / largest) ** (1 / powers)))
        return np.float32(min(farthest, _LARGEST))


def rows(bounds: Float64Array) -> Float32Array:
    """Return the coefficients beside the constant, the highest power first, for float32 sums."""
    up = 1 + FLOAT32.gamma_factor(4 * bounds.shape[1] + 8)
    reversed_: Float32Array = FLOAT32.bound_constants(bounds[:, :0:-1] * up)
    return reversed_


@np.errstate(over="ignore", invalid="ignore")  # nothing is bounded then
def growths(machine: KernelMachine, t: Float64Array) -> Growths:
    """Return the bounds of a machine with a polynomial kernel.

    With v_j = gamma <s_j, z> + c, x = z + y and n = degree, the binomial theorem gives

        f(z + y + d) = b + sum_(m, k) n! / (m! k! (n - m - k)!) F_mk(d, y),
        F_mk(d, y) = sum_j beta_j v_j^(n - m - k) gamma^(m + k) <s_j, d>^m <s_j, y>^k.

    f(x) is the part with m = 0, the first order in d that with m = 1. `_largest` bounds |F_mk| over
    all d of the box and |y| = 1.

    Parameters
    ----------
    machine : KernelMachine
    t : ndarray of shape (n_features,), float64
        The tolerance of prepared inputs.
    """
    kernel, vectors = machine.kernel.polynomial, machine.support_vectors
    centre = vectors.mean(axis=0).astype(np.float32)
    apart = np.sqrt(((vectors - centre) ** 2).sum(axis=1))
    v = kernel.gamma * (vectors @ centre.astype(np.float64)) + kernel.coef0
    n, coefficients = kernel.degree, decision_coefficients(machine)
    widths = np.zeros((len(coefficients), n))
    bends = np.zeros((len(coefficients), n - 1))
    for p, row in enumerate(coefficients):
        own = np.flatnonzero(row)
        forms = _Forms.of(vectors[own], t)
        for m in range(1, n + 1):
            for k in range(n - m + 1):
                rest = n - m - k
                factor = math.comb(n, m) * math.comb(n - m, k)
                weights = row[own] * v[own] ** rest * kernel.gamma ** (m + k)
                size = factor * forms.largest(weights, m, k) * _ROUNDED
                widths[p, k] += size
                if m > 1:
                    bends[p, k] += size
    typical = max(float(np.median(apart)) or 1.0, _LEAST_TYPICAL)
    return Growths(centre, typical, widths, bends)


@dataclass(frozen=True, slots=True, eq=False)
class _Forms:
    """Largest values of forms sum_j w_j <s_j, d>^m <s_j, y>^k for |d_i| <= t_i and |y| = 1.

    A form is <A, d^m y^k> for a tensor A, at most |A| |d|^m by the Cauchy-Schwarz inequality, |A|
    being its norm as a map from d^m to y^k; where m and k are 2 or more, its Euclidean norm. With
    d = r e feature by feature, a form in d is one in e of the vectors r s_j; r is 1, sqrt(t) or t,
    and |e|^2 is then at most |t|^2, the sum of t, or the number of features. The least counts.

    Parameters
    ----------
    vectors : ndarray of shape (n, n_features), float64
    t : ndarray of shape (n_features,), float64
    scaled : tuple of (ndarray of shape (n, n_features), float64, float)
        r s_j, with the largest |e|^2.
    """

    vectors: Float64Array
    t: Float64Array
    scaled: tuple[tuple[Float64Array, float], ...]

    @classmethod
    def of(cls, vectors: Float64Array, t: Float64Array) -> _Forms:
        """Return the forms of some vectors."""
        scaled = (
            (vectors, float((t**2).sum()) * _ROUNDED),
            (vectors * np.sqrt(t), float(t.sum()) * _ROUNDED),
            (vectors * t, float(np.count_nonzero(t))),
        )
        return cls(vectors, t, scaled)

    def largest(self, w: Float64Array, m: int, k: int) -> float:
        """Return a bound of the form's magnitude, m >= 1."""
        if k == 0 and m == 1:
            rounded = _FORM_ERROR * (np.abs(w) @ np.abs(self.vectors))
            return float(self.t @ (np.abs(w @ self.vectors) + rounded))
        sizes = [
            self._norm(w, P, m, k) * math.prod([math.sqrt(square)] * m)  # a power may overflow
            for P, square in self.scaled
        ]
        if k == 0 and m == 2:
            within = self.vectors * self.t
            rounded = _FORM_ERROR * ((np.abs(within).T * np.abs(w)) @ np.abs(within))
            sizes.append(float((np.abs((within.T * w) @ within) + rounded).sum()))
        return min((size for size in sizes if not math.isnan(size)), default=math.inf)

    def _norm(self, w: Float64Array, P: Float64Array, m: int, k: int) -> float:
        """Return a bound of the norm of the map from e^m to y^k, P being the vectors r s_j."""
        length, reach = (np.sqrt((V**2).sum(axis=1)) for V in (self.vectors, P))
        rounded = float((np.abs(w) * length**k * reach**m).sum()) * math.sqrt(_FORM_ERROR)
        few = P.shape[1] <= _MOST_FEATURES
        if k == 0 and m == 2 and few:
            return max(map(abs, _eigenvalues((P.T * w) @ P))) + rounded
        if k == 1 and few:
            square = _largest_eigenvalue(self.vectors, w, (P, m))
        elif m == 1 and few:
            square = _largest_eigenvalue(P, w, (self.vectors, k))
        else:
            square = _euclidean(w, (P, m), (self.vectors, k))
        return math.sqrt(max(square, 0.0) + rounded * rounded)


def _products(start: int, *factors: tuple[Float64Array, int]) -> tuple[slice, Float64Array]:
    """Return some rows from `start`, and prod_i <V_ij, V_ij'>^a_i of these j and all j'."""
    n = len(factors[0][0])
    part = slice(start, start + max(1, _BLOCK_VALUES // max(n, 1)))
    value = np.ones((len(factors[0][0][part]), n))
    for V, power in factors:
        if power:
            value *= (V[part] @ V.T) ** power
    return part, value


def _euclidean(w: Float64Array, *factors: tuple[Float64Array, int]) -> float:
    """Return the square of the tensor's Euclidean norm."""
    total, start = 0.0, 0
    while start < len(w):
        part, value = _products(start, *factors)
        total += float(w[part] @ (value @ w))
        start = part.stop
    return total if math.isfinite(total) else math.inf


def _eigenvalues(square: Float64Array) -> list[float]:
    """Return the eigenvalues of a symmetric matrix; of one that is not finite, an infinite one.

    Powers of large inner products leave float64's range: nothing is then bounded.
    """
    if not np.isfinite(square).all():
        return [math.inf]
    found: list[float] = np.linalg.eigvalsh(square).tolist()
    return found


def _largest_eigenvalue(
    L: Float64Array, w: Float64Array, factor: tuple[Float64Array, int]
) -> float:
    """Return the largest eigenvalue of sum_jj' w_j w_j' <V_j, V_j'>^a L_j L_j'^T."""
    weighted = L * w[:, None]
    square = np.zeros((L.shape[1], L.shape[1]))
    start = 0
    while start < len(w):
        part, value = _products(start, factor)
        square += weighted[part].T @ (value @ weighted)
        start = part.stop
    return _eigenvalues(square)[-1]
