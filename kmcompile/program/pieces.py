"""The pieces of a query's work that a call of `<name>_step` does as a whole (`--step`)."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.program.cost import stage_worst_operations
from kmcompile.program.piece import ANSWERING, Piece
from kmcompile.program.program import Program
from kmcompile.program.shared import Place
from kmcompile.program.stages import Nonzeros, Replay


def pieces(program: Program) -> tuple[Piece, ...]:
    """Return the pieces of a query in order, those of the longest path.

    A piece's operations are those of the cost model in its worst case. Added up they are at least
    `worst_operations`: what an early exit spares the exact sum is not taken off here.
    """
    found = [Piece("prepare", "prepare", _prepare_operations(program))]
    if program.early_exits:
        gates = [stage for stage in program.exits if stage.place is Place.GATE]
        spent = sum(stage_worst_operations(program, stage) for stage in gates)
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
    return tuple(piece for piece in pieces(program) if piece.kind in ANSWERING)


def parts_sum(program: Program) -> bool:
    """Return whether the exact sum is parted into blocks of vectors."""
    return any(piece.kind == "sum_block" for piece in pieces(program))


def parts_replay(program: Program) -> bool:
    """Return whether the sum of the replay is parted into blocks of vectors, or into kernels."""
    return any(piece.kind == "replay_block" for piece in pieces(program))


def _prepare_operations(program: Program) -> int:
    """Return the multiply-adds of the preprocessing, with the stages before the range gate."""
    own = [stage for stage in program.exits if stage.place < Place.GATE]
    spent = sum(stage_worst_operations(program, stage) for stage in own)
    return spent + program.prepare.operations()


def _sum_pieces(program: Program) -> tuple[Piece, ...]:
    """Return the pieces of the exact sum; its last one also makes the label.

    With an input tolerance the last one bounds the decisions over the box, too.
    """
    ends, box = program.ends, program.box
    if box is None:
        return ends.exact.pieces(ends.label.operations(), "")
    last = ends.label.operations() + box.operations(ends)
    return ends.exact.pieces(last, " with the bounds over the box")


def _replay_pieces(program: Program, replay: Replay) -> list[Piece]:
    """Return the pieces of the replay; its last one also makes the label."""
    weight = 1 if program.step is None else program.step.replay_weight
    of_sums = (program.step and program.step.integers_weight) or weight
    found = []
    for piece in replay.sum.replay_pieces(program.ends.exact):
        spent = piece.operations
        if piece.kind in ("replay", "begin_replay"):
            spent += replay.prepare.operations()
        if piece.kind in ("replay", "end_replay"):
            spent += replay.label.operations()
        each = of_sums if piece.kind in ("replay_block", "replay_pair") else weight
        found.append(replace(piece, operations=each * spent))
    return found
