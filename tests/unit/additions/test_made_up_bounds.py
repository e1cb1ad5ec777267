"""The error bounds of the made-up kernel and step hold in real numbers, and each part is needed."""

from __future__ import annotations

from dataclasses import replace

import made_up
import numpy as np
import pytest
from mpmath import mp, mpf

from kit.additions.cauchy import STEEPEST, Cauchy
from kit.additions.cube import Cube
from kmcompile.kernels.float32 import KernelContext
from kmcompile.lower.prepare import length_bound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64
from kmcompile.steps import StepContext

DIGITS = 60
N = made_up.N_FEATURES
PRECISIONS = pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])


def arriving(precision, off: float) -> tuple[np.ndarray, Batch]:
    """Return exact rows, and what arrives of them: off by about `off` relative to their size."""
    rng = np.random.default_rng(4)
    exact = rng.normal(size=(28, N)) * 10.0 ** rng.uniform(-3, 6, size=(28, 1))
    x = (exact * (1 + off * rng.uniform(-1, 1, size=exact.shape))).astype(precision.dtype)
    deviation = np.sqrt(((exact - x.astype(np.float64)) ** 2).sum(axis=1)) * (1 + 1e-6) + 1e-300
    up = np.nextafter(deviation.astype(precision.dtype), precision.dtype(np.inf))
    length = length_bound(N, precision).of(x)
    return exact, replace(Batch.of(x, 1), x=x, deviation=up, length=length)


def cube_excess(step, precision, off: float) -> float:
    """Return how far the cubes are off, in units of the deviation that the step says."""
    exact, batch = arriving(precision, off)
    after = step.apply(batch)
    worst = 0.0
    with mp.workdps(DIGITS):
        for row, y, deviation, length in zip(
            exact, after.x, after.deviation, after.length, strict=True
        ):
            pairs = [(mpf(float(a)) ** 3, mpf(float(b))) for a, b in zip(row, y, strict=True)]
            off_by = mp.sqrt(mp.fsum((a - b) ** 2 for a, b in pairs))
            assert mp.sqrt(mp.fsum(b * b for _, b in pairs)) <= mpf(float(length))
            worst = max(worst, float(off_by / mpf(float(deviation))))
    return worst


@PRECISIONS
@pytest.mark.parametrize("off", [0.0, 1e-7, 1e-3, 0.5])
def test_cubes_lie_within_their_deviation(precision, off):
    step = Cube(N).lower(StepContext(length_bound(N, precision), 4, precision))
    assert cube_excess(step, precision, off) <= 1.0


@pytest.mark.parametrize(("field", "off"), [("gain", 1e-2), ("relative", 0.0)])
def test_without_a_part_of_the_deviation_cubes_lie_beyond_it(field, off):
    step = Cube(N).lower(StepContext(length_bound(N, FLOAT64), 4, FLOAT64))
    # What float32 rounds in the rows themselves would hide what the products round.
    mutant = replace(step, **{field: np.float64(0.0)})
    if field == "relative":
        mutant = replace(mutant, gain=np.float64(0.0))
    assert cube_excess(mutant, FLOAT64, off) > 1.0


def kernel_excess(kernel: Cauchy, image, precision, off: float) -> float:
    """Return how far kernel values are off, in units of their errors."""
    exact, batch = arriving(precision, off)
    stored = exact[::7].astype(precision.dtype)
    total = np.zeros((len(exact), len(stored)), dtype=precision.dtype)
    for x, s in zip(batch.x.T, stored.T, strict=True):
        image.accumulate(total, x[:, None], s[None])
    value, error = image.finish(total, image.query_terms(batch))
    worst = 0.0
    with mp.workdps(DIGITS):
        for row, values, errors in zip(exact, value, error, strict=True):
            for s, k, bound in zip(exact[::7], values, errors, strict=True):
                pairs = zip(s, row, strict=True)
                square = mp.fsum((mpf(float(a)) - mpf(float(b))) ** 2 for a, b in pairs)
                real = 1 / (1 + mpf(kernel.gamma) * square)
                off_by = abs(real - mpf(float(k)))
                limit = mpf(float(bound)) + mpf(image.absolute_error)
                worst = max(worst, float(off_by / limit))
    return worst


def image_of(kernel: Cauchy, precision):
    exact, _ = arriving(precision, 0.0)
    stored = exact[::7].astype(precision.dtype).astype(np.float64)
    error = float(np.sqrt(((exact[::7] - stored) ** 2).sum(axis=1)).max()) * (1 + 1e-9)
    length = float(np.sqrt((stored**2).sum(axis=1)).max())
    return kernel.lower(KernelContext(N, error, length, 0.0, 0.0, False, precision))


@PRECISIONS
@pytest.mark.parametrize("off", [0.0, 1e-5, 0.3])
@pytest.mark.parametrize("gamma", [1e-12, 1e-4, 0.3, 1e3])
def test_kernel_values_lie_within_their_errors(gamma, off, precision):
    kernel = Cauchy(gamma)
    assert kernel_excess(kernel, image_of(kernel, precision), precision, off) <= 1.0


@pytest.mark.parametrize(
    ("fields", "off"), [(("slope",), 1e-3), (("slope", "value_error"), 0.0)], ids=str
)
def test_without_a_part_of_the_error_kernel_values_lie_beyond_it(fields, off):
    kernel = Cauchy(0.3)
    mutant = replace(image_of(kernel, FLOAT32), **dict.fromkeys(fields, np.float32(0.0)))
    assert kernel_excess(kernel, mutant, FLOAT32, off) > 1.0


def test_the_steepest_place_of_the_kernel_is_that_of_its_docstring():
    r = np.linspace(0, 5, 100_001)
    slopes = 2 * r / (1 + r**2) ** 2
    assert slopes.max() <= STEEPEST * (1 + 1e-12)
    assert slopes.max() >= STEEPEST * (1 - 1e-9)
