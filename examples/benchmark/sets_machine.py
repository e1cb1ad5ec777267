"""Train one machine of one data set, tuned by cross-validation, in a process of its own.

python examples/benchmark/sets_machine.py SET MACHINE FOLDER TRAINING HELD_OUT QUERIES POOLED

writes `SET.npz` (the samples of `--data` with their labels, and the queries), `SET-MACHINE.joblib`
(the fitted Pipeline) and, last, `SET-MACHINE.json` (what is known of it) into the folder.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sets_data import REGRESSIONS, Limits, Parts, parts_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

MACHINES: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf"},
    "poly2": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "poly3": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid"},
}
N_TUNING = 3000
C = (1.0, 10.0, 100.0)
# Times 1 / (number of features * variance), which is scikit-learn's gamma="scale".
GAMMA = {"rbf": (0.25, 1.0, 4.0), "poly": (0.25, 1.0), "sigmoid": (0.0625, 0.25, 1.0)}
EPSILON = 0.1  # of a regression, in standard deviations of the target, as is C
# A polynomial with a large C may take hours to converge; the machine is one anyway.
MOST_STEPS = 1_000_000
MIB_OF_CACHE = 500


def fit(name: str, machine: str, parts: Parts) -> tuple[Any, dict[str, Any]]:
    """Return the machine of a set, tuned on at most 3,000 of its training samples, and facts.

    Parameters
    ----------
    machine : {"rbf", "poly2", "poly3", "sigmoid"}

    Returns
    -------
    model : Pipeline of a scaler and an SVC or SVR
    facts : dict
        `deviation` is the target's standard deviation, None for classes; `score` is the accuracy
        of the queries, or R2.
    """
    X, y = parts.X.astype(np.float64), parts.y
    scaler = MinMaxScaler() if parts.is_bytes else StandardScaler()
    common = {**MACHINES[machine], "max_iter": MOST_STEPS, "cache_size": MIB_OF_CACHE}
    deviation = float(np.std(y)) if name in REGRESSIONS else None
    svm = SVC(**common) if deviation is None else SVR(epsilon=EPSILON * deviation, **common)
    scale = 1.0 / (X.shape[1] * scaler.fit_transform(X).var())
    step = type(svm).__name__.lower()
    grid = {
        f"{step}__C": [c * (deviation or 1.0) for c in C],
        f"{step}__gamma": [factor * scale for factor in GAMMA[common["kernel"]]],
    }
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        search = GridSearchCV(make_pipeline(scaler, svm), grid, cv=3, refit=False)
        search.fit(X[:N_TUNING], y[:N_TUNING])
        model = make_pipeline(scaler, svm).set_params(**search.best_params_).fit(X, y)
    facts = {
        "features": X.shape[1],
        "classes": 0 if deviation is not None else len(model[-1].classes_),
        "vectors": len(model[-1].support_),
        "training": len(X),
        "held_out": len(parts.held_out),
        "queries": len(parts.queries),
        "C": model[-1].C,
        "gamma": model[-1].gamma,
        "converged": bool(np.max(model[-1].n_iter_) < MOST_STEPS),
        "score": float(model.score(parts.queries.astype(np.float64), parts.y_queries)),
        "deviation": deviation,
        "training_cpu_s": round(time.process_time() - started, 2),
    }
    return model, facts


def main() -> None:
    """Train the machine and write its files."""
    name, machine, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    parts = parts_of(name, Limits(*map(int, sys.argv[4:8])))
    model, facts = fit(name, machine, parts)
    folder.mkdir(parents=True, exist_ok=True)
    parts_of_data = {"held_out": parts.held_out, "y_held_out": parts.y_held_out}
    np.savez(folder / f"{name}.npz", **parts_of_data, queries=parts.queries)
    joblib.dump(model, folder / f"{name}-{machine}.joblib")
    (folder / f"{name}-{machine}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
