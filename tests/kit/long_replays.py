"""Models whose replay is in integers, on a target that asks for it.

For tests of the replay in integers: bits of the C, its bounds, what it settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kit import coded, pairs, replays
from kit.emitted import Emitted, named
from kit.sharing import shared
from kit.steps import InSteps
from kmcompile.target import Target


def in_integers(target: str | Target) -> Target:
    """Return the target with replays in integers."""
    own = named(target)
    return replace(own, program=replace(own.program, replay="integers"))


@dataclass(frozen=True)
class InIntegers:
    """A model with a replay, emitted for the target that has replays in integers."""

    case: Any

    def __str__(self) -> str:
        return f"integers-{self.case}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        return self.case.emit(in_integers(target), name)


_RBF = [case for case in (*replays.CORE, *replays.SPARSE) if "rbf" in str(case)]

QUICK = [
    *(InIntegers(case) for case in _RBF[::4]),
    InIntegers(pairs.CORE[0]),
    *(InIntegers(case) for case in coded.REPLAYED[1:3]),
    InIntegers(InSteps(_RBF[0], 1.7)),
    InIntegers(InSteps(pairs.CORE[0], 1.0)),
    InIntegers(InSteps(coded.REPLAYED[1], 1.0)),
]
EVERY = [
    *(InIntegers(case) for case in _RBF),
    *(InIntegers(case) for case in (pairs.CORE[0], *pairs.MORE[2:])),
    *(InIntegers(case) for case in coded.REPLAYED),
    *(
        InIntegers(InSteps(case, times))
        for case in (*_RBF[::2], pairs.CORE[0], *coded.REPLAYED)
        for times in (1.0, 1.7)
    ),
]
