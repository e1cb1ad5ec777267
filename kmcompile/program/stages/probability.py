"""The probabilities of a calibrated machine, with one bound on their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar.logistic import logistic

LEAST_TOTAL: Final = np.float32(2.0**-96)
"""Where the probabilities of all classes add up to less before they are divided by their sum, the
exponentials are near the end of float32 and their ratios tell nothing."""


SHRINK: Final = np.float32(1.0 - 2.0**-20)
"""Makes a magnitude less than what it was before it was rounded, which is by less than 2^-22."""

GROW: Final = np.float32(1.0 + 2.0**-16)
"""Makes s(v) more than that of the exact v, of which v is the nearest float32: this changes s by
87 * 2^-24 at most, from where on s is 0, the function's own error by 5 * 2^-24."""


@dataclass(frozen=True, slots=True, eq=False)
class Probability:
    """What decisions that are log odds say of the classes.

    With s(f) = 1 / (1 + exp(-f)) a binary machine has p_1 = s(f) and p_0 = s(-f), and one of many
    classes p_c = s(f_c) / sum_k s(f_k), as scikit-learn's CalibratedClassifierCV.

    With b the largest bound on a decision no p is further from the model's than slope * b +
    minimum, and never by more than 1:

    - binary: |s'| <= 1/4, so that the slope is that. The less likely class of the model has no
      more than s(b - |f|), nor has the other one less than 1 - s(b - |f|), and the same holds of
      p: where that is less than b / 4 it takes its place.
    - many classes: dp_c / df_k = p_c (delta_ck - p_k) s(-f_k), whose magnitudes over k add up to
      at most 2 p_c (1 - p_c) <= 1/2. By the mean value theorem this holds for decisions that
      differ by any amount.
    - `minimum` is for what is rounded from there on (`kmcompile.lower.probability`).

    Parameters
    ----------
    n_decisions : int
        1 of a binary machine.
    threshold : float32
        Added to the decision of a binary machine: it was taken off before.
    slope, minimum : float32
    """

    n_decisions: int
    threshold: np.float32
    slope: np.float32
    minimum: np.float32

    template: ClassVar[str] = "probability"

    @property
    def uniform(self) -> np.float32:
        """What every class has where the decisions tell nothing."""
        return np.float32(1.0) / np.float32(self.n_decisions)

    def of(
        self, decisions: Float32Array, bounds: Float32Array
    ) -> tuple[Float32Array, Float32Array]:
        """Return the probabilities and the bounds on their errors.

        Parameters
        ----------
        decisions, bounds : ndarray of shape (n_queries, n_decisions), float32

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes), float32
        bounds : ndarray of shape (n_queries,), float32
        """
        moved = bounds.max(axis=1) * self.slope
        if self.n_decisions == 1:
            f = decisions[:, 0] + self.threshold
            probabilities = np.column_stack([logistic(-f), logistic(f)])
            rest = logistic(bounds[:, 0] - np.abs(f) * SHRINK) * GROW
            limits = np.where(rest < moved, rest, moved) + self.minimum
        else:
            # A bound that is no number, which only a damaged table can give, tells nothing.
            known = np.asarray((bounds >= 0).all(axis=1))
            probabilities, told = self._normalized(logistic(decisions), known)
            limits = np.where(told, moved + self.minimum, np.float32(1.0))
        return probabilities, np.where(limits < 1, limits, np.float32(1.0))

    def _normalized(self, each: Float32Array, known: np.ndarray) -> tuple[Float32Array, np.ndarray]:
        """Return what adds up to 1, and where it says anything, which is where it is known."""
        total = np.zeros(len(each), dtype=np.float32)
        for column in each.T:
            total += column
        told = known & (total >= LEAST_TOTAL)
        shares = np.full_like(each, self.uniform)
        np.divide(each, total[:, None], out=shares, where=told[:, None])
        return shares, told
