"""sklearn-porter: a program in double, of which the function `predict` is called."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from peer import Place, Written, answer

ANSWER = """
/* The generated program reads one sample from its arguments; only its function is wanted. */
#define main unused_main
#include "generated.c"

uint32_t peer_classify(const float x[N_FEATURES])
{
    double features[N_FEATURES];

    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        features[j] = x[j];
    }
    return (uint32_t)predict(features);
}
"""


OLD_NAMES = {
    "sklearn.tree.tree": "sklearn.tree",
    "sklearn.ensemble.weight_boosting": "sklearn.ensemble",
    "sklearn.ensemble.forest": "sklearn.ensemble",
    "sklearn.svm.classes": "sklearn.svm",
    "sklearn.neighbors.classification": "sklearn.neighbors",
    "sklearn.neural_network.multilayer_perceptron": "sklearn.neural_network",
}


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write sklearn-porter's C."""
    (folder / "generated.c").write_text(_porter()(svc, language="c").export())
    return Written((answer(folder, ANSWER),))


def _porter() -> Any:
    """Return the peer's class, with the names that scikit-learn 0.21 and Python 3.8 still had."""
    for old, new in OLD_NAMES.items():
        sys.modules.setdefault(old, import_module(new))
    load = json.load
    try:
        json.load = lambda file, encoding="": load(file)
        return import_module("sklearn_porter").Porter
    finally:
        json.load = load
