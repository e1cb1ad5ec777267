"""CPU seconds and memory of whole compilations, one line of JSON a case.

Run from anywhere: python examples/benchmark/compiling.py [case ...] [--verify none|host]
[--out FOLDER] [--profile]. Machines are trained once and kept in the folder. Each case is a run of
`kmcompile` in a process of its own; its seconds are those of the processor, compilers included.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
Made = tuple[Any, np.ndarray | None]
"""A fitted machine, and samples for --data if the case has any."""


def digits() -> Made:
    """Return ten classes of 64 features, trained on three quarters of the samples."""
    X, y = load_digits(return_X_y=True)
    X, _, y, _ = train_test_split(X / 16, y, test_size=0.25, random_state=0)
    return SVC().fit(X, y), None


def mnist() -> Made:
    """Return eight against three, with the training digits that the machine has not seen."""
    with np.load(DATA / "mnist.npz") as file:
        X, y = file["X_train"], file["y_train"]
    rows = np.flatnonzero(np.isin(y, (3, 8)))
    X, y = X[rows] / 255, y[rows]
    return SVC(gamma=0.02, C=10).fit(X[:4000], y[:4000]), X[4000:]


def letter() -> Made:
    """Return 26 classes of 16 features, with the kernel that cross-validation chooses."""
    with np.load(DATA / "letter.npz") as file:
        X, y = file["X_train"] / 15, file["y_train"]
    return SVC(gamma=16, C=16).fit(X, y), None


def clusters(n: int, n_features: int, n_classes: int, spread: float) -> tuple[np.ndarray, ...]:
    """Return samples around a centre a class, with noise along twenty directions and everywhere."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    centres = rng.normal(size=(n_classes, n_features)) * 0.3
    directions = rng.normal(size=(20, n_features)) * spread
    noise = rng.normal(size=(n, 20)) @ directions + 0.3 * rng.normal(size=(n, n_features))
    X = centres[y] + noise
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def spoken() -> Made:
    """Return 26 classes of 617 features, as large as isolet."""
    X, y = clusters(6238, 617, 26, 0.3)
    return SVC(C=10).fit(X, y), None


def wide() -> Made:
    """Return two classes of 300 features."""
    X, y = clusters(4000, 300, 2, 0.5)
    return SVC().fit(X, y), None


def large() -> Made:
    """Return two classes of 54 features with 50,000 support vectors of equal weight.

    An SVM whose C is small has such vectors: all of them are at its bound.
    """
    X, y = clusters(52000, 54, 2, 0.3)
    model = SVC(C=1e-3, gamma=1 / 54).fit(X[:1000], y[:1000])
    order = np.argsort(y[:50000], kind="stable")
    model.support_vectors_ = X[order]
    model.support_ = order.astype(np.int32)
    n_of_second = int(y[:50000].sum())
    model._n_support = np.array([50000 - n_of_second, n_of_second], dtype=np.int32)
    coef = np.where(y[order] == 1, 1.0, -(n_of_second / (50000 - n_of_second)))[None]
    model.dual_coef_ = coef * 1e-3
    model._dual_coef_ = -model.dual_coef_  # as scikit-learn keeps them for two classes
    model._intercept_ = model.intercept_ = np.zeros(1)
    return model, None


CASES: dict[str, Callable[[], Made]] = {
    "digits": digits,
    "mnist": mnist,
    "spoken": spoken,
    "wide": wide,
    "letter": letter,
    "large": large,
}


def measured(name: str, folder: Path, verify: str, profile: bool) -> dict[str, Any]:
    """Return the CPU seconds, the memory and the operations of one compilation."""
    model, data = folder / f"{name}.pkl", folder / f"{name}.npy"
    if not model.exists():
        machine, samples = CASES[name]()
        if samples is not None:
            np.save(data, samples.astype(np.float32))
        model.write_bytes(pickle.dumps(machine))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        record = ["-m", "cProfile", "-o", str(folder / f"{name}.prof")] if profile else []
        given = ["--data", str(data)] if data.exists() else []
        command = ["-m", "kmcompile", str(model), *given, "--verify", verify, "--out", str(out)]
        subprocess.run([sys.executable, *record, *command, "--quiet"], check=True)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads((out / "report.json").read_text())
    return {
        "case": name,
        "verify": verify,
        "cpu_s": round(spent.ru_utime + spent.ru_stime, 1),
        "peak_mb": round(spent.ru_maxrss / 1024),
        "mean_ops": report["cost"]["mean_ops"],
    }


def main() -> None:
    """Measure each case in a process of its own, so that its memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--verify", default="none", choices=["none", "host"])
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "compiling")
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in asked.cases or CASES:
        if len(asked.cases) == 1:
            print(json.dumps(measured(name, asked.out, asked.verify, asked.profile)), flush=True)
            continue
        options = ["--verify", asked.verify, "--out", str(asked.out)]
        options += ["--profile"] * asked.profile
        subprocess.run([sys.executable, __file__, name, *options], check=True)


if __name__ == "__main__":
    main()
