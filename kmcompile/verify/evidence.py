"""Evidence: the values behind the plots of report.html."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Decision values of the verified queries; of many classes all decisions, one after another.

    Parameters
    ----------
    reference : ndarray of shape (n,), float64
        The float64 model's decision values.
    decision : ndarray of shape (n,), float32
        The C's, which are the interpreter's bit for bit.
    bound : ndarray of shape (n,), float32
        The claim: abs(decision - reference) is at most this.
    """

    reference: Float64Array
    decision: Float32Array
    bound: Float32Array

    def __post_init__(self) -> None:
        for name, dtype in (
            ("reference", np.float64),
            ("decision", np.float32),
            ("bound", np.float32),
        ):
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        if not self.reference.shape == self.decision.shape == self.bound.shape == (len(self),):
            raise ValueError("reference, decision and bound must be vectors of one length")

    def __len__(self) -> int:
        return self.reference.size

    @property
    def error(self) -> Float64Array:
        """abs(decision - reference), float64."""
        return np.abs(self.decision.astype(np.float64) - self.reference)
