"""The private #defines of the model file."""

from __future__ import annotations

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.program.layout import Constant
from kmcompile.program.program import Program


def private_constants(program: Program, early: EarlyExitsView) -> tuple[Constant, ...]:
    """Return the private constants of the model file in order, but for those of the self-test."""
    sizes = (*_input_constants(program, early), *program.ends.exact.constants())
    return (*sizes, *_evaluation_constants(program, early), *early.defines)


def self_test_constants(
    n_tables: int, n_answers: int, n_steps: int, words_per_step: int
) -> tuple[Constant, ...]:
    """Return the sizes of the self-test."""
    return (
        Constant("N_TABLES", n_tables, "tables with a checksum"),
        Constant("N_ANSWERS", n_answers, "known answers of the self-test"),
        Constant("N_TEST_STEPS", n_steps, "steps of the whole self-test"),
        Constant("STEP_WORDS", words_per_step, "words of a table that one step reads"),
    )


def _input_constants(program: Program, early: EarlyExitsView) -> tuple[Constant, ...]:
    """Return the sizes of the prepared input and, where only early exits sum them, of blocks."""
    summed, n = program.ends.exact, program.prepare.n_out
    prepared = Constant("N_PREPARED", n, "features after the preprocessing")
    if not summed.stores_codes:
        return (prepared,)
    words = n * summed.lanes
    block = Constant("BLOCK_WORDS", words, "N_PREPARED * LANES: of a block in float")
    return (
        *((prepared,) if early.float_codes else ()),
        *((block,) if early.sums_blocks else ()),
    )


def _evaluation_constants(program: Program, early: EarlyExitsView) -> tuple[Constant, ...]:
    """Return the cost of the last sum in the unit of the caller's limit; none if not needed."""
    summed = program.ends.exact
    counts = summed.counts_evaluations or (summed.sums_pairs and program.replay is None)
    if counts and not early.proves:
        return ()
    return (Constant("SUM_EVALS", summed.kernel_evaluations(), f"{summed.unit} of the sum"),)
