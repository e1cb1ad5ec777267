"""Select the samples that the C accepts, and check that there are enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import FewSamplesError, InputError
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, check
from kmcompile.program.stages import Prepare

LEAST_SAMPLES = 200
"""Fewest samples from which thresholds can be calibrated."""

LEAST_TO_CHOOSE = 50
"""Fewest samples for mode certified, in which they only choose the exits and support no promise."""


def require_samples(n: int, mode: str = "statistical", n_given: int | None = None) -> None:
    """Raise an error if too few samples are usable for statistics.

    Parameters
    ----------
    n : int
        Number of usable samples.
    mode : {"statistical", "certified"}
    n_given : int, optional
        Number of samples before repeated and nearly repeated ones were left out; default n.

    Raises
    ------
    FewSamplesError
        If `n` is too small for the mode.
    """
    least = LEAST_TO_CHOOSE if mode == "certified" else LEAST_SAMPLES
    if n < least:
        remedy = ", or leave out --data" if mode == "certified" else ""
        what = "mode certified" if mode == "certified" else "mode statistical and --reduce"
        raise FewSamplesError(
            f"--data has {n:,} usable samples{that_count(n, n_given)}, must have at least "
            f"{least} for {what}\ngive more samples{remedy}"
        )


def that_count(n: int, n_given: int | None) -> str:
    """Return a phrase for messages about samples that do not count; "" if all of them count."""
    if n_given is None or n_given <= n:
        return ""
    return f" that count (of {n_given:,}: equal samples and near copies count once)"


def none_accepted(limit: float) -> InputError:
    """Return the error of a program that accepts no input that is made from the model."""
    return InputError(
        "no input that is made from the model is accepted: all lie beyond the input limit "
        f"{limit:g}\nscale the data and retrain"
    )


def accepted_rows(prepare: Prepare, X: Float32Array) -> NDArray[np.bool_]:
    """Return for each row of X whether the C accepts it: finite and within the input limits."""
    accepted: NDArray[np.bool_] = check(X, prepare.limit) == Status.OK
    finite = np.flatnonzero(accepted)
    prepared = prepare.run(Batch.of(np.ascontiguousarray(X[finite]), 1))
    accepted[finite[prepare.beyond(prepared)]] = False
    return accepted
