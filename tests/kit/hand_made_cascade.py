"""Programs with early exits built by hand: all stages, thresholds from residuals on real data.

For tests of verification: queries that go along every path of a program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.lowered import Lowered, lowered
from kit.reduced_sets import estimate, fitted_reduced_set, scaled
from kit.shared_data import data_file
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import (
    InnerProducts,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    RangeGate,
)

WIDTH = 2.5
"""Half-widths, in standard deviations of the residual."""


def digits(classes: tuple[int, ...] = tuple(range(10))) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    return (X[chosen] / 16).astype(np.float32), y[chosen]


def satimage_cascade() -> Lowered:
    """Return a one-vs-one machine of six classes; skips where the data are not here."""
    with np.load(data_file("satimage")) as data:
        X, y = (data["X_train"] / 255).astype(np.float32), data["y_train"]
    return cascade(SVC(gamma=8.0).fit(X[:1500], y[:1500]), X[1500:3000])


def digits_cascade(kernel: str, classes: tuple[int, ...] = tuple(range(10))) -> Lowered:
    """Return a machine trained on the even rows, its cascade fitted to the odd ones."""
    X, y = digits(classes)
    return cascade(SVC(kernel=kernel).fit(X[::2], y[::2]), X[1::2])


def cascade(estimator: SVC, samples: np.ndarray, width: float = WIDTH) -> Lowered:
    """Return a fitted estimator lowered to a statistical program.

    Filter and reduced set are fitted to the decisions of the samples by least squares; every
    half-width is `width` standard deviations of the residuals, range limits are the samples' own.
    """
    low = lowered(estimator)
    exact = low.program.ends.exact
    f = low.answers(samples).decisions.astype(np.float64)
    samples = low.prepared(samples).x.astype(np.float64)
    vectors = exact.columns().T.astype(np.float64)
    rows = np.linalg.svd(vectors, full_matrices=False)[2][:12]
    square = (samples**2).sum(axis=1)

    design = np.column_stack([samples, np.ones(len(samples))])
    weights, left = _fitted(design, f)
    products = InnerProducts.of_rows(weights[:-1].T, True)
    linear = LinearFilter(products, weights[-1], width * left)

    M, triangle = scaled(rows[:8], samples)
    few = vectors[:: max(1, len(vectors) // 40)][:40]
    n, batch = low.program.n_decisions, Batch.of(samples.astype(np.float32), f.shape[1])
    reduced = fitted_reduced_set(1, InnerProducts.of_rows(M, True), triangle, few, batch, f)
    decision, of_query = estimate(reduced, batch)
    reduced = replace(reduced, half_width=width * ((decision - f) / of_query).std(axis=0))

    z = samples @ rows.T
    outside = np.stack([square - (z[:, :p] ** 2).sum(axis=1) for p in (5, 12)])
    size = (vectors**2).sum(axis=1)
    projected = vectors @ rows.T
    residuals = np.stack([size - (projected[:, :p] ** 2).sum(axis=1) for p in (5, 12)])
    steps = np.array([0, 0, 1, 4, 10, 20, 40])
    spread = f.std(axis=0) * np.array([0.6, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15])[:, None]
    nearest = NearestVectors(
        (InnerProducts.of_rows(rows[:5], True), InnerProducts.of_rows(rows[5:], True)),
        projected.reshape(exact.n_blocks, exact.lanes, -1).transpose(0, 2, 1),
        residuals if exact.kernel.uses_distance else np.zeros((0, 0)),
        np.abs(exact.coefficients).sum(axis=1).reshape(-1),
        np.float32(np.inf),
        True,
        False,
        steps,
        np.ones((len(steps), n)),
        np.zeros((len(steps), n)),
        np.zeros((len(steps), n)),
        spread,
        outside.min(axis=1),
        outside.max(axis=1),
    )
    gate = RangeGate(
        exact.n_features, np.float32(square.min()), np.float32(square.max()), skip_zeros=True
    )
    exits = (Nonzeros(exact.n_features), gate, linear, reduced, nearest)
    program = replace(low.program, mode="statistical", exits=exits)
    return Lowered(estimator, low.machine, program)


def _fitted(design: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return least-squares weights and the standard deviation of the residuals."""
    weights = np.linalg.lstsq(design, f, rcond=1e-6)[0]
    return weights, (f - design @ weights).std(axis=0)
