"""A few lines for the tests of unsuitable model files."""

from __future__ import annotations

import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVR, OneClassSVM

from kmcompile.errors import InputError
from kmcompile.readers import load_model

X, Y = load_iris(return_X_y=True)
SMALL = SVC().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], ["a", "b", "b"])


def refused(path, *words):
    """Assert that the file is refused in one to three printable lines with these words."""
    with pytest.raises(InputError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: ")
    assert len(message.splitlines()) <= 3
    assert message.replace("\n", " ").isprintable()
    for word in words:
        assert word in message
    return message


def write(tmp_path, content, name="model.pkl"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def mutated(content, rng):
    """Return the file with a few bytes changed, cut out, doubled or moved."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        if not content:
            break
        start = rng.randrange(len(content))
        end = min(len(content), start + rng.randrange(1, 30))
        match rng.randrange(6):
            case 0 | 1:
                content[start] ^= 1 << rng.randrange(8)
            case 2:
                content[start] = rng.choice(b"\x00\xff.()RbtN]}0125acqhsu\x81\x85\x93\x94")
            case 3:
                del content[start:end]
            case 4:
                content[start:start] = content[start:end]
            case 5:
                other = rng.randrange(len(content))
                content[start:end] = content[other : other + end - start]
    return bytes(content)


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.reduced = (function, arguments)

    def __reduce__(self):
        return self.reduced


GAUSSIAN = GaussianProcessRegressor(
    ConstantKernel(2.0) * RBF([1.0, 2.0, 3.0, 4.0]) + WhiteKernel(), optimizer=None
).fit(X, Y)


def _fitted():
    yield "SVC", SVC(kernel="poly", coef0=1.0).fit(X, Y)
    yield "binary", SVC().fit(X, Y > 0)
    yield "linear", SVC(kernel="linear").fit(X, Y)
    yield "sigmoid", SVC(kernel="sigmoid", coef0=0.5).fit(X, Y)
    yield "sparse", SVC().fit(scipy.sparse.csr_matrix(X), Y)
    yield "LinearSVC", LinearSVC().fit(X, Y)
    yield "OneClassSVM", OneClassSVM(nu=0.1).fit(X)
    yield "SVR", SVR().fit(X, Y)
    yield "NuSVR", NuSVR(kernel="poly").fit(scipy.sparse.csr_matrix(X), Y)
    yield "LogisticRegression", LogisticRegression(max_iter=999).fit(X, Y)
    yield "RidgeClassifier", RidgeClassifier().fit(X, Y > 0)
    yield "LDA", LinearDiscriminantAnalysis().fit(X, Y)
    yield "SGDClassifier", SGDClassifier(random_state=0).fit(X, Y)
    yield "LinearSVR", LinearSVR(random_state=0).fit(X, Y)
    yield "Ridge", Ridge().fit(X, Y)
    yield "KernelRidge", KernelRidge(kernel="poly", gamma=0.5).fit(X, Y)
    yield "GaussianProcessRegressor", GAUSSIAN


def _meta():
    yield "GridSearchCV", GridSearchCV(SVC(), {"C": [1]}, cv=2).fit(X, Y)
    yield "OneVsRestClassifier", OneVsRestClassifier(SVC()).fit(X, Y)
    yield "two classes", OneVsRestClassifier(LinearSVC()).fit(X, Y > 0)
    yield "CalibratedClassifierCV", CalibratedClassifierCV(SVC(), ensemble=False).fit(X, Y > 0)
    yield "FixedThreshold", FixedThresholdClassifier(SVC(), threshold=0.5).fit(X, Y > 0)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=2, thresholds=9)
    yield "TunedThreshold", tuned.fit(X, Y > 0)
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    yield "TransformedTarget", scaled.fit(X, Y)
    yield "FrozenEstimator", FrozenEstimator(FITTED["SVR"])


FITTED = dict(_fitted())
META = dict(_meta())
SCALERS = [StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler()]
COLUMNS = ColumnTransformer(
    [("scaled", StandardScaler(), [2, 0]), ("rest", "passthrough", slice(1, 2))],
    transformer_weights={"scaled": 2.0},
)
STEPS = [*SCALERS, PCA(2, whiten=True), Normalizer()]
