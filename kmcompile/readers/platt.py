"""Platt's sigmoid beside a support vector classifier: probabilities of two classes.

References
----------
J. Platt (1999), Probabilistic outputs for support vector machines. LIBSVM 3.36, svm.cpp,
svm_predict_probability: sigmoid_predict and multiclass_probability.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmcompile.model.log_odds import is_compiled

PLATT_NOTE = (
    "the probability is that of Platt's sigmoid, as of svm-predict -b 1; the label is decided by "
    "the decision, as of predict and of svm-predict without -b 1, and is not always that of the "
    "more probable class; scikit-learn's predict_proba and onnxruntime can be up to 0.005 away, as "
    "their iteration stops early"
)
_LEFT_OUT = (
    "the model has probabilities of its own, which are left out: {reason}; the label is that of "
    "predict, or of svm-predict without -b 1, which can differ from the most probable one; those "
    "of CalibratedClassifierCV with ensemble=False are compiled"
)
OF_MANY = _LEFT_OUT.format(reason="of more than two classes they come from an iteration over pairs")

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
        return None, (OF_MANY,)
    platt = 0.0 - float(prob_a[0]), float(prob_b[0])
    if not is_compiled(platt):
        reason = f"A = {prob_a[0]:g} and B = {prob_b[0]:g} are beyond what float32 can take"
        return None, (_LEFT_OUT.format(reason=reason),)
    return platt, (PLATT_NOTE,)
