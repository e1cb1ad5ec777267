"""In Python, too, the kernel evaluations of an answer can be limited."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_moons
from sklearn.svm import SVC, SVR

import kmcompile
from kit.tools import need
from kmcompile.errors import UsageError
from kmcompile.program.interpreter import classify


@cache
def moons(number_format: str = "float32") -> tuple[kmcompile.Compiled, np.ndarray]:
    """Return a machine with a bound sequence, and inputs."""
    need("gcc")
    X, y = make_moons(300, noise=0.25, random_state=5)
    X = X.astype(np.float32)
    model = SVC(C=10, gamma=2.0).fit(X, y)
    options = {"stages": "bound_sequence", "format": number_format, "verify": "none"}
    return kmcompile.compile_model(model, name="moons", **options), X


@cache
def diabetes() -> tuple[kmcompile.Compiled, np.ndarray]:
    need("gcc")
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    model = SVR(C=1000.0, gamma=5.0).fit(X[:150], y[:150])
    options = {"tolerance": 60.0, "require": "bound_sequence", "verify": "none"}
    return kmcompile.compile_model(model, name="diabetes", **options), X


@pytest.mark.parametrize("most", [0, 20, 1000])
@pytest.mark.parametrize("of", [moons, diabetes])
def test_limited_answers_are_the_interpreters(of, most):
    compiled, X = of()
    expected, _ = classify(compiled.program, X, most)
    limited = compiled.classify if of is moons else compiled.predict_interval
    found = limited(X, max_kernel_evals=most)
    assert (found["kernel_evals"] <= most).all()
    for field in found.dtype.names:
        np.testing.assert_array_equal(found[field], expected[field], err_msg=field)


def test_refused_rows_are_zero():
    compiled, X = moons()
    rows = X[:3].copy()
    rows[1] = np.nan
    found = compiled.classify(rows, max_kernel_evals=9)
    assert found["status"].tolist() == [0, 2, 0]
    assert found[1]["stage"] == 0 and found[1]["upper"] == 0


def test_codes_are_limited_as_their_floats_are():
    compiled, X = moons("int16")
    scale = compiled.program.scale
    codes = np.rint((X - scale.offset) / scale.step).astype(np.int64)
    floats = compiled.classify(codes * scale.step + scale.offset, max_kernel_evals=40)
    found = compiled.classify(codes, codes=True, max_kernel_evals=40)
    assert (found["status"] == 0).all() and (found["kernel_evals"] <= 40).all()
    sure = found["certified"] & floats["certified"]
    assert sure.any()
    np.testing.assert_array_equal(found["label"][sure], floats["label"][sure])


@pytest.mark.parametrize("most", [-1, 2**32])
def test_impossible_limits_are_refused(most):
    compiled, X = moons()
    with pytest.raises(UsageError, match="must be from 0 to 2"):
        compiled.classify(X, max_kernel_evals=most)


def test_a_program_without_certified_exits_cannot_be_limited():
    model = SVC().fit(*make_moons(60))
    compiled = kmcompile.compile_model(model, mode="exact", verify="none")
    with pytest.raises(UsageError, match="has no certified exit"):
        compiled.classify(np.zeros((1, 2)), max_kernel_evals=5)
