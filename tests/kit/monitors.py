"""Programs with a monitor that lets through about half of their queries, and any program with one.

For tests that compile C or compare it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kit import catalogue, certified, coded, regressions
from kit.cascades import CORE as CASCADES
from kit.emitted import Emitted
from kit.replays import Replayed
from kit.sharing import shared
from kmcompile.monitor.reading import per_unit, read
from kmcompile.monitor.score import Score, rounded
from kmcompile.program.program import Program
from kmcompile.target import Target

PARTS = ("directions", "limits", "both")
_FARTHEST = 10.0
"""Largest magnitude of a feature of the queries by which a monitor is made, over the median."""


def watched(program: Program, X: np.ndarray, parts: str = "both", step: int = 1) -> Program:
    """Return the program with a monitor that lets through half of ordinary inputs.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Any inputs: those of the usual magnitude make the monitor.
    parts : {"directions", "limits", "both"}
    step : int
        The directions read one feature in so many.
    """
    size = np.abs(np.where(np.isfinite(X), X, np.inf)).max(axis=1)
    values = read(program, X[size <= _FARTHEST * np.median(size)])[1]
    first = (step - 1) // 2
    of_floats = values.astype(np.float64)
    seen = of_floats[:, first::step]
    n_directions = 0 if parts == "limits" else min(3, seen.shape[1])
    weight = np.random.default_rng(7).normal(size=(seen.shape[1], n_directions))
    weight /= np.maximum(seen.std(axis=0), 1e-3)[:, None]
    weight, start = rounded(weight, seen.mean(axis=0), program)
    score = Score(first, step, weight, start)
    if parts != "directions":
        middle = np.median(of_floats, axis=0)
        half = np.maximum(np.abs(of_floats - middle).max(axis=0), 1.0)
        alone = replace(score, weight=weight[:, :0], start=start[:0], middle=middle, half=half)
        score = replace(
            score,
            middle=middle,
            half=half,
            unit=max(float(np.median(score.exactly(values))), 1e-300) if n_directions else 1.0,
            box_unit=float(np.median(alone.exactly(values))),
        )
    monitor = score.monitor(program, 0.5, float(np.median(score.exactly(values))))
    return replace(program, exits=(monitor, *program.exits))


@dataclass(frozen=True)
class Monitored:
    """A model with a monitor.

    Parameters
    ----------
    case : Any
        What emits the C without a monitor, such as a `Case`.
    parts : str
        Of `PARTS`.
    step : int
    """

    case: Any
    parts: str = "both"
    step: int = 1

    def __str__(self) -> str:
        return f"monitor-{self.parts}-{self.step}-{self.case}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C, with queries at the monitor's limit, too."""
        plain = self.case.emit(target, name)
        program = watched(plain.program, plain.queries, self.parts, self.step)
        assert (per_unit(program) is None) == (plain.program.codes is None)
        X = np.concatenate([parted(program, plain.queries), plain.queries])
        return Emitted(plain.machine, program, plain.target, X)


def parted(program: Program, X: np.ndarray, n_pairs: int = 20) -> np.ndarray:
    """Return neighbours in float32, one of which the monitor finds usual and the other not."""
    assert program.monitor is not None

    def usual(rows: np.ndarray) -> np.ndarray:
        accepted, values = read(program, rows)
        found = np.zeros(len(rows), dtype=bool)
        found[accepted] = program.monitor.passes(values)
        return found

    X = X[read(program, X)[0]]
    inside = usual(X)
    rng = np.random.default_rng(5)
    a = X[rng.choice(np.flatnonzero(inside), n_pairs)]
    b = X[rng.choice(np.flatnonzero(~inside), n_pairs)]
    for _ in range(80):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = usual(middle)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b])


CORE = [
    Monitored(catalogue.CORE[0]),
    Monitored(catalogue.CORE[5], "directions", 2),
    Monitored(catalogue.CORE[7], "limits"),
    Monitored(Replayed(catalogue.CORE[3], low_parts=True)),
    Monitored(certified.EVERY[0], "directions"),
    Monitored(certified.EVERY[2], "both", 3),
    Monitored(CASCADES[0]),
    Monitored(CASCADES[2], "directions"),
    Monitored(coded.CORE[0], "both", 3),
    Monitored(coded.CORE[1], "directions"),
    Monitored(coded.CORE[10], "limits"),
    Monitored(coded.REPLAYED[1]),
    Monitored(regressions.CORE[0]),
    Monitored(regressions.CORE[1], "directions"),
]
"""Every mode, task and kind of format."""
