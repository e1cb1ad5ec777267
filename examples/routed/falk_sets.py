"""FaLK-SVM beside one SVM on several sets: a paired test, counted cost, training and query time.

    python examples/routed/falk_sets.py spirals
    python examples/routed/falk_sets.py letter

The sets are in `$KMCOMPILE_DATA` or `../shared/data`; spirals are generated: two of three turns
each, with normal noise of standard deviation .04 around them. Features are scaled to [0, 1] by the
training samples. a9a and skin are cut to 8,000 and 20,000 training samples, for a short run.

Each method tries `N_TRIALS` parameters, the same C and gamma, on one quarter of at most 8,000
training samples, trained on the rest; then it is trained on all. Test samples are only counted.
Costs are multiply-adds of a query in float32, as the report counts them. Local machines of many
classes do not compile: those of letter, and of the one SVM beside them, are counted by hand.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from falk import DATA, Split, row, shown
from scipy.stats import beta, binom
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kmcompile.training import FaLKSVC

N_TRIALS = 10
N_SELECTION = 8_000
N_TIMED = 2_000
LIMITS = {"a9a": 8_000, "skin": 20_000}
MARGIN = 0.001
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Trial:
    """Parameters to try; k and k' count for local machines only."""

    C: float
    gamma: float
    k: int
    k_prime: int


def spirals(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of two spirals around the origin, and the spiral of each."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    turns = 3.0 * np.sqrt(random.random(n))
    angle = 2 * np.pi * turns + np.pi * y
    X = (turns / 3.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + random.normal(scale=0.04, size=(n, 2)), y


def split_of(name: str) -> Split:
    """Return the samples of a set, scaled to [0, 1] by the training samples."""
    if name == "spirals":
        parts = (*spirals(20_000, 0), *spirals(100_000, 1))
    else:
        data = np.load(DATA / f"{name}.npz")
        parts = tuple(data[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    X, y, X_test, y_test = parts
    if name in LIMITS:
        X, _, y, _ = train_test_split(X, y, train_size=LIMITS[name], random_state=0, stratify=y)
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    width = np.where(high > low, high - low, 1.0)
    X, X_test = (np.float32((part - low) / width).astype(np.float64) for part in (X, X_test))
    return Split(X, y, X_test, y_test)


def trials(X: np.ndarray) -> list[Trial]:
    """Return parameters, drawn evenly by their logarithms around gamma="scale"."""
    random = np.random.default_rng(0)
    scale = 1.0 / (X.shape[1] * X.var())
    drawn = []
    for _ in range(N_TRIALS):
        C, gamma = 10.0 ** random.uniform(0, 2), scale * 2.0 ** random.uniform(-2, 6)
        k = int(random.choice([250, 500, 1000]))
        drawn.append(Trial(C, gamma, k, k // int(random.choice([2, 4]))))
    return drawn


def one_svm(trial: Trial) -> SVC:
    """Return the machine of all samples."""
    return SVC(C=trial.C, gamma=trial.gamma, cache_size=500)


def local_svms(selection: str, route: str) -> Callable[[Trial], FaLKSVC]:
    """Return what makes local machines of a trial."""
    return lambda trial: FaLKSVC(
        k=trial.k,
        k_prime=trial.k_prime,
        C=trial.C,
        gamma=trial.gamma,
        selection=selection,
        route=route,
        random_state=0,
    )


def best_trial(make: Callable[[Trial], Any], split: Split) -> Trial:
    """Return the trial with the fewest errors on samples kept from training."""
    X, y = split.X, split.y
    if len(X) > N_SELECTION:
        X, _, y, _ = train_test_split(X, y, train_size=N_SELECTION, random_state=0, stratify=y)
    X, X_kept, y, y_kept = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    drawn = trials(split.X)
    errors = [int((make(trial).fit(X, y).predict(X_kept) != y_kept).sum()) for trial in drawn]
    return drawn[int(np.argmin(errors))]


def largest_loss(one_right: np.ndarray, local_right: np.ndarray) -> float:
    """Return the accuracy that local machines lose at most, with 99 % confidence.

    Of the m samples on which exactly one is right, b are the one SVM's. The loss is (2 t - 1) p
    with t = P(the one SVM's | exactly one right), p = P(exactly one right): Clopper-Pearson bounds
    of both, with half of the error each.
    """
    m, n = int((one_right != local_right).sum()), len(one_right)
    b = int((one_right & ~local_right).sum())
    each = 1.0 - (1.0 - CONFIDENCE) / 2
    share = upper(b, m, each)
    occurrence = upper(m, n, each) if share > 0.5 else 1.0 - upper(n - m, n, each)
    return (2 * share - 1) * occurrence


def upper(successes: int, n: int, confidence: float) -> float:
    """Return the Clopper-Pearson upper bound of a probability."""
    return 1.0 if successes == n else float(beta.ppf(confidence, successes + 1, n - successes))


def verdict(one_right: np.ndarray, local_right: np.ndarray) -> str:
    """Say whether local machines are worse than the one, or not by more than .1 points."""
    b = int((one_right & ~local_right).sum())
    c = int((local_right & ~one_right).sum())
    loss = largest_loss(one_right, local_right)
    if loss <= MARGIN:
        found = "not worse"
    elif binom.sf(b - 1, b + c, 0.5) < 1 - CONFIDENCE:
        found = "worse"
    else:
        found = "undecided"
    return f"{found}: -{b} +{c}, at most {100 * loss:.2f} points"


def counted_by_hand(model: Any, X_test: np.ndarray) -> dict[str, object]:
    """Return the size and multiply-adds of a machine of many classes.

    A choice is d multiply-adds. A vector is d + 26, as in the programs of two classes, and one more
    for each class of the leaf beyond two.
    """
    d, ends = X_test.shape[1], getattr(model, "leaf_ends_", None)
    if ends is None:
        sizes, leaves, choices = np.array([len(model.support_)]), np.zeros(len(X_test), int), 0
        classes = np.array([len(model.classes_)])
    else:
        sizes, leaves = np.diff(ends, prepend=0), model.leaf_of(X_test)
        choices = len(model.route_weights_)
        classes = model.leaf_classes_.sum(axis=1)
    cost = choices * d + sizes * (d + 24 + classes)
    return {
        "model": "",
        "C": model.C,
        "gamma": model.gamma,
        "accuracy": "",
        "leaves": len(sizes),
        "vectors": int(sizes.sum()),
        "different": len(np.unique(np.float32(model.support_vectors_), axis=0)),
        "largest leaf": int(sizes.max()),
        "mean ops": int(cost[leaves].mean()),
        "worst ops": int(cost.max()),
        "table bytes": "not compiled",
    }


def rows(split: Split) -> Iterator[dict[str, object]]:
    """Yield a row for the one SVM, FaLK-SVMc and FaLK-SVM."""
    many = len(np.unique(split.y)) > 2
    methods: dict[str, Callable[[Trial], Any]] = {
        "SVC": one_svm,
        "FaLK-SVMc": local_svms("nearest_centre", "flat"),
        "FaLK-SVM": local_svms("nearest_training_point", "flat" if many else "two_levels"),
    }
    one_right: np.ndarray | None = None
    for name, make in methods.items():
        trial = best_trial(make, split)
        start = time.perf_counter()
        model = make(trial).fit(split.X, split.y)
        training_s = time.perf_counter() - start
        start = time.perf_counter()
        model.predict(split.X_test[:N_TIMED])
        query_us = (time.perf_counter() - start) * 1e6 / min(N_TIMED, len(split.X_test))
        right = model.predict(split.X_test) == split.y_test
        one_right = right if one_right is None else one_right
        counted = (
            counted_by_hand(model, split.X_test) if many else row(name, model, *split_test(split))
        )
        counted.pop("table bytes")
        counted.update(model=name, C=f"{trial.C:.3g}", gamma=f"{trial.gamma:.3g}")
        counted["accuracy"] = f"{right.mean():.3%}"
        counted["k, k'"] = "" if name == "SVC" else f"{trial.k}, {trial.k_prime}"
        counted["fit s"] = f"{training_s:.1f}"
        counted["query us"] = f"{query_us:.0f}"
        counted["beside the SVC"] = "" if name == "SVC" else verdict(one_right, right)
        yield counted


def split_test(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return the test samples whose operations are counted."""
    return split.X_test[:N_TIMED], split.y_test[:N_TIMED]


def main() -> None:
    """Print the table of the set that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=("spirals", "letter", "covtype_bin", "a9a", "skin"))
    split = split_of(parser.parse_args().set)
    print(f"{len(split.X)} training samples, {len(split.X_test)} test samples")
    shown(rows(split))


if __name__ == "__main__":
    main()
