"""The pieces that steps are made of are a whole query: none of its work is in no piece."""

from dataclasses import replace

import pytest

from kit import coded, long_replays, pairs, replays
from kit.stepped import EVERY, QUICK
from kit.steps import InSteps
from kmcompile.program.cost import replay_operations, worst_operations
from kmcompile.program.pieces import pieces
from kmcompile.program.program import Step
from kmcompile.program.stages import FixedSum, PairSum, RoutedSum
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

REPLAYED = [
    *long_replays.QUICK,
    *replays.CORE[::6],
    *replays.SPARSE,
    *coded.REPLAYED[::2],
    pairs.CORE[0],
    pairs.MORE[3],
]
QUICK_NAMES = {str(case) for case in QUICK}
OTHERS = [case for case in EVERY if str(case) not in QUICK_NAMES]


def of_pieces(program, word=""):
    """Return the operations of all pieces, or of those with a word in their kind."""
    total = 0
    for piece in pieces(program):
        if word not in piece.kind:
            continue
        total += piece.operations * piece.count
        if piece.per_kernel:  # one kernel is in each step of a pair
            total += piece.per_kernel * max(0, program.sum.n_vectors - piece.count)
    return total


@pytest.mark.few
@pytest.mark.parametrize(
    "case", [*QUICK, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in OTHERS)], ids=str
)
def test_pieces_add_up_to_the_worst_case_at_least(case):
    program = InSteps(case, 1.0).emit("host").program
    total, worst = of_pieces(program), worst_operations(program)
    assert total >= worst
    if not isinstance(program.sum, (PairSum, RoutedSum)):  # their pieces take every pair and leaf
        before_replay = total - of_pieces(program, "replay")
        assert before_replay <= worst + ends_in_each_block(program.sum)


def ends_in_each_block(exact):
    """Return what pieces count too much: the end of a group, in every block that is no last one."""
    if not isinstance(exact, GroupedSum):
        return 0
    end = exact.n_rows if isinstance(exact, FixedSum) else exact.group_operations
    return (exact.n_blocks - exact.n_groups) * end


@pytest.mark.parametrize("case", REPLAYED, ids=str)
def test_pieces_of_a_replay_add_up_to_its_operations_at_least(case):
    program = InSteps(case).emit("host").program
    weights = [program.step.replay_weight, program.step.integers_weight]
    least = min(weight for weight in weights if weight)
    assert of_pieces(program, "replay") >= least * replay_operations(program)
    for weight in (1, 3):
        weighted = replace(program, step=Step(1, weight))
        assert of_pieces(weighted, "replay") >= weight * replay_operations(program)
