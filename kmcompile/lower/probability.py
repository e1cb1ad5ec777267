"""Lowering of the probabilities of a calibrated machine: constants and error bounds."""

from __future__ import annotations

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import (
    LARGEST_INTERMEDIATE,
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
    bound_constant,
    gamma_factor,
)
from kmcompile.numeric.scalar.logistic import ABSOLUTE_ERROR, RELATIVE_ERROR
from kmcompile.program.stages.labels.probability import LEAST_TOTAL, Probability

_CUT = 1e-7
"""What LIBSVM's min_prob changes at most."""


def lower_probability(machine: KernelMachine) -> Probability | None:
    """Return the constants of the probabilities, or None if the machine has none.

    Raises
    ------
    InputError
        If the threshold is too large for float32.
    """
    if machine.platt is None and not machine.log_odds:
        return None
    if abs(machine.threshold) > LARGEST_INTERMEDIATE:
        raise InputError(
            f"the threshold is {machine.threshold:g}, must be at most "
            f"{LARGEST_INTERMEDIATE:.3g} in magnitude for float32"
        )
    if machine.platt is not None:
        return _of_sigmoid(machine, *machine.platt)
    binary = machine.n_decisions == 1
    threshold = np.float32(machine.threshold)
    error = _of_threshold(machine.threshold, threshold) if binary else 0.0
    error += _of_logistic() if binary else _of_shares(machine.n_classes)
    return Probability(
        n_decisions=machine.n_decisions,
        factor=np.float32(1),
        offset=threshold,
        reach=np.float32(1),
        slope=bound_constant(0.25 if binary else 0.5),
        minimum=bound_constant(error),
    )


def _of_sigmoid(machine: KernelMachine, slope: float, offset: float) -> Probability:
    """Return the constants of the sigmoid of v = slope (f + threshold) + offset.

    With o = slope * threshold + offset, which is rounded in float64 and stored in float32: the
    factor is rounded by u, and so are its product with f and the sum. Together they move v by at
    most 3 u |v| + 2 u |o|, to the first order, |v s'(v)| <= 0.224 and s' <= 1/4, which leaves room
    for the other orders. Flushing changes the product, the sum and the widened bound by at most
    the smallest normal number each. LIBSVM cuts its probabilities at 1e-7 and 1 - 1e-7.
    """
    moved = slope * machine.threshold
    exact = moved + offset
    if abs(exact) > LARGEST_INTERMEDIATE:
        raise InputError(f"the threshold is {machine.threshold:g}, too large for the probabilities")
    stored = np.float32(exact)
    error = abs(exact - float(stored)) + 4 * UNIT_ROUNDOFF_64 * (abs(moved) + abs(exact))
    error += 4 * UNIT_ROUNDOFF * (1 + abs(exact)) + 4 * SMALLEST_NORMAL
    return Probability(
        n_decisions=1,
        factor=np.float32(slope),
        offset=stored,
        reach=bound_constant(abs(slope)),
        slope=bound_constant(abs(slope) / 4),
        minimum=bound_constant(error / 4 + _of_logistic() + _CUT),
    )


def _of_threshold(exact: float, stored: np.float32) -> float:
    """Return the error of the probability s(f) due to f, the sum of decision and stored threshold.

    The stored threshold differs from the exact one by |exact - stored|, which adds at most a
    quarter of that, as |s'| <= 1/4. The sum rounds by u |f|, and |f s'(f)| <= 0.224 for every f;
    1/4 also covers the difference between f and its rounded value. Flushing a term or the sum
    changes it by at most the smallest normal number.
    """
    if stored == 0 and exact == 0:
        return 0.0
    return (abs(exact - float(stored)) + UNIT_ROUNDOFF + 2 * SMALLEST_NORMAL) / 4


def _of_logistic() -> float:
    """Return the bound on the absolute error of a computed logistic function and of its bounds.

    It is the relative error, as the function is at most 1, plus twice the absolute error where the
    result is 0: once for the probability and once for its bound. A flushed argument adds no more.
    """
    return RELATIVE_ERROR + 2 * ABSOLUTE_ERROR + SMALLEST_NORMAL


def _of_shares(n_classes: int) -> float:
    """Return the error of a share s_c / sum s for computed s_k = s(f_k) (1 + d_k) + e_k.

    Here |d_k| is at most r, the relative error of the logistic function, or s_k is 0 and |e_k| at
    most its absolute error. The sum A of the exact s(f_k) is at least LEAST_TOTAL / 2, because the
    computed sum is at least LEAST_TOTAL and no computed s_k is more than twice the exact one. So
    each e_k is at most `lost` times A, and

        s_c / A = p_c (1 + d_c) + (at most lost),
        the computed sum = A (1 + at most r + n lost) (1 + at most gamma_(n - 1)),

    the quotient is rounded once, and where it is flushed the smallest normal number is lost.
    """
    lost = ABSOLUTE_ERROR / (float(LEAST_TOTAL) / 2)
    below = (1 - RELATIVE_ERROR - n_classes * lost) * (1 - gamma_factor(n_classes))
    above = (1 + RELATIVE_ERROR) * (1 + UNIT_ROUNDOFF)
    return (above + 2 * lost) / below - 1 + SMALLEST_NORMAL
