"""The data sets of `all_sets.py`: their names, the half that is kept aside, and their parts.

The sets are all files of the data folder and those of scikit-learn. Those of `KEPT` are for the
last measurement only: nothing is chosen by them. Of every set the training samples are shuffled;
three quarters train the machine, the others are held out for `--data`. The queries are test
samples. Where a set is pooled, its training and test samples are shuffled together, and all that
neither train the machine nor are queries are held out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
BUNDLED = ("iris", "wine", "breast_cancer", "digits", "diabetes_progression")
"""scikit-learn's own; its diabetes is not the file of that name, but a regression."""

KEPT = frozenset(
    (
        "adult",
        "breast_w",
        "census_house8l",
        "cmapss_fd001",
        "covtype",
        "delta_ailerons",
        "elevators",
        "fourclass",
        "glass",
        "kddcup",
        "kin40k",
        "mushrooms",
        "naval",
        "protein",
        "robot_lp5",
        "smap_e",
        "sonar",
        "steel_faults",
        "texture",
        "twonorm",
        "vehicle",
    )
)
REGRESSIONS = frozenset(
    (
        "abalone",
        "cadata",
        "census_house8l",
        "cmapss_fd001",
        "cpusmall",
        "delta_ailerons",
        "diabetes_progression",
        "elevators",
        "kin40k",
        "kin8nm",
        "naval",
        "protein",
    )
)
OF_ONE_CLASS = frozenset(("smap_e",))
"""Sets whose training samples are all of one class, which trains no machine of these: left out."""
FEWEST = 200
HALVES = ("open", "kept", "all")

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Limits:
    """The most samples that are taken of a set.

    Parameters
    ----------
    training, held_out, queries : int
        For the machine, for `--data`, and test samples.
    pooled : int
        Whether a set is pooled, 0 or 1.
    """

    training: int = 10_000
    held_out: int = 10_000
    queries: int = 1_000
    pooled: int = 0

    @property
    def words(self) -> list[str]:
        """The limits as words of a command."""
        return [str(n) for n in (self.training, self.held_out, self.queries, self.pooled)]

    def __str__(self) -> str:
        return "-".join(self.words[: 3 + self.pooled])


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a set, in float32, because that is what the C receives.

    Parameters
    ----------
    X, y : ndarray
        Training samples of the machine.
    held_out, y_held_out : ndarray
        Samples for `--data`, which the machine does not see.
    queries, y_queries : ndarray
        Test samples.
    is_bytes : bool
        Whether every feature is a byte: a grey level, a count or a flag.
    """

    X: np.ndarray
    y: np.ndarray
    held_out: np.ndarray
    y_held_out: np.ndarray
    queries: np.ndarray
    y_queries: np.ndarray
    is_bytes: bool


def half_of(name: str) -> str:
    """Return the half that a set belongs to."""
    return "kept" if name in KEPT else "open"


def names_of(half: str) -> list[str]:
    """Return the sets of a half, the smallest files first; no file is read.

    Parameters
    ----------
    half : {"open", "kept", "all"}
    """
    files = sorted(DATA.glob("*.npz"), key=lambda path: path.stat().st_size)
    names = [*BUNDLED, *(path.stem for path in files if path.stem not in OF_ONE_CLASS)]
    return [name for name in names if half in ("all", half_of(name))]


def parts_of(name: str, limits: Limits) -> Parts:
    """Return the parts of a set.

    A quarter of the training samples is held out; where that is fewer than the 200 that mode
    statistical needs, 200, if these are at most half of them. Of a pooled set at most a third of
    all samples train the machine.
    """
    X, y, X_test, y_test = arrays_of(name)
    if limits.pooled:
        return _pooled(np.concatenate([X, X_test]), np.concatenate([y, y_test]), limits)
    X, y = _shuffled(X, y, seed=0)
    X_test, y_test = _shuffled(X_test, y_test, seed=1)
    n_held_out = max(len(X) // 4, FEWEST if len(X) // 2 >= FEWEST else 0)
    training = slice(n_held_out, n_held_out + limits.training)
    held_out, queries = slice(min(n_held_out, limits.held_out)), slice(limits.queries)
    return _parts((X, y), training, held_out, (X_test, y_test), queries)


def _pooled(X: np.ndarray, y: np.ndarray, limits: Limits) -> Parts:
    """Return the parts of all samples of a set."""
    both = _shuffled(X, y, seed=3)
    n_training = min(limits.training, len(X) // 3)
    n = n_training + min(limits.held_out, len(X) - n_training - limits.queries)
    queries = slice(n, n + limits.queries)
    return _parts(both, slice(n_training), slice(n_training, n), both, queries)


def _parts(
    samples: tuple[np.ndarray, np.ndarray],
    training: slice,
    held_out: slice,
    tested: tuple[np.ndarray, np.ndarray],
    queries: slice,
) -> Parts:
    (X, y), (X_test, y_test) = samples, tested
    return Parts(
        X=X[training].astype(np.float32),
        y=y[training],
        held_out=X[held_out].astype(np.float32),
        y_held_out=y[held_out],
        queries=X_test[queries].astype(np.float32),
        y_queries=y_test[queries],
        is_bytes=X.dtype == np.uint8,
    )


def arrays_of(name: str) -> Arrays:
    """Return the training and the test samples of a set with their labels."""
    if name in BUNDLED:
        return _bundled(name)
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    return X.reshape(len(X), -1), y, X_test.reshape(len(X_test), -1), y_test


def _bundled(name: str) -> Arrays:
    """Return a set of scikit-learn, every third sample for the test."""
    from sklearn import datasets

    loader = "diabetes" if name == "diabetes_progression" else name
    X, y = getattr(datasets, f"load_{loader}")(return_X_y=True)
    if name == "digits":
        X = X.astype(np.uint8)
    test = np.arange(len(X)) % 3 == 2
    return X[~test], y[~test], X[test], y[test]


def _shuffled(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order], y[order]
