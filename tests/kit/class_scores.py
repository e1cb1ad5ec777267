"""Class scores fitted by least squares, for cascades of this package."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kit.reduced_sets import fitted_reduced_set
from kmcompile.exits.statistical.class_scores import pair_signs
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import ClassScores, InnerProducts
from kmcompile.program.stages.early_exits.class_scores import leads_of

DECIDED = 0.15
"""Share of the samples that each of several scores decides."""


def class_values(f: np.ndarray) -> np.ndarray:
    """Return the mean decision for each class, given those of the pairs."""
    n_classes = round((1 + np.sqrt(1 + 8 * f.shape[1])) / 2)
    return f @ pair_signs(n_classes).T / n_classes


def linear_scores(
    number: int, x: np.ndarray, f: np.ndarray, skip_zeros: bool, share: float = DECIDED
) -> ClassScores:
    """Return scores that are inner products, with a band that a share of the samples leave."""
    with_one = np.column_stack([x, np.ones(len(x))])
    w = np.linalg.lstsq(with_one, class_values(f), rcond=1e-6)[0].T
    n = len(w)
    stage = ClassScores(
        number=number,
        products=InnerProducts.of_rows(w[:, :-1], skip_zeros),
        vectors=np.zeros((0, n + 2, 1)),
        weights=np.zeros((0, n, 1)),
        slopes=np.zeros((n, 0)),
        intercept=w[:, -1],
        triangle=np.zeros((0, 0)),
        least=np.float32(0.0),
        largest=np.float32(0.0),
        half_width=np.zeros(n),
    )
    return with_band(stage, np.float32(x), share)


def vector_scores(
    number: int,
    products: InnerProducts,
    triangle: np.ndarray,
    vectors: np.ndarray,
    batch: Batch,
    f: np.ndarray,
) -> ClassScores:
    """Return scores by free vectors, with a band that a share of the samples leave."""
    values = class_values(f)
    batch = replace(batch, earlier=np.zeros_like(values, dtype=np.float32))
    made = fitted_reduced_set(1, products, triangle, vectors, batch, values)
    stage = ClassScores(
        number=number,
        products=products,
        vectors=made.vectors,
        weights=made.weights[:, :-1],
        slopes=made.slopes[:-1],
        intercept=made.intercept[:-1],
        triangle=made.triangle,
        least=made.least,
        largest=made.largest,
        half_width=np.zeros(values.shape[1]),
    )
    return with_band(stage, batch.x, DECIDED)


def with_band(stage: ClassScores, x: np.ndarray, share: float) -> ClassScores:
    """Return the scores with a half-width that the lead of a share of the inputs exceeds."""
    leads = leads_of(stage.scores(stage.products.of(x)))[1].min(axis=1)
    near = np.linspace(0.95, 1.05, len(stage.half_width))  # one a class, so that each is read
    return replace(stage, half_width=near * np.quantile(leads, 1 - share))
