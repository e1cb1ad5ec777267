"""Telemetry of many results, for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.program import Program
from kmcompile.program.telemetry import Words, counted


def counted_all(program: Program, before: Words, results: NDArray[np.void]) -> Words:
    """Return the words after the C's `telemetry_count` of all results, one after the other.

    Parameters
    ----------
    program : Program
    before : ndarray of shape (n_words,), uint32
    results : structured ndarray of shape (n_results,), RESULT_DTYPE
    """
    for row in range(len(results)):
        before = counted(program, before, results[row : row + 1])[0]
    return before
