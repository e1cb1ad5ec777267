"""reliability 3: files that store a part once and use it so often that it takes gigabytes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.readers import load_model, size_limits
from kmcompile.readers.skops import arrays

N = 20_000
X = np.zeros((2, N))
SCALER = StandardScaler().fit(X)


def column_transformer(parts):
    """Return a fitted one of N columns with other parts, and a regressor behind it."""
    transformer = ColumnTransformer([("all", SCALER, slice(0, N))]).fit(X)
    transformer.transformers_ = parts
    return Pipeline([("columns", transformer), ("ridge", Ridge().fit(X, [0, 1]))])


def one_vs_rest():
    """Return one of 4096 classes whose estimators are the same."""
    samples, labels = np.eye(90), np.arange(90) % 3
    model = OneVsRestClassifier(SVC(gamma=0.1)).fit(samples, labels)
    model.classes_ = np.arange(4096)
    model.estimators_ = model.estimators_[:1] * 4096
    return model


MODELS = {
    "a scaler": Pipeline(
        [(f"step {n}", SCALER) for n in range(98)] + [("ridge", Ridge().fit(X, [0, 1]))]
    ),
    "a scaler of parts": column_transformer(
        [
            (f"part {n}", Pipeline([(f"step {k}", SCALER) for k in range(90)]), slice(0, N))
            for n in range(40)
        ]
    ),
    "columns": column_transformer([("no", "drop", slice(0, N))] * 9000),
    "an estimator": one_vs_rest(),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_is_stored_once_and_used_often_has_a_limit(model, tmp_path, monkeypatch):
    monkeypatch.setattr(size_limits, "MAX_NUMBERS", 4_000_000)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    with pytest.raises(InputError, match="at most") as caught:
        load_model(path)
    assert len(str(caught.value).splitlines()) <= 3


STORED = Path(__file__).parent / "stored_models"


def test_operators_of_onnx_that_repeat_a_number_have_a_limit(monkeypatch):
    monkeypatch.setattr(size_limits, "MAX_NUMBERS", 25)
    with pytest.raises(InputError, match="would have 30 numbers, must have at most 25"):
        load_model(STORED / "onnx" / "svr.onnx")


def test_sparse_matrices_of_skops_that_are_archives_themselves_have_a_limit(monkeypatch):
    monkeypatch.setattr(arrays, "MAX_MODEL_BYTES", 1000)
    with pytest.raises(InputError, match="take more than 1000 bytes"):
        load_model(STORED / "skops" / "sparse.skops")
