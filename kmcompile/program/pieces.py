"""The pieces of a query's work that a call of `<name>_step` does as a whole (`--step`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kmcompile.program.cost import replay_operations, stage_worst_operations
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodedSum,
    CodeTable,
    EarlyExit,
    ExactSum,
    FixedSum,
    Monitor,
    Nonzeros,
    PairSum,
    Replay,
)
from kmcompile.program.stages.sums.fine_sum import FUNCTION_OPERATIONS as FINE_OPERATIONS
from kmcompile.program.stages.sums.fine_sum import FineSum
from kmcompile.program.stages.sums.long_pairs import LongPairs
from kmcompile.program.stages.sums.long_sum import LongSum

PieceKind = Literal[
    "prepare",
    "begin_exits",
    "exit",
    "sum",
    "begin_sum",
    "sum_block",
    "end_sum",
    "begin_pairs",
    "pair",
    "end_pairs",
    "replay",
    "begin_replay",
    "replay_block",
    "replay_pair",
    "end_replay",
]

_MARK_OPERATIONS = 1
"""Multiply-adds of a look at an entry of a pair whose kernel is known."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a query's work that is not parted further.

    Parameters
    ----------
    kind : PieceKind
    name : str
        The name for people; of an early exit that of its stage.
    operations : int
        Multiply-adds of the worst case, as the cost model counts them, in operations of the exact
        sum.
    count : int
        How often it is done at most, one after the other.
    each : str
        The name of one of several, such as "block"; "" if there is one.
    per_kernel : int
        Of the pairs of a pair sum, which compute kernels that no pair before has needed: the
        multiply-adds of one more kernel in a step. `operations` has those of one kernel and of a
        pair. 0 of other pieces.
    """

    kind: PieceKind
    name: str
    operations: int
    count: int = 1
    each: str = ""
    per_kernel: int = 0


def pieces(program: Program) -> tuple[Piece, ...]:
    """Return the pieces of a query in order, those of the longest path.

    A piece's operations are those of the cost model in its worst case. Added up they are at least
    `worst_operations`: what an early exit spares the exact sum is not taken off here.
    """
    found = [Piece("prepare", "prepare", _prepare_operations(program))]
    if program.early_exits:
        others = [s for s in program.exits if not isinstance(s, EarlyExit | Nonzeros | Monitor)]
        spent = sum(stage_worst_operations(program, stage) for stage in others)
        found.append(Piece("begin_exits", "begin of exits", spent + program.float_codes_operations))
    found += [
        Piece("exit", stage.name, stage_worst_operations(program, stage))
        for stage in program.early_exits
    ]
    found += _sum_pieces(program)
    if program.replay is not None:
        found += _replay_pieces(program, program.replay)
    return tuple(found)


def check_operations(program: Program) -> int:
    """Return the multiply-adds with which each step looks at the list of features that are not 0.

    One for each feature: a number of a list that a job has kept is not relied on.
    """
    return sum(stage.n_features for stage in program.exits if isinstance(stage, Nonzeros))


def answering_pieces(program: Program) -> tuple[Piece, ...]:
    """Return the piece in which each of the program's exit stages answers, in their order."""
    ends = ("exit", "sum", "end_sum", "end_pairs", "replay", "end_replay")
    return tuple(piece for piece in pieces(program) if piece.kind in ends)


def parts_sum(program: Program) -> bool:
    """Return whether the exact sum is parted into blocks of vectors."""
    return isinstance(program.sum, ExactSum | FixedSum)


def parts_replay(program: Program) -> bool:
    """Return whether the sum of the replay is parted into blocks of vectors, or into kernels."""
    summed = None if program.replay is None else program.replay.sum
    return isinstance(summed, ExactSum | PairSum | FineSum)


def _prepare_operations(program: Program) -> int:
    own = [stage for stage in program.exits if isinstance(stage, Nonzeros | Monitor)]
    spent = sum(stage_worst_operations(program, stage) for stage in own)
    return spent + program.prepare.operations()


def _sum_pieces(program: Program) -> list[Piece]:
    """Return the pieces of the exact sum; its last one also makes the label.

    With an input tolerance the last one bounds the decisions over the box, too.
    """
    exact, label = program.ends.exact, program.ends.label.operations()
    name = ""
    if program.box is not None:
        label += program.box.operations(program.ends)
        name = " with the bounds over the box"
    if isinstance(exact, PairSum):
        return _pair_pieces(exact, label)
    if isinstance(exact, ExactSum):
        own = exact.codes if isinstance(exact, CodedSum) else None
        total = exact.total_operations if own is None or not own.sparse else 0
        begin, block = _listed(own), exact.block_operations(total) + exact.group_operations
        end = exact.end_operations
    elif isinstance(exact, FixedSum):
        own = exact.codes
        total = 0 if own.sparse else own.n_padded
        begin = exact.n_features + _listed(own)
        block = exact.block_operations(total) + exact.n_rows
        end = exact.float_operations
    else:
        return [Piece("sum", f"{exact.name}{name}", exact.operations() + label)]
    return [
        Piece("begin_sum", f"begin of {exact.name}", begin),
        Piece("sum_block", f"block of {exact.name}", block, exact.n_blocks, "block"),
        Piece("end_sum", f"end of {exact.name}{name}", end + label),
    ]


def _pair_pieces(exact: PairSum, label: int) -> list[Piece]:
    """Return the pieces of a pair sum: each step computes some kernels, and at most one pair."""
    choice, check = exact.choice_operations, exact.n_classes
    longest = exact.longest_pair * _MARK_OPERATIONS + exact.longest_pair_operations + choice + check
    kernel = exact.kernel_operations
    return [
        Piece("begin_pairs", "begin of pairs", exact.begin_operations + choice),
        Piece(
            "pair", "longest pair", longest + kernel, exact.n_decisions, "pair", per_kernel=kernel
        ),
        Piece("end_pairs", "end of pairs", check + max(label, exact.label_operations)),
    ]


def _replay_pieces(program: Program, replay: Replay) -> list[Piece]:
    """Return the pieces of the replay; its last one also makes the label."""
    label, summed = replay.label.operations(), replay.sum
    weight = 1 if program.step is None else program.step.replay_weight
    of_sums = (program.step and program.step.integers_weight) or weight
    begin, pairs = replay.prepare.operations(), []
    if isinstance(summed, PairSum | LongPairs):
        block, n_blocks, each = summed.kernel_operations, summed.n_vectors, "kernel"
        per_pair = of_sums * summed.longest_pair_operations
        pairs = [Piece("replay_pair", "pair of replay", per_pair, summed.n_decisions, "pair")]
        end = 0
    elif isinstance(summed, ExactSum):
        block = summed.block_operations(summed.total_operations) + summed.group_operations
        n_blocks, each, end = summed.n_blocks, "block", summed.end_operations
    elif isinstance(summed, LongSum):
        exact = program.ends.exact
        assert isinstance(exact, ExactSum)
        block = exact.lanes * (exact.n_features + FINE_OPERATIONS + summed.n_rows)
        n_blocks, each, end = exact.n_blocks, "block", 4 * summed.n_decisions
    elif isinstance(summed, FineSum):
        codes = program.codes
        assert isinstance(codes, CodeTable)
        begin += summed.vectors.shape[1] + (summed.n_stored if codes.sparse else 0)
        total = 0 if codes.sparse else -(-summed.n_stored // summed.n_slots)
        block = codes.lanes * (total + FINE_OPERATIONS + summed.n_rows)
        n_blocks, each = summed.n_slots // codes.lanes, "block"
        end = 4 * summed.n_decisions
    else:
        return [Piece("replay", "replay", weight * replay_operations(program))]
    return [
        Piece("begin_replay", "begin of replay", weight * begin),
        Piece("replay_block", f"{each} of replay", of_sums * block, n_blocks, each),
        *pairs,
        Piece("end_replay", "end of replay", weight * (end + label)),
    ]


def _listed(codes: CodeTable | None) -> int:
    """Return the multiply-adds of lists of codes that are not 0, whose products come at once."""
    return codes.operations() if codes is not None and codes.sparse else 0
