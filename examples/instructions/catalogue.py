"""The machines of `weights.py`: those of the fit, and others that have no part in it.

The others are sets of `$KMCOMPILE_DATA` or `../shared/data`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
NO_EXITS = "sign_map,local_expansion,taylor_polynomial,bound_sequence"
FORMATS = ("float32", "int16", "int8")
EXACT = {"mode": "exact", "replay": "none"}
PROVED = {"mode": "certified", "format": "float32", "replay": "none", "optimize": "mean"}
FIRST = ("linear_filter", "reduced_set", "nearest_vectors")
RISKY = {"data": True, "format": "float32", "risk": 0.02}
FLOATS = {"format": "float32"}
RBF: dict[str, Any] = {"C": 10}
LINEAR: dict[str, Any] = {"kernel": "linear"}
POLY2, POLY3 = ({"kernel": "poly", "coef0": 1, "degree": degree} for degree in (2, 3))
Machine = tuple[str, dict[str, Any], int, dict[str, Any]]
"""A set, the parameters of its machine, its number of training samples, and options."""

CATALOGUE: tuple[Machine, ...] = (
    *(("seven", RBF, 600, {**EXACT, "format": name}) for name in FORMATS),
    ("five", RBF, 700, {**EXACT, "format": "float32"}),
    *(("digits", {"gamma": 0.02}, 600, {**EXACT, "format": name}) for name in FORMATS),
    *(("eight", RBF, 900, {**EXACT, "format": name}) for name in ("float32", "int8")),
    ("cancer", RBF, 400, {"mode": "exact", "format": "float32", "replay": "float64"}),
    ("cancer", POLY2, 400, {**EXACT, "format": "float32"}),
    ("cancer", POLY3, 400, {**EXACT, "format": "float32"}),
    ("digits", POLY3, 600, {**EXACT, "format": "float32"}),
    *(("digits", LINEAR, 400, {**EXACT, "format": f}) for f in ("float32", "int8")),
    ("wine", RBF, 120, {**EXACT, "format": "float32"}),
    ("sparse", RBF, 600, {**EXACT, "format": "float32"}),
    *((name, RBF, 700, {**PROVED, "exclude": NO_EXITS}) for name in ("five", "eight")),
    ("digits", {"gamma": 0.02}, 600, {**PROVED, "exclude": NO_EXITS}),
    *(
        ("seven", RBF, 600, {**PROVED, "require": name})
        for name in ("local_expansion", "taylor_polynomial", "bound_sequence")
    ),
    *(("twenty", RBF, 600, {**RISKY, "stages": name}) for name in FIRST),
    ("twenty", RBF, 600, {**RISKY, "require": "interval_ratio"}),
    ("five", RBF, 700, {**RISKY, "require": "class_scores"}),
    ("eight", RBF, 700, {**RISKY, "stages": "linear_filter"}),
    ("seven", RBF, 600, {"mode": "exact", "format": "float32", "replay": "float64"}),
    *(("eight", LINEAR, 900, {**EXACT, "format": name}) for name in ("float32", "int16")),
    ("sparse", RBF, 600, {**RISKY, "require": "class_scores"}),
    *((name, RBF, 600, {**RISKY, "stages": "linear_filter"}) for name in ("seven", "forty")),
    *((name, LINEAR, 600, {**EXACT, "format": "float32"}) for name in ("seven", "forty")),
)
OTHERS: tuple[Machine, ...] = (
    *((name, RBF, 1000, {**EXACT, "format": "float32"}) for name in ("phoneme", "segment")),
    ("segment", RBF, 1000, {**EXACT, "format": "int16"}),
    ("satimage", RBF, 1000, {**EXACT, "format": "int8"}),
    *((name, RBF, 1000, {}) for name in ("phoneme", "satimage", "segment")),
    ("german", RBF, 700, {}),
    *((name, RBF, 1000, {"data": True, "risk": 0.02}) for name in ("phoneme", "satimage")),
    *(("satimage", LINEAR, 1000, {**EXACT, "format": name}) for name in ("float32", "int16")),
    ("german", RBF, 700, {"format": "float32", "replay": "float64"}),
    *(("twonorm", RBF, 1000, {"data": True, "risk": 0.02, **own}) for own in ({}, FLOATS)),
    ("german", LINEAR, 700, {**EXACT, "format": "float32"}),
)
SHAPES = {
    "seven": (7, 2, 5),
    "twenty": (20, 2, 10),
    "forty": (40, 2, 20),
    "five": (12, 5, 8),
    "eight": (30, 8, 12),
}


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and labels of a set, in a fixed order."""
    if name in SHAPES:
        n, classes, informative = SHAPES[name]
        made = {"n_features": n, "n_informative": informative, "n_redundant": 0}
        X, y = make_classification(6000, n_classes=classes, random_state=n, **made)
    elif (DATA / f"{name}.npz").exists():
        held = np.load(DATA / f"{name}.npz")
        X, y = (np.concatenate([held[f"{of}_train"], held[f"{of}_test"]]) for of in "Xy")
    else:
        own = {"cancer": load_breast_cancer, "wine": load_wine}.get(name, load_digits)
        X, y = own(return_X_y=True)
    if name == "sparse":
        X = np.where(X > 6, X / 16, 0.0)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]
