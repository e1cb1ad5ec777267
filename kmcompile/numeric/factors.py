"""Factors of matrices; numbers that have left float64's range are a LinAlgError."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg

from kmcompile.numeric.arrays import Float64Array


def cholesky(gram: Float64Array) -> Float64Array:
    """Return the lower L of L L' = gram, shape (n, n), float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite, or not finite.
    """
    lower: Float64Array = linalg.cholesky(_finite(gram), lower=True, check_finite=False)
    return lower


def solve_triangular(
    lower: Float64Array, columns: Float64Array, trans: Literal["N", "T"] = "N"
) -> Float64Array:
    """Return the x of L x = columns, or of L' x = columns with trans="T", shape (n, m), float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        If L is singular, or a number is not finite.
    """
    solved: Float64Array = linalg.solve_triangular(
        _finite(lower), _finite(columns), trans=trans, lower=True, check_finite=False
    )
    return solved


def leading_axes(moments: Float64Array, n: int | None = None) -> Float64Array:
    """Return the first n eigenvectors as columns, those of the largest eigenvalues first.

    Their sign is free, and LAPACK versions differ in it: the largest component is positive.
    """
    leading = np.linalg.eigh(moments)[1][:, ::-1][:, :n]
    largest = np.take_along_axis(leading, np.abs(leading).argmax(axis=0)[None], axis=0)
    fixed: Float64Array = leading * np.sign(largest)
    return fixed


def _finite(values: Float64Array) -> Float64Array:
    if not np.isfinite(values).all():
        raise np.linalg.LinAlgError("a number has left the range of float64")
    return values
