"""The range gate lets through what is like the calibration samples, and no other input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit import cascades, catalogue
from kit.lowered import program_of
from kmcompile.exits.statistical.case import gate_of, prepared, prepared_batch
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import RangeGate
from kmcompile.program.stages.range_gate import sum_of_squares
from kmcompile.readers import load_model
from kmcompile.steps import Normalize

POWERS = np.float32(2.0) ** np.arange(-149, 40, dtype=np.float32)


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    few = np.isin(y, (3, 8))
    # None is 0, so that no sum skips zeros.
    return (X[few] + 1).astype(np.float32), y[few]


def program(*steps) -> tuple[Program, np.ndarray]:
    X, y = digits()
    machine = load_model(make_pipeline(*steps, SVC(gamma=0.1)).fit(X[:150], y[:150]))
    return program_of(machine), X[150:]


def gate(*steps) -> tuple[Program, RangeGate, np.ndarray]:
    made, X = program(*steps)
    return made, gate_of(made, prepared(made, X)), X


def let_through(made: Program, gate: RangeGate, X: np.ndarray) -> np.ndarray:
    return gate.run(prepared_batch(made, X)).in_range


@pytest.mark.parametrize("steps", [(Normalizer(),), (StandardScaler(), Normalizer())])
def test_gate_behind_a_norm_sums_nothing(steps):
    made, found, X = gate(*steps)
    assert found.divided
    assert found.operations() == 2
    assert (found.run(prepared_batch(made, X)).square == 1).all()


@pytest.mark.parametrize(
    "steps", [(), (Normalizer("l1"),), (Normalizer("max"),), (Normalizer(), StandardScaler())]
)
def test_gate_sums_squares_where_lengths_differ(steps):
    made, found, X = gate(*steps)
    assert not found.divided
    assert found.operations() == found.n_features
    square = sum_of_squares(prepared(made, X))
    assert (found.least, found.largest) == (square.min(), square.max())


@pytest.mark.parametrize("steps", [(Normalizer(),), (StandardScaler(), Normalizer())])
def test_gate_behind_a_norm_lets_through_divided_rows_only(steps):
    made, found, X = gate(*steps)
    # From the smallest subnormals on; behind a scaler, towards its mean.
    mean = digits()[0][:150].mean(axis=0) if len(steps) > 1 else 0
    rows = (mean + POWERS[:, None, None] * (X[:4] - mean)).reshape(-1, X.shape[1])
    rows = np.concatenate([rows, np.zeros_like(X[:1]) + mean]).astype(np.float32)
    batch = prepared_batch(made, rows)
    through = found.run(batch).in_range
    length = np.sqrt((batch.x.astype(np.float64) ** 2).sum(axis=1))
    assert through.any()
    assert (np.abs(length[through] - 1) <= found.least).all()


def test_gate_behind_a_norm_takes_every_row_that_is_divided_for_certain():
    made, found, X = gate(Normalizer())
    step = made.prepare.steps[-1]
    assert isinstance(step, Normalize)
    rows = (POWERS[:, None, None] * X[:4]).reshape(-1, X.shape[1])
    assert np.array_equal(let_through(made, found, rows), step.size(rows) >= step.smallest)


def test_row_of_zeros_goes_to_the_sum():
    case = cascades.Cascade("rbf", "binary", skip_zeros=False, preprocessing="l2")
    made = catalogue.emitted(case, "host").program
    assert next(stage for stage in made.exits if isinstance(stage, RangeGate)).divided
    results, _ = classify(made, np.zeros((1, made.n_features), np.float32))
    assert not results["in_range"][0]
    assert results["stage"][0] >= len(made.early_exits)


def test_gate_does_not_take_a_sum_for_1():
    _, found, _ = gate(Normalizer())
    with pytest.raises(ValueError, match="skip_zeros"):
        replace(found, skip_zeros=True)
