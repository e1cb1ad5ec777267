"""The machines and digits of the NSV paper: one SVM for two digits of MNIST, trained once and kept.

The SVM sees the first 4,000 training digits of its two classes (footnote 4 of the paper); the
other training digits of the two, some 8,000, are for calibration. Digits are shares of 255 in
float32, as the board receives them. In every pair the larger digit is the positive class.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CACHE = Path.home() / ".cache" / "kmcompile-nsv"

ALL_PAIRS = tuple(combinations(range(10), 2))
TABLE_1_PAIRS = ((3, 8), (0, 1), (2, 5))

N_TRAIN = 4000


@dataclass(frozen=True)
class Sizes:
    """How many digits of a pair are used; None: all that there are."""

    train: int = N_TRAIN
    calibration: int | None = None
    test: int | None = None


FULL, QUICK = Sizes(), Sizes(train=1500, calibration=2000, test=300)


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of shape (n, 784), float32, and which digits they are."""

    X: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Digits:
        return Digits(self.X[rows], self.y[rows])


@dataclass(frozen=True, eq=False)
class Pair:
    """A machine for two digits, and the digits of these two classes.

    Parameters
    ----------
    name : str
    model : fitted estimator
    train, calibration, test : Digits
        Training digits that the machine has seen, those that it has not, and test digits.
    """

    name: str
    model: Any
    train: Digits
    calibration: Digits
    test: Digits


def poly9() -> Any:
    """Return the paper's machine: the 9th power of the cosine, C = 1."""
    svc = SVC(kernel="poly", degree=9, gamma=1, coef0=0, C=1, cache_size=500)
    return make_pipeline(Normalizer(), svc)


def rbf() -> Any:
    """Return a machine with Gaussian kernels."""
    return SVC(gamma=0.02, C=10, cache_size=500)


KERNELS = {"poly9": poly9, "rbf": rbf}


@cache
def mnist(part: str) -> Digits:
    """Return all digits of a part, "train" or "test", in the official order."""
    shares = (np.arange(256) / 255).astype(np.float32)
    with np.load(DATA / "mnist.npz") as file:
        pixels, y = file[f"X_{part}"], file[f"y_{part}"]
    return Digits(shares[pixels.reshape(len(pixels), -1)], y)


def rows_of(first: int, second: int, part: str) -> np.ndarray:
    """Return where the digits of a pair are, in the official order."""
    return np.flatnonzero(np.isin(mnist(part).y, (first, second)))


def load_pair(first: int, second: int, kernel: str, folder: Path, sizes: Sizes = FULL) -> Pair:
    """Return a pair; its machine is trained if `folder` does not hold it."""
    train, test = mnist("train"), mnist("test")
    rows = rows_of(first, second, "train")
    seen, fresh = rows[: sizes.train], rows[sizes.train :][: sizes.calibration]
    path = folder / f"{kernel}-{first}-{second}-{sizes.train}.joblib"
    if not path.is_file():
        model = KERNELS[kernel]().fit(train.X[seen], train.y[seen])
        folder.mkdir(parents=True, exist_ok=True)
        joblib.dump(model, path)
    asked = test[rows_of(first, second, "test")[: sizes.test]]
    return Pair(f"{first}-{second}", joblib.load(path), train[seen], train[fresh], asked)


def pair_of(text: str) -> tuple[int, int]:
    """Return the digits of a pair such as "3-8"."""
    first, second = sorted(int(digit) for digit in text.split("-"))
    return first, second


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that all scripts of this folder have."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    made.add_argument("--jobs", type=int, default=1, help="processes side by side")
    made.add_argument("--quick", action="store_true", help="one small machine: seconds")
    return made
