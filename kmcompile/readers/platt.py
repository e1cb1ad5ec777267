"""Platt's sigmoid beside a support vector classifier: probabilities of two classes.

References
----------
J. Platt (1999), Probabilistic outputs for support vector machines. LIBSVM 3.36, svm.cpp,
svm_predict_probability: sigmoid_predict and multiclass_probability.
"""

from __future__ import annotations

from collections.abc import Sequence

STEEPEST = 2.0**100
"""Largest magnitude of a slope and an offset that is compiled, and the inverse of the smallest."""

_LABEL = "the label is that of predict, or of svm-predict without -b 1"
_LEFT_OUT = (
    "the model has probabilities of its own, which are left out: {reason}; "
    f"{_LABEL}, which can differ from the most probable one; those of CalibratedClassifierCV with "
    "ensemble=False are compiled"
)
_OTHER = (
    f"{_LABEL}, the sign of the decision: where the probability is between 0.5 and the one at "
    "decision 0, the other class is the more probable one"
)

Platt = tuple[float, float]


def platt_of(
    prob_a: Sequence[float], prob_b: Sequence[float]
) -> tuple[Platt | None, tuple[str, ...]]:
    """Return the slope and offset of `KernelMachine.platt`, and notes on what is left out.

    Parameters
    ----------
    prob_a, prob_b : sequence of float
        LIBSVM's A and B of each pair: the probability of the pair's first class is
        1 / (1 + exp(A d + B)), d being LIBSVM's decision, positive for the first class.

    Returns
    -------
    platt : tuple or None
        (-A, B) of two classes, since `KernelMachine` has f = -d there.
    notes : tuple of str
    """
    if len(prob_a) != 1:
        reason = "of more than two classes they come from an iteration over all pairs"
        return None, (_LEFT_OUT.format(reason=reason),)
    slope, offset = 0.0 - float(prob_a[0]), float(prob_b[0])
    if not (slope == 0 or 1 / STEEPEST <= abs(slope) <= STEEPEST) or abs(offset) > STEEPEST:
        reason = f"A = {prob_a[0]:g} and B = {prob_b[0]:g} are beyond what float32 can take"
        return None, (_LEFT_OUT.format(reason=reason),)
    return (slope, offset), (_OTHER,)
