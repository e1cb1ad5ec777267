"""The preprocessing as one linear map of the raw input, z = A x + t, with a bound on its error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.steps import Affine, Projection, Step

_ROUNDINGS = 2.0**-50
"""8 u: the relative error of one step on at most three features, which are products and sums of
four numbers."""

_SMALLEST = 2.0**-125
"""Twice the largest change of an input or a difference when subnormal numbers are flushed to 0."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearInput:
    """The preprocessing as one linear map of the raw input x: z = A x + t.

    Parameters
    ----------
    matrix : ndarray of shape (n_prepared, n_features), float64
    offset : ndarray of shape (n_prepared,), float64
    steps : tuple of Affine or Projection
        The preprocessing steps that the map equals in real arithmetic.
    """

    matrix: Float64Array
    offset: Float64Array
    steps: tuple[Affine | Projection, ...]

    def deviation(self, reach: Float64Array, largest: float) -> float:
        """Return a bound on the error of a difference z - s in float64, as a Euclidean norm.

        Each step passes on the error so far and adds 8 u of the magnitudes that it sums. The 8 u
        cover the rounding of A and t, of A x + t, and of an offset and a factor that the passes
        computed. The centre of a cell and its half-widths are off by 4 u of the raw input's reach,
        and z - s by u (|z| + |s|).

        Parameters
        ----------
        reach : ndarray of shape (n_features,), float64
            Largest magnitude of each feature of the raw input.
        largest : float
            Largest norm of a support vector s.
        """
        magnitude = reach
        error = 2.0**-50 * reach + _SMALLEST
        for step in self.steps:
            if isinstance(step, Affine):
                factor = np.abs(step.factor)
                error = factor * (error + step.offset_error)
                magnitude = factor * (magnitude + np.abs(step.offset))
            else:
                error, magnitude = (np.abs(step.matrix) @ v for v in (error, magnitude))
            error = error + _ROUNDINGS * magnitude
        rounded = error + _ROUNDINGS * (magnitude + largest)
        return float(np.sqrt((rounded**2).sum()) * (1 + 1e-9))


def linear_input(machine: KernelMachine) -> LinearInput | None:
    """Return the map of a machine's preprocessing, or None if it is not linear."""
    n = machine.n_features
    matrix, offset = np.eye(n), np.zeros(n)
    steps: list[Affine | Projection] = []
    for step in machine.preprocessing:
        if not _is_linear(step):
            return None
        assert isinstance(step, Affine | Projection)
        steps.append(step)
        if isinstance(step, Affine):
            matrix, offset = step.factor[:, None] * matrix, step.apply(offset[None])[0]
        else:
            matrix, offset = step.matrix @ matrix, step.apply(offset[None])[0]
    return LinearInput(matrix, offset, tuple(steps))


def _is_linear(step: Step) -> bool:
    return isinstance(step, Affine) or (isinstance(step, Projection) and step.matrix.shape[1] <= 3)
