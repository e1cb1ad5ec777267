"""Programs with a replay in float64, and queries whose label float32 leaves open.

For tests of the replay: bits of the C, its bounds, what it settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kit.catalogue import CORE as CASES
from kit.catalogue import every_combination
from kit.emitted import Emitted
from kit.sharing import shared
from kit.sparse_digits import SparseDigits
from kmcompile.lower.replay import lower_replay
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.target import Target

_BISECTIONS = 80
_N_PAIRS = 20


@dataclass(frozen=True)
class Replayed:
    """A model of the catalogue with a replay, with or without tables of low parts."""

    case: Any
    """What emits the C without a replay, such as a `Case`."""
    low_parts: bool
    at_once: bool = False
    """Whether the replay takes the place of the exact sum."""

    def __str__(self) -> str:
        words = ["replay", *["at-once"] * self.at_once, *["low"] * self.low_parts, str(self.case)]
        return "-".join(words)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        plain = self.case.emit(target, name)
        machine = run_passes(plain.machine, centers=False)
        ordinary = ordinary_inputs(machine, 16)
        replay = lower_replay(machine, plain.target, plain.program, ordinary, self.low_parts)
        replay = replace(replay, at_once=self.at_once)
        parted = neighbours(plain.program, plain.queries, _N_PAIRS)
        X = np.concatenate([parted, plain.queries])
        return Emitted(plain.machine, replace(plain.program, replay=replay), plain.target, X)


CORE = [
    *(Replayed(case, low_parts=True) for case in CASES),
    *(Replayed(case, low_parts=False) for case in CASES[::3]),
    *(Replayed(case, low_parts=False, at_once=True) for case in CASES[1::5]),
]
SPARSE = [
    Replayed(SparseDigits("rbf", "one_vs_one", normalizes=True), low_parts=True),
    Replayed(SparseDigits("poly", "binary"), low_parts=True),
]
SOME = [
    Replayed(case, low_parts=number % 2 == 0)
    for number, case in enumerate(every_combination()[::3])
]


def neighbours(program: Program, X: np.ndarray, n_pairs: int) -> np.ndarray:
    """Return inputs next to each other in float32 to which the program gives different labels.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Inputs to bisect between.

    Returns
    -------
    ndarray of shape (2 n_pairs, n_features), float32
    """
    rng = np.random.default_rng(5)
    results = interpret(program, X).results
    X, labels = (v[results["status"] == Status.OK] for v in (X, results["label"]))
    first = rng.integers(len(X), size=50 * n_pairs)
    second = rng.integers(len(X), size=50 * n_pairs)
    parted = np.flatnonzero(labels[first] != labels[second])[:n_pairs]
    a, b = X[first[parted]], X[second[parted]]
    own = labels[first[parted]]
    for _ in range(_BISECTIONS):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = (interpret(program, middle).results["label"] == own)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b])
