"""The monitor's stage: what it refuses, what it computes, what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.program.stages import Monitor

FLOATS = {
    "share": 0.01,
    "n_features": 4,
    "first": 1,
    "step": 2,
    "weight": np.array([[1.0, 2.0], [0.5, -1.0]], dtype=np.float32),
    "start": np.array([0.25, 0.0], dtype=np.float32),
    "limit": np.float32(10.0),
    "least": np.full(4, -8.0, dtype=np.float32),
    "largest": np.full(4, 8.0, dtype=np.float32),
}
CODES = FLOATS | {
    "weight": np.array([[100, 200], [50, -100]], dtype=np.int16),
    "start": np.array([25, 0], dtype=np.int32),
    "limit": 100_000,
    "least": np.full(4, -8, dtype=np.int16),
    "largest": np.full(4, 8, dtype=np.int16),
    "per_unit": np.float32(1.0),
    "most_code": 127,
}


def test_the_score_is_the_sum_of_squares_along_the_directions():
    monitor = Monitor(**FLOATS)
    x = np.array([[9.0, 1.0, 9.0, 2.0]], dtype=np.float32)
    assert monitor.score(x) == (0.25 + 1.0 + 1.0) ** 2 + (2.0 - 2.0) ** 2
    assert not monitor.passes(x).any()  # two features are beyond their limits
    assert monitor.passes(x - [8, 0, 8, 0]).all()


def test_the_score_of_codes_is_of_integers():
    monitor = Monitor(**CODES)
    x = np.array([[0, 1, 0, 2], [0, 7, 0, -7]])
    np.testing.assert_array_equal(monitor.score(x), [225**2, (25 + 350) ** 2 + 2100**2])
    np.testing.assert_array_equal(monitor.passes(x), [True, False])


def test_an_overflow_is_not_like_the_samples():
    monitor = Monitor(**FLOATS | {"least": np.zeros(0, "f4"), "largest": np.zeros(0, "f4")})
    huge = np.full((1, 4), 3e38, dtype=np.float32)
    assert not monitor.passes(huge).any()


def test_operations_are_the_sums_squares_and_comparisons():
    assert Monitor(**FLOATS).operations() == 2 * (2 + 1) + 2 * 4


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"step": 3}, "would read feature"),
        ({"first": -1}, "would read feature"),
        ({"start": np.zeros(3, dtype=np.float32)}, "must have a start each"),
        ({"least": np.zeros(3, dtype=np.float32)}, "limits of every feature"),
        ({"largest": np.zeros(0, dtype=np.float32)}, "a least and a largest"),
        ({"limit": np.float32(np.inf)}, "must be finite"),
        ({"least": np.full(4, -8, dtype=np.int16)}, "codes or floats"),
    ],
)
def test_a_monitor_that_its_c_could_not_be_is_refused(changed, reason):
    with pytest.raises(ValueError, match=reason):
        Monitor(**FLOATS | changed)


def test_sums_of_codes_that_may_overflow_are_refused():
    with pytest.raises(ValueError, match="may overflow"):
        Monitor(**CODES | {"start": np.array([2**30, 0], dtype=np.int32)})
    with pytest.raises(ValueError, match="must be int16"):
        Monitor(**CODES | {"weight": CODES["weight"].astype(np.int32)})
