"""The view of the functions that answer in steps (`--step`): the places and what a job keeps."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.layout import Layout
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.prepare_view import PrepareView
from kmcompile.emit.step_place_view import place_view
from kmcompile.program.pieces import parts_replay, parts_sum
from kmcompile.program.schedule import schedule
from kmcompile.program.stages import CodeTable, PairSum
from kmcompile.program.workspace import workspace_bytes

_RESULT_BYTES = 20
"""`sizeof` of a result and of a prediction in every C ABI."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A number of the prepared input that a job keeps from step to step."""

    c_type: str
    name: str
    zero: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ExitPiece:
    """An early exit, and whether it is asked only of inputs in the calibrated range."""

    name: str
    limited: bool


def step_view(layout: Layout, harness_start: int) -> SimpleNamespace | None:
    """Return what templates/step.c.j2 and header/step.h.j2 print; None if the C has no steps.

    Parameters
    ----------
    layout : Layout
    harness_start : int
        The word of a harness record at which the answer in steps begins.

    Raises
    ------
    BudgetError
        If a piece of the program does not fit a step.
    """
    program, early = layout.program, layout.early
    if program.step is None:
        return None
    planned = schedule(program)
    names = {member.name for member in early.input_members}
    kept = _kept(early)
    codes = program.codes is not None
    exact, replay = program.sum, program.replay
    replayed = None if replay is None else replay.sum
    fine = replayed is not None and replayed.takes_fine_codes
    lists = fine and isinstance(program.codes, CodeTable) and program.codes.sparse
    return SimpleNamespace(
        # The option's number, and the steps of the longest path.
        most_operations=unsigned_literal(planned.most_operations),
        most_steps=unsigned_literal(planned.most_steps),
        places=tuple(place_view(place, planned.places) for place in planned.places),
        exits=tuple(
            ExitPiece(turn.stage.name, "result->in_range" in turn.condition) for turn in early.turns
        ),
        kept=kept,
        # Where the prepared input of a float program lies; "" if the input becomes codes.
        prepared_x="" if codes else _prepared_x(layout.prepared),
        takes_codes=codes,  # a job may begin with codes
        # Whether stages read the received input, codes in float, or the most kernel evaluations.
        recalls_raw="raw" in names,
        recalls_floats="x" in names,
        recalls_allowed="max_kernel_evals" in names,
        # Arguments of what is done before the first early exit.
        begins_in_workspace=bool(early.float_codes or early.reuses_kernels or early.proves),
        begins_with_input=bool(early.float_codes or early.gate),
        # The sum, or the replay's, is parted into blocks of vectors, or into kernels and pairs.
        parts_sum=parts_sum(program),
        parts_replay=parts_replay(program),
        has_progress=parts_sum(program) or parts_replay(program),
        sums_pairs=exact.sums_pairs,
        replay_sums_pairs=replayed is not None and replayed.sums_pairs,
        pair_entries=unsigned_literal(exact.longest_pair) if isinstance(exact, PairSum) else "",
        # C type of |x|^2 of a sum in integers; whether a sum has a kernel in float32.
        square_type=exact.square_type,
        has_terms=exact.takes_terms,
        # What takes the input: the begin and the end of a parted sum, a block of the replay.
        begin_reads_input=codes,
        end_reads_input=exact.bound_needs_input,
        replay_block_reads_input=replayed is not None
        and (replayed.takes_terms or (fine and not lists)),
        replay_end_reads_input=replayed is not None and replayed.bound_needs_input,
        # The replay sums fine codes, has a kernel in double, finds all distances at its begin.
        replay_is_fine=fine,
        replay_has_terms=replayed is not None and replayed.takes_terms,
        replay_lists=lists,
        replay_x="" if replay is None or fine else list(replay.prepare.buffers(True)[1])[-1],
        harness_start=unsigned_literal(harness_start),
        reach=early.reach,  # what an input tolerance adds to the deviation that the exits get
    )


def job_bytes(layout: Layout) -> int | None:
    """Return the bytes of a job with its padding, which some ABIs do without.

    At least its `sizeof` in every C ABI; None without `--step`.
    """
    program = layout.program
    if program.step is None:
        return None
    size = -(-workspace_bytes(program) // 8) * 8
    if parts_replay(program):
        size += 16
    if parts_sum(program) or parts_replay(program):
        size += 24 if program.sum.square_type else 12
    if program.sum.sums_pairs:
        size += 28
    size += _RESULT_BYTES + 4 * program.n_features + 4 * len(_kept(layout.early)) + 4 + 4
    return -(-size // 8) * 8


def _kept(early: EarlyExitsView) -> tuple[Kept, ...]:
    """Return the numbers of a prepared input; pointers and constants are no part of a job."""
    recalled = ("raw", "x", "max_kernel_evals")
    return (
        Kept("float", "deviation", "0.0f", "of the prepared input, >= its error"),
        Kept("float", "length", "0.0f", ">= its Euclidean norm, where that is needed"),
        *(
            Kept(member.declaration.split()[0], member.name, member.zero, member.meaning)
            for member in early.input_members
            if member.name not in recalled
        ),
    )


def _prepared_x(view: PrepareView) -> str:
    """Return where the last step of the preprocessing has left the input."""
    return f"workspace.{view.calls[-1].buffer}" if view.calls else "x"
