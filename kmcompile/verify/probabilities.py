"""The bounded check of probabilities: the interpreter's against the float64 model's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import Reference
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.program.interpreter import Answers
from kmcompile.verify.checked import Probabilities
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding


def probabilities_of(machine: KernelMachine, decisions: Float64Array) -> Float64Array:
    """Return what scikit-learn's `predict_proba` gives for the decisions of a calibrated machine.

    Parameters
    ----------
    machine : KernelMachine
    decisions : ndarray of shape (n_queries, n_decisions), float64

    Returns
    -------
    ndarray of shape (n_queries, n_classes), float64
        If the probabilities of all classes are 0 before scaling, each class gets 1 / n_classes.
    """
    slope, offset = machine.platt or (1.0, 0.0)
    odds = slope * (decisions + machine.threshold) + offset
    each = _logistic(odds)
    if each.shape[1] == 1:
        return np.column_stack([_logistic(-odds), each])
    total = each.sum(axis=1, keepdims=True)
    uniform = np.full_like(each, 1 / each.shape[1])
    shares: Float64Array = np.divide(each, total, out=uniform, where=total > 0)
    return shares


def _logistic(f: Float64Array) -> Float64Array:
    """Return 1 / (1 + exp(-f)) without overflow."""
    e = np.exp(-np.abs(f))
    result: Float64Array = np.where(f >= 0, 1.0, e) / (1.0 + e)
    return result


def check_probabilities(
    machine: KernelMachine,
    answers: Answers,
    accepted: NDArray[np.bool_],
    reference: Reference,
    counted: NDArray[np.bool_],
    of_codes: bool = False,
) -> Probabilities | None:
    """Compare the probabilities of accepted queries with the model's.

    Parameters
    ----------
    counted : ndarray of bool
        The accepted queries that the figures include: the user's samples, if there are any.
    of_codes : bool
        Whether the answers are to codes.

    Returns
    -------
    Probabilities or None
        The figures; None if the machine is not calibrated.

    Raises
    ------
    FailedCheckError
        If a probability lies outside its bound.
    """
    if answers.probabilities is None or answers.probability_bounds is None:
        return None
    own, bounds = answers.probabilities[accepted], answers.probability_bounds[accepted]
    model = probabilities_of(machine, reference.decisions)
    error = np.abs(own - model).max(axis=1)
    # No probability moves by more than half of what all log odds move (`stages.probability`); the
    # rest is a few roundings of float64, each of a value of at most 1, or of the offset.
    slope, offset = machine.platt or (1.0, 0.0)
    rounded = abs(slope) * reference.error.max(axis=1) / 2
    rounded += (8 + model.shape[1] + abs(offset)) * UNIT_ROUNDOFF_64
    outside = ~(error <= bounds + rounded)  # NaN is outside
    if outside.any():
        query, places = int(np.flatnonzero(outside)[0]), np.flatnonzero(accepted)
        raise FailedCheckError(
            f"{int(outside.sum())} queries have probabilities outside their bound\nfirst: query "
            f"{places[query]}, the error is {error[query]:.3g}, the bound {bounds[query]:.3g}",
            Finding(Broken.PROBABILITY, places[outside], of_codes=of_codes),
        )
    return Probabilities(
        queries=int(counted.sum()),
        max_error=float(error[counted].max(initial=0.0)),
        max_bound=float(bounds[counted].max(initial=0.0)),
    )
