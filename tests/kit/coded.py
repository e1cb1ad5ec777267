"""Machines in integer formats: every width of codes, every layout and both sums.

For tests of programs in integers: bits of the C, bounds, labels, storage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.emitted import Emitted, emit_in_format
from kit.function_kernels import intersection_kernel
from kit.sharing import shared
from kmcompile.target import Target


def digits() -> Any:
    """Pixels of 0 .. 16, ten classes, some pixels 0 in all of them."""
    X, y = load_digits(return_X_y=True)
    return SVC(gamma=0.001, C=10).fit(X[:250], y[:250])


def divided_digits() -> Any:
    """The digits divided by 16, which the scaler undoes; ties are broken."""
    X, y = load_digits(return_X_y=True)
    few = y[:300] < 4
    return SVC(gamma=0.3, C=10, break_ties=True).fit(X[:300][few] / 16, y[:300][few])


def few_pixels() -> Any:
    """Pixels of 0 .. 255 of which nearly all are 0."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, size=(160, 60)) * (rng.random((160, 60)) < 0.04)
    return SVC(gamma=1e-5, C=2).fit(X.astype(float), X[:, :30].sum(axis=1) > X[:, 30:].sum(axis=1))


def signed_bytes() -> Any:
    """Integers of -100 .. 99 behind a scaler."""
    rng = np.random.default_rng(4)
    X = rng.integers(-100, 100, size=(80, 13)).astype(float)
    model = make_pipeline(MinMaxScaler((-1, 1)), SVC(gamma=0.05, C=2))
    return model.fit(np.vstack([X, np.full(13, -100), np.full(13, 100)]), np.arange(82) % 2 == 0)


def counts() -> Any:
    """Integers of 16 bits whose sums fit 32 bits."""
    rng = np.random.default_rng(5)
    X = rng.integers(-3000, 3000, size=(60, 5)).astype(float)
    return SVC(gamma=1e-7, C=2).fit(X, X[:, 0] + X[:, 1] > 0)


def cancer() -> Any:
    """Real data, standardised."""
    X, y = load_breast_cancer(return_X_y=True)
    return make_pipeline(StandardScaler(), SVC(gamma=0.03, C=10)).fit(X[:300], y[:300])


def smooth() -> Any:
    """Real data whose kernel is so wide that 8 bits certify labels."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 4))
    return SVC(gamma=0.02, C=1).fit(X, X[:, 0] > 0)


def poly_digits() -> Any:
    """Pixels of 0 .. 16 and a polynomial."""
    X, y = load_digits(return_X_y=True)
    return SVC(kernel="poly", degree=3, C=10).fit(X[:250], y[:250])


def few_poly_digits() -> Any:
    """Four classes of `poly_digits`, with few samples of each."""
    X, y = load_digits(return_X_y=True)
    few = y[:100] < 4
    return SVC(kernel="poly", degree=3, C=10).fit(X[:100][few], y[:100][few])


def sparse_poly() -> Any:
    """Pixels of 0 .. 255 of which nearly all are 0, and a polynomial."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, size=(160, 60)) * (rng.random((160, 60)) < 0.04)
    y = X[:, :30].sum(axis=1) > X[:, 30:].sum(axis=1)
    return SVC(kernel="poly", degree=2, coef0=1.0, gamma=1e-5, C=2).fit(X.astype(float), y)


def sigmoid_bytes() -> Any:
    """Integers of -100 .. 99 divided by 64, and a hyperbolic tangent."""
    rng = np.random.default_rng(4)
    X = rng.integers(-100, 100, size=(80, 13)) / 64
    return SVC(kernel="sigmoid", gamma=0.05, coef0=-0.1).fit(X, X[:, 0] + X[:, 1] > 0)


def wide_poly() -> Any:
    """Integers of 16 bits whose sums need 64, and a polynomial."""
    rng = np.random.default_rng(5)
    X = rng.integers(-15000, 15000, size=(60, 5)).astype(float)
    y = X[:, 0] * X[:, 1] + 1e8 * np.sign(X[:, 2]) > 0
    return SVC(kernel="poly", degree=3, coef0=0.5, gamma=1e-9).fit(X, y)


def intersection_digits() -> Any:
    """Pixels of 0 .. 16 of four classes, some pixels 0 in all of them, and minima."""
    X, y = load_digits(return_X_y=True)
    few = y[:100] < 4
    return SVC(kernel=intersection_kernel, C=0.1).fit(X[:100][few], y[:100][few])


def intersection_bytes() -> Any:
    """Integers of -100 .. 99 divided by 64, and minima: values of 32 bits."""
    rng = np.random.default_rng(4)
    X = rng.integers(-100, 100, size=(80, 13)) / 64
    return SVC(kernel=intersection_kernel, C=1e6).fit(X, X[:, 0] + X[:, 1] > 0)


def intersection_counts() -> Any:
    """Integers of 0 .. 999 behind a scaler, and minima."""
    rng = np.random.default_rng(5)
    X = np.vstack([rng.integers(0, 1000, size=(60, 5)), [[0] * 5, [1000] * 5]]).astype(float)
    model = make_pipeline(MinMaxScaler(), SVC(kernel=intersection_kernel, C=2))
    return model.fit(X, X[:, 0] + X[:, 1] > 1000)


def linear_sensors() -> Any:
    """Real data of many sizes behind a scaler, and a weight vector for each of four classes."""
    rng = np.random.default_rng(8)
    sizes, middles = 10.0 ** rng.uniform(-4, 4, size=11), rng.normal(size=11) * 30
    X = rng.normal(size=(120, 11))
    y = np.argmax(X @ rng.normal(size=(11, 4)), axis=1)
    return make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit((X + middles) * sizes, y)


def linear_digits() -> Any:
    """Pixels of 0 .. 16 of four classes, and a weight vector for each of their pairs."""
    X, y = load_digits(return_X_y=True)
    few = y[:200] < 4
    return SVC(kernel="linear").fit(X[:200][few], y[:200][few])


def linear_bytes() -> Any:
    """Integers of -100 .. 99, and a weight vector."""
    rng = np.random.default_rng(4)
    X = rng.integers(-100, 100, size=(80, 7)).astype(float)
    return make_pipeline(MinMaxScaler(), SVC(kernel="linear")).fit(X, X[:, 0] + X[:, 1] > 0)


@dataclass(frozen=True)
class Coded:
    """A model in an integer format.

    Attributes
    ----------
    low_parts : bool or None
        Whether the replay has tables of low parts; None: there is no replay.
    """

    made: Callable[[], Any]
    number_format: str
    low_parts: bool | None = None

    def __str__(self) -> str:
        replay = {None: "", False: "-replay", True: "-replay-low"}[self.low_parts]
        return f"{self.number_format}-{self.made.__name__}{replay}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        return emit_in_format(self.made(), self.number_format, target, name, self.low_parts)


CORE = [
    Coded(digits, "int8"),
    Coded(divided_digits, "int8"),
    Coded(few_pixels, "int8"),
    Coded(signed_bytes, "int8"),
    Coded(counts, "int16"),
    Coded(cancer, "int16"),
    Coded(smooth, "int8"),
    Coded(poly_digits, "int8"),
    Coded(sparse_poly, "int8"),
    Coded(sigmoid_bytes, "int8"),
    Coded(wide_poly, "int16"),
    Coded(intersection_digits, "int8"),
    Coded(intersection_bytes, "int8"),
    Coded(intersection_counts, "int16"),
    Coded(linear_sensors, "int16"),
    Coded(linear_digits, "int8"),
    Coded(linear_bytes, "int8"),
]
"""Codes of each type, lossless and not; dense and sparse; sums of 32 and 64 bits; each label."""

REPLAYED = [
    Coded(divided_digits, "int8", low_parts=False),
    Coded(few_pixels, "int8", low_parts=False),
    Coded(cancer, "int16", low_parts=True),
    Coded(smooth, "int8", low_parts=True),
]
