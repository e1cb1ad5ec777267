import numpy as np

from kmcompile.numeric.scalar.tanh import LIMIT, RELATIVE_ERROR, tanh

_FLOAT_MAX = np.finfo(np.float32).max


def test_tanh_of_tiny_numbers_is_the_number_with_its_sign() -> None:
    v = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-38, -1e-30, 1e-5], np.float32)
    assert np.array_equal(tanh(v).view(np.uint32), v.view(np.uint32))


def test_tanh_stays_below_one_and_constant_beyond_the_limit() -> None:
    v = np.array([LIMIT, np.nextafter(LIMIT, np.float32(9)), 100.0, _FLOAT_MAX], np.float32)
    result = tanh(v)
    assert len(set(result.tolist())) == 1
    assert 1.0 - RELATIVE_ERROR <= result[0] < 1.0
    assert np.array_equal(tanh(-v), -result)


def test_tanh_keeps_its_bound_on_random_arguments() -> None:
    v = np.random.default_rng(0).normal(0, 3, 200_000).astype(np.float32)
    error = np.abs(tanh(v) / np.tanh(v.astype(np.float64)) - 1.0)
    assert error.max() <= RELATIVE_ERROR


def test_tanh_keeps_shape_and_type_and_leaves_its_argument_alone() -> None:
    v = np.linspace(-9, 9, 12, dtype=np.float32).reshape(3, 4)
    before = v.copy()
    result = tanh(v)
    assert result.dtype == np.float32
    assert result.shape == v.shape
    assert np.array_equal(v, before)


def test_tanh_raises_no_floating_point_warning() -> None:
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        tanh(np.array([0.0, 1e-45, -_FLOAT_MAX, _FLOAT_MAX], np.float32))
