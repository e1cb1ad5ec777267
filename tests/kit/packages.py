"""Models and output folders that the tests of packages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC, SVR

import kmcompile
from kmcompile.numeric.arrays import Float32Array

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


def queries(model: str) -> Float32Array:
    """Return 300 queries of a model: 150 or so of its samples, then others near them."""
    X, _ = load_diabetes(return_X_y=True) if model == "regression" else load_iris(return_X_y=True)
    X = np.round(X[:150] * 10.0) if model == "codes" else X[:150]
    moved = X + np.random.default_rng(0).normal(scale=0.2 * X.std(axis=0), size=X.shape)
    return np.vstack([X, np.clip(moved, 0.0, None) if model == "codes" else moved]).astype("f4")


def query_text(X: Float32Array) -> str:
    """Return queries as a program reads them: a line each, the bits of each feature."""
    return "".join(" ".join(f"{bits:08x}" for bits in row) + "\n" for row in X.view(np.uint32))


def answer_text(folder: Path, X: Float32Array) -> str:
    """Return the answers of the C in an output folder: a line each, as a program prints them.

    The label or the bits of the value, the bits of lower and upper, kernel_evals, stage,
    certified (of a label) and in_range.
    """
    compiled = kmcompile.load(folder)
    regression = compiled.program.is_regression
    answers = compiled.predict_interval(X) if regression else compiled.classify(X)
    assert not answers["status"].any()
    lines = []
    for answer in answers:
        first = f"{_bits(answer['value'])}" if regression else f"{answer['label']}"
        flags = ["in_range"] if regression else ["certified", "in_range"]
        rest = [f"{int(answer[field])}" for field in ("kernel_evals", "stage", *flags)]
        lines.append(" ".join([first, _bits(answer["lower"]), _bits(answer["upper"]), *rest]))
    return "\n".join(lines) + "\n"


def _bits(value: np.float32) -> str:
    return f"{int(value.view(np.uint32)):08x}"
