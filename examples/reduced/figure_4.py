"""Figure 4 of the RSS paper: many classes, vectors chosen jointly or for each class by itself.

    OPENBLAS_NUM_THREADS=1 python examples/reduced/figure_4.py

writes test error against the number of distinct vectors of one-vs-rest machines as figure_4.csv,
SVG and PNG, and prints how many times fewer vectors than the separate choice each other method has
at equal test error: the least numbers whose errors are at most the full machine's and so many
points. Separate methods take equally many vectors, or the same share of the largest penalty, for
each class. Construction moves the vectors of joint pursuit, imitation those of construction
and the thresholds, on samples that the machine was not trained on; nothing else fits a threshold.
Both have few sizes and, so that all takes less than 8 minutes of one core, few iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from one_norm import largest_penalty, one_norm_path
from predictors import CLASSES, Predictor, load, parser, plot, write_csv
from problem import problem_of, refitted

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.model.reference import labels_of
from kmcompile.passes.reduction.construction import construct
from kmcompile.passes.reduction.imitation import imitate
from kmcompile.passes.reduction.pools import separate_pools
from kmcompile.passes.reduction.pursuit import pursue

L1_SHARES = np.geomspace(0.7, 1e-2, 10)
POINTS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Test errors above the full machine's at which the methods are compared."""
SEPARATE = "separate pursuit"
MOVED = {"optdigits": (20, 320, 17, 100), "letter": (100, 1600, 25, 60)}
"""Of construction and imitation: least and most vectors, how many sizes, and iterations."""
MOST_IMITATED = 4000
"""Samples that imitation looks at."""

Weights = Iterator[np.ndarray]
"""Coefficients of all vectors, shape (n_decisions, n_sv), of growing numbers of vectors."""


def joint(predictor: Predictor, normals: Normals, rule: str) -> Weights:
    """Yield the weights of pursuit for all classes together."""
    n = predictor.machine.n_support_vectors
    selection = pursue(predictor.machine, int(0.8 * n), rule, normals=normals)
    for size in np.unique(np.geomspace(5, len(selection), 60).astype(int)):
        spread = np.zeros_like(normals.coefficients)
        spread[:, selection.order[:size]] = selection.coefficients(size)
        yield spread


def separate(predictor: Predictor, normals: Normals) -> Weights:
    """Yield the weights of pursuit for each class by itself, equally many vectors a class."""
    pools = separate_pools(predictor.machine)
    most = max(len(pool.vectors) for pool in pools)
    chosen = [pursue(predictor.machine, most, pools=[pool], normals=normals) for pool in pools]
    for size in np.unique(np.geomspace(1, most, 40).astype(int)):
        spread = np.zeros_like(normals.coefficients)
        for p, selection in enumerate(chosen):
            n = min(size, len(selection))
            spread[p, selection.order[:n]] = selection.coefficients(n)[p]
        yield spread


def one_norms(predictor: Predictor, normals: Normals) -> Weights:
    """Yield the weights of l1 for each class by itself, fitted again."""
    spreads = np.zeros((len(L1_SHARES), *normals.coefficients.shape))
    for pool in separate_pools(predictor.machine):
        problem, factors = problem_of(pool, normals)
        path = one_norm_path(problem, L1_SHARES * largest_penalty(problem))
        for spread, weights in zip(spreads, path, strict=True):
            spread[pool.decisions[0], pool.vectors] = (refitted(problem, weights) * factors)[:, 0]
    yield from spreads


def constructed(predictor: Predictor, normals: Normals) -> list[KernelMachine]:
    """Return machines of moved vectors, which begin with those of joint pursuit."""
    least, most, n_sizes, iterations = MOVED[predictor.name]
    selection = pursue(predictor.machine, most, "matching_pursuit", normals=normals)
    sizes = np.unique(np.geomspace(least, most, n_sizes).round().astype(int))
    starts = [selection.reduced(n) for n in sizes if n <= len(selection)]
    return [construct(predictor.machine, start, iterations, normals) for start in starts]


def imitated(predictor: Predictor, starts: list[KernelMachine]) -> list[KernelMachine]:
    """Return the machines that imitate the decisions on fresh samples."""
    samples = predictor.fresh[:MOST_IMITATED].astype(np.float32)
    iterations = MOVED[predictor.name][3]
    return [imitate(predictor.machine, start, samples, iterations) for start in starts]


def curve(predictor: Predictor, normals: Normals, spreads: Weights) -> np.ndarray:
    """Return distinct vectors and test errors, shape (n, 2)."""
    machine = predictor.machine
    values, _ = machine.kernel.fast_values(machine.support_vectors, predictor.X_test)
    points = []
    for spread in spreads:
        labels = labels_of(machine, values @ spread.T + machine.intercept)
        points.append((np.any(spread != 0, axis=0).sum(), (labels != predictor.y_test).mean()))
    return np.array(points, dtype=float)


def curve_of(predictor: Predictor, machines: Iterable[KernelMachine]) -> np.ndarray:
    """Return vectors and test errors of machines, shape (n, 2)."""
    points = [(made.n_support_vectors, predictor.error(made)) for made in machines]
    return np.array(points, dtype=float).reshape(-1, 2)


def least_vectors(points: np.ndarray, error: float) -> float:
    """Return the least number of vectors with at most this error; nan if there is none."""
    fitting = points[points[:, 1] <= error + 1e-12, 0]
    return float(fitting.min()) if len(fitting) else np.nan


def factors(curves: Mapping[str, np.ndarray], error: float) -> dict[str, float]:
    """Return how many times fewer vectors than `SEPARATE` each joint method has at an error."""
    found = {label: least_vectors(points, error) for label, points in curves.items()}
    others = [label for label in curves if not label.startswith("separate")]
    return {label: found[SEPARATE] / found[label] for label in others}


def curves_of(predictor: Predictor) -> dict[str, np.ndarray]:
    """Return the curves of all methods."""
    normals = Normals.of(predictor.machine)
    chosen = {
        "joint pursuit": joint(predictor, normals, "matching_pursuit"),
        "joint least squares": joint(predictor, normals, "orthogonal_least_squares"),
        SEPARATE: separate(predictor, normals),
        "separate l1": one_norms(predictor, normals),
    }
    curves = {label: curve(predictor, normals, of) for label, of in chosen.items()}
    moved = constructed(predictor, normals)
    curves["construction"] = curve_of(predictor, moved)
    curves["imitation"] = curve_of(predictor, imitated(predictor, moved))
    return curves


def main() -> None:
    """Write the curves and print the factors."""
    asked = parser(__doc__, tuple(CLASSES)).parse_args()
    panels, rows = {}, []
    for name in asked.names:
        predictor = load(name)
        full = predictor.error(predictor.machine)
        vectors = predictor.machine.n_support_vectors
        print(f"{name}: {vectors:,} vectors, test error {full:.4f}", flush=True)
        curves = panels[name] = curves_of(predictor)
        rows += [(name, label, int(n), e) for label, of in curves.items() for n, e in of.tolist()]
        for error in full + np.array(POINTS):
            least = {label: least_vectors(points, error) for label, points in curves.items()}
            text = ", ".join(f"{label} {n:.0f}" for label, n in least.items())
            fewer = ", ".join(f"{k} {f:.2f}" for k, f in factors(curves, error).items())
            print(f"  error {error:.4f}: {text}")
            print(f"    times fewer than {SEPARATE}: {fewer}", flush=True)
    write_csv(asked.out / "figure_4.csv", ("set", "method", "vectors", "test error"), rows)
    plot(asked.out / "figure_4", panels, "distinct vectors", "test error")


if __name__ == "__main__":
    main()
