"""Regressions on real data: what the C is from the model, and what a tolerance saves.

    python examples/regression/sets.py                         every set, for a Cortex-M7
    python examples/regression/sets.py abalone --target host
    python examples/regression/sets.py abalone --tolerances 0.01 0.05 0.1

fits an rbf SVR behind a StandardScaler to the training samples of each set, compiles it with all
test samples, and prints a row: support vectors, flash, instructions of a query, the largest error
against scikit-learn's `predict` over the test samples and the largest half-width of an interval,
both in the units of the target, and the error of the model itself to set beside them. With
`--tolerances`, shares of the target's standard deviation, a row for each: what is answered by which
stage and the multiply-adds of a query against the exact sum's. The training samples choose the
exits; nothing that is proved rests on them.

"diabetes" is scikit-learn's, the others are files of the folder in KMCOMPILE_DATA.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import kmcompile
from kmcompile.compiled import Compiled

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))

# C and epsilon in standard deviations of the target, and gamma. Of C 1, 10, 100, gamma 0.02, 0.05,
# 0.15, 0.4 and epsilon 0.05, 0.2: fitted to 2,000 training samples and judged by 1,000 others, the
# best within 3 % that has the smallest C and then the fewest vectors.
TUNED = {
    "abalone": (10.0, 0.05, 0.2),
    "cpusmall": (10.0, 0.02, 0.2),
    "kin8nm": (10.0, 0.15, 0.2),
    "elevators": (10.0, 0.02, 0.2),
    "diabetes": (1.0, 0.02, 0.2),
}
N_CHOOSING = 1500


@dataclass(frozen=True, eq=False)
class Fitted:
    """A regression and its samples.

    Parameters
    ----------
    model : Pipeline
    X : ndarray of shape (n, n_features), float32
        Training samples.
    X_test, y_test : ndarray
    deviation : float
        Standard deviation of the target.
    """

    model: Any
    X: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    deviation: float


def fit(name: str) -> Fitted:
    """Return a set's regression, fitted to its training samples."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        X, X_test, y, y_test = X[:300], X[300:], y[:300], y[300:]
    else:
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
            X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    y, y_test = y.astype(np.float64), y_test.astype(np.float64)
    deviation = float(y.std())
    c, gamma, epsilon = TUNED[name]
    svr = SVR(C=c * deviation, gamma=gamma, epsilon=epsilon * deviation, cache_size=500)
    model = make_pipeline(StandardScaler(), svr).fit(X.astype(np.float64), y)
    return Fitted(
        model, X.astype(np.float32), np.ascontiguousarray(X_test, np.float32), y_test, deviation
    )


def compile_one(fitted: Fitted, target: str, tolerance: float | None, verify: str) -> Compiled:
    """Compile a regression, verified on all of its test samples."""
    return kmcompile.compile_model(
        fitted.model,
        target=target,
        name="model",
        tolerance=tolerance,
        data=None if tolerance is None else fitted.X[:N_CHOOSING],
        optimize="mean",
        test_data=fitted.X_test,
        verify=verify,
    )


def exact_row(name: str, fitted: Fitted, target: str) -> str:
    """Return what the exact sum takes and how near it is to the model."""
    compiled = compile_one(fitted, target, None, "host" if target == "host" else "target")
    answers = compiled.predict_interval(fitted.X_test)
    expected = fitted.model.predict(fitted.X_test.astype(np.float64))
    error = np.abs(answers["value"] - expected)
    half = (answers["upper"].astype(np.float64) - answers["lower"]) / 2
    counted = compiled.report["target"]["instructions"]
    instructions = "-" if counted is None else f"{counted['mean']:,.0f}"
    flash = compiled.report["memory"]["flash_bytes"] / 1000
    own = np.sqrt(((expected - fitted.y_test) ** 2).mean())
    return (
        f"{name:10} {compiled.report['model']['n_support_vectors']:7,} {flash:8.1f} "
        f"{instructions:>12} {len(answers):7,} {error.max():11.3g} {half.max():11.3g} {own:9.3g} "
        f"{fitted.deviation:9.3g}"
    )


def tolerance_row(name: str, fitted: Fitted, target: str, share: float) -> str:
    """Return what answers within a tolerance, and what a query takes."""
    compiled = compile_one(fitted, target, share * fitted.deviation, "host")
    report = compiled.report
    exits = ", ".join(
        f"{stage['name']} {stage['decided']:.1%}" for stage in report["stages"] if stage["exit"]
    )
    cost = report["cost"]
    return (
        f"{name:10} {share:9.0%} {cost['mean_ops']:11,.0f} {cost['exact_ops']:11,.0f} "
        f"{cost['speedup_ops']:7.1f}   {exits}"
    )


def main() -> None:
    """Print the rows of the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[n for n in TUNED if n != "diabetes"])
    parser.add_argument("--target", default="cortex-m7")
    parser.add_argument("--tolerances", nargs="+", type=float, default=[])
    arguments = parser.parse_args()
    if arguments.tolerances:
        print("set        tolerance  multiply-adds  exact sum  times   answered by")
    else:
        print(
            "set        vectors  flash KB instructions    test   max error   max bound      RMSE"
            "  deviation"
        )
    for name in arguments.names:
        fitted = fit(name)
        if not arguments.tolerances:
            print(exact_row(name, fitted, arguments.target), flush=True)
        for share in arguments.tolerances:
            print(tolerance_row(name, fitted, arguments.target, share), flush=True)


if __name__ == "__main__":
    main()
