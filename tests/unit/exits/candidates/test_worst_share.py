"""No query takes more than 1.25 times the operations of its own exact sum, sparse ones neither.

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
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.sparse_digits import sparse_digits
from kmcompile.exits.candidates.room import Room, at_cheapest_sum
from kmcompile.numeric.batch import Batch
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


@pytest.mark.parametrize("mode", ["certified", "statistical"])
@pytest.mark.parametrize("name", ["cancer", pytest.param("digits", marks=pytest.mark.exhaustive)])
def test_no_query_takes_more_than_a_quarter_beyond_its_sum(
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
    assert (operations(made.program, X) <= MOST * operations(exact.program, X)).all()


def test_the_room_is_a_share_of_the_cheapest_sum() -> None:
    model, samples = machine("digits")
    program = kmcompile.compile_model(
        model, mode="exact", target="cortex-m7", format="float32", verify="none"
    ).program
    X = samples[:50].astype(np.float32)
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    dense = sum(stage.operations() for stage in program.stages)
    room = at_cheapest_sum(Room(0.25 * dense, None, None), program, batch)
    assert room.zeros == np.count_nonzero(batch.x == 0, axis=1).max() > 0
    least = 0.25 * operations(program, X).min()
    assert abs(room.operations - least) <= 4 * 2.0**-53 * least  # a product, a quotient
