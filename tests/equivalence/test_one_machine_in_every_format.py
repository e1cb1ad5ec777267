"""One trained machine through every file format: the same C, but for line 1, the command."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from libsvm_files import libsvm_text
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile

X, Y = load_iris(return_X_y=True)


def _svc(n_classes):
    """Return an SVC all of whose numbers float32 holds, for the formats that have no others."""
    kept = np.isin(Y, range(n_classes))
    model = SVC(gamma=0.5, C=8.0).fit(np.round(X[kept] * 8) / 8, Y[kept])
    for name in ("dual_coef_", "_dual_coef_", "intercept_", "_intercept_"):
        setattr(model, name, getattr(model, name).astype(np.float32).astype(np.float64))
    return model


MODELS = {"binary": _svc(2), "one-vs-one": _svc(3)}
WRITERS = {
    "pickle": lambda model, path: path.write_bytes(pickle.dumps(model)),
    "joblib": lambda model, path: joblib.dump(model, path, compress=("xz", 3)),
    "LIBSVM": lambda model, path: path.write_bytes(libsvm_text(model)),
    "npz": lambda model, path: kmcompile.save_model(path, model),
}
"""Each writes a fitted SVC to a path."""


def _compiled(model, folder):
    """Return the files that do not depend on what the model file is called."""
    out = folder / "out"
    options = {"target": "host", "mode": "exact", "verify": "none", "name": "iris"}
    kmcompile.compile_model(model, out=out, **options)
    source, header = (out / f"iris.{suffix}" for suffix in "ch")
    return [path.read_bytes().split(b"\n", 1)[1] for path in (source, header)]


@pytest.fixture(scope="module", params=MODELS)
def expected(request, tmp_path_factory):
    model = MODELS[request.param]
    return model, _compiled(model, tmp_path_factory.mktemp("estimator"))


@pytest.mark.parametrize("format", WRITERS)
def test_the_c_is_that_of_the_estimator_itself(format, expected, tmp_path):
    model, files = expected
    path = tmp_path / "model.any"
    WRITERS[format](model, path)
    assert _compiled(path, tmp_path) == files
