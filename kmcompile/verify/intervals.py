"""Check of the intervals that certified exits have proved against the float64 model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import Reference
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import Stage
from kmcompile.text.figures import counted
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding


def decision_meant(
    machine: KernelMachine, results: NDArray[np.void], reference: Reference
) -> tuple[Float64Array, Float64Array]:
    """Return the model's decision that lower and upper enclose, and its float64 error.

    Both are NaN in one-vs-one, where the result does not name the pair of its interval.

    Parameters
    ----------
    machine : KernelMachine
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
        Results of accepted queries.
    reference : Reference
        Reference values of these queries.

    Returns
    -------
    decision, error : ndarray of shape (n_queries,), float64
    """
    if machine.n_decisions == 1:
        return reference.decisions[:, 0], reference.error[:, 0]
    if machine.task is Task.ONE_VS_REST:
        own = (np.arange(len(results)), results["label"])
        return reference.decisions[own], reference.error[own]
    unknown = np.full(len(results), np.nan)
    return unknown, unknown


def check_intervals(
    machine: KernelMachine,
    early_exits: Sequence[Stage],
    results: NDArray[np.void],
    reference: Reference,
    places: NDArray[np.intp],
    of_codes: bool = False,
) -> None:
    """Check the intervals that certified exits have proved against the model.

    In a regression all intervals are checked, because they are its answers.

    Parameters
    ----------
    machine : KernelMachine
    early_exits : sequence of Stage
        The early exits of the program.
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
        Results of accepted queries.
    reference : Reference
        Reference values of these queries.
    places : ndarray of shape (n_queries,), intp
        Indices of these queries among all queries.
    of_codes : bool
        Whether the results are the answers to codes.

    Raises
    ------
    FailedCheckError
        If an interval misses the model's decision by more than the float64 error.
    """
    f, error = decision_meant(machine, results, reference)
    certified = [number for number, stage in enumerate(early_exits) if stage.is_certified]
    lower, upper = (results[name].astype(np.float64) for name in ("lower", "upper"))
    holds = (lower - error <= f) & (f <= upper + error)  # a bound that is NaN fails
    claimed = np.isin(results["stage"], certified) | (machine.task is Task.REGRESSION)
    missed = np.flatnonzero(claimed & ~np.isnan(f) & ~holds)
    if len(missed):
        query = int(missed[0])
        names = (*(stage.name for stage in early_exits), "the sum", "the replay")
        stage = names[results["stage"][query]]
        intervals = counted(len(missed), "proved interval misses", "proved intervals miss")
        raise FailedCheckError(
            f"{intervals} the model's decision\nfirst: query {places[query]}, {stage} says "
            f"{lower[query]:.9g} to {upper[query]:.9g}, the model says {f[query]:.17g}",
            Finding(Broken.INTERVAL, places[missed], of_codes=of_codes),
        )
