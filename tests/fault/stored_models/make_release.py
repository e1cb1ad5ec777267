"""Write releases/<release>.zip: small models and their answers, by the scikit-learn that runs this.

Run it once in an environment of each release: 1.1.3 to 1.4.2 with numpy 1, later ones with
numpy 2. `answers.npz` has the inputs, the labels or values of `predict`, the decision values
where there are any, and probabilities where they are calibrated.
"""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from pathlib import Path

import joblib
import numpy as np
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

X, Y = load_iris(return_X_y=True)
IRIS = X[::8], Y[::8]
NAMED = X[::8], np.array(["setosa", "versicolor", "virginica"])[Y[::8]]
DIABETES = tuple(part[::30] for part in load_diabetes(return_X_y=True))
QUERIES = {"iris": X[1::12], "diabetes": load_diabetes(return_X_y=True)[0][1::40]}


def models():
    """Yield name, fitted model and the name of its data."""
    svc = SVC(decision_function_shape="ovo", C=10)
    yield "pipeline", make_pipeline(StandardScaler(), svc).fit(*NAMED), "iris"
    yield "binary", NuSVC(kernel="poly", coef0=1.0, nu=0.2).fit(X[::8], Y[::8] > 0), "iris"
    yield "svr", SVR(C=100).fit(*DIABETES), "diabetes"
    yield "one_class", OneClassSVM(nu=0.2).fit(X[::8]), "iris"
    yield "linear", LinearSVC(dual=True, max_iter=100_000).fit(*IRIS), "iris"
    yield "kernel_ridge", KernelRidge(kernel="rbf", gamma=2.0).fit(*DIABETES), "diabetes"
    search = GridSearchCV(svc, {"gamma": [0.1, 1.0], "C": np.array([1, 10])}, cv=2)
    yield "search", search.fit(*IRIS), "iris"
    linear = LinearSVC(dual=True, max_iter=100_000)
    calibrated = CalibratedClassifierCV(linear, ensemble=False, cv=2)
    yield "calibrated", calibrated.fit(*NAMED), "iris"
    scalers = [("a", RobustScaler(), [0, 2]), ("b", MinMaxScaler(), slice(1, 2))]
    columns = ColumnTransformer(scalers, remainder="passthrough")
    yield "columns", make_pipeline(columns, svc).fit(*IRIS), "iris"
    process = GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True)
    yield "gaussian_process", process.fit(*DIABETES), "diabetes"
    yield "one_vs_rest", OneVsRestClassifier(SVC(kernel="linear")).fit(*IRIS), "iris"
    nystroem = Nystroem(n_components=8, random_state=0)
    yield "nystroem", make_pipeline(nystroem, RidgeClassifier()).fit(*IRIS), "iris"
    sampler = RBFSampler(n_components=8, random_state=0)
    logistic = LogisticRegression(max_iter=1000)
    yield "sampler", make_pipeline(sampler, logistic).fit(*NAMED), "iris"


def answers(model, queries):
    """Yield what is computed, and the result."""
    yield "predict", model.predict(queries)
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            yield method, getattr(model, method)(queries)


warnings.simplefilter("ignore")
path = Path(__file__).parent / "releases" / f"{sklearn.__version__}.zip"
stored = dict(QUERIES)
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for number, (name, model, data) in enumerate(models()):
        content = io.BytesIO()
        (joblib.dump if number % 2 else pickle.dump)(model, content)
        archive.writestr(f"{name}-{data}", content.getvalue())
        stored |= {f"{name}.{what}": value for what, value in answers(model, QUERIES[data])}
    np.savez(content := io.BytesIO(), **stored)
    archive.writestr("answers.npz", content.getvalue())
