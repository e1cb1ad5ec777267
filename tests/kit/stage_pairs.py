"""Programs in which every two stages stand together that can, with every task and format.

For the test that what one stage leaves is what the next one takes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from kit.cascades import Cascade, Stages
from kit.chain_models import ADDITIVE, KERNELS, fitted, samples
from kit.chain_stages import (
    certified_exits,
    summed_by_pairs,
    with_ratio,
    with_stages,
    without_vectors,
)
from kit.covering import covering
from kit.emitted import Emitted, named
from kit.monitors import watched
from kit.sharing import shared
from kmcompile import readers
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.replay import lower_replay
from kmcompile.model.kernel_machine import Task
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    AdditiveSum,
    Argmax,
    BoundSequence,
    ClassScores,
    CodedLinearSum,
    CodedPolynomialSum,
    CodedSum,
    CurveSum,
    EarlyExit,
    ExactSum,
    FixedSum,
    IntervalRatio,
    LinearFilter,
    LinearSum,
    LocalExpansion,
    Monitor,
    NearestVectors,
    Nonzeros,
    PairSum,
    PolynomialSum,
    Prepare,
    QuadraticBounds,
    RangeGate,
    ReducedSet,
    Replay,
    Sign,
    SignMap,
    Stage,
    SubspaceCertificate,
    TableSum,
    TaylorPolynomial,
    Value,
    Vote,
)
from kmcompile.target import Target

N_ITS_OWN, N_GENERATED = 60, 150
N_FITTED, N_CALIBRATED = 40, 100
"""Samples that the certified exits see, and the calibrated ones."""
SHARE = 0.6
"""Of the half-width of an interval: the middle must exceed it."""
TOLERANCE = 0.1
"""Of the regressions, in deviations of what they learn."""


@dataclass(frozen=True)
class Chain:
    """All stages in one program that a machine has, its early exits in one order or the other.

    Parameters
    ----------
    task : Task
    kernel : str
        Of `KERNELS`.
    data : str
        "few": 2 features, of which there are sign maps. "many": 16, or 10. "sparse": 64, most of
        them 0, so that others are listed and summed.
    mode : str
        "certified", "both" (with calibrated exits, too) or "exact": a sum without vectors.
    number_format : str
    by_pairs : bool
        Whether the sum is evaluated pair by pair.
    break_ties : bool
    backwards : bool
        Whether the early exits stand in the other order.
    replays : bool
    """

    task: Task
    kernel: str
    data: str
    mode: str
    number_format: str = "float32"
    by_pairs: bool = False
    break_ties: bool = False
    backwards: bool = False
    replays: bool = False

    def __str__(self) -> str:
        words = [self.number_format, self.task.value, self.kernel, self.data, self.mode]
        flags = ("by_pairs", "break_ties", "backwards", "replays")
        return "-".join([*words, *(flag for flag in flags if getattr(self, flag))])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C, with fresh and generated queries and those at the edges."""
        board = named(target)
        if board.double_bits != 64 and self.replays:
            return replace(self, replays=False).emit(target, name)
        model, fresh = fitted(self.task, self.kernel, self.data, self.break_ties)
        machine = readers.load_model(model)
        if self.kernel in ADDITIVE:
            machine = replace(machine, kernel=ADDITIVE[self.kernel])
        lowered = lower_in_format(machine, board, name, self.number_format)
        if self.mode == "exact" and self.kernel != "linear":
            lowered = without_vectors(lowered, board)
        spread = float(samples(self.task, self.data)[1].std())
        program = with_tolerance(lowered.program, TOLERANCE * spread)
        exits = self._exits(lowered, program, fresh)
        if self.by_pairs:
            program = summed_by_pairs(lowered, program, fresh)
            exits = [stage for stage in exits if not isinstance(stage, NearestVectors)]
        program = with_stages(program, exits)
        if self.replays:
            replay = lower_replay(
                lowered.machine, board, program, lowered.ordinary, True, coded=lowered.coded
            )
            program = replace(program, replay=replay)
        if HAS[Monitor](self):
            program = watched(program, fresh)
        edges = edge_inputs(machine, program.prepare.limit)
        parts = [fresh[:N_ITS_OWN], fresh[:6] * np.float32(2.5), generate(machine, N_GENERATED)]
        return Emitted(machine, program, board, np.concatenate([*parts, edges]))

    def _exits(self, lowered: Lowered, program: Program, fresh: np.ndarray) -> list[Stage]:
        """Return what stands between `prepare`, or the list of nonzeros, and the sum."""
        accepted = fresh[interpret(program, fresh).results["status"] == Status.OK]
        if self.mode == "exact":
            return []
        proved = list(certified_exits(lowered.machine, program, accepted[:N_FITTED]))
        if self.backwards:
            proved = proved[::-1]
        if self.mode == "certified":
            return proved
        if proved:
            ratio = IntervalRatio(program.n_decisions, np.float32(SHARE))
            proved = with_ratio(proved, ratio, self.backwards)
        # Of one class all coefficients are positive: there is no tug of war.
        schemes = ("tug_of_war" if self.task is Task.BINARY else "by_score", "estimate")
        scheme = schemes[self.backwards]
        n_scores = 3 if self.task is Task.ONE_VS_ONE else 0
        sparse = self.data == "sparse"
        cascade = Cascade(
            self.kernel, "", scheme, 1, skip_zeros=sparse, n_reduced=2, n_scores=n_scores
        )
        own = Stages(cascade, program, accepted[:N_CALIBRATED]).program.exits
        calibrated = [stage for stage in own if stage not in program.stages]
        first = [stage for stage in calibrated if not isinstance(stage, EarlyExit)]
        last = [stage for stage in calibrated if isinstance(stage, EarlyExit)]
        return [*first, *([*proved, *last] if self.backwards else [*last, *proved])]


def stages_of(program: Program) -> list[type[Stage]]:
    """Return what the stages of a program are, in order, its replay behind them."""
    replay = [] if program.replay is None else [program.replay]
    return [type(stage) for stage in (*program.stages, *replay)]


def _in_floats(chain: Chain) -> bool:
    return chain.number_format == "float32"


def _proves(chain: Chain) -> bool:
    return chain.mode != "exact"


def _calibrates(chain: Chain) -> bool:
    return chain.mode == "both"


def _has_one_decision(chain: Chain) -> bool:
    return chain.task.has_one_sign or chain.task is Task.REGRESSION


_PROVING: dict[type[Stage], Callable[[Chain], bool]] = {
    SignMap: lambda chain: (
        _proves(chain) and chain.kernel == "rbf" and chain.data == "few" and chain.task.has_one_sign
    ),
    BoundSequence: lambda chain: _proves(chain) and chain.kernel in ("rbf", "poly"),
    LocalExpansion: lambda chain: _proves(chain) and chain.kernel == "rbf",
    TaylorPolynomial: lambda chain: (
        _proves(chain) and chain.kernel == "rbf" and _in_floats(chain) and chain.data != "sparse"
    ),
    SubspaceCertificate: lambda chain: (
        _proves(chain) and chain.kernel == "poly" and _in_floats(chain) and _has_one_decision(chain)
    ),
    QuadraticBounds: lambda chain: (
        _proves(chain)
        and chain.kernel in ("poly", "sigmoid")
        and _in_floats(chain)
        and not chain.by_pairs
        and chain.task.has_one_sign
    ),
}
"""Which programs have a certified exit of a kind."""

HAS: dict[type[Stage], Callable[[Chain], bool]] = {
    Prepare: lambda chain: True,
    Monitor: lambda chain: chain.backwards or chain.mode == "exact",
    Nonzeros: lambda chain: chain.data == "sparse" and chain.mode != "exact",
    RangeGate: _calibrates,
    LinearFilter: _calibrates,
    ReducedSet: _calibrates,
    ClassScores: lambda chain: _calibrates(chain) and chain.task is Task.ONE_VS_ONE,
    NearestVectors: lambda chain: _calibrates(chain) and _in_floats(chain) and not chain.by_pairs,
    **_PROVING,
    IntervalRatio: lambda chain: (
        _calibrates(chain) and any(has(chain) for has in _PROVING.values())
    ),
    ExactSum: lambda chain: _in_floats(chain) and chain.mode != "exact" and not chain.by_pairs,
    CodedSum: lambda chain: (
        not _in_floats(chain) and chain.kernel in ("poly", "sigmoid") and chain.mode != "exact"
    ),
    FixedSum: lambda chain: not _in_floats(chain) and chain.kernel == "rbf",
    LinearSum: lambda chain: _in_floats(chain) and chain.kernel == "linear",
    CodedLinearSum: lambda chain: not _in_floats(chain) and chain.kernel == "linear",
    PolynomialSum: lambda chain: (
        _in_floats(chain) and chain.kernel == "poly" and chain.mode == "exact"
    ),
    CodedPolynomialSum: lambda chain: (
        not _in_floats(chain) and chain.kernel == "poly" and chain.mode == "exact"
    ),
    AdditiveSum: lambda chain: _in_floats(chain) and chain.kernel == "intersection",
    CurveSum: lambda chain: chain.kernel == "additive_chi2",
    TableSum: lambda chain: not _in_floats(chain) and chain.kernel == "intersection",
    PairSum: lambda chain: chain.by_pairs,
    Sign: lambda chain: chain.task.has_one_sign,
    Vote: lambda chain: chain.task is Task.ONE_VS_ONE,
    Argmax: lambda chain: chain.task is Task.ONE_VS_REST,
    Value: lambda chain: chain.task is Task.REGRESSION,
    Replay: lambda chain: chain.replays,
}
"""Which programs have a stage; the exact sum of codes is a kind of `ExactSum`."""


def can_be(chain: Chain) -> bool:
    """Return whether there is such a program, as long as a program of its kind can be."""
    in_floats = _in_floats(chain)
    if chain.kernel in ("linear", *ADDITIVE) and chain.mode != "exact":
        return False
    if chain.mode == "exact" and chain.kernel in ("rbf", "sigmoid"):
        return False
    if chain.kernel == "additive_chi2" and not in_floats:
        return False
    if chain.data == "sparse" and not in_floats:
        return False
    # Calibrated exits give labels.
    if (chain.task is Task.REGRESSION) != (chain.mode == "certified") and _proves(chain):
        return False
    if (chain.by_pairs or chain.break_ties) and chain.task is not Task.ONE_VS_ONE:
        return False
    if chain.by_pairs and (chain.break_ties or not in_floats or chain.mode == "exact"):
        return False
    # A sum of codes is replayed where it is one of distances.
    return not chain.replays or in_floats or chain.kernel == "rbf"


def every_chain() -> list[Chain]:
    """Return the longest programs that there can be: of every task, kernel, data and format."""
    kinds = product(
        Task,
        KERNELS,
        ("few", "many", "sparse"),
        ("exact", "certified", "both"),
        ("float32", "int16", "int8"),
        ((False, False), (True, False), (False, True)),
        (False, True),
        (True, False),
    )
    chains = (
        Chain(task, kernel, data, mode, number_format, by_pairs, ties, backwards, replays)
        for task, kernel, data, mode, number_format, (by_pairs, ties), backwards, replays in kinds
    )
    return [chain for chain in chains if can_be(chain)]


def stages_that_can_be(chain: Chain) -> list[type[Stage]]:
    """Return the stages that such a program has, in no order."""
    return [stage for stage, has in HAS.items() if has(chain)]


def pairs_of(chain: Chain) -> set[frozenset[type[Stage]]]:
    """Return every two different stages of a program, in whatever order."""
    return {frozenset(pair) for pair in combinations(stages_that_can_be(chain), 2)}


def orders_of(chain: Chain) -> set[Hashable]:
    """Return every two stages with the task, the format and the order of the early exits."""
    words = (chain.task, chain.number_format)
    return {
        *((pair, *words) for pair in pairs_of(chain)),
        *((pair, chain.backwards) for pair in pairs_of(chain) if chain.mode != "exact"),
        *((chain.kernel, chain.break_ties, *words),),
    }


CORE = covering({chain: pairs_of(chain) for chain in every_chain()})
"""Every two stages at least once, those first that have most of them."""

EVERY = covering({chain: orders_of(chain) for chain in every_chain()})
"""Every two stages with every task and format, and with the early exits in both orders."""
