"""DC-Pred++ on five sets: accuracy or error against the counted cost of a query, beside others'.

    python examples/routed/dcpred.py kin8nm
    python examples/routed/dcpred.py letter --plot letter.png

The sets are in `$KMCOMPILE_DATA` or `../shared/data`; letter is A to M against N to Z. Budgets are
multiples of the linear machine's cost, d multiply-adds. All features get mean 0 and deviation 1 of
the training samples; errors are root mean squares in units of the targets' deviation. For each
budget and method, the candidate that is best on a held-out fifth of the training samples is
trained on all of them; at most 8,000 others train the candidates. Test samples are only counted.
The estimators were worked on with kin8nm, cpusmall and letter; the others were run at the end.
"""

from __future__ import annotations

import argparse
import math
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import baselines
import costs
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kmcompile.training import DCPredClassifier, DCPredRegressor

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
REGRESSIONS = ("kin8nm", "cpusmall", "cadata")
SETS = (*REGRESSIONS, "letter", "ijcnn1", "covtype_bin", "a9a")
BUDGETS = (1, 5, 10, 20, 50, 100, 200)
MOST_TRAINED = 8000
BASELINE_CANDIDATES = tuple(
    product((0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2), (0.1, 1, 10, 100, 1e3, 1e4))
)
"""Gamma times the number of features, and C."""
CANDIDATES = tuple(product((1, 8, 32), (0.5, 2), (1, 10)))
"""Leaves, gamma times the number of features, and C."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test samples, with labels -1 and 1 or targets of deviation 1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    regression: bool

    @property
    def d(self) -> int:
        """Features."""
        return self.X.shape[1]

    def error(self, model: Any) -> float:
        """Return the share of wrong test labels, or the root of the mean squared error."""
        predicted = model.predict(self.X_test)
        if self.regression:
            return float(np.sqrt(((predicted - self.y_test) ** 2).mean()))
        return float((predicted != self.y_test).mean())

    def held_out(self) -> Split:
        """Return a split of the training samples alone."""
        order = np.random.default_rng(0).permutation(len(self.X))
        kept, rest = np.split(order, [len(order) // 5])
        rest = rest[:MOST_TRAINED]
        parts = (self.X[rest], self.y[rest], self.X[kept], self.y[kept])
        return Split(*parts, self.regression)


def load(name: str) -> Split:
    """Return a set with scaled features and targets."""
    data = np.load(DATA / f"{name}.npz")
    X, X_test = (data[key].astype(np.float64) for key in ("X_train", "X_test"))
    y, y_test = (data[key].astype(np.float64) for key in ("y_train", "y_test"))
    if name == "letter":
        y, y_test = (np.where(codes < 13, -1.0, 1.0) for codes in (y, y_test))
    regression = name in REGRESSIONS
    if regression:
        y, y_test = y / y.std(), y_test / y.std()
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return Split((X - mean) / deviation, y, (X_test - mean) / deviation, y_test, regression)


@dataclass(frozen=True)
class Method:
    """A way of predicting: its candidates, and how one is made for a budget.

    `make(split, operations, *candidate)` returns an estimator, or None if the budget is too small.
    `cost(model, d)` counts the multiply-adds of a fitted one.
    """

    candidates: tuple[tuple[float, ...], ...]
    make: Callable[..., Any]
    cost: Callable[[Any, int], int]


def _linear(split: Split, operations: int, C: float) -> Any:
    return baselines.linear_machine(split.regression, C)


def _features(kind: Any, cost: Callable[[int, int, int], int]) -> Method:
    def make(split: Split, operations: int, gamma: float, C: float) -> Any:
        n = 0
        while cost(n + 1, split.d, 1) <= operations:
            n += 1
        return baselines.on_top(kind(n, gamma / split.d), split.regression, C) if n else None

    return Method(BASELINE_CANDIDATES, make, lambda model, d: cost(model[0].n_components, d, 1))


def _dcpred(split: Split, operations: int, n_leaves: int, gamma: float, C: float) -> Any:
    d = split.d
    # The deepest path that the tree of the estimator may have.
    depth = math.ceil(math.log2(n_leaves)) + 1 if n_leaves > 1 else 0
    left = operations - d - depth * (d + costs.COMPARISON)
    if left < 0:
        return None
    kind = DCPredRegressor if split.regression else DCPredClassifier
    penalty = {"alpha": 0.5 / C} if split.regression else {"C": C}
    m = left // (costs.landmark(d, 1) + 1)
    return kind(n_leaves, m, gamma=gamma / d, start="root", random_state=0, **penalty)


METHODS = {
    "linear": Method(
        tuple((C,) for C in (0.01, 0.1, 1, 10, 100)), _linear, lambda model, d: costs.linear(d, 1)
    ),
    "Nystroem": _features(baselines.KMeansNystroem, costs.nystroem),
    "Fourier": _features(baselines.Fourier, costs.fourier),
    "Fastfood": _features(baselines.Fastfood, costs.fastfood),
    "DC-Pred++": Method(CANDIDATES, _dcpred, lambda model, d: costs.routed(model)),
}


@dataclass(frozen=True)
class Point:
    """A fitted model on the curve: its cost in units of the linear machine's, and its error."""

    method: str
    budget: int
    cost: float
    error: float
    candidate: tuple[float, ...]


def point(name: str, split: Split, budget: int) -> Point | None:
    """Return the best candidate of a method for a budget, or None if it is too small for any."""
    method, part = METHODS[name], split.held_out()
    best, least = None, math.inf
    for candidate in method.candidates:
        model = method.make(part, budget * split.d, *candidate)
        error = math.inf if model is None else part.error(model.fit(part.X, part.y))
        if error < least:
            best, least = candidate, error
    if best is None:
        return None
    model = method.make(split, budget * split.d, *best).fit(split.X, split.y)
    cost = method.cost(model, split.d) / split.d
    return Point(name, budget, cost, split.error(model), best)


def curves(split: Split, budgets: tuple[int, ...] = BUDGETS) -> Iterator[list[Point | None]]:
    """Yield the points of all methods for each budget; the linear machine's is always the same."""
    linear = point("linear", split, 1)
    for budget in budgets:
        others = [point(name, split, budget) for name in METHODS if name != "linear"]
        yield [None if linear is None else replace(linear, budget=budget), *others]


def shown(points: list[Point | None], regression: bool) -> str:
    """Return a line of the table."""
    cells = [str(next(p.budget for p in points if p is not None))]
    for p in points:
        if p is None:
            cells.append("-")
        elif regression:
            cells.append(f"{p.error:.4f}")
        else:
            cells.append(f"{1 - p.error:.2%}")
    ours = points[-1]
    if ours is not None:
        cells += [f"{ours.cost:.1f}", " ".join(f"{value:g}" for value in ours.candidate)]
    return " | ".join(cells)


def draw(path: Path, rows: list[list[Point | None]], name: str, regression: bool) -> None:
    """Draw the curves."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for number, method in enumerate(METHODS):
        points = [p for row in rows if (p := row[number]) is not None]
        errors = [p.error if regression else 100 * (1 - p.error) for p in points]
        places = [p.budget if method == "linear" else p.cost for p in points]
        axes.plot(places, errors, marker="." if method != "linear" else "", label=method)
    axes.set_xscale("log")
    axes.set_xlabel("multiply-adds, in units of the linear machine's")
    axes.set_ylabel("error / deviation" if regression else "accuracy in %")
    axes.set_title(name)
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """Print the table of a set, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    parser.add_argument("--plot", type=Path, help="write the curves to this file")
    options = parser.parse_args()
    # A linear machine with a large C may not converge; the held-out samples judge it.
    warnings.simplefilter("ignore", ConvergenceWarning)
    split, rows = load(options.set), []
    print(" | ".join(["budget", *METHODS, "its cost", "leaves, gamma d, C"]))
    for row in curves(split, tuple(options.budgets)):
        rows.append(row)
        print(shown(row, split.regression), flush=True)
    if options.plot:
        draw(options.plot, rows, options.set, split.regression)


if __name__ == "__main__":
    main()
