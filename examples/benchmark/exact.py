"""The table of exact mode: what each data set's machine takes on a board.

Run from anywhere: python examples/benchmark/exact.py [target] [data ...]. Trains an rbf SVM a data
set, compiles it for the target, verifies it on the host and in the emulator, and prints one row.
The last columns compare the labels of the C with scikit-learn's `predict` on the test samples.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
Sets = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def bundled(load: Callable[..., Any]) -> Sets:
    """Return a data set of scikit-learn, every third sample for the test."""
    X, y = load(return_X_y=True)
    test = np.arange(len(X)) % 3 == 2
    return X[~test], y[~test], X[test], y[test]


def stored(name: str, classes: tuple[int, ...] = (), n_train: int | None = None) -> Sets:
    """Return a data set of the data folder, of some classes and training samples only."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    if classes:
        train, test = np.isin(y, classes), np.isin(y_test, classes)
        X, y, X_test, y_test = X[train], y[train], X_test[test], y_test[test]
    return X[:n_train].astype(float), y[:n_train], X_test.astype(float), y_test


def scaled(**parameters: float) -> Any:
    """Return a standardised SVC."""
    return make_pipeline(StandardScaler(), SVC(**parameters))


def mnist() -> Sets:
    """Return digits 3 and 8, the first 4,000 training ones, as shares of 255."""
    X, y, X_test, y_test = stored("mnist", (3, 8), 4000)
    return X / 255, y, X_test / 255, y_test


CASES: dict[str, tuple[Callable[[], Sets], Any, dict[str, Any]]] = {
    "breast_cancer": (lambda: bundled(load_breast_cancer), scaled(), {}),
    "digits": (lambda: bundled(load_digits), scaled(), {}),
    "wine": (lambda: bundled(load_wine), scaled(), {}),
    "satimage": (lambda: stored("satimage"), scaled(C=4), {}),
    "german": (lambda: stored("german"), scaled(), {}),
    "letter A-E": (lambda: stored("letter", (0, 1, 2, 3, 4)), scaled(C=10), {}),
    "mnist 3-8": (mnist, SVC(gamma=0.02, C=10), {"max_flash": 4194304}),
}


def row(name: str, target: str) -> str:
    """Return the row of a data set."""
    make, model, options = CASES[name]
    X, y, X_test, y_test = make()
    # The C receives float32, so scikit-learn is asked about the same numbers.
    X_test = X_test.astype(np.float32).astype(float)
    model.fit(X, y)
    if target == "host":
        options = {}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "test.npz"
        np.savez(path, X=X_test, y=y_test)
        started = time.perf_counter()
        compiled = kmcompile.compile_model(
            model, target=target, test_data=path, name="model", mode="exact", **options
        )
        seconds = time.perf_counter() - started
    report = compiled.report
    results, labels = compiled.classify(X_test), compiled.predict(X_test)
    differs = labels != model.predict(X_test)
    exact, instructions = report["verification"]["exact"], report["target"]["instructions"]
    queries = [run["queries"] if run else 0 for run in (exact["host"], exact["target"])]
    wrong = [run["mismatches"] if run else "-" for run in (exact["host"], exact["target"])]
    memory = report["memory"]
    return (
        f"{name:14s}{report['model']['n_support_vectors']:6d}{X.shape[1]:6d}"
        f"{memory['flash_bytes']:11,d}{memory['stack_bytes'] or 0:7,d}"
        f"{memory['workspace_bytes']:7,d}"
        f"{int(instructions['mean']) if instructions else 0:13,d}"
        f"{queries[0]:8,d}{wrong[0]:>5}{queries[1]:8,d}{wrong[1]:>5}"
        f"{len(X_test):8,d}{int(differs.sum()):7d}{int((differs & results['certified']).sum()):7d}"
        f"{results['certified'].mean():9.4f}{seconds:8.1f}"
    )


def main() -> None:
    """Print the table."""
    target = sys.argv[1] if len(sys.argv) > 1 else "cortex-m7"
    print(
        "data             SVs  feat      flash  stack  wspace instructions    host  bad  target"
        "  bad    test  diff.  proved certified  seconds"
    )
    for name in sys.argv[2:] or CASES:
        print(row(name, target), flush=True)


if __name__ == "__main__":
    main()
