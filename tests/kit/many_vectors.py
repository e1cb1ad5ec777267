"""Machines of many vectors that nobody trained: one-vs-one, rbf, coefficients at the bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write(path: Path, n_vectors: int, n_features: int, n_classes: int = 4) -> Path:
    """Write a machine whose vectors lie about a centre for each class; return the path."""
    draw = np.random.default_rng(0)
    counts = np.bincount(np.arange(n_vectors) % n_classes)
    owner = np.repeat(np.arange(n_classes), counts)
    vectors = draw.normal(size=(n_classes, n_features))[owner]
    vectors += draw.normal(size=vectors.shape)
    rows = np.arange(n_classes - 1)[:, None]
    other = np.where(rows < owner, rows, rows + 1)
    bounds = draw.choice([1.0, 0.37], size=other.shape)
    np.savez(
        path,
        format_version=1,
        kind="SVC",
        task="one-vs-one",
        n_features=n_features,
        kernel="rbf",
        gamma=1 / n_features,
        support_vectors=vectors,
        dual_coef=np.where(owner < other, bounds, -bounds),
        intercept=draw.normal(size=n_classes * (n_classes - 1) // 2),
        classes=np.arange(n_classes),
        class_counts=counts,
        zero_is_positive=True,
    )
    return path
