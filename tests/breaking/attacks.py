"""Inputs that are hard for a proved bound: at edges, on vectors, and where a sign changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.program.program import Program
from kmcompile.steps import Affine, Projection

Sides = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(inputs, number of their segment) -> on which side each input is, bool."""

_MOST_STEPS = 200


def ordinary(samples: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return samples, points of their box and up to ten times beyond, corners, and mixtures."""
    low, high = samples.min(axis=0).astype(float), samples.max(axis=0).astype(float)
    part, d = -(-n // 5), samples.shape[1]
    middle, half = (low + high) / 2, (high - low) / 2 + 1e-12
    box = middle + half * rng.uniform(-1, 1, (part, d))
    beyond = middle + half * rng.uniform(-1, 1, (part, d)) * 10.0 ** rng.uniform(0, 1, (part, 1))
    grown = 10.0 ** rng.choice([0.0, 0.0, 0.5, 1.0, 3.0], (part, 1))
    corners = middle + half * rng.choice([-1.0, 1.0], (part, d)) * grown
    chosen = samples[rng.integers(len(samples), size=(2, part))].astype(float)
    mixtures = chosen[0] + rng.random((part, 1)) * (chosen[1] - chosen[0])
    parts = [samples[rng.integers(len(samples), size=part)], box, beyond, corners, mixtures]
    return np.concatenate(parts).astype(np.float32)[:n]


def beside(points: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return given points and points 1 or 2 units in the last place beside them."""
    chosen = points[rng.integers(len(points), size=n)].astype(np.float32)
    for _ in range(2):
        towards = rng.choice([-np.inf, 0.0, np.inf], chosen.shape).astype(np.float32)
        moves = rng.random(chosen.shape) < rng.choice([0.0, 0.2, 1.0], (n, 1))
        chosen = np.where(moves, np.nextafter(chosen, towards), chosen)
    return chosen


def extreme(samples: np.ndarray, limit: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return huge and tiny norms, zeros of either sign and subnormals, also in single features."""
    d = samples.shape[1]
    sizes = np.array([0.0, -0.0, 1e-45, 1e-42, 1e-38, 2e-38, 1e-30, 1e-19, 1e-8, 1.0])
    tiny = rng.choice(sizes, (n // 3, d)) * rng.choice([-1.0, 1.0], (n // 3, d))
    chosen = samples[rng.integers(len(samples), size=n // 3)].astype(float)
    scaled = chosen * 10.0 ** rng.uniform(-45, np.log10(limit), (n // 3, 1))
    single = samples[rng.integers(len(samples), size=n - 2 * (n // 3))].astype(float)
    odd = rng.choice([0.0, -0.0, 1e-45, -1e-40, limit, -limit, 1e10], single.shape)
    single = np.where(rng.random(single.shape) < 1.5 / d, odd, single)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([tiny, scaled, single]).astype(np.float32)


def raw_points(machine: KernelMachine, program: Program) -> np.ndarray:
    """Return the support vectors and the vectors of the stages' tables as inputs."""
    n = machine.support_vectors.shape[1]
    points = [machine.support_vectors]
    for stage in program.stages[1:]:
        for table in stage.tables():
            if table.values.ndim == 3 and table.values.shape[1] == n:
                points.append(table.values.transpose(0, 2, 1).reshape(-1, n).astype(np.float64))
    raw = np.concatenate(points)
    for step in reversed(machine.preprocessing):
        if isinstance(step, Affine):
            raw = raw / step.factor + step.offset
        elif isinstance(step, Projection):
            raw = raw @ np.linalg.pinv(step.matrix).T
    return raw.astype(np.float32)


def bisected(sides: Sides, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return all points of bisections until no float32 lies between two ends, the ends too.

    Parameters
    ----------
    sides : callable
        Different for the two ends of every segment.
    a, b : ndarray of shape (n_segments, n_features), float32
    """
    if not len(a):
        return a
    number = np.arange(len(a))
    side = sides(a, number)
    visited = [a, b]
    for _ in range(_MOST_STEPS):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        between = (middle != a).any(axis=1) & (middle != b).any(axis=1)
        number, side, a, b = number[between], side[between], a[between], b[between]
        middle = middle[between]
        if not len(middle):
            break
        visited.append(middle)
        same = (sides(middle, number) == side)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate(visited)


def across_zero(
    machine: KernelMachine, inputs: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return about n points of bisected segments between inputs of opposite sign."""
    inputs = inputs[rng.permutation(len(inputs))[: max(64, n // 10)]]
    f = evaluate(machine, inputs).decisions
    other = rng.permutation(len(inputs))
    p = rng.integers(f.shape[1], size=len(inputs))
    rows = np.arange(len(inputs))
    apart = np.flatnonzero((f[rows, p] > 0) != (f[other, p] > 0))[: max(1, n // 28)]
    p = p[apart]

    def positive(X: np.ndarray, number: np.ndarray) -> np.ndarray:
        decisions = evaluate(machine, X).decisions
        return np.asarray(decisions[np.arange(len(X)), p[number]] > 0)

    return bisected(positive, inputs[apart], inputs[other[apart]])


def next_to_zero(
    machine: KernelMachine, inputs: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return about n points whose f is far nearer to 0 than neighbours are apart.

    One feature is next to 0, where float32 is fine: a segment is bisected with it held, and from
    there the feature alone moves.
    """
    f = evaluate(machine, inputs).decisions[:, 0]
    positive, negative = inputs[f > 0], inputs[f <= 0]
    if not (len(positive) and len(negative)):
        return inputs[:0]
    n_segments = max(1, n // 40)
    a = positive[rng.integers(len(positive), size=n_segments)].copy()
    b = negative[rng.integers(len(negative), size=n_segments)].copy()
    feature = rng.integers(inputs.shape[1], size=n_segments)
    rows = np.arange(n_segments)
    a[rows, feature] = b[rows, feature] = 1e-7 * rng.standard_normal(n_segments)

    def sides(X: np.ndarray, _: np.ndarray) -> np.ndarray:
        return np.asarray(evaluate(machine, X).decisions[:, 0] > 0)

    held = sides(a, rows) != sides(b, rows)
    a, b, feature = a[held], b[held], feature[held]
    for _ in range(60):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = (sides(middle, feature) == sides(a, feature))[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    rows = np.arange(len(a))
    left, right = a.copy(), a.copy()
    for size in 10.0 ** np.arange(-7.0, -3.0):
        left[rows, feature] -= np.float32(size)
        right[rows, feature] += np.float32(size)
    crossed = sides(left, rows) != sides(right, rows)
    return bisected(sides, left[crossed], right[crossed])


def across_certificate(
    certified: Callable[[np.ndarray], np.ndarray],
    inputs: np.ndarray,
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return about n points of segments between inputs that are certified and that are not.

    Parameters
    ----------
    certified : callable
        Inputs -> whether the program certifies them, within some limit.
    """
    sure = certified(inputs)
    yes, no = inputs[sure], inputs[~sure]
    if not (len(yes) and len(no)):
        return inputs[:0]
    n_segments = max(1, n // 28)
    a = yes[rng.integers(len(yes), size=n_segments)]
    b = no[rng.integers(len(no), size=n_segments)]
    return bisected(lambda X, _: certified(X), a, b)
