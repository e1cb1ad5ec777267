"""Cascades on scikit-learn's digits: every kind of early exit, fitted roughly, on real samples.

For tests that read what a statistical program tells of its stages: reports, costs, notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.reduced_sets import estimate, fitted_reduced_set, scaled
from kmcompile import readers
from kmcompile.lower import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    ExactSum,
    InnerProducts,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    RangeGate,
    ReducedSet,
)
from kmcompile.target import load_target

N_VECTORS, N_DIMENSIONS, LEVELS = 20, 12, (5, 12)
STEPS = (0, 0, 4, 10, 20)


@dataclass(frozen=True, eq=False)
class DigitsCascade:
    """A machine with its exact and its statistical program, and samples that neither has seen."""

    machine: KernelMachine
    exact: Program
    program: Program
    test: np.ndarray


@cache
def digits_cascade(kernel: str, n_classes: int) -> DigitsCascade:
    """Return the cascade of 3 against 8 or of all ten digits."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    if n_classes == 2:
        chosen = np.isin(y, (3, 8))
        X, y = X[chosen], y[chosen]
    machine = readers.load_model(SVC(kernel=kernel).fit(X[::2], y[::2]))
    exact = lower(machine, load_target("host"), "digits", ordinary_inputs(machine, 64))
    fitted = X[1::4]
    f = interpret(exact, fitted).decisions.astype(np.float64)
    n = exact.ends.exact.n_features
    program = replace(
        exact,
        mode="statistical",
        exits=(
            Nonzeros(n),
            RangeGate(n, np.float32(0), np.float32(30), skip_zeros=True),
            linear_filter(fitted, f),
            reduced_set(exact, fitted, f),
            nearest_vectors(exact),
        ),
    )
    return DigitsCascade(machine, exact, program, X[3::4])


def linear_filter(X: np.ndarray, f: np.ndarray) -> LinearFilter:
    """Return a least-squares fit to f."""
    columns = np.column_stack([X, np.ones(len(X))]).astype(np.float64)
    weights = np.linalg.lstsq(columns, f, rcond=1e-3)[0].T
    half_width = 4 * np.std(columns @ weights.T - f, axis=0)
    return LinearFilter(InnerProducts.of_rows(weights[:, :-1], True), weights[:, -1], half_width)


def reduced_set(exact: Program, X: np.ndarray, f: np.ndarray) -> ReducedSet:
    """Return a reduced set of some support vectors, fitted to f."""
    vectors, V = projection(exact.ends.exact)
    rows, triangle = scaled(V, X)
    few = vectors[:: len(vectors) // N_VECTORS][:N_VECTORS]
    products, batch = InnerProducts.of_rows(rows, True), Batch.of(X, f.shape[1])
    stage = fitted_reduced_set(1, products, triangle, few, batch, f)
    decision, spread = estimate(stage, batch)
    half_width = 4 * np.std((decision - f) / spread, axis=0)
    return replace(stage, half_width=half_width, least=np.float32(-1), largest=np.float32(15))


def nearest_vectors(exact: Program) -> NearestVectors:
    """Return the control variate with two levels and three tests of touched vectors."""
    stage = exact.ends.exact
    assert isinstance(stage, ExactSum)
    vectors, V = projection(stage)
    inside = (vectors @ V.T).reshape(stage.n_blocks, stage.lanes, -1).transpose(0, 2, 1)
    square = (vectors**2).sum(axis=1)
    outside = [square - ((vectors @ V[:end].T) ** 2).sum(axis=1) for end in LEVELS]
    if "Rbf" not in type(stage.kernel).__name__:
        outside = []
    n = stage.n_decisions
    beta = np.stack([stage.slot_coefficients(row) for row in range(stage.n_rows)])
    return NearestVectors(
        levels=(InnerProducts.of_rows(V[:5], True), InnerProducts.of_rows(V[5:], True)),
        vectors=inside,
        residuals=np.array(outside).reshape(len(outside), len(vectors)),
        weights=np.abs(beta).sum(axis=0),
        far=np.float32(np.inf),
        from_estimate=True,
        tug_of_war=False,
        steps=np.array(STEPS),
        own=np.ones((len(STEPS), n)),
        earlier=np.zeros((len(STEPS), n)),
        offset=np.zeros((len(STEPS), n)),
        half_width=np.outer([np.inf, 0.6, 0.4, 0.3, 0.2], np.ones(n)),
        least=np.full(2, -9.0),
        largest=np.full(2, 30.0),
    )


def projection(stage: ExactSum) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors and their first principal directions, in rows."""
    vectors = stage.columns().T.astype(np.float64)
    return vectors, np.linalg.svd(vectors, full_matrices=False)[2][:N_DIMENSIONS]
