import numpy as np

from kmcompile.numeric.scalar.exp_negative import (
    CUTOFF,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    N_END,
    RELATIVE_ERROR,
    SHIFTER,
    exp_negative,
)

_FLOAT_MAX = np.finfo(np.float32).max
_EDGES = np.array([0.0, 1e-45, 1e-38, 1.0, 86.0, 87.0, 1e30, _FLOAT_MAX, np.inf], np.float32)


def test_exp_negative_of_zero_and_tiny_numbers_is_exactly_one() -> None:
    assert exp_negative(_EDGES[:3]).tolist() == [1.0, 1.0, 1.0]


def test_exp_negative_is_exactly_zero_from_the_cutoff_on() -> None:
    before = np.nextafter(CUTOFF, np.float32(0.0))
    last, first = exp_negative(np.array([before, CUTOFF], np.float32))
    assert last >= 2.0**-126
    assert first == 0.0
    assert not np.signbit(first)
    assert exp_negative(_EDGES[-4:]).tolist() == [0.0] * 4


def test_cutoff_is_the_first_float_whose_n_is_the_end() -> None:
    before = np.nextafter(CUTOFF, np.float32(0.0))
    n = np.array([before, CUTOFF]) * LOG2_E + SHIFTER - SHIFTER
    assert n.tolist() == [N_END - 1, N_END]


def test_products_with_the_high_part_of_ln_2_are_exact() -> None:
    n = np.arange(N_END, dtype=np.float32)
    assert np.array_equal((n * LN2_HIGH).astype(np.float64), np.arange(N_END) * float(LN2_HIGH))
    assert abs(float(LN2_HIGH) + float(LN2_LOW) - np.log(2.0)) < 2.0**-44


def test_exp_negative_keeps_its_bound_on_random_arguments() -> None:
    z = (np.random.default_rng(0).random(200_000) * 86.9).astype(np.float32)
    error = np.abs(exp_negative(z) / np.exp(-z.astype(np.float64)) - 1.0)
    assert error.max() <= RELATIVE_ERROR


def test_exp_negative_keeps_shape_and_type_and_leaves_its_argument_alone() -> None:
    z = np.linspace(0, 80, 6 * 7000, dtype=np.float32).reshape(7000, 6)
    before = z.copy()
    result = exp_negative(z)
    assert result.dtype == np.float32
    assert result.shape == z.shape
    assert np.array_equal(z, before)
    assert np.array_equal(exp_negative(z.T), result.T)
    assert exp_negative(z[:0]).shape == (0, 6)
    assert exp_negative(z[0, 0:1].reshape(())).shape == ()


def test_exp_negative_raises_no_floating_point_warning() -> None:
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        exp_negative(_EDGES)
