"""A part of a query's work that a call of `<name>_step` does as a whole (`--step`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


ANSWERING: tuple[PieceKind, ...] = (
    "exit",
    "sum",
    "end_sum",
    "end_pairs",
    "replay",
    "end_replay",
)
"""The pieces in which a query may be answered."""


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


def replay_in_blocks(
    begin: int, block: int, n_blocks: int, each: str, end: int, pairs: tuple[Piece, ...] = ()
) -> tuple[Piece, ...]:
    """Return the pieces of a replay's sum: its begin, blocks or kernels, pairs if any, its end."""
    return (
        Piece("begin_replay", "begin of replay", begin),
        Piece("replay_block", f"{each} of replay", block, n_blocks, each),
        *pairs,
        Piece("end_replay", "end of replay", end),
    )
