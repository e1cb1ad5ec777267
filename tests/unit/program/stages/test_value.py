"""The value of a regression: it lies in its interval, which settles where it is narrow enough."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import Value
from kmcompile.program.stages.labels.value import NO_LABEL


def run(stage: Value, decisions: np.ndarray, bounds: np.ndarray) -> Batch:
    batch = Batch.of(np.zeros((len(decisions), 1), dtype=np.float32), 1)
    return stage.run(replace(batch, decision=decisions[:, None], bound=bounds[:, None]))


def pairs(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions and bounds of every size, those that are tiny beside each other too."""
    rng = np.random.default_rng(1)
    size = 10.0 ** rng.uniform(-30, 30, size=(2, 4000))
    sign = rng.choice([-1.0, 1.0], size=4000)
    return (size[0] * sign).astype(dtype), size[1].astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_value_lies_in_its_interval(dtype):
    batch = run(Value(None), *pairs(dtype))
    assert batch.value.dtype == batch.lower.dtype == batch.upper.dtype == np.float32
    assert (batch.lower <= batch.value).all()
    assert (batch.value <= batch.upper).all()


def test_the_interval_of_a_replay_encloses_that_in_float64():
    f, bound = pairs(np.float64)
    batch = run(Value(None), f, bound)
    for row in range(0, len(f), 40):
        assert Fraction(float(batch.lower[row])) <= Fraction(f[row]) - Fraction(bound[row])
        assert Fraction(float(batch.upper[row])) >= Fraction(f[row]) + Fraction(bound[row])


def test_without_a_tolerance_every_value_is_settled():
    assert run(Value(None), np.ones(2, np.float32), np.array([0.0, 1e30], np.float32)).settled.all()


def test_what_is_settled_is_within_the_tolerance_in_real_numbers():
    """Widths next to the tolerance, whose computed difference is rounded to it."""
    rng = np.random.default_rng(2)
    f = rng.uniform(-100, 100, size=20_000).astype(np.float32)
    for tolerance in (0.1, 0.25, 3.0):
        stage = Value.within(tolerance)
        steps = rng.integers(-20, 20, size=len(f)) * 2.0**-19
        bound = np.abs(tolerance / 2 + steps).astype(np.float32)
        batch = run(stage, f, bound)
        assert 0 < batch.settled.sum() < len(f)
        widths = batch.upper.astype(np.float64) - batch.lower.astype(np.float64)  # exact
        assert widths[batch.settled].max() <= tolerance


def test_a_bound_that_is_no_number_settles_nothing():
    """Only a damaged table can give one."""
    bounds = np.array([np.nan, np.inf], np.float32)
    assert not run(Value.within(1.0), np.ones(2, np.float32), bounds).settled.any()


@pytest.mark.parametrize("tolerance", [0.1, 1e-60, 1e-40, 1e300, 0.3])
def test_the_tolerance_is_never_larger_than_it_was_given(tolerance):
    assert float(Value.within(tolerance).tolerance) <= tolerance


def test_a_regression_has_no_label():
    batch = run(Value(None), np.array([-1.0, 0.0, 1.0], np.float32), np.ones(3, np.float32))
    assert (batch.label == NO_LABEL).all()
