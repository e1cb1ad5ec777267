"""The float64 reference says how far it can be from the real numbers, and is not farther."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from sklearn.datasets import load_breast_cancer

from kit.hand_made_cascade import digits
from kmcompile.kernels import Poly, Rbf
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

DATA = {
    "digits": lambda: digits()[0],
    "breast_cancer": lambda: load_breast_cancer().data,
    "far from the origin": lambda: digits()[0] + 1e5,
}


def rows(data: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return vectors, inputs and scikit-learn's gamma="scale"."""
    X = np.asarray(DATA[data](), dtype=np.float64)
    return X[:400:2], X[1:400:2], 1 / (X.shape[1] * X.var(axis=0).mean())


def real_values(gamma: float, vectors: np.ndarray, x: np.ndarray) -> list[mpf]:
    with mp.workdps(50):
        at = [mpf(float(value)) for value in x]
        differences = [[mpf(float(a)) - b for a, b in zip(s, at, strict=True)] for s in vectors]
        return [mp.exp(-mpf(gamma) * mp.fdot(d, d)) for d in differences]


@pytest.mark.parametrize("data", DATA)
def test_expanded_distances_are_as_near_as_they_say(data):
    vectors, X, gamma = rows(data)
    values, error = Rbf(gamma).fast_values(vectors, X)
    assert (error > 0).all(), "expanded"
    assert (error <= 1e-11).all()
    for query in range(0, len(X), 50):
        real = real_values(gamma, vectors[::10], X[query])
        for value, exact in zip(values[query, ::10], real, strict=True):
            # The argument of exp and exp itself round besides, as they do without expansion.
            own = (3 - mp.log(exact)) * 2 * UNIT_ROUNDOFF_64
            assert abs(mpf(float(value)) - exact) <= (error[query] + own) * exact


@pytest.mark.parametrize("data", DATA)
def test_a_narrow_kernel_is_summed_from_differences(data):
    vectors, X, gamma = rows(data)
    kernel = Rbf(1e5 * gamma)
    values, error = kernel.fast_values(vectors, X)
    assert (error == 0).all()
    assert values.tobytes() == kernel.values(vectors, X).tobytes()


def test_only_the_far_inputs_are_summed_from_differences():
    vectors, X, gamma = rows("digits")
    X = np.concatenate([X, 1e4 * X[1:9], np.full((1, X.shape[1]), 1e100)])
    kernel = Rbf(gamma)
    values, error = kernel.fast_values(vectors, X)
    assert (error[: len(X) - 9] > 0).all()
    assert (error[len(X) - 9 :] == 0).all()
    assert (values[-9:] == kernel.values(vectors, X[-9:])).all()


def test_other_kernels_add_no_error():
    vectors, X, gamma = rows("digits")
    kernel = Poly(gamma, 1.0, 3)
    values, error = kernel.fast_values(vectors, X)
    assert (error == 0).all()
    assert values.tobytes() == kernel.values(vectors, X).tobytes()
