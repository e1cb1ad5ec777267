"""Letters in 256 KB and the digits 3 and 8 in 64 KB of a Cortex-M7, by `--reduce auto`.

    python examples/reduced/board.py [letter] [mnist]

compiles each machine with all its vectors and with as few as keep the risk on samples that nothing
else has seen, runs both on the emulated board, and counts the test samples with another label.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sizes import DATA, EVERYTHING, TARGET
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile


class Case(NamedTuple):
    """A machine, samples that it was not trained on, and what it is asked to fit into."""

    model: Any
    fresh: np.ndarray
    test: np.ndarray
    risk: float
    flash: int
    formats: tuple[str, ...]


def letter() -> Case:
    """Return 26 letters; a fifth of the training samples is held out."""
    X, y, test = _stored("letter")
    order = np.random.default_rng(0).permutation(len(X))
    fresh, train = np.split(order, [len(X) // 5])
    model = make_pipeline(StandardScaler(), SVC(C=100, gamma=1 / 16))
    return Case(model.fit(X[train], y[train]), X[fresh], test, 0.03, 256_000, ("float32",))


def mnist() -> Case:
    """Return the digits 3 and 8: the first 4,000 of the training digits train the machine."""
    X, y, test = _stored("mnist", (3, 8))
    model = SVC(C=10, gamma=0.02 / 255**2).fit(X[:4000], y[:4000])
    return Case(model, X[4000:], test, 0.01, 64_000, ("float32", "int8"))


def _stored(name: str, labels: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
    with np.load(DATA / f"{name}.npz") as file:
        X, y, test, y_test = (file[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    if labels:
        own, tested = np.isin(y, labels), np.isin(y_test, labels)
        X, y, test = X[own], y[own], test[tested]
    return X.astype(np.float32), y, test.astype(np.float32)


def show(name: str, made: Any, unlike: int, n: int) -> None:
    """Print the figures of a program."""
    report = made.report
    reduction, counted = report["reduction"], report["target"]["instructions"]
    vectors = reduction["vectors_after"] if reduction else report["model"]["n_support_vectors"]
    limit = f", promised at most {100 * reduction['limit']:.2g} %" if reduction else ""
    print(
        f"{name:7s} {made.program.number_format:8s}{vectors:6,d} vectors "
        f"{report['memory']['flash_bytes']:10,d} bytes of flash {counted['worst']:12,d} "
        f"instructions at most, {counted['mean']:12,.0f} in the mean; "
        f"{unlike} of {n:,} test labels differ{limit}",
        flush=True,
    )


CASES = {"letter": letter, "mnist": mnist}


def main() -> None:
    """Print the figures of both machines."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    for name in options.parse_args().names or CASES:
        case = CASES[name]()
        labels = case.model.predict(case.test)
        with TemporaryDirectory() as folder:
            test = Path(folder) / "test.npz"
            np.savez(test, X=case.test)
            given: dict[str, Any] = {"target": TARGET, "mode": "exact", "test_data": test}
            for number_format in case.formats:
                given["format"] = number_format
                whole = kmcompile.compile_model(case.model, max_flash=EVERYTHING, **given)
                show(name, whole, int((whole.predict(case.test) != labels).sum()), len(labels))
                wish = {"reduce": "auto", "risk": case.risk, "max_flash": case.flash}
                few = kmcompile.compile_model(case.model, data=case.fresh, **wish, **given)
                show(name, few, int((few.predict(case.test) != labels).sum()), len(labels))


if __name__ == "__main__":
    main()
