"""Move a threshold on the decision into the intercept, so that the label stays a sign."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.errors import UsageError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.log_odds import decision_at, probability_at
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64


def move_threshold(
    machine: KernelMachine,
    threshold: float,
    equal_is_positive: bool = True,
    error: float = 0.0,
) -> KernelMachine:
    """Return the machine whose label is `classes[1]` where the trained decision is >= threshold.

    f(x) >= T is f(x) - T >= 0, so the intercept becomes b - T, rounded in float64; the rounding is
    in `KernelMachine.intercept_error`. `KernelMachine.threshold` stores T. The new threshold
    replaces an earlier one; the intercept has then been rounded for both.

    Parameters
    ----------
    machine : KernelMachine
        Binary or one-class.
    threshold : float
        A decision value, even if decisions are log odds.
    equal_is_positive : bool
        Whether a decision equal to the threshold gives `classes[1]`, as in scikit-learn's
        FixedThresholdClassifier.
    error : float
        Bound on what the threshold itself has lost by rounding.
    """
    shift = machine.threshold - threshold
    intercept = machine.intercept + shift
    roundings = abs(intercept[0]) + (abs(shift) if machine.threshold else 0.0)
    return replace(
        machine,
        intercept=intercept,
        intercept_error=machine.intercept_error + error + UNIT_ROUNDOFF_64 * float(roundings),
        threshold=threshold,
        zero_is_positive=equal_is_positive,
        notes=(*machine.notes, _note(machine, threshold, equal_is_positive)),
    )


def move_asked_threshold(machine: KernelMachine, threshold: float) -> KernelMachine:
    """Return the machine with the threshold of `--threshold`.

    If the machine's decisions are log odds, the threshold is a probability p of `classes[1]`. Its
    decision value is ln(p / (1 - p)).

    Raises
    ------
    UsageError
        If the label does not depend on one decision alone, or p is not between 0 and 1.
    """
    asked = f"--threshold {threshold:g}"
    if not machine.task.has_one_sign:
        raise UsageError(
            f"{asked}: a {machine.task.value} machine has no single decision to compare\n"
            "leave it out, or train a model of two classes"
        )
    if not machine.log_odds:
        return move_threshold(machine, threshold)
    if not 0 < threshold < 1:
        raise UsageError(
            f"{asked}: the model is calibrated, so it must be a probability between 0 and 1"
        )
    decision, error = decision_at(threshold)
    return move_threshold(machine, decision, error=error)


def _note(machine: KernelMachine, threshold: float, equal_is_positive: bool) -> str:
    relation = "at least" if equal_is_positive else "more than"
    likely = f" (probability {probability_at(threshold):.6g})" if machine.log_odds else ""
    return (
        f"the label is {machine.classes[1]!r} where the trained decision is {relation} "
        f"{threshold!r}{likely}, which decisions of the C are without"
    )
