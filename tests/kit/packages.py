"""Models and output folders that the tests of packages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC, SVR

import kmcompile

C = ["gcc", "-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
CXX = ["g++", "-std=c++14", "-Wall", "-Wextra", "-Werror"]


def fitted(kind: str) -> Any:
    """Return a fitted estimator: `iris`, `codes` (whole numbers) or `regression`."""
    if kind == "iris":
        return SVC(gamma=0.5).fit(*load_iris(return_X_y=True))
    if kind == "codes":
        X, y = load_iris(return_X_y=True)
        return SVC(gamma=0.05).fit(np.round(X * 10.0), y)
    X, y = load_diabetes(return_X_y=True)
    return SVR(C=50.0).fit(X[:100], y[:100])


def packaged(kind: str, out: Path, model: str = "iris", name: str = "iris", **options: Any) -> Path:
    """Compile a model with `--package`; return the package's folder.

    Parameters
    ----------
    kind : str
        A framework.
    out : Path
        The output folder, made here.
    model : str
        What `fitted` makes.
    name : str
        The prefix.
    **options
        More options of `compile_model`, or others than exact and unverified.
    """
    asked = {"mode": "exact", "verify": "none", "name": name, "package": kind, **options}
    if model == "codes":
        asked.setdefault("format", "int8")
    kmcompile.compile_model(fitted(model), out=out, **asked)
    return out / kind
