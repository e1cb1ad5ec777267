"""Write the stored ONNX models and onnxruntime's answers: needs skl2onnx and onnxruntime.

Each `<name>.npz` has the inputs X (float32), the first output (label or value) and, where the
second output is made of decision values or of two probabilities, these.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, OneClassSVM

FOLDER = Path(__file__).parent / "onnx"
IRIS, DIGITS = load_iris(return_X_y=True), load_digits(return_X_y=True)
CANCER, DIABETES = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
SEXES = np.array(["malignant", "benign"])
"""As load_breast_cancer names its classes 0 and 1."""
DECISIONS = ("digits", "cancer", "one_class")
"""Their second output has decision values: of pairs, (f, -f), f."""
TWO_PROBABILITIES = "two_probabilities"


def models():
    """Yield name, estimator, training data and the samples between two that are trained on."""
    scaled = make_pipeline(StandardScaler(), SVC(C=10))
    yield "digits", SVC(gamma=1e-3, C=10, decision_function_shape="ovo"), *DIGITS, 24
    yield "cancer", scaled, CANCER[0], SEXES[CANCER[1]], 6
    yield "probability", SVC(probability=True, random_state=0), *IRIS, 3
    sigmoid = SVC(probability=True, class_weight="balanced", random_state=0)
    yield TWO_PROBABILITIES, sigmoid, IRIS[0][:, :2], IRIS[1] == 2, 2
    yield "poly", NuSVC(kernel="poly", coef0=1.0), IRIS[0], IRIS[1] > 0, 3
    sigmoid = SVC(kernel="sigmoid", gamma=0.5, coef0=-0.5)
    yield "sigmoid", make_pipeline(MinMaxScaler(), sigmoid), *IRIS, 3
    linear = make_pipeline(Normalizer(), SVC(kernel="linear", C=100))
    yield "linear", linear, IRIS[0], NAMES[IRIS[1]], 3
    yield "svr", make_pipeline(StandardScaler(), SVR(C=100)), *DIABETES, 6
    components = make_pipeline(StandardScaler(), PCA(5), MinMaxScaler(clip=True), SVC())
    yield "components", components, CANCER[0], SEXES[CANCER[1]], 6
    yield "one_class", OneClassSVM(nu=0.2), CANCER[0][:, :8], None, 6
    yield "linear_svc", LinearSVC(), *DIGITS, 3
    yield "linear_binary", LinearSVC(), IRIS[0], NAMES[IRIS[1] // 2], 2
    yield "linear_svr", LinearSVR(random_state=0), *DIABETES, 2
    yield "logistic", LogisticRegression(max_iter=1000), *IRIS, 2


warnings.simplefilter("ignore")
for name, model, X, y, step in models():
    X = X.astype(np.float32)
    model.fit(X[::step], None if y is None else y[::step])
    plain = name in (*DECISIONS, TWO_PROBABILITIES) and name != "one_class"
    options = {"zipmap": False} if plain else None
    content = to_onnx(model, X[:1], options=options).SerializeToString()
    (FOLDER / f"{name}.onnx").write_bytes(content)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    queries = X[1 :: max(1, len(X) // 40)]
    answers = session.run(None, {session.get_inputs()[0].name: queries})
    first = answers[0].ravel()
    first = first.astype(str) if first.dtype == object else first
    kept = {"decisions": answers[1]} if name in DECISIONS else {}
    kept |= {"probabilities": answers[1]} if name == TWO_PROBABILITIES else {}
    np.savez_compressed(FOLDER / f"{name}.npz", X=queries, answer=first, **kept)
