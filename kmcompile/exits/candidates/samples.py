"""Samples that can be used: accepted by the C, and enough of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, check
from kmcompile.program.stages import Prepare

LEAST_SAMPLES = 200
"""Fewer say nothing about thresholds."""

_LEAST_TO_CHOOSE = 50
"""Certified exits are only chosen by the samples: nothing is claimed of them."""


def require_samples(n: int, mode: str = "statistical", n_given: int | None = None) -> None:
    """Refuse data with too few usable samples for any statistics.

    Parameters
    ----------
    n : int
        Samples that count.
    mode : {"statistical", "certified"}
    n_given : int, optional
        With those that repeat others, or nearly; n without it.

    Raises
    ------
    InputError
    """
    certified = mode == "certified"
    least = _LEAST_TO_CHOOSE if certified else LEAST_SAMPLES
    if n < least:
        remedy = "leave out --data" if certified else "use --mode exact"
        raise InputError(
            f"--data has {n:,} usable samples{that_count(n, n_given)}, must have at least "
            f"{least} for mode {mode}\ngive more samples, or {remedy}"
        )


def that_count(n: int, n_given: int | None) -> str:
    """Return what to say of samples that do not count, "" where all do."""
    if n_given is None or n_given <= n:
        return ""
    return f" that count (of {n_given:,}: equal samples and near copies count once)"


def accepted_rows(prepare: Prepare, X: Float32Array) -> NDArray[np.bool_]:
    """Return which rows the C accepts: finite and within its limits."""
    accepted: NDArray[np.bool_] = check(X, prepare.limit) == Status.OK
    finite = np.flatnonzero(accepted)
    prepared = prepare.run(Batch.of(np.ascontiguousarray(X[finite]), 1))
    accepted[finite[prepare.beyond(prepared)]] = False
    return accepted
