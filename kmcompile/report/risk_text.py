"""The promised risk or loss as one sentence, for the header of the emitted C."""

from __future__ import annotations

from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.text.figures import confidence_text, count_text, small_text

_AS_THE_SAMPLES = "for inputs that are distributed as those samples were"


def risk_text(calibration: Calibration) -> str:
    """Return what is promised with its evidence, or the reason why nothing is."""
    promise = calibration.promise
    if promise.control == "none":
        if calibration.thresholds != "risk":
            return f"No risk is promised: --thresholds {calibration.thresholds} has no bound."
        return f"No {promise.of} is promised: the model was trained on the samples."
    risk = promise.upper_bound if promise.requested is None else promise.requested
    assert risk is not None
    samples = f"{count_text(promise.n_samples)} control samples"
    if promise.control == "expected":
        how = f"in the mean over sets of {samples}"
    else:
        assert promise.confidence is not None
        how = f"{confidence_text(promise.confidence)} confidence, {samples}"
    if promise.of == "loss":
        return (
            "The share of right labels is lower than the trained model's by at most "
            f"{small_text(risk)} ({how}), {_AS_THE_SAMPLES}."
        )
    return (
        "The label differs from the trained model's with a probability of at most "
        f"{small_text(risk)} ({how}), {_AS_THE_SAMPLES}."
    )
