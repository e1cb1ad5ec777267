"""The private #defines of the model file."""

from __future__ import annotations

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.program.layout import Constant
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedSum, DescribedSum, ExactSum, FixedSum, PairSum, Prepare
from kmcompile.program.stages.sums.code_table import CHUNKS, TURN
from kmcompile.program.workspace import n_marks


def private_constants(program: Program, early: EarlyExitsView) -> tuple[Constant, ...]:
    """Return the private constants of the model file in order, but for those of the self-test."""
    sizes = program_constants(program.prepare, program.ends.exact, early)
    return (*sizes, *sum_constants(program, early), *early.defines)


def program_constants(
    prepare: Prepare, summed: ExactSum | PairSum | FixedSum | DescribedSum, early: EarlyExitsView
) -> tuple[Constant, ...]:
    """Return the private sizes of the model file in order."""
    if isinstance(summed, FixedSum | CodedSum):
        floats = _float_constants(prepare, summed, early)
        return (*floats, *_code_constants(summed), *_group_constants(summed))
    prepared = Constant("N_PREPARED", prepare.n_out, "features after the preprocessing")
    if isinstance(summed, DescribedSum):
        return (prepared, *summed.constants())
    constants = [
        prepared,
        Constant("LANES", summed.lanes, "support vectors of a block, side by side"),
        Constant("N_BLOCKS", summed.n_blocks, "the last ones of a group filled up"),
        Constant("BLOCK_WORDS", prepare.n_out * summed.lanes, "N_PREPARED * LANES"),
    ]
    if isinstance(summed, ExactSum):
        constants += _group_constants(summed)
    if isinstance(summed, PairSum):
        constants += _pair_constants(summed)
    return tuple(constants)


def sum_constants(program: Program, early: EarlyExitsView) -> tuple[Constant, ...]:
    """Return the cost of the last sum in the unit of the caller's limit; none if not needed."""
    summed = program.ends.exact
    counts = isinstance(summed, PairSum) and program.replay is None and not early.proves
    counted = isinstance(summed, DescribedSum) and summed.counts_evaluations
    if counts or (counted and not early.proves):
        return ()
    unit = summed.unit if isinstance(summed, DescribedSum) else "full kernel evaluations"
    return (Constant("SUM_EVALS", summed.kernel_evaluations(), f"{unit} of the sum"),)


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


def _float_constants(
    prepare: Prepare, summed: FixedSum | CodedSum, early: EarlyExitsView
) -> tuple[Constant, ...]:
    """Return the sizes of the float codes that early exits read."""
    prepared = Constant("N_PREPARED", prepare.n_out, "features after the preprocessing")
    words = prepare.n_out * summed.lanes
    block = Constant("BLOCK_WORDS", words, "N_PREPARED * LANES: of a block in float")
    return (
        *((prepared,) if early.float_codes else ()),
        *((block,) if early.sums_blocks else ()),
    )


def _group_constants(summed: ExactSum | FixedSum) -> tuple[Constant, ...]:
    return (
        Constant("N_ROWS", summed.n_rows, "decisions that a vector is part of"),
        Constant("N_GROUPS", summed.n_groups, "groups of vectors, by what they are part of"),
    )


def _pair_constants(summed: PairSum) -> tuple[Constant, ...]:
    return (
        Constant("N_ENTRIES", summed.n_entries, "coefficients that are not 0, of all pairs"),
        Constant("N_MARKS", n_marks(summed.n_vectors), "words with a bit for each vector"),
        Constant("N_PAIR_MARKS", n_marks(summed.n_decisions), "words with a bit for each pair"),
    )


def _code_constants(summed: FixedSum | CodedSum) -> tuple[Constant, ...]:
    """Return the sizes of the integer codes in their memory layout."""
    codes = summed.codes
    constants = [
        Constant("LANES", summed.lanes, "support vectors of a block"),
        Constant("N_BLOCKS", summed.n_blocks, "the last ones of a group filled up"),
        Constant("N_USED", codes.n_used, "features that are not 0 in some vector"),
    ]
    if not codes.in_fours or codes.n_padded > codes.n_used:
        constants.append(Constant("N_PADDED", codes.n_padded, "N_USED, filled up to whole runs"))
    if codes.in_fours:
        constants.append(Constant("N_FOURS", codes.n_fours, "fours of features"))
    if codes.layout == CHUNKS:
        n = codes.n_padded // codes.run
        constants.append(Constant("N_CHUNKS", n, "chunks of 16 bytes of a vector"))
    if codes.sparse:
        constants += [
            Constant("N_TURNS", codes.n_turns, f"{TURN} entries each of all lists"),
            Constant("N_TOTALS", codes.n_totals, "a power of two: N_BLOCKS * LANES or more"),
        ]
    return tuple(constants)
