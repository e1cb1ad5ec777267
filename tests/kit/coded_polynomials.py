"""Small polynomial machines of integer features, multiplied out in integers, of every task.

For tests of the stage `coded_polynomial_sum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, OneClassSVM

from kit.emitted import Emitted, named
from kit.sharing import shared
from kmcompile import readers
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.integer_program import with_polynomial
from kmcompile.lower.program import with_tolerance
from kmcompile.target import Target

RANGES = {"few": (0, 17), "uint8": (0, 256), "int8": (-128, 128), "int16": (-3000, 3000)}
"""The codes, from the first one to before the second one."""


@dataclass(frozen=True)
class CodedPolynomial:
    """A machine of a task and a degree; its features are integers of a range."""

    task: str
    degree: int
    codes: str = "uint8"
    n_features: int = 4
    coef0: float = 0.5
    n_samples: int = 60

    def __str__(self) -> str:
        words = ["coded_polynomial", self.task, f"degree{self.degree}", self.codes]
        words += [f"{self.n_features}_features"] + ["homogeneous"] * (self.coef0 == 0)
        return "-".join(words)

    @property
    def number_format(self) -> str:
        """The format that holds the codes."""
        return "int16" if self.codes == "int16" else "int8"

    def fitted(self) -> Any:
        """Return the fitted estimator."""
        rng = np.random.default_rng(9)
        X = rng.integers(*RANGES[self.codes], size=(self.n_samples, self.n_features)).astype(float)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        scores = Z @ rng.normal(size=(self.n_features, 2 if self.task == "binary" else 4))
        y = np.argmax(scores, axis=1)
        y[: scores.shape[1]] = np.arange(scores.shape[1])
        if self.task == "regression":
            y = scores[:, 0] + 0.1 * scores[:, 1] ** 2
        own = {"kernel": "poly", "degree": self.degree, "coef0": self.coef0}
        own["gamma"] = 1.0 / (self.n_features * float((X**2).mean()))
        if self.task == "regression":
            return SVR(C=5.0, epsilon=0.1, **own).fit(X, y)
        if self.task == "one_class":
            return OneClassSVM(nu=0.3, **own).fit(X)
        if self.task == "one_vs_rest":
            return OneVsRestClassifier(SVC(**own)).fit(X, y)
        return SVC(break_ties=self.task == "break_ties", **own).fit(X, y)

    def lowered(self, target: str | Target = "host", name: str = "iris") -> Lowered:
        """Return the exact program over the vectors, with the codes."""
        machine = readers.load_model(self.fitted())
        return lower_in_format(machine, named(target), name, self.number_format)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        board = named(target)
        machine = readers.load_model(self.fitted())
        lowered = self.lowered(board, name)
        assert lowered.coded is not None
        program = with_polynomial(lowered.program, lowered.coded, board)
        return Emitted(machine, with_tolerance(program, 0.01), board)


CORE = [
    CodedPolynomial("one_vs_one", 2, "few"),
    CodedPolynomial("binary", 3, "int16"),
]
MORE = [
    *(CodedPolynomial("binary", degree, "int8") for degree in (1, 2, 3, 4, 5, 6)),
    *(CodedPolynomial(task, 2) for task in ("break_ties", "one_vs_rest", "one_class")),
    CodedPolynomial("regression", 3),
    CodedPolynomial("binary", 3, coef0=0.0),
    CodedPolynomial("one_vs_rest", 5, "int16", n_features=3),
    CodedPolynomial("binary", 4, n_features=1),
]
