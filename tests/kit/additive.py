"""Machines whose sum is one of functions of single features, with and without a replay.

For tests of the sums `AdditiveSum` and `CurveSum`: bits of its C, its bound, what it meets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.svm import SVR

from kit.catalogue import Case
from kit.emitted import Emitted, emit_machine
from kit.function_kernels import intersection_kernel, load_machine
from kit.replays import Replayed
from kit.sharing import shared
from kmcompile.exits.feature_functions import SUMS
from kmcompile.kernels import Intersection
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.target import Target


@dataclass(frozen=True)
class Additive:
    """A model of the catalogue, or a regression, summed by functions of its features."""

    case: Case | None

    def __str__(self) -> str:
        return f"additive-{self.case or 'SVR-regression'}"

    def machine(self) -> KernelMachine:
        """Return the machine; if it has another kernel, with that of the intersection."""
        machine = load_machine(self._fitted())
        return machine if machine.kernel.additive else replace(machine, kernel=Intersection())

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        machine = self.machine()
        assert machine.kernel.additive is not None
        return emit_machine(machine, target, name, SUMS[machine.kernel.additive])

    def _fitted(self) -> Any:
        if self.case is not None:
            return self.case.fitted()
        rng = np.random.default_rng(3)
        X = rng.integers(0, 9, size=(60, 5)).astype(np.float64)
        return SVR(kernel=intersection_kernel, C=3.0).fit(X, np.sqrt(X).sum(axis=1))


CORE = [
    Additive(Case("SVC", "intersection", "binary", "raw")),
    Additive(Case("SVC", "intersection", "one_vs_one", "clip")),
    Additive(Case("OneClassSVM", "intersection", "one_class", "standard")),
    Replayed(Additive(Case("SVC", "intersection", "break_ties", "l1")), low_parts=True),
    Replayed(Additive(Case("SVC", "intersection", "binary", "raw")), low_parts=False),
    Additive(Case("SVC", "additive_chi2", "binary", "raw")),
    Replayed(Additive(Case("SVC", "additive_chi2", "one_vs_one", "clip")), low_parts=True),
]
"""The sum with one decision and with many, alone and in the replay: for every compiler."""

MORE = [
    Additive(None),
    Additive(Case("OneVsRestClassifier", "laplacian", "one_vs_rest", "minmax")),
    Additive(Case("SVC", "intersection", "binary", "standard", n_features=1)),
    Additive(Case("OneClassSVM", "additive_chi2", "one_class", "maxabs")),
]
"""Every other task, and a single feature. One against the rest is not read with a function."""
