"""Early exits on other data: the promised risk, what the test samples say, and the speed-up.

    python examples/nsv/sets.py

tunes an rbf machine for each data set by grid search on a part of its training samples, calibrates
early exits on training samples that the machine has not seen, and asks the test samples. The risk
is 0.01 at 99 % confidence, or the smallest that the samples support.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from cascades import Machine
from pairs import DATA, parser
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.exits.statistical.binomial import clopper_pearson_lower, clopper_pearson_upper
from kmcompile.exits.statistical.samples import require_support, supported_risk

SIZES = {
    "phoneme": (1900, 1883),
    "ijcnn1": (15_000, 12_000),
    "satimage": (2200, 2235),
    "shuttle": (15_000, 10_000),
    "wisdm": (2000, 1932),
    "skin": (10_000, 12_000),
}
"""Training samples for the machine and for calibration."""

ONE_AGAINST_REST = {"satimage": 1}

GRID = {"svc__C": [1, 10, 100, 1000], "svc__gamma": [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]}
N_GRID = 3000
N_TEST = 20_000
RISK = 0.01

Row = dict[str, Any]
Sets = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def stored(name: str) -> Sets:
    """Return training and test samples, both in an order drawn with a fixed seed."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    if name in ONE_AGAINST_REST:
        y, y_test = y == ONE_AGAINST_REST[name], y_test == ONE_AGAINST_REST[name]
    train = np.random.default_rng(0).permutation(len(X))
    test = np.random.default_rng(1).permutation(len(X_test))[:N_TEST]  # those of skin are sorted
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    return X[train], y[train], X_test[test], y_test[test]


def tuned(name: str, X: np.ndarray, y: np.ndarray, folder: Path) -> Any:
    """Return the machine of a data set; it is trained if `folder` does not hold it."""
    path = folder / f"set-{name}.joblib"
    if not path.is_file():
        pipeline = make_pipeline(StandardScaler(), SVC(cache_size=500))
        search = GridSearchCV(pipeline, GRID, cv=3).fit(X[:N_GRID], y[:N_GRID])
        folder.mkdir(parents=True, exist_ok=True)
        joblib.dump(search.best_estimator_.fit(X, y), path)
    return joblib.load(path)


def supported(n: int) -> float:
    """Return the risk to ask for with n calibration samples."""
    try:
        require_support(n, RISK, "guaranteed")
    except InputError:
        return supported_risk(n, "guaranteed")
    return RISK


def measure(name: str, folder: Path) -> Row:
    """Return the figures of a data set."""
    n_train, n_calibration = SIZES[name]
    X, y, X_test, y_test = stored(name)
    model = tuned(name, X[:n_train], y[:n_train], folder)
    machine = Machine.of(model)
    fresh = X[n_train : n_train + n_calibration]
    risk = supported(len(fresh))
    samples = machine.samples(fresh)
    program, found = machine.with_risk(samples, risk, "guaranteed", machine.exact)
    answers = machine.ask(program, X_test, machine.exact)
    exact, mean = answers.cost(with_prepare=True)
    return {
        "name": name,
        "m": machine.machine.n_support_vectors,
        "features": X.shape[1],
        "classes": len(model.classes_),
        "accuracy": model.score(X_test, y_test),
        "risk": risk,
        "scale": found.promise.scale,
        "n": len(X_test),
        "disagreements": int(answers.differs.sum()),
        "speed-up": exact / mean,
        "shares": answers.shares(),
    }


def print_row(row: Row) -> None:
    """Print the figures of a data set."""
    n, wrong = row["n"], row["disagreements"]
    low, high = clopper_pearson_lower(wrong, n), clopper_pearson_upper(wrong, n)
    kept = "refuted" if low > row["risk"] else "kept" if wrong / n <= row["risk"] else "open"
    shares = " ".join(f"{name} {share:.3f}" for name, share in row["shares"].items())
    print(
        f"{row['name']:9s}{row['m']:6d}{row['features']:5d}{row['classes']:5d}"
        f"{row['accuracy']:9.4f}{row['risk']:8.4f}{row['scale']:6.2f}{n:8,d}{wrong:6d}"
        f"{wrong / n:9.5f}{low:9.5f}{high:9.5f} {kept:8s}{row['speed-up']:8.1f}  {shares}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("names", nargs="*", help=f"of {', '.join(SIZES)}; all by default")
    asked = options.parse_args()
    names = ["satimage"] if asked.quick else asked.names or list(SIZES)
    print(
        "data          m feat clas accuracy    risk scale    test  dis.    share    lower"
        "    upper promise speed-up  shares"
    )
    rows = []
    for name in names:
        rows.append(measure(name, asked.cache))
        print_row(rows[-1])
    rows.sort(key=lambda row: row["speed-up"])
    print(
        f"\nspeed-up in operations: worst {rows[0]['speed-up']:.1f} ({rows[0]['name']}), "
        f"best {rows[-1]['speed-up']:.1f} ({rows[-1]['name']})"
    )


if __name__ == "__main__":
    main()
