"""Certified labels behind Nystroem are those of the trained pipeline, in 60 digits.

Of equal components `normalization_` has numbers of 1e5 and more that cancel. Two classes that have
the same samples are as good as equal. A program whose coefficients had lost what is left between
them would certify the labels of another machine.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import kmcompile
from kmcompile.program.interpreter import interpret


def exact_label(model, x):
    """Return the index of the class of the trained pipeline."""
    mapped, between, linear = model
    with mpmath.workdps(60):
        kernels = [_kernel(mapped.gamma, x, row) for row in mapped.components_]
        z = mpmath.matrix(mapped.normalization_.tolist()) * mpmath.matrix(kernels)
        if isinstance(between, StandardScaler):
            of = zip(z, between.mean_, between.scale_, strict=True)
            z = mpmath.matrix([(a - mpmath.mpf(o)) * mpmath.mpf(1 / s) for a, o, s in of])
        f = mpmath.matrix(linear.coef_.tolist()) * z + mpmath.matrix(linear.intercept_.tolist())
        return max(range(len(f)), key=lambda p: f[p])


def _kernel(gamma, x, row):
    apart = [mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(x, row, strict=True)]
    return mpmath.exp(-mpmath.mpf(gamma) * sum(a**2 for a in apart))


@pytest.mark.exhaustive
@pytest.mark.parametrize("between", [StandardScaler(), "passthrough"], ids=["scaler", "none"])
@pytest.mark.parametrize("seed", range(6))
def test_certified_labels_are_those_of_the_trained_pipeline(seed, between):
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(2, 8)).astype(np.float32).astype(np.float64)
    X, y = both[[0, 0, 0, 1, 1, 1, 1, 1]], np.array([0, 1, 2, 0, 0, 0, 1, 2])
    maps = Nystroem(gamma=0.3, n_components=len(X), random_state=seed)
    model = make_pipeline(maps, between, LinearSVC(random_state=0)).fit(X, y)
    program = kmcompile.compile_model(model, verify="none").program
    queries = both.astype(np.float32)
    for x, answer in zip(queries, interpret(program, queries).results, strict=True):
        assert not answer["certified"] or answer["label"] == exact_label(model, x)
