"""The range gate lets through what is like the calibration samples, and no other input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit import cascades, catalogue
from kit.lowered import program_of
from kmcompile.exits.statistical.case import gate_of, prepared, prepared_batch
from kmcompile.lower.formats import lower_in_format
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import RangeGate
from kmcompile.program.stages.input.range_gate import sum_of_squares, usual_squares
from kmcompile.readers import load_model
from kmcompile.steps import Normalize
from kmcompile.target import load_target

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


KEPT = ColumnTransformer([("kept", "passthrough", [0, 20, 43])])


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (Normalizer("l1"),),
        (Normalizer("max"),),
        (Normalizer(), StandardScaler()),
        (Normalizer(), KEPT),
    ],
)
def test_gate_sums_squares_where_lengths_differ(steps):
    made, found, X = gate(*steps)
    assert not found.divided
    assert found.operations() == found.n_features
    square = sum_of_squares(prepared(made, X))
    assert (found.least, found.largest) == (square.min(), square.max())


def test_pixels_that_no_vector_has_still_count_in_the_norm():
    X, y = load_digits(n_class=2, return_X_y=True)
    model = make_pipeline(Normalizer(), SVC(kernel="poly", coef0=1.0)).fit(X[:120], y[:120])
    made = lower_in_format(load_model(model), load_target("host"), "iris", "float32").program
    (step,) = made.prepare.steps
    assert isinstance(step, Normalize) and step.n_out < step.n_in
    assert gate_of(made, prepared(made, X[120:].astype(np.float32))).divided


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


def test_usual_squares_hold_their_shares_of_the_samples():
    n, k = 6400, np.arange(1, 7)
    square = np.random.default_rng(0).permutation(np.arange(1, n + 1, dtype=np.float32))
    usual = usual_squares(square)
    inside = (square[:, None] >= usual[:, 0]) & (square[:, None] <= usual[:, 1])
    off = 2 / n  # intervals end at samples: one sample at each end
    assert (np.abs(inside.mean(axis=0) - (1 - 2.0**-k)) <= off).all()
    gate = RangeGate(1, square.min(), square.max(), skip_zeros=False, usual=usual)
    dissimilarity = gate.dissimilarity(square)
    assert {*dissimilarity} == {1, 2, 4, 8, 16, 32, 64}
    # Outside interval k it grows by 2^(k - 1), for a share of 2^-k of the samples: 1 + 6 / 2.
    assert abs(dissimilarity.mean() - 4) <= (2.0 ** (k - 1)).sum() * off


def test_dissimilarity_grows_to_both_sides():
    made, found, X = gate()
    square = np.sort(found.square(prepared(made, X)))
    dissimilarity = found.dissimilarity(square).astype(int)
    lowest = dissimilarity.argmin()
    assert (np.diff(dissimilarity[: lowest + 1]) <= 0).all()
    assert (np.diff(dissimilarity[lowest + (dissimilarity == 1).sum() :]) >= 0).all()


def test_few_or_equal_samples_have_intervals_too():
    for square in ([3.0], [2.0, 2.0, 2.0], [1.0, 5.0]):
        values = np.array(square, dtype=np.float32)
        gate = RangeGate(
            1, values.min(), values.max(), skip_zeros=False, usual=usual_squares(values)
        )
        assert gate.usual.shape == (6, 2)


@pytest.mark.parametrize("usual", [[[1, 2], [1.5, 3]], [[1, 3], [1, 2]], [[0, 2], [0, 11]]])
def test_intervals_that_do_not_hold_each_other_are_refused(usual):
    with pytest.raises(ValueError, match="intervals"):
        RangeGate(1, np.float32(0), np.float32(10), skip_zeros=False, usual=np.array(usual))


@pytest.mark.parametrize("shift", ["gain", "other digits"])
def test_shifted_digits_are_more_dissimilar_than_those_held_out(shift):
    X, y = load_digits(return_X_y=True)
    made, _, _ = gate(StandardScaler())
    pair = X[np.isin(y, (3, 8))]
    usual = (pair[150:] + 1).astype(np.float32)
    found = gate_of(made, prepared(made, usual[::2]))
    shifted = 1.3 * usual[1::2] if shift == "gain" else X[~np.isin(y, (3, 8))] + 1

    def mean(rows: np.ndarray) -> float:
        square = found.square(prepared(made, rows.astype(np.float32)))
        inside = (square >= found.least) & (square <= found.largest)
        return float(found.dissimilarity(square[inside]).mean())

    assert 2 < mean(usual[1::2]) < 8
    assert mean(shifted) > 2 * mean(usual[1::2])
