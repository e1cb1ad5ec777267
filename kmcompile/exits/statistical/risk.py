"""The risk that control samples support, and nearly the smallest scale of thresholds that keeps it.

The risk is the probability that an early exit gives another label than the model. The control
samples are independent of the thresholds' shapes and are used once.

References
----------
.. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
   the case of the binomial", Biometrika 26, 1934.
.. [2] A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan and L. Lei, "Learn then test",
   Annals of Applied Statistics 19, 2025: fixed-sequence testing.
.. [3] A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster, "Conformal risk control",
   ICLR 2024.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from kmcompile.exits.statistical.calibration import Promise

Control = Literal["guaranteed", "expected"]
Wrong = Callable[[float], NDArray[np.bool_]]

CONFIDENCE = 0.99
"""Confidence of a guaranteed risk."""

SCALES: tuple[float, ...] = tuple(10.0 / 1.1**step for step in range(40))
"""Scales from 10 down to 0.24. They are fixed: scales chosen on the control samples would void the
promise."""

LEAST_SCALE = SCALES[-1]

PATH: tuple[float, ...] = (*SCALES, *(LEAST_SCALE / 1.1**step for step in range(1, 21)))
"""The scales, and smaller ones at which bands are as wide as at the least scale, and only their
floors shrink (`bands.Bands`). They are for bands that have floors."""


def clopper_pearson_upper(disagreements: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper confidence limit of a probability [1]_.

    Beta^-1(confidence; r + 1, n - r) for r disagreements in n samples.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 4603), 6)
    0.001
    """
    if disagreements >= n:
        return 1.0
    return float(betaincinv(disagreements + 1, n - disagreements, confidence))


def clopper_pearson_lower(disagreements: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided lower confidence limit, Beta^-1(1 - confidence; r, n - r + 1) [1]_."""
    if disagreements == 0:
        return 0.0
    return float(betaincinv(disagreements, n - disagreements + 1, 1 - confidence))


def least_risk(
    n: int,
    control: Control = "guaranteed",
    confidence: float = CONFIDENCE,
    disagreements: int = 0,
) -> float:
    """Return the smallest risk that n samples with some disagreements r support.

    Guaranteed: Clopper and Pearson's limit, for r = 0 1 - (1 - confidence)^(1/n); expected:
    (r + 1) / (n + 1).
    """
    if control == "expected":
        return (disagreements + 1) / (n + 1)
    return clopper_pearson_upper(disagreements, n, confidence)


class Tally(NamedTuple):
    """A number of control samples, and of those that get another label than the model's."""

    n: int
    disagreements: int

    def limit(self, control: Control = "guaranteed", confidence: float = CONFIDENCE) -> float:
        """Return the smallest risk that these samples support."""
        return least_risk(self.n, control, confidence, self.disagreements)


Count = Callable[[NDArray[np.bool_]], Tally]
"""From which control samples are wrong, shape (n,), to how many count."""


def samples_needed(
    risk: float,
    control: Control = "guaranteed",
    confidence: float = CONFIDENCE,
    disagreements: int = 0,
) -> int:
    """Return the fewest control samples that support a risk with a number of disagreements.

    Examples
    --------
    >>> samples_needed(1e-3), samples_needed(1e-3, disagreements=1)
    (4603, 6636)
    >>> samples_needed(1e-3, "expected")
    999
    """

    def supported(n: int) -> bool:
        if control == "expected":
            return (disagreements + 1) / (n + 1) <= risk
        return clopper_pearson_upper(disagreements, n, confidence) <= risk

    enough = 1
    while not supported(enough):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if supported(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def rounded_up(risk: float) -> float:
    """Return a risk rounded up to two significant digits.

    Examples
    --------
    >>> rounded_up(0.003065)
    0.0031
    """
    return float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(risk))


def fixed_sequence(
    scales: Sequence[float],
    wrong: Wrong,
    count: Count,
    risk: float,
    confidence: float = CONFIDENCE,
) -> Promise | None:
    """Return the promise of a scale whose risk is at most `risk`, nearly the smallest.

    The scales are tested in their order. At each, the hypothesis "the risk is larger than
    requested" is rejected if the upper limit of Clopper and Pearson is at most the requested risk.
    The first scale that is not rejected ends the sequence. The sequence reaches only one test of a
    true hypothesis, so all promises hold together with the confidence [2]_. The confidence belongs
    to the requested risk. The upper limit at the chosen scale is smaller but no valid bound, since
    its own samples chose the scale. Of the scales that hold, the one before the smallest is taken:
    the smallest of many scales on one sample set is partly luck.

    Parameters
    ----------
    scales : sequence of float
        Decreasing.
    wrong : callable
        scale -> ndarray of shape (n,), bool, the control samples that it labels unlike the model;
        called in order, no further than needed.
    count : callable
        From such an array to how many samples count.
    risk : float

    Returns
    -------
    Promise or None
        None if the first scale fails.
    """
    held: list[Promise] = []
    for scale in scales:
        tally = count(wrong(scale))
        if tally.limit(confidence=confidence) > risk:
            break
        held.append(Promise("guaranteed", risk, risk, confidence, *tally, scale))
    return _one_step_wider(held)


def conformal(scales: Sequence[float], wrong: Wrong, count: Count, risk: float) -> Promise | None:
    """Return the promise of a scale whose expected risk is at most `risk`, nearly the smallest.

    (n / (n + 1)) R(scale) + 1 / (n + 1) <= risk, with R the mean loss ([3]_, eq. 4 and 5). The
    theorem requires that the loss of a sample does not fall as the scale falls. A sample therefore
    counts as wrong from the first scale on at which it disagrees (the running supremum of its
    loss). The scale before the smallest one is taken, because the smallest of many scales on one
    sample set is partly luck.

    Parameters
    ----------
    scales : sequence of float
        Decreasing.
    wrong : callable
        scale -> ndarray of shape (n,), bool, the control samples that it labels unlike the model;
        called in order, no further than needed.
    count : callable
        From such an array to how many samples count.
    risk : float

    Returns
    -------
    Promise or None
        None if the first scale fails.
    """
    held: list[Promise] = []
    ever: NDArray[np.bool_] | None = None
    for scale in scales:
        here = wrong(scale)
        ever = here if ever is None else ever | here
        if count(ever).limit("expected") > risk:
            break
        held.append(Promise("expected", risk, risk, None, *count(here), scale))
    return _one_step_wider(held)


def _one_step_wider(held: Sequence[Promise]) -> Promise | None:
    """Return the last promise but one: the smallest scale that holds is partly luck."""
    return held[max(0, len(held) - 2)] if held else None


def decide_nothing(control: Control, risk: float, tally: Tally) -> Promise:
    """Return the promise if no scale held: the scale is infinite, and no early exit decides.

    Only a reduced machine then has disagreements with the trained one.
    """
    confidence = CONFIDENCE if control == "guaranteed" else None
    return Promise(control, risk, risk, confidence, *tally, math.inf)


def promise_nothing(tally: Tally, scale: float) -> Promise:
    """Return a record without a promise, for training data and the paper's thresholds."""
    return Promise("none", None, None, None, *tally, scale)
