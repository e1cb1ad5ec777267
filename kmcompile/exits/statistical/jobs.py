"""Fits, side by side and each with one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

_Result = TypeVar("_Result")


def each(
    jobs: list[tuple[Callable[..., _Result], tuple[Any, ...]]], n_jobs: int | None
) -> list[_Result | None]:
    """Return what the jobs give.

    In threads, unless joblib is configured otherwise: nearly all time is spent in numpy, outside
    the interpreter's lock, and nothing is copied.
    """
    with threadpool_limits(1):
        done = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_alone)(fit, arguments) for fit, arguments in jobs
        )
    return list(done)


def _alone(fit: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result | None:
    """Return what a fit gives with one thread: the sums of a matrix product depend on them.

    None where the samples do not determine it.
    """
    with threadpool_limits(1):
        try:
            return fit(*arguments)
        except np.linalg.LinAlgError:
            return None
