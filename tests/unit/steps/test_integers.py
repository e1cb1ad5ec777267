"""Rounding to fine codes: the nearest integers, every tie, both ends, and the rest in rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from kmcompile.lower.prepare import length_bound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT64
from kmcompile.steps import Integers

MOST = 1 << 23


def rounded(rows: np.ndarray) -> Batch:
    """Return what the step makes of float64 inputs without any deviation."""
    step = Integers(np.float64(MOST), length_bound(rows.shape[1], FLOAT64), rows.shape[1])
    batch = Batch.of(np.zeros(rows.shape, dtype=np.float32), 1)
    return step.apply(replace(batch, x=rows, deviation=np.zeros(len(rows))))


def rows() -> np.ndarray:
    """Return ties, numbers near them, small ones and some beyond the ends."""
    rng = np.random.default_rng(1)
    whole = rng.integers(-MOST, MOST, size=(200, 3)).astype(float)
    beyond = rng.uniform(1.0, 1e6, size=(20, 3)) * MOST * rng.choice([-1, 1], size=(20, 3))
    return np.concatenate(
        [
            whole + 0.5,
            np.nextafter(whole + 0.5, np.inf),
            np.nextafter(whole + 0.5, -np.inf),
            whole + rng.random((200, 3)),
            rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-300, 0, size=(50, 1)),
            beyond,
        ]
    )


def test_inputs_become_the_nearest_integers_ties_to_even():
    X = rows()
    np.testing.assert_array_equal(rounded(X).x, np.rint(np.clip(X, -MOST, MOST)))


def test_the_deviation_bounds_the_distance_in_rationals():
    X = rows()
    batch = rounded(X)
    for row, x, deviation in zip(X.tolist(), batch.x.tolist(), batch.deviation, strict=True):
        square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(row, x, strict=True))
        assert square <= Fraction(float(deviation)) ** 2


def test_integers_stay_and_have_nearly_no_deviation():
    X = np.array([[0.0, -0.0, 5.0], [MOST, -MOST, 1.0]])
    batch = rounded(X)
    np.testing.assert_array_equal(batch.x, X)
    assert not np.signbit(batch.x[0]).any()
    assert (batch.deviation < 2.0**-80).all()
