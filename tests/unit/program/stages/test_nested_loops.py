"""The nested loops over the features turn once for each monomial."""

from __future__ import annotations

from collections import Counter

import pytest

from kmcompile.passes.expand_polynomial import monomials
from kmcompile.program.stages.sums.nested_loops import nested_loops


@pytest.mark.parametrize("degree", range(1, 7))
def test_a_loop_turns_once_for_each_monomial_of_its_degree(degree):
    counts = Counter(map(len, monomials(4, degree)))
    loop, turns = nested_loops(4, degree), {}
    while loop is not None:
        turns[len(turns) + 1] = loop.turns
        loop = loop.inner
    assert turns == counts


def test_each_loop_adds_to_what_the_one_around_it_declares():
    loop = nested_loops(3, 6)
    assert loop.is_outermost and loop.sum == "total"
    while loop.inner is not None:
        assert (loop.inner.outer, loop.inner.sum) == (loop.feature, loop.own)
        loop = loop.inner
    assert loop.is_innermost and not loop.own
