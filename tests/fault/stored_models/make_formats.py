"""Write models whose numbers float32 holds in every format that can hold them.

Needs scikit-learn 1.9, joblib, skops 0.16 and skl2onnx 1.20; run it in this folder's repository
with `tests` and its root on PYTHONPATH.
"""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import skops.io
from skl2onnx import to_onnx
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from kit.libsvm_files import libsvm_text

FOLDER = Path(__file__).parent / "formats"
X, Y = load_iris(return_X_y=True)
X = np.round(8 * X[::3]) / 8
Y = Y[::3]
DIABETES = load_diabetes(scaled=False)


def rounded(model):
    """Return the estimator with every number that its answer depends on in float32."""
    for name in ("dual_coef_", "intercept_", "coef_", "offset_"):
        if name in vars(model):
            setattr(model, name, getattr(model, name).astype(np.float32).astype(np.float64))
        if f"_{name}" in vars(model):
            value = getattr(model, f"_{name}").astype(np.float32).astype(np.float64)
            setattr(model, f"_{name}", value)
    return model


def models():
    """Yield name, model, and whether LIBSVM can hold it, too."""
    yield "binary", rounded(SVC(gamma=0.5).fit(X, 3 - 2 * (Y > 1))), True
    yield "three", rounded(SVC(kernel="poly", gamma=0.25, coef0=1.0).fit(X, Y)), True
    svr = SVR(kernel="sigmoid", gamma=2.0**-9, coef0=0.5)
    yield "svr", rounded(svr.fit(np.round(DIABETES.data[::9]), DIABETES.target[::9])), True
    yield "one_class", rounded(OneClassSVM(gamma=0.5, nu=0.25).fit(X)), True
    yield "linear", rounded(LinearSVC().fit(X, Y)), False
    scaler = StandardScaler().fit(X)
    scaler.mean_ = scaler.mean_.astype(np.float32).astype(np.float64)
    scaler.scale_ = 2.0 ** np.round(np.log2(scaler.scale_))
    svc = rounded(SVC(gamma=0.5).fit(scaler.transform(X).astype(np.float32), Y))
    yield "scaled", make_pipeline(scaler, svc), False


for name, model, in_libsvm in models():
    joblib.dump(model, FOLDER / f"{name}.joblib", compress=("zlib", 9))
    skops.io.dump(model, FOLDER / f"{name}.skops", compression=8)
    if in_libsvm:
        (FOLDER / f"{name}.model").write_bytes(libsvm_text(model))
    sample = np.zeros((1, model.n_features_in_), dtype=np.float32)
    (FOLDER / f"{name}.onnx").write_bytes(to_onnx(model, sample).SerializeToString())
