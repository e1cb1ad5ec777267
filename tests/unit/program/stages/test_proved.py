"""The middle of a proved interval and its bound enclose the interval."""

from __future__ import annotations

import platform
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kit.roundings import flushing_subnormals
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import Value
from kmcompile.program.stages.labels.proved import proved


def intervals() -> tuple[np.ndarray, np.ndarray]:
    """Return ends of every size down to the smallest normal number, wide apart and equal."""
    rng = np.random.default_rng(3)
    middle = rng.choice([-1.0, 1.0], 4000) * 2.0 ** rng.uniform(-126, 90, 4000)
    middle[::2] = rng.choice([-1.0, 1.0], 2000) * 2.0 ** rng.uniform(-126, -120, 2000)
    width = np.abs(middle) * rng.choice([0.0, 1e-7, 1e-3, 1.0, 1e9], 4000)
    return (middle - width).astype(np.float32), (middle + width).astype(np.float32)


def check(least: np.ndarray, most: np.ndarray, answer: Batch) -> None:
    ends = zip(answer.lower, least, answer.value, most, answer.upper, strict=True)
    for lower, low, value, high, upper in (map(Fraction, map(float, row)) for row in ends):
        assert lower <= low
        assert high <= upper
        assert lower <= value <= upper


def answered(least: np.ndarray, most: np.ndarray) -> Batch:
    batch = Batch.of(np.zeros((len(least), 1), dtype=np.float32), 1)
    return proved(replace(batch, least=least[:, None], most=most[:, None]), Value(None))


def test_the_interval_of_a_regression_encloses_what_is_proved():
    ends = intervals()
    check(*ends, answered(*ends))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs the x86-64 control register")
def test_it_does_where_subnormals_are_flushed_to_zero(tmp_path):
    ends = intervals()
    with flushing_subnormals(tmp_path):
        answer = answered(*ends)
    check(*ends, answer)
