"""Preprocessing of an input before the kernel: the fitted transformers of a pipeline.

Each step is one transformer in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kmcompile.numeric.arrays import Float64Array, frozen

NOT_TRAINED = {"trained": False}
"""Metadata of a field for kmcompile's own rounding errors. The model's hash leaves it out."""

_NEARLY_ZERO = 10 * np.finfo(np.float64).eps
"""Shorter rows are not normalised: sklearn/preprocessing/_data.py, _handle_zeros_in_scale."""


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """x -> (x - offset) * factor, elementwise: the scalers.

    Parameters
    ----------
    offset, factor : ndarray of shape (n_features,), float64
        factor is nowhere 0.
    offset_error : ndarray of shape (n_features,), float64, optional
        Bound on the float64 rounding error of the offset, which kmcompile computed from the model's
        numbers. Not a part of the model. By default 2^-52 |offset|, the bound of one operation.
    factor_error : float, optional
        Bound on the relative float64 rounding error of the factor. By default 2^-53.
    """

    offset: Float64Array
    factor: Float64Array
    offset_error: Float64Array = field(default_factory=lambda: np.zeros(0), metadata=NOT_TRAINED)
    factor_error: float = field(default=2.0**-53, metadata=NOT_TRAINED)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen(self.offset))
        object.__setattr__(self, "factor", frozen(self.factor))
        given = self.offset_error if len(self.offset_error) else 2.0**-52 * np.abs(self.offset)
        object.__setattr__(self, "offset_error", frozen(given))

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the scaled rows."""
        return (X - self.offset) * self.factor

    @property
    def n_out(self) -> int:
        """The number of features that leave the step."""
        return len(self.offset)

    def __str__(self) -> str:
        return "scale"


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """x -> min(max(x, low), high): MinMaxScaler(clip=True)."""

    low: float
    high: float
    n_out: int

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the clipped rows."""
        return np.clip(X, self.low, self.high)

    def __str__(self) -> str:
        return f"clip to [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """x -> matrix x: the linear part of PCA, its whitening included.

    Parameters
    ----------
    matrix : ndarray of shape (n_out, n_features), float64
    """

    matrix: Float64Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", frozen(self.matrix))

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the projected rows."""
        return X @ self.matrix.T

    @property
    def n_out(self) -> int:
        """The number of features that leave the step."""
        return len(self.matrix)

    def __str__(self) -> str:
        return f"project to {self.n_out}"


@dataclass(frozen=True, slots=True, eq=False)
class Normalization:
    """x -> x / |x|, but a row of nearly zeros stays as it is: scikit-learn's Normalizer."""

    norm: Literal["l1", "l2", "max"]
    n_out: int

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

    def __str__(self) -> str:
        return f"normalize by {self.norm}"


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """x -> (x_c for c in columns): the columns of a ColumnTransformer in its order.

    Parameters
    ----------
    columns : tuple of int
        Indices of columns of the step's input, at least one. An index may appear several times.
    n_in : int
        Number of features of the step's input.
    """

    columns: tuple[int, ...]
    n_in: int

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the chosen columns."""
        return np.ascontiguousarray(X[:, list(self.columns)])

    @property
    def n_out(self) -> int:
        """The number of features that leave the step."""
        return len(self.columns)

    def __str__(self) -> str:
        return f"select {self.n_out} of {self.n_in}"


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """x -> (x, value): one more feature, the same for every input.

    Parameters
    ----------
    value : float
    n_out : int
    """

    value: float
    n_out: int

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows with the value appended to each."""
        return np.column_stack([X, np.full(len(X), self.value)])

    def __str__(self) -> str:
        return f"extend by {self.value:g}"


@dataclass(frozen=True, slots=True, eq=False)
class Nonnegative:
    """x -> max(x, 0), before a kernel that has no value for negative features.

    The step removes negative features that are only rounding errors; the C refuses an input with
    a larger negative feature (`kmcompile.steps.Nonnegative`). No trained model has this step: a
    pass adds it.
    """

    n_out: int

    def apply(self, X: Float64Array) -> Float64Array:
        """Return the rows without negative features."""
        return np.maximum(X, 0.0)

    def __str__(self) -> str:
        return "refuse negative features"


Step = Affine | Clip | Projection | Normalization | Selection | Extension | Nonnegative
