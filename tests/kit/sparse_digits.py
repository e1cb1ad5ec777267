"""Machines on handwritten digits of which only dark pixels are kept: two in three are 0.

For tests of sums that skip zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from kit.cascades import Cascade, Stages
from kit.emitted import Emitted, emit_model
from kit.sharing import shared
from kmcompile.target import Target

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.1},
    "poly": {"degree": 3, "gamma": 0.1, "coef0": 0.5},
    "sigmoid": {"gamma": 0.02, "coef0": -0.5},
}
N_TRAINED = 120
_DARK = 6


def sparse_digits(classes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return digits of some classes, pixels from 0 to 1."""
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    return np.where(X[chosen] > _DARK, X[chosen], 0.0) / 16, y[chosen]


@dataclass(frozen=True)
class SparseDigits:
    """A machine in exact mode or, with a scheme of touching, with early exits.

    Parameters
    ----------
    scheme : str
        "" or as of `cascades.Cascade`.
    normalizes : bool
        Whether a row is divided by its norm first.
    """

    kernel: str
    task: str
    scheme: str = ""
    normalizes: bool = False
    n_trained: int = N_TRAINED

    def __str__(self) -> str:
        mode = self.scheme or "exact"
        return "-".join([self.kernel, self.task, mode, *(["l2"] if self.normalizes else [])])

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The digits."""
        return sparse_digits((3, 8) if self.task == "binary" else (1, 3, 8, 9))

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        X, y = self.data
        classifier = SVC(kernel=self.kernel, C=10, **KERNELS[self.kernel])
        steps = [Normalizer()] if self.normalizes else []
        return make_pipeline(*steps, classifier).fit(X[: self.n_trained], y[: self.n_trained])

    def inputs(self) -> np.ndarray:
        """Return inputs at vectors and beside them, far away, at 0, dense and fresh ones."""
        vectors, fresh = (np.float32(part) for part in np.split(self.data[0], [N_TRAINED]))
        dense = np.random.default_rng(2).uniform(-1, 1, size=(4, vectors.shape[1]))
        beside = np.nextafter(vectors[4:8], np.float32(2.0))
        parts = [vectors[:4], beside, fresh[:8], dense, 50 * fresh[:2], -fresh[8:10], 0 * dense[:1]]
        return np.concatenate(parts).astype(np.float32)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C, with sparse, dense and distant queries."""
        plain = emit_model(self.fitted(), target, name)
        fresh = self.data[0][N_TRAINED:].astype(np.float32)
        rng = np.random.default_rng(5)
        dense = rng.uniform(-1, 1, size=(20, fresh.shape[1])).astype(np.float32)
        negative_zeros = np.where(fresh[:5] == 0, np.float32(-0.0), fresh[:5])
        vectors = plain.program.ends.exact.columns().T[:10]
        parts = [fresh, fresh[:20] * np.float32(2.5), dense, 0 * dense[:1], negative_zeros, vectors]
        queries = np.concatenate([*parts, plain.queries[::2]])
        program = plain.program
        if self.scheme:
            cascade = Cascade(self.kernel, self.task, self.scheme, n_levels=2)
            program = Stages(cascade, program, fresh).program
        return Emitted(plain.machine, program, plain.target, queries)


CASES = [
    SparseDigits("rbf", "binary"),
    SparseDigits("rbf", "one_vs_one", normalizes=True),
    SparseDigits("poly", "one_vs_one"),
    SparseDigits("sigmoid", "binary", normalizes=True),
    SparseDigits("rbf", "one_vs_one", "estimate"),
    SparseDigits("rbf", "binary", "tug_of_war", normalizes=True),
    SparseDigits("poly", "one_vs_one", "by_score"),
]
