"""Fit `nearest_vectors`: the projection, the order of the vectors, and the tests' estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.statistical_fit import (
    Calibrated,
    FitSamples,
    Job,
    StatisticalFit,
)
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.kernels.float32 import value_within
from kmcompile.numeric.arrays import Float32Array, Float64Array, lane_blocks, magnitude
from kmcompile.numeric.factors import leading_axes
from kmcompile.program.stages import ExactSum, InnerProducts, NearestVectors
from kmcompile.program.stages.ends import Ends

_LEVELS = ((12,), (16,), (24,), (32,), (10, 20, 40))
"""Dimensions, level by level, of the projections that are tried."""

_STEPS = (8, 32, 96, 256, 768, 2048)
_TOUCHED_SHARE = 0.75
"""Most vectors that are touched, as a share of all vectors."""

_BLOCK_VALUES = 1 << 22


def principal_directions(exact: ExactSum, n: int) -> Float64Array:
    """Return the first n right singular vectors of the support vectors, shape (n, n_features).

    The vectors are not centred, as in NSV, eq. 10, because the projection approximates inner
    products.
    """
    vectors = exact.columns().T.astype(np.float64)[(exact.slot_decisions() != 0).any(axis=1)]
    return leading_axes(vectors.T @ vectors, n).T


def nearest_vectors(
    exact: ExactSum,
    dimensions: tuple[int, ...],
    steps: NDArray[np.int64],
    skip_zeros: bool,
    far: float,
    paper: bool = False,
) -> NearestVectors:
    """Return the stage with open range limits and with bands that decide nothing yet.

    Parameters
    ----------
    exact : ExactSum
    dimensions : tuple of int
        Dimensions of the projection at each level, increasing.
    steps : ndarray of shape (n_steps,), int
        Number of touched vectors at each test after the tests of the levels. Steps beyond the
        number of vectors that lie outside the projection are left out.
    far : float
        An approximate kernel counts as 0 if its accumulated sum reaches this value.
    paper : bool
        True: the paper's scheme, partial sums in the order of a tug of war; with several decisions,
        whose signs of beta differ, in the order of max_p |beta_pi| |K~_i|. False: the control
        variate, whose vectors are touched in the order of max_p |beta_pi| r_i |K~_i|.
    """
    steps = steps[steps <= np.iinfo(np.uint16).max]
    directions = principal_directions(exact, dimensions[-1])
    vectors = exact.columns().T.astype(np.float64)
    projected = vectors @ directions.T
    outside = (vectors**2).sum(axis=1) - np.cumsum(projected**2, axis=1)[:, _last_of(dimensions)].T
    outside = np.maximum(outside, 0.0)
    size = np.abs(exact.slot_decisions()).max(axis=1)
    weights = (size if paper else size * np.sqrt(outside[-1])).astype(np.float32)
    steps = steps[steps <= np.count_nonzero(weights)]
    n_tests = len(steps) + (0 if paper else len(dimensions))
    bounds = (0, *dimensions)
    return NearestVectors(
        levels=tuple(
            InnerProducts.of_rows(directions[low:high], skip_zeros)
            for low, high in zip(bounds, dimensions, strict=False)
        ),
        vectors=lane_blocks(projected, exact.lanes),
        residuals=outside[: len(dimensions) * exact.kernel.uses_distance].astype(np.float32),
        weights=weights,
        far=np.float32(far),
        from_estimate=not paper,
        tug_of_war=paper and exact.n_decisions == 1,
        steps=np.concatenate([np.zeros(n_tests - len(steps)), steps]).astype(np.uint16),
        own=np.ones((n_tests, exact.n_decisions), np.float32),
        earlier=np.zeros((n_tests, exact.n_decisions), np.float32),
        offset=np.zeros((n_tests, exact.n_decisions), np.float32),
        half_width=np.full((n_tests, exact.n_decisions), np.inf, np.float32),
        least=np.full(len(dimensions), -np.inf, np.float32),
        largest=np.full(len(dimensions), np.inf, np.float32),
    )


def _last_of(dimensions: tuple[int, ...]) -> list[int]:
    """Return the index of the last dimension of each level."""
    return [p - 1 for p in dimensions]


def totals(kernel_uses_distance: bool, x: Float64Array, vectors: Float64Array) -> Float64Array:
    """Return <x, s> or |x - s|^2, shape (n_samples, n_vectors), by a matrix product."""
    inner: Float64Array = x @ vectors.T
    if not kernel_uses_distance:
        return inner
    distances: Float64Array = (x**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1)
    inner *= 2  # in place, here and below: with thousands of samples it saves memory
    distances -= inner
    return np.maximum(distances, 0.0, out=distances)


def _of_block(stage: NearestVectors, exact: ExactSum, x32: Float32Array) -> Float32Array:
    x = x32.astype(np.float64)
    beta = exact.slot_decisions().astype(np.float64)
    projected = stage.vectors.transpose(0, 2, 1).reshape(stage.n_slots, -1).astype(np.float64)
    rest = (x**2).sum(axis=1)
    total = np.zeros((len(x), stage.n_slots))
    first = 0
    seen = []
    approximate = np.zeros((len(x), stage.n_slots), dtype=np.float32)
    for number, level in enumerate(stage.levels):
        z = x @ level.matrix(x.shape[1]).T
        new = slice(first, first + level.n_rows)
        total += totals(exact.kernel.uses_distance, z, projected[:, new])
        rest = rest - (z**2).sum(axis=1)
        full = total
        if stage.uses_distance:
            full = total + stage.residuals[number] + np.maximum(rest, 0.0)[:, None]
        approximate = value_within(exact.kernel, full.astype(np.float32), stage.far)
        first += level.n_rows
        if stage.from_estimate:
            seen.append(approximate @ beta + exact.intercept)
    n_left = len(stage.steps) - len(seen)
    if n_left:
        start = seen[-1] if seen else np.broadcast_to(exact.intercept, (len(x), beta.shape[1]))
        seen += _touched(stage, exact, x, approximate, beta, np.array(start), n_left)
    return np.stack(seen).astype(np.float32)


def _touched(
    stage: NearestVectors,
    exact: ExactSum,
    x: Float64Array,
    approximate: Float32Array,
    beta: Float64Array,
    running: Float64Array,
    n_tests: int,
) -> list[Float64Array]:
    vectors = exact.columns().T.astype(np.float64)
    full = totals(exact.kernel.uses_distance, x, vectors)
    value = exact.kernel.value(full.astype(np.float32)).astype(np.float64)
    if stage.from_estimate:
        value -= approximate
    order = stage.order(stage.weights * magnitude(approximate), exact)
    ordered = np.take_along_axis(value, order, axis=1)
    seen = []
    done = 0
    for step in stage.steps[-n_tests:].astype(int):
        for k in range(done, step):
            running += beta[order[:, k]] * ordered[:, k, None]
        done = step
        seen.append(running.copy())
    return seen


def _blocks(n: int, width: int) -> Iterator[slice]:
    rows = max(1, _BLOCK_VALUES // width)
    for start in range(0, n, rows):
        yield slice(start, start + rows)


class NearestVectorsFit(StatisticalFit[NearestVectors]):
    """The kind `nearest_vectors`: the control variate in projections of several sizes."""

    kind = NearestVectors

    def why_not(self, ends: Ends) -> str:
        """Return why a program with this sum cannot have nearest vectors; "" if it can.

        The stages compute single kernels of the exact sum in float32, and estimate the others from
        the projection.
        """
        exact = ends.exact
        if not isinstance(exact, ExactSum) or ends.in_integers:
            return "it computes single kernels of a sum in float32: --format float32 has one"
        if not exact.kernel.projects:
            return "it guesses kernels from projections, which say nothing of this kernel"
        return ""

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield a job for each projection to at most half of the features' number."""
        exact = samples.ends.exact
        assert isinstance(exact, ExactSum)
        half = max(1, exact.n_features // 2)
        sizes = [levels for levels in _LEVELS if levels[-1] <= half]
        if required and not sizes:
            sizes = [(half,)]
        for levels in sizes:
            given = (exact, levels, _steps(exact), samples.skip_zeros, np.inf)
            text = " -> ".join(map(str, levels))
            yield nearest_vectors, given, f"nearest_vectors(PCA {text})"

    def estimates(self, stage: NearestVectors, ends: Ends, x: Float32Array) -> Estimates:
        """Return the decisions after each level, then after each number of touched vectors.

        The kernels' arguments come from matrix products, so an estimate differs from the C's by
        rounding.
        """
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        parts = [_of_block(stage, exact, x[rows]) for rows in _blocks(len(x), stage.n_slots)]
        values = np.concatenate(parts, axis=1)
        kernels = stage.steps.astype(np.int64)
        return Estimates(values, stage.operations_at_tests(x, ends), kernels)

    def reach(self, stage: NearestVectors, test: int) -> float:
        """Return 2, or 1.5 if vectors are touched; found on the MNIST pairs."""
        return 2.0 if stage.steps[test] == 0 else 1.5

    def finished(self, stage: NearestVectors, calibrated: Calibrated) -> NearestVectors:
        """Return the stage with the bands of every test."""
        bands = calibrated.bands
        return replace(
            stage,
            own=np.stack([band.own for band in bands]),
            earlier=np.stack([band.earlier for band in bands]),
            offset=np.stack([-band.constant for band in bands]),
            half_width=calibrated.half_width,
        )

    def with_limits(
        self, stage: NearestVectors, x: Float32Array, square: Float32Array
    ) -> NearestVectors:
        """Return the stage with limits: the range of the samples' components outside each level."""
        rests = []
        rest = square
        for level in stage.levels:
            for column in level.of(x).T:
                rest = rest - column * column
            rests.append(rest)
        return replace(
            stage,
            least=np.array([rest.min() for rest in rests]),
            largest=np.array([rest.max() for rest in rests]),
        )

    def ram_bytes(self, stage: NearestVectors) -> int:
        """Return the workspace of the stage: four numbers a slot."""
        return 16 * stage.n_slots


def _steps(exact: ExactSum) -> NDArray[np.int64]:
    steps = np.array(_STEPS)
    return steps[steps <= _TOUCHED_SHARE * exact.n_vectors]
