"""Small reduced machines, for tests that ask every target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from kit.emitted import Emitted, named
from kit.function_kernels import load_machine
from kit.reduced_digits import estimator
from kit.sharing import shared
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.target import Target


def _wine(**parameters: Any) -> SVC:
    X, y = load_wine(return_X_y=True)
    X = X[:, :5]
    return SVC(C=10.0, **parameters).fit(np.float32((X - X.mean(axis=0)) / X.std(axis=0)), y)


MODELS: dict[str, Callable[[], Any]] = {
    "wine": lambda: _wine(gamma=0.2),
    "cubic_wine": lambda: _wine(kernel="poly", degree=3, gamma=0.2, coef0=1.0),
    "quartic_digits": lambda: estimator("quartic"),
}


@dataclass(frozen=True)
class Reduced:
    """A machine with n support vectors in the place of all of them."""

    model: str
    n: int
    number_format: str = "float32"

    def __str__(self) -> str:
        return f"reduced-{self.model}-{self.n}-{self.number_format}"

    def machine(self) -> KernelMachine:
        """Return the reduced machine."""
        trained = load_machine(MODELS[self.model]())
        return standing_for(trained, pursue(trained, self.n).reduced(self.n))

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        fewer = self.machine()
        assert fewer.reduced_from is not None
        lowered = lower_in_format(fewer, named(target), name, self.number_format)
        program = with_distance(lowered.program, lowered.machine)
        return Emitted(fewer.reduced_from.machine, program, named(target))
