"""A real one-vs-one machine of six classes and 128 features, its sum evaluated pair by pair.

For tests of pairs of classes where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.certified import exits_of, with_exits
from kit.emitted import Emitted, emit_model
from kit.sharing import shared
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.lower.replay import lower_replay
from kmcompile.passes import run_passes
from kmcompile.target import Target

N_CLASSES = 6
N_TRAINED = 240
N_FRESH = 300


@dataclass(frozen=True)
class ManyClasses:
    """The machine with a bound sequence before a sum of pairs."""

    replays: bool = False

    def __str__(self) -> str:
        return "many_classes-replay" if self.replays else "many_classes"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        X, _ = samples()
        plain = emit_model(fitted(), target, name)
        machine = run_passes(plain.machine, centers=False)
        seen = X[:N_TRAINED].astype(np.float32)
        fresh = X[N_TRAINED : N_TRAINED + N_FRESH].astype(np.float32)
        exits = exits_of(machine, plain.program)
        program = with_pair_sum(machine, plain.program, seen[:64], seen)
        assert program is not None
        program = with_exits(program, exits)
        if self.replays:
            replay = lower_replay(machine, plain.target, program, seen[:64], low_parts=True)
            program = replace(program, replay=replay)
        return Emitted(plain.machine, program, plain.target, np.concatenate([fresh, plain.queries]))


@cache
def samples() -> tuple[np.ndarray, np.ndarray]:
    """Return digits of six classes: 64 pixels, then each one's product with its neighbour."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < N_CLASSES] / 16, y[y < N_CLASSES]
    beside = np.roll(X.reshape(-1, 8, 8), 1, axis=2).reshape(X.shape)
    return np.hstack([X, X * beside]), y


@cache
def fitted() -> Any:
    """Return the fitted pipeline."""
    X, y = samples()
    model = make_pipeline(StandardScaler(), SVC(C=100, gamma=0.003))
    return model.fit(X[:N_TRAINED], y[:N_TRAINED])
