"""Ten data sets on a Cortex-M7 with 50, 25 and 10 % of their support vectors.

    python examples/reduced/sizes.py [NAME ...]

trains a machine on six tenths of each set's training samples, compiles it whole, then with
`--reduce N` on the other training samples, and runs the C on the emulated board. Disagreements
are of the test samples. A regression disagrees where its value is more than a tenth of the
targets' deviation away.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile
from kmcompile.errors import KmcompileError

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
MODELS: dict[str, Any] = {
    "banana": SVC(C=10, gamma=1.0),
    "german": SVC(C=10, gamma=0.02),
    "phoneme": SVC(C=10, gamma=1.0),
    "ijcnn1": SVC(C=10, gamma=0.3),
    "spambase": SVC(C=10, gamma=0.01),
    "segment": SVC(C=10, gamma=0.1),
    "satimage": SVC(C=10, gamma=0.1),
    "optdigits": SVC(C=10, gamma=0.02),
    "letter": SVC(C=10, gamma=0.1),
    "kin8nm": SVR(C=10, gamma=0.1, epsilon=0.1),
}
SHARES = (0.5, 0.25, 0.1)
MOST_TRAINED, MOST_TESTED = 6000, 2000
LEAST_HELD_OUT = 250
TARGET = "cortex-m7"
EVERYTHING = 4_194_304
"""Flash of the emulated board, for the machines with all vectors."""


def sets_of(name: str) -> tuple[np.ndarray, ...]:
    """Return X and y to train with, X to reduce with, and X to test with."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y, X_test = (file[key] for key in ("X_train", "y_train", "X_test"))
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order]
    n = min(MOST_TRAINED, int(0.6 * len(X)))
    tested = np.random.default_rng(1).permutation(len(X_test))[:MOST_TESTED]
    return X[:n], y[:n], X[n : n + MOST_TRAINED], X_test[tested].astype(np.float32)


def compiled(model: Any, fresh: np.ndarray, test: np.ndarray, n: int | None) -> Any:
    """Return the machine with n vectors, or with all of them, on the board."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "test.npz"
        np.savez(path, X=test)
        options: dict[str, Any] = {"target": TARGET, "mode": "exact", "test_data": path}
        if n is None:
            return kmcompile.compile_model(model, max_flash=EVERYTHING, **options)
        if len(fresh) >= LEAST_HELD_OUT:
            options["data"] = fresh
        return kmcompile.compile_model(model, reduce=str(n), max_flash=EVERYTHING, **options)


def unlike(model: Any, whole: Any, made: Any, X: np.ndarray) -> float:
    """Return the share of samples with another answer than that of the machine with all vectors."""
    if isinstance(model[-1], SVR):
        apart = np.abs(whole.predict(X) - made.predict(X))
        return float((apart > 0.1 * model.predict(X).std()).mean())
    return float((whole.predict(X) != made.predict(X)).mean())


def row(name: str, share: float | None, made: Any, differs: float) -> str:
    """Return the figures of one machine as a line."""
    report = made.report
    reduction, certified = report["reduction"], report["verification"]["certified"]
    n = report["model"]["n_support_vectors"] if reduction is None else reduction["vectors_after"]
    method = "-" if reduction is None else reduction["method"]
    limit = None if reduction is None else reduction["limit"]
    return (
        f"{name:10s}{'all' if share is None else f'{share:.0%}':>5s}{n:7,d}"
        f"{report['memory']['flash_bytes']:11,d}{report['target']['instructions']['worst']:13,d}"
        f"{100 * differs:8.2f}{'-' if limit is None else f'{100 * limit:.2f}':>8s}"
        f"{_percent(certified):>8s}  {method}"
    )


def _percent(certified: dict[str, Any] | None) -> str:
    return "-" if certified is None else f"{100 * certified['certified_share']:.1f}"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", help=f"of {', '.join(MODELS)}; all by default")
    names = options.parse_args().names or list(MODELS)
    print("set      share  vectors      flash   worst case  unlike   limit  certif.  method")
    for name in names:
        X, y, fresh, test = sets_of(name)
        model = make_pipeline(StandardScaler(), MODELS[name]).fit(X, y)
        whole = compiled(model, fresh, test, None)
        print(row(name, None, whole, 0.0), flush=True)
        for share in SHARES:
            n = max(1, round(share * whole.report["model"]["n_support_vectors"]))
            try:
                made = compiled(model, fresh, test, n)
            except KmcompileError as error:
                print(f"{name:10s}{share:5.0%}{n:7,d}  {str(error).splitlines()[0]}", flush=True)
                continue
            print(row(name, share, made, unlike(model, whole, made, test)), flush=True)


if __name__ == "__main__":
    main()
