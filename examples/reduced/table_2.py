"""Table 2 of the RSS paper: the predictors, their vectors and errors, and ranks of polynomials.

    python examples/reduced/table_2.py

prints a row for each predictor of `predictors.py`, and what exact simplification (Theorem 2.1)
leaves of three polynomial machines: as many vectors as their Gram matrices have ranks.
"""

from __future__ import annotations

import numpy as np
from predictors import DATA, NAMES, load, parser, write_csv
from simplification import simplify
from sklearn.svm import SVC

from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

POLYNOMIALS = {"phoneme": (1200, 3), "diabetes": (468, 2), "german": (700, 2)}
"""Training samples and degree."""


def simplified(name: str, n: int, degree: int) -> tuple[object, ...]:
    """Return vectors before and after, labels unlike, and the largest difference of decisions."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y, X_test = (file[k] for k in ("X_train", "y_train", "X_test"))
    X, y, X_test = X[:n].astype(float), y[:n], X_test.astype(float)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    X, X_test = (X - mean) / scale, (X_test - mean) / scale
    machine = load_model(SVC(kernel="poly", degree=degree, coef0=1.0).fit(X, y))
    selection = simplify(machine)
    was, now = evaluate(machine, X_test), evaluate(selection.reduced(len(selection)), X_test)
    unlike = int((was.labels != now.labels).sum())
    largest = float(np.abs(was.decisions - now.decisions).max())
    return name, degree, machine.n_support_vectors, len(selection), unlike, largest


def main() -> None:
    """Print both tables and write them as CSV."""
    asked = parser(__doc__, NAMES).parse_args()
    rows = []
    print(f"{'set':10s}{'inputs':>7s}{'outputs':>8s}{'vectors':>8s}{'error':>8s}")
    for name in asked.names:
        predictor = load(name)
        machine, error = predictor.machine, predictor.error(predictor.machine)
        row = (name, machine.n_features, machine.n_decisions, machine.n_support_vectors, error)
        rows.append(row)
        print("{:10s}{:7d}{:8d}{:8,d}{:8.4f}".format(*row), flush=True)
    write_csv(asked.out / "table_2.csv", ("set", "inputs", "outputs", "vectors", "error"), rows)
    rows = [simplified(name, *of) for name, of in POLYNOMIALS.items()]
    header = ("set", "degree", "vectors", "simplified", "unlike", "difference")
    print(
        f"\n{'set':10s}{'degree':>7s}{'vectors':>8s}{'simplified':>11s}{'unlike':>7s}  difference"
    )
    for row in rows:
        print("{:10s}{:7d}{:8d}{:11d}{:7d}  {:.1e}".format(*row))
    write_csv(asked.out / "simplification.csv", header, rows)


if __name__ == "__main__":
    main()
