"""No query takes more than 1.25 times the operations of its exact sum, zeros counted.

The queries are those of the verification: samples, generated inputs, inputs at the edges, and those
that a search finds for every path. The replay is not counted.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.sparse_digits import sparse_digits
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program

MOST = 1.25


@cache
def machine(name: str) -> tuple[Any, np.ndarray]:
    """Return a fitted estimator and samples that it was not trained with."""
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(StandardScaler(), SVC(C=10, gamma=0.02))
    else:
        X, y = sparse_digits(tuple(range(10)))
        y = y >= 5
        model = SVC(C=10, gamma=0.1)
    n = len(X) // 2
    return model.fit(X[:n], y[:n]), X[n:]


def operations(program: Program, X: np.ndarray) -> np.ndarray:
    """Return the operations of each query without those of the replay."""
    counted = interpret(program, X).stage_operations[:, : len(program.stages)]
    return np.maximum(counted, 0).sum(axis=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["certified", "statistical"])
@pytest.mark.parametrize("name", ["cancer", pytest.param("digits", marks=pytest.mark.exhaustive)])
def test_no_query_takes_more_than_a_quarter_beyond_a_sum_without_zeros(
    name: str, mode: str, tmp_path: Path
) -> None:
    model, samples = machine(name)
    np.savez(tmp_path / "data.npz", X=samples)
    risk = {"risk": "auto"} if mode == "statistical" else {}
    options: dict[str, Any] = {"target": "cortex-m7", "format": "float32", "verify": "none"}
    made = kmcompile.compile_model(
        model, mode=mode, data=tmp_path / "data.npz", out=tmp_path / "out", **risk, **options
    )
    exact = kmcompile.compile_model(model, mode="exact", **options)
    with np.load(tmp_path / "out" / "queries.npz") as file:
        X = file["X"]
    X = X[interpret(exact.program, X).results["status"] == Status.OK]
    assert len(made.program.early_exits) > 0
    most = MOST * sum(stage.operations() for stage in exact.program.stages)
    assert (operations(made.program, X) <= most).all()
    if not exact.program.sum.skip_zeros:
        assert (operations(made.program, X) <= MOST * operations(exact.program, X)).all()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:a call takes up to:UserWarning")
def test_an_exit_pays_where_zeros_are_skipped() -> None:
    """Its mean decides: a sparse query that it leaves open may take more than its own sum."""
    X, y = sparse_digits(tuple(range(10)))
    X = np.kron(X.reshape(-1, 8, 8), np.ones((2, 2))).reshape(len(X), -1)
    model = make_pipeline(Normalizer(), SVC(kernel="poly", degree=9, gamma=1, coef0=0))
    n = len(X) // 2
    model.fit(X[:n], y[:n] >= 5)
    options: dict[str, Any] = {"target": "cortex-m7", "verify": "none", "mode": "certified"}
    made = kmcompile.compile_model(model, **options)
    assert [stage.name for stage in made.program.early_exits] == ["subspace_certificate"]
