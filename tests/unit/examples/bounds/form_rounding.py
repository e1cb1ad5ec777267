"""Points for the bounds, and how far rounding moves an interval."""

from __future__ import annotations

import numpy as np
from bound_search.points import DistanceForm, Pair, Point, squared_distance

from kit.span_cases import DATA, KERNELS, Case, case, random_machine
from kmcompile.exits.certified.vectors.span import Span
from kmcompile.kernels import Kernel
from kmcompile.model.kernel_machine import KernelMachine

Bounds = tuple[np.ndarray, np.ndarray]


def random_pair(form: DistanceForm, n: int, seed: int) -> Pair:
    """Return P^ and N^ of random weights and perturbed support vectors."""
    rng = np.random.default_rng(seed)
    points = []
    for side in (form.positive, form.negative):
        vectors = side.vectors[rng.integers(len(side), size=n)]
        moved = vectors + 0.3 * rng.normal(size=vectors.shape)
        points.append(Point(moved, rng.uniform(0.0, 1.0, n) / n))
    return Pair(*points)


def rounding(form: DistanceForm, pair: Pair, X: np.ndarray) -> float:
    """Return a bound on the rounding of an interval's r^2 = R^2 D^2 and of c |W|.

    The inner products of the points are sums of sums of n products with relative error gamma_(2 n)
    (Higham, eq. 3.5) of their magnitudes, at most S; so is |W|^2 of T. With l = d_pn^2 and
    e = N^ - P^, R^2 = d_Qp^2 - <e, Q - P^>^2 / l and D^2 = |W|^2 - <e, W>^2 / l: errors eps S of
    numerator and l change the quotient by less than 4 eps S (1 + S / l), and 4 eps T (1 + S / l).
    """
    kernel = form.kernel
    p, n = pair.positive, pair.negative
    S = float(kernel.self_values(X).max())
    S += sum(magnitude(kernel, point) for point in (p, n, form.positive, form.negative))
    apart = squared_distance(kernel, p, n)
    # Points that coincide are told by 1e-13 of their size, not by what is left of d_pn.
    magnified = 1 + S / apart if apart > 1e-13 * S else 1.0
    return 8 * epsilon(form, pair) * magnified * S * magnitude(kernel, form.normal)


def epsilon(form: DistanceForm, pair: Pair) -> float:
    """Return the relative error of an inner product, kernels of degree 3 included."""
    n_terms = len(form.normal) + len(pair.positive) + len(pair.negative)
    return (2 * n_terms + 4 * form.positive.vectors.shape[1] + 20) * 2.0**-53


def magnitude(kernel: Kernel, point: Point) -> float:
    """Return sum |weights_i weights_j K_ij|."""
    values = np.abs(kernel.values(point.vectors, point.vectors))
    return float(np.abs(point.weights) @ values @ np.abs(point.weights))


def magnified_by(span: Span) -> float:
    """Return by how much L^-1 magnifies rounding: max K(z, z) trace G^-1."""
    largest = float(span.normals.kernel.self_values(span.vectors).max())
    return largest * float((span.triangle**2).sum())


def assert_inside(narrow: Bounds, wide: Bounds, eta: float) -> None:
    """Assert that one interval holds another, up to r^2 off by eta."""
    slack = slack_of(wide, eta)
    assert (narrow[0] >= wide[0] - slack).all() and (narrow[1] <= wide[1] + slack).all()


def slack_of(bounds: Bounds, eta: float) -> np.ndarray:
    """Return how far an end is off where r^2 is by eta: sqrt(r^2 + eta) - r, and c by sqrt(eta)."""
    radius = (bounds[1] - bounds[0]) / 2
    return 2 * eta / np.maximum(radius, np.sqrt(eta))


def cases() -> list[tuple[str, KernelMachine, np.ndarray]]:
    """Return small machines of every kernel, and those of two classes on real data."""
    rng = np.random.default_rng(7)
    small = [(str(k), random_machine(k), 2 * rng.normal(size=(200, 3))) for k in KERNELS]
    real = [(n, case(n).machine, case(n).X) for n in DATA if n != "digits_0_1_2"]
    return small + real


CASES = cases()
ids = [name for name, _, _ in CASES]


def decisions(machine: KernelMachine, X: np.ndarray) -> np.ndarray:
    """Return f as the model sums it, shape (n_queries,)."""
    return Case(machine, X, X).f[:, 0]
