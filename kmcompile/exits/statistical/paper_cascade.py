"""The cascade of the NSV paper, unchanged: linear filter, nearest vectors, exact sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.case import prepared
from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.paper import (
    WINDOW,
    band_of,
    filter_thresholds,
    first_answers,
    max_smoothed,
    simple_thresholds,
)
from kmcompile.exits.statistical.readings import Evidence
from kmcompile.exits.statistical.risk import promise_nothing
from kmcompile.exits.statistical.samples import CalibrationSamples
from kmcompile.lower.sparsity import sum_skips_zeros
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.cost import exact_operations, worst_operations
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, LinearFilter, NearestVectors, Nonzeros, Stage
from kmcompile.program.stages.ends import Ends
from kmcompile.request.asked_promise import AskedPromise

PAPER_STAGES = ("linear_filter", "nearest_vectors")
"""The early exits of the paper's scheme, in order."""

_DIMENSIONS = (10, 20, 40)
"""Dimensions of the projection that are tried; the paper's is PCA(20) (NSV, section 4.3)."""

_WINDOWS = (2, 5, 10, 20, 40)
"""Windows of MaxSmoothed that cross-validation tries; the paper's example is 10."""

_FOLDS = 5
_SEED = 20030701
_MOST_TRIED = 1000
"""Most samples on which numbers of dimensions are compared."""

_ROWS = 1024


def add_paper_cascade(
    program: Program,
    samples: CalibrationSamples,
    relevant: NDArray[np.bool_],
    asked: AskedPromise,
    tell: Callable[[str], None],
    group: NDArray[np.intp] | None = None,
) -> tuple[Program, Calibration]:
    """Return the program with the paper's early exits, fitted to all samples.

    A test follows every touched vector, and nothing limits the worst case; a note tells it. There
    is no range gate, because the paper has none. Of many classes each pair has thresholds of its
    own, from the samples of its two classes.

    Parameters
    ----------
    program : Program
        The exact program of a machine with one decision for each pair of classes.
    samples : CalibrationSamples
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    asked : AskedPromise
        The thresholds, simple or maxsmoothed, and the sizes of the scheme.
    tell : callable
        Called with a few words as each step begins.
    group : ndarray of shape (n_samples,), int, optional
        For each sample the index of the first sample of its group of copies, which stay in one
        fold of a cross-validation; by default no sample repeats another.
    """
    ends, each = program.ends, np.arange(len(samples))
    group = each if group is None else group
    x = prepared(program, samples.X)
    f = np.where(relevant, samples.decisions, np.nan)
    skip_zeros = sum_skips_zeros(program)
    tell("training the linear filter")
    first = _filter(x, f, skip_zeros)
    folds = (np.random.default_rng(_SEED).permutation(len(x)) % _FOLDS)[group]
    scheme = _Scheme(ends, x, f, skip_zeros, relevant & _decides_nothing(first, x), folds)
    if asked.dimensions is None:
        tell("choosing the dimensions of the projection")
    dimensions = scheme.dimensions() if asked.dimensions is None else asked.dimensions
    tell("collecting the paper's thresholds")
    second, window = scheme.fitted(dimensions, asked)
    exits = (*program.exits, *_squares(program, second), first, second)
    calibrated = replace(program, mode="statistical", exits=exits)
    tell("counting disagreements")
    results, _ = classify(calibrated, samples.X)
    every = Evidence(each, np.ones_like(group, dtype=np.bool_), group == each)
    return calibrated, Calibration(
        promise=promise_nothing(every.worst(results["label"] != samples.labels), 1.0),
        thresholds=asked.thresholds,
        n_shape=len(samples),
        n_choice=0,
        n_control=0,
        n_support_vectors_found=int(samples.is_vector.sum()),
        candidates=(),
        notes=(_sizes(second, window, asked), _worst(program, calibrated), _NO_PROMISE),
    )


_NO_PROMISE = "the paper's thresholds promise nothing: they are extremes of these samples"


def _sizes(stage: NearestVectors, window: int | None, asked: AskedPromise) -> str:
    how = "given" if asked.dimensions is not None else "chosen by operations"
    text = f"nearest_vectors: PCA({stage.n_out}) ({how})"
    if window is None:
        return text
    how = "given" if asked.window is not None else "chosen by cross-validation"
    return f"{text}, window {window} ({how})"


def _worst(program: Program, calibrated: Program) -> str:
    worst, alone = worst_operations(calibrated), exact_operations(program)
    return (
        f"the paper's scheme has no limit on its worst case: a query that no exit decides takes "
        f"{worst:,} operations, {worst / alone:.0%} of the exact sum's"
    )


def _squares(program: Program, second: NearestVectors) -> tuple[Stage, ...]:
    """Return a stage that sums the squares which distances need, if the program has none."""
    made = frozenset[str]().union(*(stage.makes() for stage in program.stages))
    if second.needs() <= made:
        return ()
    return (Nonzeros(program.prepare.n_out),)


def _filter(x: Float32Array, f: Float64Array, skip_zeros: bool) -> LinearFilter:
    stage = linear_filter(x, f, ~np.isnan(f), skip_zeros)
    values = stage.estimate(x)
    limits = [filter_thresholds(values[:, p], f[:, p]) for p in range(f.shape[1])]
    low, high = np.array(limits).T
    middle, half_width = band_of(low, high)
    return replace(stage, intercept=stage.intercept - middle, half_width=half_width)


def _decides_nothing(stage: LinearFilter, x: Float32Array) -> NDArray[np.bool_]:
    """Return which decisions the filter leaves open, shape (n_samples, n_decisions)."""
    left: NDArray[np.bool_] = np.abs(stage.estimate(x)) <= stage.half_width
    return left


@dataclass(frozen=True, slots=True, eq=False)
class _Scheme:
    """The nearest vectors of the paper, behind its filter.

    Parameters
    ----------
    ends : Ends
    x : ndarray of shape (n_samples, n_prepared), float32
    f : ndarray of shape (n_samples, n_decisions), float64
        The model's decisions; NaN for samples of other classes than the decision's pair.
    skip_zeros : bool
    left : ndarray of shape (n_samples, n_decisions), bool
        The decisions that are no NaN and that the filter leaves open. Thresholds come from all
        samples, as in the paper.
    folds : ndarray of shape (n_samples,), int
        The fold of each sample in a cross-validation.
    """

    ends: Ends
    x: Float32Array
    f: Float64Array
    skip_zeros: bool
    left: NDArray[np.bool_]
    folds: NDArray[np.intp]

    def dimensions(self) -> int:
        """Return the dimensions with the least mean operations of some samples, at window 10.

        The thresholds come from these samples, too: only the operations are compared.
        """
        n_features = self._exact.n_features
        sizes = [p for p in _DIMENSIONS if p <= n_features] or [n_features]
        if len(sizes) == 1:
            return sizes[0]
        rows = np.linspace(0, len(self.x) - 1, min(len(self.x), _MOST_TRIED)).astype(np.intp)
        few = replace(self, x=self.x[rows], f=self.f[rows], left=self.left[rows])
        return min(sizes, key=few._mean_operations)

    def fitted(self, dimensions: int, asked: AskedPromise) -> tuple[NearestVectors, int | None]:
        """Return the stage with its thresholds, and the window; None if there is none."""
        stage = self._stage(dimensions)
        low, high = self._extremes(stage, self.folds)
        window = None
        whole = low.min(axis=-1), high.max(axis=-1)
        if asked.thresholds == "maxsmoothed":
            window = asked.window
            if window is None:
                window = self._cross_validated(stage, low, high)
            whole = max_smoothed(*whole, window)
        offset, half_width = band_of(*whole)
        banded = replace(stage, offset=offset, half_width=half_width)
        return banded, window

    @property
    def _exact(self) -> ExactSum:
        assert isinstance(self.ends.exact, ExactSum)
        return self.ends.exact

    def _stage(self, dimensions: int) -> NearestVectors:
        """Return the stage with a test after every vector that its order may touch."""
        steps = np.arange(1, self._exact.n_vectors + 1)
        size = (min(dimensions, self._exact.n_features),)
        return nearest_vectors(self._exact, size, steps, self.skip_zeros, np.inf, paper=True)

    def _extremes(
        self, stage: NearestVectors, folds: NDArray[np.intp]
    ) -> tuple[Float64Array, Float64Array]:
        """Return the Simple thresholds of each fold: (n_steps, n_decisions, n_folds)."""
        low = np.zeros((len(stage.steps), self.f.shape[1], _FOLDS))
        high = np.zeros_like(low)
        for part in self._parts():
            values = estimates_of(stage, self.ends, self.x[part]).values
            for fold, p in np.ndindex(_FOLDS, self.f.shape[1]):
                rows = folds[part] == fold
                found = simple_thresholds(values[:, rows, p], self.f[part][rows, p])
                low[:, p, fold] = np.minimum(low[:, p, fold], found[0])
                high[:, p, fold] = np.maximum(high[:, p, fold], found[1])
        return low, high

    def _cross_validated(self, stage: NearestVectors, low: Float64Array, high: Float64Array) -> int:
        """Return the narrowest window with the fewest disagreements on samples left out.

        The thresholds of each fold come from the other folds (NSV, section 4.1).
        """
        wrong = np.zeros(len(_WINDOWS), dtype=np.int64)
        bands = [
            [
                max_smoothed(
                    np.delete(low, fold, axis=-1).min(axis=-1),
                    np.delete(high, fold, axis=-1).max(axis=-1),
                    window,
                )
                for fold in range(_FOLDS)
            ]
            for window in _WINDOWS
        ]
        for part in self._parts():
            rows = np.flatnonzero(self.left[part].any(axis=1)) + part.start
            if not len(rows):
                continue
            values = estimates_of(stage, self.ends, self.x[rows]).values
            for number, fold, p in np.ndindex(len(_WINDOWS), _FOLDS, self.f.shape[1]):
                own = (self.folds[rows] == fold) & self.left[rows, p]
                below, above = (limit[:, p] for limit in bands[number][fold])
                _, positive, leaves = first_answers(values[:, own, p], below, above)
                differs = positive != (self.f[rows[own], p] > 0)
                wrong[number] += np.count_nonzero(leaves & differs)
        return _WINDOWS[int(wrong.argmin())]

    def _mean_operations(self, dimensions: int) -> float:
        """Return the mean operations of the samples that the filter hands on.

        A sample leaves at the step that decides the last of its decisions.
        """
        stage = self._stage(dimensions)
        exact, left = self._exact, self.left.any(axis=1)
        low, high = self._extremes(stage, np.zeros(len(self.x), dtype=np.intp))
        low, high = max_smoothed(low[:, :, 0], high[:, :, 0], WINDOW)
        rest = exact.total_operations * (exact.n_vectors - int(stage.steps[-1]))
        spent = np.zeros(len(self.x))
        for part in self._parts():
            seen = estimates_of(stage, self.ends, self.x[part])
            columns = np.arange(seen.values.shape[1])
            last, leaves = np.zeros(len(columns), dtype=np.intp), np.ones(len(columns), dtype=bool)
            for p, f in enumerate(self.f[part].T):
                test, _, outside = first_answers(seen.values[:, :, p], low[:, p], high[:, p])
                last = np.where(np.isnan(f), last, np.maximum(last, test))
                leaves &= outside | np.isnan(f)
            early = seen.operations[last, columns]
            spent[part] = np.where(leaves, early, seen.operations[-1] + rest)
        return float(spent[left].mean()) if left.any() else float(dimensions)

    def _parts(self) -> list[slice]:
        """Return slices of the samples, each small enough for the estimates of all its steps."""
        n, size = len(self.x), max(1, _ROWS // self.f.shape[1])
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]
