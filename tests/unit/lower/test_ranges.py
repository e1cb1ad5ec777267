"""The input limit: nothing overflows up to it, and ordinary inputs lie below it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kmcompile.errors import InputError
from kmcompile.numeric.scalar import cosine
from kmcompile.program.interpreter import Status

D = 3
STEPS = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "clip": lambda: [MinMaxScaler(clip=True)],
    "whiten": lambda: [PCA(2, whiten=True)],
    "l2": lambda: [Normalizer()],
    "l1_standard": lambda: [Normalizer("l1"), StandardScaler()],
    "max_pca": lambda: [Normalizer("max"), PCA(2)],
}
KERNELS = {
    "linear": SVC(kernel="linear"),
    "rbf": SVC(),
    "rbf_narrow": SVC(gamma=1e4),
    "poly2": SVC(kernel="poly", degree=2),
    "poly9": SVC(kernel="poly", degree=9, coef0=1.0, gamma=0.2),
    "poly24": SVC(kernel="poly", degree=24, gamma=0.05),
    "sigmoid": SVC(kernel="sigmoid"),
    "linear_svc": LinearSVC(random_state=0),
    "sampler": make_pipeline(RBFSampler(n_components=9, random_state=0), LinearSVC(random_state=0)),
}


def fitted(steps: str, kernel: str, scale=1.0):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(40, D)) * scale
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    return make_pipeline(*STEPS[steps](), KERNELS[kernel]).fit(X, y), X


def corners(limit: float) -> np.ndarray:
    signs = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=D)))
    rng = np.random.default_rng(1)
    sizes = 10.0 ** rng.uniform(-45, 0, size=(200, D)) * rng.choice([-1, 1], size=(200, D))
    return (np.concatenate([signs, sizes]) * limit).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("steps", STEPS)
def test_nothing_overflows_up_to_the_limit(steps, kernel):
    model, X = fitted(steps, kernel)
    low = lowered(model)
    inputs = np.concatenate([corners(float(low.prepare.limit)), X.astype(np.float32)])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        answers = low.answers(inputs)
    assert (answers.results["status"] == Status.OK).all()
    for values in (answers.decisions, answers.bounds):
        assert np.isfinite(values).all()
    assert np.isfinite(answers.results["lower"]).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_beyond_the_limit_an_input_is_refused(kernel):
    low = lowered(fitted("standard", kernel)[0])
    limit = low.prepare.limit
    beyond = np.nextafter(limit, np.float32(np.inf))
    X = np.zeros((2 * D, D), dtype=np.float32)
    X[np.arange(2 * D), np.arange(2 * D) % D] = np.repeat([beyond, -beyond], D)
    assert (low.answers(X).results["status"] == Status.ERROR_RANGE).all()
    X[X != 0] = np.sign(X[X != 0]) * limit
    assert (low.answers(X).results["status"] == Status.OK).all()


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e6])
@pytest.mark.parametrize("kernel", ["poly9", "rbf", "sigmoid", "linear"])
def test_a_scaler_takes_the_size_of_the_data_out_of_the_limit(kernel, scale):
    """Scaled down, large columns cannot overflow a high degree."""
    model, X = fitted("standard", kernel, scale)
    low = lowered(model)
    assert float(low.prepare.limit) >= np.abs(X).max()


@pytest.mark.parametrize("steps", ["whiten", "l2"])
def test_data_next_to_zero_are_no_reason_to_refuse(steps):
    """The limit is held against the size of the data, not against 1."""
    model, X = fitted(steps, "poly2", 1e-6)
    assert float(lowered(model).prepare.limit) >= np.abs(X).max()


def test_a_degree_that_no_float_holds_is_refused_and_does_not_crash():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(40, D))
    y = (X[:, 0] > 0).astype(int)
    model = SVC(kernel="poly", degree=50, gamma=2.0, coef0=1.0).fit(X, y)
    with pytest.raises(InputError, match="overflows float32"):
        lowered(model)


@pytest.mark.parametrize("gamma", [1e-40, 1e31])
def test_a_gamma_that_float32_cannot_hold_is_refused(gamma):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(20, D)) / np.sqrt(gamma)
    X = X if np.isfinite(X.astype(np.float32)).all() else X * 1e-3
    model = SVC(gamma=gamma).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(InputError, match="gamma is"):
        lowered(model)


@pytest.mark.parametrize(("scale", "steps"), [(1.0, "raw"), (1e3, "raw"), (1e8, "standard")])
def test_a_cosine_is_never_asked_beyond_its_limit(scale, steps):
    """Up to the input limit; beyond it inputs are refused."""
    model, X = fitted(steps, "sampler", scale)
    low = lowered(model)
    limit = low.prepare.limit
    rows = np.concatenate([corners(float(limit)), X.astype(np.float32)])
    rows = rows[low.answers(rows).results["status"] == Status.OK]
    stage = low.program.ends.exact
    totals = stage.totals(low.prepared(rows).x, stage.columns())
    assert np.abs(totals).max() <= cosine.LIMIT
    beyond = low.answers(np.full((1, D), 2 * limit, dtype=np.float32))
    assert beyond.results["status"][0] == Status.ERROR_RANGE
