"""A sum without support vectors, offered in place of the exact sum over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.sum_offer import SumOffer
from kmcompile.lower.program import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Inputs, Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import VectorlessSum
from kmcompile.request.budgets import Budgets
from kmcompile.target import Target
from kmcompile.text.figures import share_text

_LOST_SHARE = 0.001
"""Share of the samples that the sum over vectors certifies and the other sum may leave open, on a
target without a replay."""

_CANDIDATES = 256


@dataclass(frozen=True, slots=True)
class Board:
    """Where a program will run, and what it may take there.

    Parameters
    ----------
    target : Target
    budgets : Budgets
    replay : {"none", "where_double_is_float64", "always"}
        As in `Plan`.
    """

    target: Target
    budgets: Budgets
    replay: Literal["none", "where_double_is_float64", "always"]

    @property
    def replays(self) -> bool:
        """Whether open labels are summed again in double of 64 bits."""
        return self.replay != "none" and self.target.double_bits == 64


def offer_without_vectors(
    kind: type[VectorlessSum],
    machine: KernelMachine,
    program: Program,
    board: Board,
    judged: Float32Array,
    replay_tables: int,
    settles: bool = True,
) -> SumOffer | None:
    """Return the program with another sum; None if it does not fit or refuses a sample.

    Labels that this sum leaves open and the sum over vectors does not count as replayed: as many
    operations again. Without a replay, at most a share of 0.001 of the samples may be lost.

    Parameters
    ----------
    kind : type
        The kind of the sum, which the machine's kernel has.
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    board : Board
    judged : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts.
    replay_tables : int
        Bytes of the replay's tables in those of the program.
    settles : bool
        Whether a replay settles what this sum leaves open.
    """
    ordinary = ordinary_inputs(machine, _CANDIDATES)
    try:
        made = lower(machine, board.target, program.name, ordinary, vectorless=kind)
    except InputError:
        return None
    made = replace(made, model_sha256=program.model_sha256, label=program.label)
    offered = judged_offer(made, program, board, judged, replay_tables, settles)
    return offered if isinstance(offered, SumOffer) else None


def judged_offer(
    made: Program,
    program: Program,
    board: Board,
    judged: Inputs,
    replay_tables: int,
    settles: bool,
) -> SumOffer | str:
    """Return a program as an offer in place of another one, or why it is none.

    Parameters
    ----------
    made : Program
        The program with the sum without vectors.
    program, board, judged, replay_tables, settles
        As in `offer_without_vectors`; `judged` may be codes.
    """
    flash = made.table_bytes * (1 + replay_tables if board.replays else 1)
    if board.budgets.flash_bytes is not None and flash > board.budgets.flash_bytes:
        return f"its tables of {flash:,} bytes do not fit"
    answers = interpret(made, judged)
    if (answers.results["status"] != Status.OK).any():
        return "it would refuse samples"
    spent = answers.stage_operations[:, -2:].sum(axis=1)
    if not program.is_regression and len(judged):
        known = interpret(program, judged).results["certified"]
        lost = known & ~answers.results["certified"]
        if not (board.replays and settles) and lost.mean() > _LOST_SHARE:
            return f"it would leave {share_text(float(lost.mean()))} more of the labels open"
        spent = spent + np.where(lost, spent, 0)
    return SumOffer(made.sum.name, made, spent)
