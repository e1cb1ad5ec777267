"""The probabilities of a calibrated machine, with one bound on their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.scalar.logistic import logistic

LEAST_TOTAL: Final = np.float32(2.0**-96)
"""Least sum of the classes' s(f_c). Below it the exponentials are near the end of float32's range,
and their ratios have no meaning."""


SHRINK: Final = np.float32(1.0 - 2.0**-20)
"""Factor that makes a rounded magnitude less than the exact one; it was rounded by less than
2^-22."""

GROW: Final = np.float32(1.0 + 2.0**-16)
"""Factor that makes s(v) more than s of the exact v, whose nearest float32 is v. Rounding v changes
s by at most 87 * 2^-24, as s is 0 beyond 87, and the function's error by 5 * 2^-24."""


LARGEST_WIDENED: Final = np.float32(2.0**120)
"""Largest bound on log odds that is compared with them: no difference of infinities."""


@dataclass(frozen=True, slots=True, eq=False)
class Probability:
    """The probabilities of the classes from decisions, by which their log odds are told.

    Let s(f) = 1 / (1 + exp(-f)). A binary machine has the log odds f = factor * decision + offset,
    p_1 = s(f) and p_0 = s(-f). A machine with many classes has p_c = s(f_c) / sum_k s(f_k), as
    scikit-learn's CalibratedClassifierCV.

    Let b be the largest bound on a decision. Every p differs from the model's by at most
    slope * b + minimum, and by at most 1:

    - binary: the slope is |factor| / 4, since |s'| <= 1/4. Let w = reach * b be the bound of f. In
      the model, the less likely class has at most s(w - |f|) and the other class at least
      1 - s(w - |f|); the computed p obey these bounds, too. Where s(w - |f|) is less than
      slope * b, it replaces that, unless w is so large that w - |f| may be inf - inf.
    - many classes: dp_c / df_k = p_c (delta_ck - p_k) s(-f_k), whose magnitudes over k add up to
      at most 2 p_c (1 - p_c) <= 1/2. By the mean value theorem this holds for decisions that
      differ by any amount.
    - `minimum` covers the rounding after the decisions (`kmcompile.lower.probability`).

    Parameters
    ----------
    n_decisions : int
        Number of decisions; 1 for a binary machine.
    factor, offset : float32
        Of a binary machine; 1 and 0 where the decision is the log odds. The offset has the
        threshold, which a pass has subtracted from the decision, times the factor.
    reach : float32
        At least |factor|, so that its product with a bound is no smaller than |factor| times that.
    slope, minimum : float32
    """

    n_decisions: int
    factor: np.float32
    offset: np.float32
    reach: Bound
    slope: np.float32
    minimum: Bound

    template: ClassVar[str] = "probability"

    @property
    def is_scaled(self) -> bool:
        """Whether the log odds are those of Platt's sigmoid, not the decision and a threshold."""
        return not float(self.factor) == float(self.reach) == 1

    @property
    def uniform(self) -> np.float32:
        """The probability of every class if the decisions have no meaning: 1 / n_classes."""
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
        with np.errstate(over="ignore"):
            moved = bounds.max(axis=1) * self.slope
        if self.n_decisions == 1:
            with np.errstate(over="ignore", invalid="ignore"):
                f = decisions[:, 0] * self.factor + self.offset
                widened = bounds[:, 0] * self.reach
                rest = logistic(widened - np.abs(f) * SHRINK) * GROW
            probabilities = np.column_stack([logistic(-f), logistic(f)])
            less = (rest < moved) & (widened <= LARGEST_WIDENED)
            limits = np.where(less, rest, moved) + self.minimum
        else:
            # A NaN bound, which only a damaged table can give, proves nothing.
            known = np.asarray((bounds >= 0).all(axis=1))
            probabilities, told = self._normalized(logistic(decisions), known)
            limits = np.where(told, moved + self.minimum, np.float32(1.0))
        return probabilities, np.where(limits < 1, limits, np.float32(1.0))

    def _normalized(self, each: Float32Array, known: np.ndarray) -> tuple[Float32Array, np.ndarray]:
        """Return the probabilities divided by their sum, and which rows are meaningful."""
        total = np.zeros(len(each), dtype=np.float32)
        for column in each.T:
            total += column
        told = known & (total >= LEAST_TOTAL)
        shares = np.full_like(each, self.uniform)
        np.divide(each, total[:, None], out=shares, where=told[:, None])
        return shares, told
