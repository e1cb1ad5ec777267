"""Parameters of one SVM and of local ones, chosen on training samples alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from falk import Split
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from kmcompile.training import FaLKSVC

N_TRIALS = 24
N_FIRST = 2_000
N_FINALISTS = 4
N_SELECTION = 6_000
N_FOLDS = 3


@dataclass(frozen=True)
class Trial:
    """Parameters to try; k and k' count for local machines only."""

    C: float
    gamma: float
    k: int
    k_prime: int


Maker = Callable[[Trial], Any]


def one_svm(trial: Trial) -> SVC:
    """Return the machine of all samples."""
    return SVC(C=trial.C, gamma=trial.gamma, cache_size=500)


def local_svms(selection: str, route: str) -> Maker:
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


def trials(split: Split) -> list[Trial]:
    """Return parameters, drawn evenly by their logarithms around gamma="scale".

    C is at most 10 with more than 20,000 samples: one SVM would take hours with noisy labels.
    """
    random = np.random.default_rng(0)
    scale = 1.0 / (split.X.shape[1] * split.X.var())
    largest = 2.0 if len(split.X) <= 20_000 else 1.0
    drawn = []
    for _ in range(N_TRIALS):
        C, gamma = 10.0 ** random.uniform(-1, largest), scale * 2.0 ** random.uniform(-3, 7)
        k = int(random.choice([250, 500, 1000, 2000, 4000]))
        drawn.append(Trial(C, gamma, k, k // int(random.choice([2, 4]))))
    return drawn


def finalists(make: Maker, split: Split) -> list[Trial]:
    """Return the trials with the fewest errors on a quarter of `N_FIRST` training samples."""
    X, y = part(split.X, split.y, N_FIRST)
    drawn = trials(split)
    kept = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0, stratify=y)
    found = [errors(make, trial, (X, y), [kept]) for trial in drawn]
    return [drawn[number] for number in np.argsort(found, kind="stable")[:N_FINALISTS]]


def best_trial(make: Maker, candidates: Sequence[Trial], split: Split) -> Trial:
    """Return the trial with the fewest errors in cross-validation on `N_SELECTION` samples."""
    X, y = part(split.X, split.y, N_SELECTION)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    found = [errors(make, trial, (X, y), folds) for trial in candidates]
    return candidates[int(np.argmin(found))]


def errors(
    make: Maker,
    trial: Trial,
    data: tuple[np.ndarray, np.ndarray],
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> int:
    """Return the errors on the samples that each fold keeps from training."""
    X, y = data
    wrong = 0
    for trained, kept in folds:
        model = make(trial).fit(X[trained], y[trained])
        wrong += int((model.predict(X[kept]) != y[kept]).sum())
    return wrong


def part(X: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most n samples, with the classes' shares."""
    if len(X) <= n:
        return X, y
    X, _, y, _ = train_test_split(X, y, train_size=n, random_state=0, stratify=y)
    return X, y
