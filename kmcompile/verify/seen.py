"""Whether test samples are calibration samples: these say nothing about new queries."""

from __future__ import annotations

import numpy as np

from kmcompile.calibrate.training import equal_share, row_keys
from kmcompile.ir.arrays import Float32Array
from kmcompile.plural import counted

SEEN_SHARE = 0.05
"""Share of the distinct test samples seen, beyond what equal samples explain, of no test."""
MOST_EXPLAINED = 0.9
"""Also where every calibration sample is there several times."""


def seen_note(test: Float32Array, calibration: Float32Array) -> str | None:
    """Return why test samples are no test, None where they are one.

    Independent samples of few different values equal calibration samples about as often as
    these equal each other.

    Parameters
    ----------
    test : ndarray of shape (n_test, n_features), float32
    calibration : ndarray of shape (n, n_features), float32
        As they were given, with those that repeat others.
    """
    if len(test) == 0:
        return None
    distinct = np.unique(row_keys(test))
    seen = np.intersect1d(distinct, np.unique(row_keys(calibration)), assume_unique=True)
    explained = min(equal_share(calibration), MOST_EXPLAINED)
    if len(seen) <= (explained + SEEN_SHARE) * len(distinct):
        return None
    return (
        f"{len(seen):,} of the {counted(len(distinct), 'distinct sample', 'distinct samples')} in "
        "--test-data were calibrated with: they measure no risk"
    )
