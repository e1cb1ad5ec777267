"""The pieces that steps are made of are a whole query: none of its work is in no piece."""

import pytest

from kit.stepped import EVERY, QUICK
from kit.steps import InSteps
from kmcompile.program.cost import worst_operations
from kmcompile.program.pieces import pieces

QUICK_NAMES = {str(case) for case in QUICK}
OTHERS = [case for case in EVERY if str(case) not in QUICK_NAMES]


def of_pieces(program):
    """Return the operations of all pieces."""
    total = 0
    for piece in pieces(program):
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
    assert of_pieces(program) >= worst_operations(program)
