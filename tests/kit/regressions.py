"""Regressions in every form: the sum alone, with a tolerance, its exits and replay, of codes.

For tests of values and their intervals, in Python and in the C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kit.emitted import Emitted, named
from kit.every_offer import every_offer
from kit.sharing import shared
from kmcompile import readers
from kmcompile.exits.candidates.room import Room
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.replay import add_replay
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.program.program import Program
from kmcompile.target import Target

N_TRAINED = 150
N_OF_PARTED = 330
"""So many vectors are summed in parts, with compensation."""


@dataclass(frozen=True)
class Regression:
    """An SVR of the diabetes data, with a tolerance in the units of its target, or without."""

    kernel: str
    tolerance: float | None = None
    exits: tuple[str, ...] = ()
    replays: bool = False
    number_format: str = "float32"
    n_trained: int = N_TRAINED
    at_once: bool = False

    def __str__(self) -> str:
        words = ["regression", self.kernel, self.number_format, *self.exits]
        words += ["replay"] * self.replays + ["at_once"] * self.at_once
        words += [f"of_{self.n_trained}"] * (self.n_trained > N_TRAINED)
        return "-".join(words if self.tolerance is None else [*words, f"{self.tolerance:g}"])

    def fitted(self) -> Any:
        """Return the fitted pipeline."""
        return fitted(self.kernel, self.n_trained)

    def lower(self, target: str | Target, name: str) -> tuple[Lowered, Program]:
        """Return the exact program and that with tolerance, exits and replay."""
        board = named(target)
        machine = readers.load_model(self.fitted())
        lowered = lower_in_format(machine, board, name, self.number_format)
        program = with_tolerance(lowered.program, self.tolerance)
        fresh = load_diabetes().data[self.n_trained :: 4].astype(np.float32)
        if self.exits:
            offered = [
                s for s, _ in every_offer(lowered.machine, program, fresh, Room(1e9, None, None))
            ]
            last = {s.template: s for s in offered if s.template in self.exits}
            exits = [last[name] for name in self.exits]
            exits = (*program.exits, *exits)
            program = replace(program, mode="certified", exits=exits)
        if self.replays:
            made = (lowered.machine, board, program, lowered.ordinary)
            program, _ = add_replay(*made, None, required=True, coded=lowered.coded)
            assert program.replay is not None
            replay = replace(program.replay, at_once=self.at_once)
            program = replace(program, replay=replay)
        return lowered, program

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        _, program = self.lower(target, name)
        machine = readers.load_model(self.fitted())
        fresh = load_diabetes().data[self.n_trained :].astype(np.float32)
        edges = edge_inputs(machine, program.prepare.limit)
        X = np.concatenate([fresh, generate(machine, 60), edges])
        return Emitted(machine, program, named(target), X)


@cache
def fitted(kernel: str, n_trained: int) -> Any:
    """Return a fitted pipeline that ends with an SVR."""
    X, y = load_diabetes(return_X_y=True)
    parameters = {"rbf": {"gamma": 0.05}, "poly": {"gamma": 0.1, "coef0": 1.0}, "linear": {}}
    model = SVR(kernel=kernel, C=50.0, epsilon=10.0, **parameters[kernel])
    return make_pipeline(StandardScaler(), model).fit(X[:n_trained], y[:n_trained])


CORE = (
    Regression("rbf"),
    Regression("rbf", 12.0, ("local_expansion", "bound_sequence"), replays=True),
    Regression("rbf", 1e-3, replays=True, n_trained=N_OF_PARTED),
    Regression("rbf", 12.0, ("local_expansion",), replays=True, at_once=True),
)
"""For every compiler and every board."""

MORE = (
    Regression("linear", 1e-3, replays=True),
    Regression("poly", 1e-3, replays=True),
    Regression("rbf", 1e-3, ("local_expansion",), replays=True, number_format="int16"),
    Regression("rbf", number_format="int8"),
)

SIGNED = (CORE[1], MORE[2])
"""The regression with all emitted functions, for the golden file that reviewers read."""

ATTACKED = (*CORE, *MORE[:2])
"""In float32: for inputs that are made to break bounds."""
