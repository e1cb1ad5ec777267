"""What control samples support, and nearly the smallest scale of thresholds that keeps it.

The risk is the probability that an early exit gives another label than the model. The loss is the
share of right labels that the program has less than the model (`loss`). The control samples are
independent of the thresholds' shapes and are used once.

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
from typing import Any, Literal, NamedTuple

import numpy as np

from kmcompile.exits.statistical.binomial import (
    CONFIDENCE,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from kmcompile.exits.statistical.calibration import Of, Promise
from kmcompile.exits.statistical.loss import Losses, loss_is_refuted, loss_limit

Control = Literal["guaranteed", "expected"]
Wrong = Callable[[float], Losses]
SCALES: tuple[float, ...] = tuple(10.0 / 1.1**step for step in range(40))
"""Scales from 10 down to 0.24. They are fixed: scales chosen on the control samples would void the
promise."""

LEAST_SCALE = SCALES[-1]

PATH: tuple[float, ...] = (*SCALES, *(LEAST_SCALE / 1.1**step for step in range(1, 21)))
"""The scales, and smaller ones at which bands are as wide as at the least scale, and only their
floors shrink (`bands.Bands`). They are for bands that have floors."""


class Tally(NamedTuple):
    """A number of control samples, and of those that count against the program, or for it.

    Parameters
    ----------
    n : int
    disagreements : int
        Samples that get another label than the model's; of a loss, those that lose a right label.
    gained : int or None
        Samples that gain a right label; None where only disagreements count.
    """

    n: int
    disagreements: int
    gained: int | None = None

    @classmethod
    def of(cls, losses: Losses) -> Tally:
        """Return the tally of samples."""
        gained = None if losses.dtype == np.bool_ else int((losses < 0).sum())
        return cls(len(losses), int((losses > 0).sum()), gained)

    @property
    def share(self) -> float:
        """The share of disagreements, or of right labels lost beyond those gained."""
        return (self.disagreements - (self.gained or 0)) / max(self.n, 1)

    def limit(self, control: Control = "guaranteed", confidence: float = CONFIDENCE) -> float:
        """Return the smallest risk or loss that these samples support.

        Guaranteed: Clopper and Pearson's limit of a risk, for r = 0 disagreements
        1 - (1 - confidence)^(1/n), or `loss.loss_limit`; expected: (r + 1) / (n + 1), with the sum
        r of the losses.
        """
        if control == "expected":
            return (self.disagreements - (self.gained or 0) + 1) / (self.n + 1)
        if self.gained is None:
            return clopper_pearson_upper(self.disagreements, self.n, confidence)
        return loss_limit(self.n, self.disagreements, self.gained, confidence)

    def keeps(
        self, risk: float, control: Control = "guaranteed", confidence: float = CONFIDENCE
    ) -> bool:
        """Return whether these samples support a risk or a loss."""
        if control == "expected" or self.gained is None or not self.n:
            return self.limit(control, confidence) <= risk
        return loss_is_refuted(self.n, self.disagreements, self.gained, risk, confidence)

    def least(self, confidence: float = CONFIDENCE) -> float:
        """Return the lower confidence limit of the risk or loss."""
        if self.gained is None:
            return clopper_pearson_lower(self.disagreements, self.n, confidence)
        return -loss_limit(self.n, self.gained, self.disagreements, confidence)


Count = Callable[[Losses], Tally]
"""From what the control samples cost to how many count."""


def least_risk(n: int, control: Control = "guaranteed", of: Of = "risk") -> float:
    """Return the smallest risk or loss that n samples support, of which none disagrees."""
    return _tally(n, 0, of).limit(control)


def samples_needed(
    risk: float,
    control: Control = "guaranteed",
    disagreements: int = 0,
    of: Of = "risk",
    confidence: float = CONFIDENCE,
) -> int:
    """Return the fewest control samples that support a risk or loss with some disagreements.

    Examples
    --------
    >>> samples_needed(1e-3), samples_needed(1e-3, disagreements=1)
    (4603, 6636)
    >>> samples_needed(1e-3, "expected")
    999
    """

    def supported(n: int) -> bool:
        return _tally(n, disagreements, of).keeps(risk, control, confidence)

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


def _tally(n: int, disagreements: int, of: Of) -> Tally:
    return Tally(n, min(n, disagreements), None if of == "risk" else 0)


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
    """Return the promise of a scale whose risk or loss is at most `risk`, nearly the smallest.

    The scales are tested in their order. At each, the hypothesis "the risk is larger than
    requested" is rejected if the upper limit of Clopper and Pearson [1]_, or that of a loss, is at
    most the requested risk.
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
        scale -> ndarray of shape (n,), bool or int8, what each control sample costs; called in
        order, no further than needed.
    count : callable
        From such an array to how many samples count.
    risk : float
    confidence : float
        Of each test. It is larger than the promise's where several programs are tested
        (`binomial.confidence_at`).

    Returns
    -------
    Promise or None
        None if the first scale fails.
    """
    held: list[Promise] = []
    for scale in scales:
        tally = count(wrong(scale))
        if not tally.keeps(risk, confidence=confidence):
            break
        held.append(_promise("guaranteed", risk, tally, scale))
    return _one_step_wider(held)


def conformal(scales: Sequence[float], wrong: Wrong, count: Count, risk: float) -> Promise | None:
    """Return the promise of a scale whose expected risk is at most `risk`, nearly the smallest.

    (n / (n + 1)) R(scale) + 1 / (n + 1) <= risk, with R the mean loss ([3]_, eq. 4 and 5). The
    theorem requires that the loss of a sample does not fall as the scale falls, and is at most 1. A
    sample therefore counts with the largest of its losses from the first scale on. The scale before
    the smallest one is taken, because the smallest of many scales on one sample set is partly luck.

    Parameters
    ----------
    scales : sequence of float
        Decreasing.
    wrong : callable
        scale -> ndarray of shape (n,), bool or int8, what each control sample costs; called in
        order, no further than needed.
    count : callable
        From such an array to how many samples count.
    risk : float

    Returns
    -------
    Promise or None
        None if the first scale fails.
    """
    held: list[Promise] = []
    ever: Losses | None = None
    for scale in scales:
        here = wrong(scale)
        ever = here if ever is None else np.maximum(ever, here)
        if not count(ever).keeps(risk, "expected"):
            break
        held.append(_promise("expected", risk, count(here), scale))
    return _one_step_wider(held)


def _one_step_wider(held: Sequence[Promise]) -> Promise | None:
    """Return the last promise but one: the smallest scale that holds is partly luck."""
    return held[max(0, len(held) - 2)] if held else None


def decide_nothing(control: Control, risk: float, tally: Tally) -> Promise:
    """Return the promise if no scale held: the scale is infinite, and no early exit decides.

    Only a reduced machine then has disagreements with the trained one.
    """
    return _promise(control, risk, tally, math.inf)


def promise_nothing(tally: Tally, scale: float) -> Promise:
    """Return a record without a promise, for training data and the paper's thresholds."""
    return Promise("none", None, None, None, tally.n, tally.disagreements, scale, tally.gained)


def tally_of(promise: Promise) -> Tally:
    """Return the control samples of a promise."""
    return Tally(promise.n_samples, promise.disagreements, promise.gained)


def evidence_of(tally: Tally) -> dict[str, Any]:
    """Return a tally as the fields of a promise."""
    return dict(zip(("n_samples", "disagreements", "gained"), tally, strict=True))


def _promise(control: Control, risk: float, tally: Tally, scale: float) -> Promise:
    sure = CONFIDENCE if control == "guaranteed" else None
    n, disagreements, gained = tally
    return Promise(control, risk, risk, sure, n, disagreements, scale, gained)
