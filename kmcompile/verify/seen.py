"""Test samples that are calibration samples, which measure nothing on new queries."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.statistical.near_copies import groups_of, near_copies, row_keys, standardised
from kmcompile.numeric.arrays import Float32Array
from kmcompile.text.figures import counted

SEEN_SHARE = 0.05
"""Share of test samples seen in calibration, beyond repeats by chance, that makes them no test."""
MOST_EXPLAINED = 0.9
"""Largest share that chance repeats explain, even if every calibration sample occurs repeatedly."""


def seen_note(test: Float32Array, calibration: Float32Array) -> str | None:
    """Return the reason why test samples are no test, or None if they are one.

    Independent samples with few different values equal calibration samples about as often as
    calibration samples equal each other. Near copies of calibration samples are no test either.

    Parameters
    ----------
    test : ndarray of shape (n_test, n_features), float32
    calibration : ndarray of shape (n, n_features), float32
        The samples as given, with repeated ones.
    """
    if len(test) == 0:
        return None
    own, known = _distinct(test), _distinct(calibration)
    equal = np.isin(row_keys(own), row_keys(known))
    group = near_copies(standardised(np.concatenate([known, own[~equal]])))
    nearly = np.isin(group[len(known) :], group[: len(known)])
    n_seen = int(equal.sum() + nearly.sum())
    explained = min(groups_of(calibration).repeated_share, MOST_EXPLAINED)
    if n_seen <= (explained + SEEN_SHARE) * len(own):
        return None
    return (
        f"{n_seen:,} of the {counted(len(own), 'distinct sample', 'distinct samples')} in "
        f"--test-data were calibrated with{', or nearly' if nearly.any() else ''}: they measure no "
        "risk"
    )


def _distinct(X: Float32Array) -> Float32Array:
    return X[np.unique(row_keys(X), return_index=True)[1]]
