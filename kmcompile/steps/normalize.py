"""Divide rows by their norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array, Real, RealArray, RealBound, frozen, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.scalar.functions import SQUARE_ROOT
from kmcompile.numeric.table import Below, Table
from kmcompile.steps.image import Length, PrepareStep, StepContext, sum_of
from kmcompile.steps.select import Select
from kmcompile.steps.step import UniformStep

SMALLEST_SIZE = {np.float32: 2.0**-47, np.float64: 0.75 * 2.0**-47}
"""Smallest size by which a row is divided: more than twice scikit-learn's own limit, N.

The replay's limit is smaller, so that the replay divides every row that float32 divides."""

_NEARLY_ZERO = 10 * np.finfo(np.float64).eps
"""Shorter rows are not normalised: sklearn/preprocessing/_data.py, _handle_zeros_in_scale."""

_STAYING = {np.float32: 2.0**-50, np.float64: 2.0**-49}
"""Below it a row stays: so far below N that no rounding of the size matters."""


@dataclass(frozen=True, slots=True, eq=False)
class Normalize(PrepareStep):
    """x -> x / |x|; a row whose size is below N = 10 eps of float64 stays, as in scikit-learn.

    With `columns`, only these columns of the result are computed: two points are no further apart
    in some columns than in all, so the bounds hold for them, too.

    With y the result and |y| the float32 one: the size has a relative error, the reciprocal and
    the product round once each: relative holds them (for l1 and max times the largest |y|).
    A deviation d of the input moves its size by at most (gain - 1) d and becomes gain d / size:
    gain is 2 for l2 and 1 + sqrt(n) for l1 and max. N lies between two powers of two:

    - from `smallest`, which is more than 2 N, the row is divided. If the exact size is below N and
      the exact row stays, d is so large that gain d / size covers that, too: with x^ the row here
      and x the exact one, |x^ / size - x| <= (d + |x|) / size + |x| <= gain d / size, because
      (gain - 1) d >= size - N >= N (1 + size), for max times sqrt(n) as |x| may be sqrt(n) N;
    - where size + gain d is below `staying`, at most 4 N / 5, the exact row stays as well: nothing
      is divided and the deviation is the same;
    - between them the result is only known to be some normalised row or a tiny one: the deviation
      is `unknown`, twice the largest Euclidean norm of one (1, for max sqrt(n)). It is that also
      where gain d / size is more.

    Parameters
    ----------
    norm : {"l1", "l2", "max"}
    n_in : int
    columns : ndarray of shape (n_out,), uint16 or uint32, or None
        Increasing, so that the result may be written over the input. None: all columns.
    is_whole : bool
        Whether no vector has a feature that is left out, so that the norm of all columns, 1, is
        what calibrated exits may watch.
    gain, relative, smallest, unknown : float32 or float64
    length : Length or None
    """

    norm: Literal["l1", "l2", "max"]
    n_in: int
    columns: NDArray[np.unsignedinteger[Any]] | None
    is_whole: bool
    gain: RealBound
    relative: RealBound
    smallest: Real
    unknown: Real
    length: Length | None

    name: ClassVar[str] = "normalize"

    def __post_init__(self) -> None:
        if self.columns is not None:
            object.__setattr__(self, "columns", frozen(self.columns, self.columns.dtype))

    @property
    def n_out(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of output features."""
        return self.n_in if self.columns is None else len(self.columns)

    def can_take(self, selected: Select) -> bool:
        """Return whether a selection of columns may become part of the step.

        The columns must increase, so that the result may be written over the input.
        """
        increasing = (np.diff(selected.columns.astype(np.int64)) > 0).all()
        return self.columns is None and self.length is None and bool(increasing)

    def taking(self, selected: Select, is_whole: bool) -> Normalize:
        """Return the step that computes the columns of a selection behind it."""
        columns, length = selected.columns, selected.length
        return replace(self, columns=columns, is_whole=is_whole, length=length)

    @property
    def norms(self) -> tuple[Literal["l1", "l2", "max"], ...]:
        """The norm by which the step divides."""
        return (self.norm,)

    @property
    def is_l2(self) -> bool:
        """Whether the size is the Euclidean norm."""
        return self.norm == "l2"

    @property
    def is_max(self) -> bool:
        """Whether the size is the largest magnitude."""
        return self.norm == "max"

    @property
    def staying(self) -> Real:
        """Size below which a row stays unchanged."""
        dtype = precision_of(self.smallest).dtype
        limit: Real = dtype(_STAYING[dtype])
        return limit

    def size(self, x: RealArray) -> RealArray:
        """Return the size of every row as the C computes it."""
        if self.is_l2:
            root = SQUARE_ROOT[precision_of(self.gain).dtype].of
            norm: RealArray = root(sum_of(x * x))
            return norm
        largest: RealArray = magnitude(x).max(axis=1)
        return largest if self.is_max else sum_of(magnitude(x))

    def apply(self, batch: Batch) -> Batch:
        """Return the normalised batch."""
        size = self.size(batch.x)
        one = size.dtype.type(1.0)
        known = size >= self.smallest
        reciprocal = one / np.where(known, size, one)
        taken = batch.x if self.columns is None else batch.x[:, self.columns]
        x: RealArray = np.ascontiguousarray(taken * reciprocal[:, None])
        grown = self.gain * batch.deviation * reciprocal + self.relative
        stays = size + self.gain * batch.deviation < self.staying
        small = np.where(stays, batch.deviation, self.unknown)
        deviation = np.where(known, np.where(grown < self.unknown, grown, self.unknown), small)
        return replace(batch, x=x, deviation=deviation, length=self.measured(x, batch.length))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step; a row that stays has a smaller one."""
        return float(self.unknown)

    def operations(self) -> int:
        """Return the operations of the size, the products and the norm."""
        return self.n_in + 2 * self.n_out + 40

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the table of the columns, if not all are computed."""
        if self.columns is None:
            return ()
        text = "Number of the feature that is computed: [feature]"
        below = Below(self.n_in)
        return (Table(f"normalize_{number}_columns", self.columns, text, below=below),)


@dataclass(frozen=True, slots=True, eq=False)
class Normalization(UniformStep):
    """x -> x / |x|, where nearly zero rows stay unchanged: scikit-learn's Normalizer."""

    norm: Literal["l1", "l2", "max"]
    n_out: int

    name: ClassVar[str] = "Normalization"
    formula: ClassVar[str] = (
        "y_j = x_j / size, size being sum_j |x_j| (norm l1), sqrt(sum_j x_j^2) (norm l2) or "
        "max_j |x_j| (norm max); where size < 10 * 2^-52, y = x"
    )
    image: ClassVar[type[PrepareStep]] = Normalize
    reads_length: ClassVar[bool] = False
    measures_length: ClassVar[bool] = False

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the normalised rows."""
        if self.norm == "l1":
            size = np.abs(X).sum(axis=1)
        elif self.norm == "l2":
            # Scaled first, so that tiny rows do not underflow.
            largest = np.abs(X).max(axis=1)
            safe = np.where(largest == 0, 1.0, largest)
            size = safe * np.sqrt(((X / safe[:, None]) ** 2).sum(axis=1))
        else:
            size = np.abs(X).max(axis=1)
        return X / np.where(size < _NEARLY_ZERO, 1.0, size)[:, None]

    def lower(self, context: StepContext) -> Normalize:
        """Return the step as the C computes it; `Normalize` derives the constants."""
        precision = context.precision
        n, u = self.n_out, precision.unit_roundoff
        root = SQUARE_ROOT[precision.dtype].relative_error
        bound_constant, gamma_factor = precision.bound_constant, precision.gamma_factor
        # Underflow of the squares in the smallest sum that is a divisor.
        smallest = SMALLEST_SIZE[precision.dtype]
        underflow = n * precision.smallest_normal / smallest**2
        # Relative error of the result, times the largest Euclidean norm that it can have.
        rounding = {
            "l2": gamma_factor(n) / 2 + 3 * u + root + underflow,
            "l1": gamma_factor(n) + 3 * u,
            "max": 3 * u * np.sqrt(n),
        }[self.norm]
        gain = 2.0 if self.norm == "l2" else 1 + np.sqrt(n)
        # Twice the largest Euclidean norm of a normalised row: two of them can be opposite.
        unknown = 2 * np.sqrt(n) if self.norm == "max" else 2.0
        least = 4 * n * precision.smallest_normal
        return Normalize(
            norm=self.norm,
            n_in=n,
            columns=None,
            is_whole=True,
            gain=bound_constant(gain * (1 + 2 * rounding)),
            relative=bound_constant(rounding * (1 + 2 * rounding) + least),
            smallest=precision.dtype(smallest),
            unknown=bound_constant(unknown),
            length=context.length,
        )

    def magnitudes(self, before: Float64Array, deviation: float) -> tuple[Float64Array, float]:
        """Return 1 for each feature, and a bound on the deviation during the computation.

        The deviation is multiplied by at most 1 + sqrt(n), and divided by the smallest size.
        """
        grown = np.sqrt(self.n_out) * deviation / SMALLEST_SIZE[np.float32]
        return np.ones(self.n_out), float(grown)

    def __str__(self) -> str:
        return f"normalize by {self.norm}"
