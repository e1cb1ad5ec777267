"""The choice of codes: lossless ones are the vectors, scaled ones leave the promised room."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from sklearn.datasets import load_digits

from kit.fixed_sums import GRIDS, random_machine
from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Linear, Poly, Rbf
from kmcompile.lower.code_table import code_table
from kmcompile.lower.codes import Coded, check_gamma, lossless_codes, scaled_codes
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.rounding import stored_error
from kmcompile.numeric.width import WIDTHS
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.steps import Affine, Clip, Step

LARGEST = {"int8": 127, "int16": 32767}


def machine_of(vectors: np.ndarray, *steps: Step, kernel: Kernel | None = None) -> KernelMachine:
    """Return a machine with these vectors."""
    m, n = vectors.shape
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel or Rbf(0.1),
        support_vectors=vectors,
        dual_coef=np.ones((1, m)),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=n,
        preprocessing=steps,
    )


@pytest.mark.parametrize(
    ("low", "high", "width", "ends"),
    [
        (0, 255, "uint8", (0, 255)),
        (0, 1, "uint8", (0, 255)),
        (-1, 3, "int8", (-128, 127)),
        (-128, 127, "int8", (-128, 127)),
        (0, 256, "int16", (-32767, 32767)),
        (-129, 0, "int16", (-32767, 32767)),
        (-32767, 32767, "int16", (-32767, 32767)),
        (-20000, 20000, "int16", (-32767, 32767)),
        (0, 8000, "int16", (-32767, 32767)),
    ],
)
def test_lossless_codes_take_the_narrowest_type(low, high, width, ends):
    vectors = np.array([[low, high], [high, low]], dtype=np.float64)
    coded = lossless_codes(machine_of(vectors, kernel=Rbf(1e-3)))
    assert coded is not None and coded.lossless
    assert (coded.width, coded.low, coded.high) == (width, *ends)
    assert np.array_equal(coded.codes, vectors)


@pytest.mark.parametrize("n", [2, 40, 200])
@pytest.mark.parametrize("largest", [300, 1000, 5000, 16000, 30000])
def test_codes_of_16_bits_have_the_widest_scale_of_32_bit_sums_with_room_for_twice(n, largest):
    rng = np.random.default_rng(n)
    vectors = rng.integers(-largest, largest + 1, size=(9, n)).astype(np.float64)
    vectors[0, 0] = largest
    coded = lossless_codes(machine_of(vectors, kernel=Rbf(1e-6)))
    assert coded is not None
    order = np.arange(9)
    table = code_table(coded, order, order < 0, "rows", 1)
    assert not table.wide or coded.high == 32767
    assert coded.high >= min(2 * largest, 32767) and coded.low == -coded.high


@pytest.mark.parametrize("number_format", LARGEST)
def test_scaled_codes_leave_room_for_inputs_farther_out(number_format):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(30, 4)) * 7 + 100
    coded = scaled_codes(machine_of(vectors), number_format)
    largest = LARGEST[number_format]
    assert not coded.lossless
    assert (coded.width, coded.low, coded.high) == (number_format, -largest, largest)
    assert np.abs(coded.codes).max() == round(largest / WIDTHS[number_format].margin)
    middle = (vectors.max(axis=0) + vectors.min(axis=0)) / 2
    far = middle + WIDTHS[number_format].margin * np.abs(vectors - middle).max()
    prepared = coded.machine.prepare(far[None]) / coded.unit
    # Of `far`, the offset and their difference: a few units of float64 in steps of the codes.
    rounding = 8 * 2.0**-53 * (np.abs(far) + np.abs(middle)) * largest / (far - middle)
    assert (np.abs(prepared - largest) <= rounding + 4 * 2.0**-53 * largest).all()


def test_vectors_that_are_all_the_same_are_scaled():
    coded = scaled_codes(machine_of(np.full((3, 2), 0.7)), "int16")
    assert not coded.codes.any()


@pytest.mark.parametrize("kind", [*GRIDS, "int16", "int8"])
def test_what_codes_stand_for_is_prepared_to_the_codes(kind):
    """In 50 digits: within `code_deviation`; the vectors within `moved_error` of the rounded."""
    for seed in range(12):
        machine = fold_scalers(random_machine(seed, kind if kind in GRIDS else None))
        try:
            coded = lossless_codes(machine) if kind in GRIDS else scaled_codes(machine, kind)
        except InputError as error:
            assert "gamma" in str(error)
            continue
        assert coded is not None
        scale = coded.scale
        n = machine.n_features
        with mp.workdps(50):
            ratio = mp.sqrt(mpf(machine.kernel.gamma) / mpf(coded.machine.kernel.gamma))
            for code in (coded.low, 0, 1, coded.high):
                raw = [mpf(scale.offset[j]) + mpf(scale.step[j]) * code for j in range(n)]
                origin = [mpf(scale.offset[j]) for j in range(n)]
                square = mpf(0)
                for j in range(n):
                    a, b = raw[j], origin[j]
                    for step in machine.preprocessing:
                        assert isinstance(step, Affine)
                        a = (a - mpf(step.offset[j])) * mpf(step.factor[j])
                        b = (b - mpf(step.offset[j])) * mpf(step.factor[j])
                    # The code's distance from code 0 in the stage's units.
                    square += (abs(a - b) * ratio - abs(code) * mpf(coded.unit)) ** 2
                assert mp.sqrt(square) <= 2 * coded.code_deviation + mpf(2) ** -50 * abs(code)


def test_lossless_vectors_are_their_codes_to_a_millionth():
    for values in (load_digits().data, load_digits().data / 16, load_digits().data * 0.01):
        coded = lossless_codes(machine_of(values[:200], kernel=Rbf(1e-3)))
        assert coded is not None
        error = stored_error(coded.machine.support_vectors, coded.codes * coded.unit)
        assert (error + coded.moved_error) / coded.unit < 1e-6


@pytest.mark.parametrize("kernel", [Rbf(0.1), Poly(0.1, 1.0, 3)])
def test_real_data_have_no_lossless_codes(kernel):
    vectors = np.random.default_rng(6).normal(size=(40, 3))
    assert lossless_codes(machine_of(vectors, kernel=kernel)) is None


def test_what_has_no_codes_is_refused():
    whole = np.arange(6.0).reshape(3, 2)
    for refused in (
        lambda: lossless_codes(machine_of(whole, kernel=Linear())),
        lambda: scaled_codes(machine_of(whole, kernel=Poly(0.1, 1.0, 3)), "int16"),
        lambda: lossless_codes(machine_of(whole, Clip(0.0, 1.0, 2))),
        lambda: scaled_codes(
            machine_of(whole, Affine(np.ones(2), np.ones(2)), Clip(0, 1, 2)), "int8"
        ),
    ):
        with pytest.raises(InputError, match="use --format float32"):
            refused()


@pytest.mark.parametrize("gamma", [0.0, 2e-18, 44.5, np.inf, np.nan])
def test_a_gamma_beyond_the_constants_is_refused(gamma):
    with pytest.raises(InputError, match="in units of the codes"):
        check_gamma(gamma)


def test_a_gamma_within_the_constants_is_taken():
    for gamma in (2.5e-18, 1.0, 44.3):
        check_gamma(gamma)


def coded_of(vectors: np.ndarray) -> Coded:
    """Return lossless codes."""
    coded = lossless_codes(machine_of(vectors, kernel=Rbf(1e-3)))
    assert coded is not None
    return coded


def test_a_negative_factor_turns_the_scale_round():
    step = Affine(np.zeros(2), np.full(2, -0.5))
    vectors = np.array([[-1.0, -3.0], [-2.5, 0.0]])
    coded = lossless_codes(machine_of(vectors, step, kernel=Rbf(1e-3)))
    assert coded is not None
    assert np.array_equal(coded.scale.values(coded.codes), vectors / -0.5)
    assert np.array_equal(coded_of(vectors / -0.5).codes, coded.codes)
