"""Reduced sets of some support vectors, fitted by least squares.

For cascades of this package.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import InnerProducts, ReducedSet
from kmcompile.program.stages.input.range_gate import sum_of_squares

SCALE = 3.0
"""Standard deviation of the scaled projections' length: the bumps reach some of the vectors."""


def fitted_reduced_set(
    number: int,
    products: InnerProducts,
    triangle: np.ndarray,
    vectors: np.ndarray,
    batch: Batch,
    f: np.ndarray,
    lanes: int = 4,
) -> ReducedSet:
    """Return the reduced set of some vectors, with a band of no width and the samples' range.

    Decisions and spread are fitted by least squares; the spread is larger where |f| is.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_features)
        Not projected.
    batch : Batch
        Prepared samples.
    f : ndarray of shape (n_samples, n_decisions), float64
        Their decisions.
    """
    n_decisions, n_out, n = f.shape[1], products.n_rows, len(vectors)
    z = products.of(np.float32(vectors)).astype(np.float64)
    y = products.of(batch.x)
    stage = ReducedSet(
        number=number,
        products=products,
        vectors=blocks(np.column_stack([z / 16, np.ones(n), 1 - (z**2).sum(axis=1) / 32]), lanes),
        weights=np.zeros((-(-n // lanes), n_decisions + 1, lanes)),
        slopes=np.zeros((n_decisions + 1, n_out)),
        intercept=np.zeros(n_decisions + 1),
        earlier=np.full(n_decisions, 0.25 if number > 1 else 0.0),
        least_spread=np.float32(0.6),
        largest_spread=np.float32(1.7),
        half_width=np.zeros(n_decisions),
        triangle=triangle,
        least=np.float32(0.0),
        largest=np.float32(0.0),
    )
    columns = stage.vectors.transpose(1, 0, 2).reshape(n_out + 2, -1)[:, :n]
    values = np.maximum(stage.lifted(y).astype(np.float64) @ columns, 0) ** 16
    design = np.column_stack([values, y, np.ones(len(y))])
    size = np.abs(f).mean(axis=1)
    target = np.column_stack([f - batch.earlier * stage.earlier, 0.5 + size / size.mean()])
    solved = np.linalg.lstsq(design, target, rcond=1e-6)[0]
    n_filled = -n % lanes
    weights = np.concatenate([solved[:n], np.zeros((n_filled, n_decisions + 1))])
    rest = stage.residual(y, sum_of_squares(batch.x))
    return replace(
        stage,
        weights=blocks(weights, lanes),
        slopes=solved[n:-1].T,
        intercept=solved[-1],
        least=rest.min(),
        largest=rest.max(),
    )


def estimate(stage: ReducedSet, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return the decisions (n_samples, n_decisions) and the spread (n_samples, 1)."""
    rows = stage.rows(stage.products.of(batch.x))
    return rows[:, :-1] + batch.earlier * stage.earlier, stage.limited(rows[:, -1:])


def scaled(rows: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal rows as a projection that bumps fit to, and its triangle."""
    factor = SCALE / np.sqrt((x @ rows.T).var(axis=0).sum())
    return factor * rows, np.eye(len(rows)) / factor


def blocks(rows: np.ndarray, lanes: int) -> np.ndarray:
    """Return rows (n, width) as (n_blocks, width, lanes), filled with copies of the last one."""
    padded = np.concatenate([rows, np.repeat(rows[-1:], -len(rows) % lanes, axis=0)])
    return padded.reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)
