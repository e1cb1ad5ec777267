"""Rounding to codes: the nearest integer for every float32 near a tie, and nothing outside."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kmcompile.lower.prepare import length_bound
from kmcompile.numeric.batch import Batch
from kmcompile.steps import Quantize
from kmcompile.steps.quantize import REFUSED, SHIFTER

SCALES = {
    "uint8": (0, 255, 2.0**-8),
    "int8": (-128, 127, 2.0**-8),
    "int8 scaled": (-127, 127, 2.0**-8),
    "int16": (-32767, 32767, 2.0**-15),
    "int16 narrow": (-1023, 1023, 2.0**-15),
}
_BLOCK = 1 << 20


def step_of(scale: str, n: int = 1) -> Quantize:
    """Return the step of a scale."""
    low, high, unit = SCALES[scale]
    numbers = (np.float32(v) for v in (low, high, unit, 1 / unit))
    none = np.float32(0.0)
    return Quantize(*numbers, length_bound(n), code_deviation=none, n_in=n, length=None)


def quantized(step: Quantize, scaled: np.ndarray) -> Batch:
    """Return the batch of one feature in units of a code, shape (n,), float32."""
    x = scaled.astype(np.float32)[:, None] * step.unit
    return step.apply(Batch.of(x, 1))


def check(step: Quantize, scaled: np.ndarray) -> None:
    """Check codes, deviations and refusals of features in units of a code."""
    batch = quantized(step, scaled)
    wide = scaled.astype(np.float64)
    codes = np.rint(wide)  # to even where two are as near
    inside = (codes >= step.low) & (codes <= step.high)
    assert np.array_equal(batch.deviation < REFUSED, inside)
    assert np.array_equal(batch.deviation[~inside], np.full((~inside).sum(), REFUSED))
    assert np.array_equal(batch.x[inside, 0] * step.per_unit, codes[inside])
    rest = np.abs(wide - codes)[inside] * float(step.unit)
    assert (batch.deviation[inside] >= rest).all()
    # At most what the bound on a norm of one number adds.
    assert (batch.deviation[inside] <= rest * (1 + 2.0**-16) + 2.0**-60).all()


@pytest.mark.parametrize("scale", SCALES)
def test_next_to_every_tie_the_nearest_code_is_taken(scale):
    step = step_of(scale)
    ties = np.arange(float(step.low) - 1, float(step.high) + 1) + 0.5
    for offset in range(-3, 4):
        near = ties.astype(np.float32)
        for _ in range(abs(offset)):
            near = np.nextafter(near, np.float32(np.copysign(np.inf, offset)))
        check(step, near)


@pytest.mark.parametrize("scale", SCALES)
def test_every_code_is_itself(scale):
    step = step_of(scale)
    codes = np.arange(int(step.low), int(step.high) + 1).astype(np.float32)
    batch = quantized(step, codes)
    assert np.array_equal(batch.x[:, 0] * step.per_unit, codes)
    assert (batch.deviation <= 2.0**-60).all()


def test_every_float32_from_one_half_to_two_is_rounded():
    step = step_of("int16")
    first, last = (int(np.float32(v).view(np.uint32)) for v in (0.5, 2.0))
    for start in range(first, last, _BLOCK):
        check(step, np.arange(start, start + _BLOCK, dtype=np.uint32).view(np.float32))


@pytest.mark.parametrize("scale", SCALES)
def test_outside_the_scale_all_is_refused(scale):
    step = step_of(scale)
    half = np.float32(0.5)
    above = np.nextafter(step.high + half, np.float32(np.inf))
    below = np.nextafter(step.low - half, np.float32(-np.inf))
    beyond = np.array([above, below, 1e5, -1e5, 2.0**23, 2.0**60, -(2.0**60)], dtype=np.float32)
    assert (quantized(step, beyond).deviation == REFUSED).all()
    within = np.array([np.nextafter(above, 0) - half, step.high, step.low], dtype=np.float32)
    assert (quantized(step, within).deviation < REFUSED).all()


def test_one_feature_outside_is_enough():
    step = step_of("uint8", 3)
    x = np.array([[1, 2, 3], [1, 256, 3], [1, 2, -1]], dtype=np.float32) * step.unit
    assert (step.apply(Batch.of(x, 1)).deviation == REFUSED).tolist() == [False, True, True]


def test_zeros_and_what_may_be_flushed_have_code_0():
    step = step_of("int16")
    tiny = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-38, -1e-38, 1e-30], dtype=np.float32)
    batch = step.apply(Batch.of(tiny[:, None], 1))
    assert (batch.x == 0).all() and not np.signbit(batch.x).any()
    assert (batch.deviation >= np.abs(tiny)).all()
    assert len(set(batch.deviation.tolist())) == 1


@pytest.mark.parametrize("n", [1, 5, 784])
def test_the_deviation_is_at_least_the_distance_in_rationals(n):
    rng = np.random.default_rng(n)
    step = step_of("int16", n)
    scaled = rng.uniform(-3e4, 3e4, size=(20, n))
    scaled[::2] = np.rint(scaled[::2]) + 0.499
    x = scaled.astype(np.float32) * step.unit
    before = np.float32(1e-3)
    moved = step.apply(Batch.of(x, 1)).deviation
    for row, code, deviation in zip(x, step.apply(Batch.of(x, 1)).x, moved, strict=True):
        pairs = zip(row.tolist(), code.tolist(), strict=True)
        square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs)
        assert Fraction(float(deviation)) ** 2 >= square
        assert deviation <= step.largest_deviation(0.0, 0.0, 0.0) * (1 + 1e-3)
    assert (moved + before <= step.largest_deviation(float(before), 0.0, 0.0) * (1 + 1e-3)).all()


def test_adding_the_shifter_rounds_to_the_nearest_integer_only():
    """Its neighbours in float32 are 1 apart, and so are those of every sum with a code."""
    for code in (-32768, -1, 0, 1, 32768):
        total = SHIFTER + np.float32(code)
        assert float(np.nextafter(total, np.float32(np.inf))) - float(total) == 1.0
        assert float(total - SHIFTER) == code
