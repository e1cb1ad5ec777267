"""Run fits in parallel, each with one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from kmcompile.numeric.threads import one_thread

_Result = TypeVar("_Result")


def each(
    jobs: list[tuple[Callable[..., _Result], tuple[Any, ...]]], n_jobs: int | None
) -> list[_Result | None]:
    """Return the results of the jobs, in their order.

    Jobs run in threads, unless joblib is configured otherwise. Nearly all time is spent in numpy
    outside the interpreter's lock, and nothing is copied.
    """
    with one_thread():
        done = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_alone)(fit, arguments) for fit, arguments in jobs
        )
    return list(done)


def _alone(fit: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result | None:
    """Return the result of a fit with one BLAS thread; None if the samples do not determine it.

    The number of threads changes the rounding of a matrix product, and so the output's bytes.
    """
    with one_thread():
        try:
            return fit(*arguments)
        except np.linalg.LinAlgError:
            return None
