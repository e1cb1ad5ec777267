"""Matching of loops: of equal bounds the first loop of the source counts, in every process."""

from __future__ import annotations

import itertools

from kmcompile.machine_code.c_source.flow_facts import LoopFact
from kmcompile.machine_code.worst_case.loop_matching import SourceLoop, _all_at_once, _largest
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop
from kmcompile.machine_code.worst_case.source_lines import Instance

LOOP = MachineLoop(0, frozenset({0}), frozenset({0}), frozenset({0}), None)


def source_loop(line: int, maximum: int, key: int = 1) -> SourceLoop:
    instance = Instance(key, "vote", ((0, 8),), 0, None)
    return SourceLoop(LoopFact("vote", line, maximum, None, line + 1, line + 3), instance)


def test_of_equal_loops_the_first_one_of_the_source_is_the_largest():
    loops = [source_loop(10, 7), source_loop(20, 7), source_loop(30, 7, 2), source_loop(40, 3)]
    for order in itertools.permutations(loops):
        assert _largest(LOOP, set(order), False).loop == loops[0]
        assert _all_at_once(order).loop == loops[0]
        assert _all_at_once(order).maximum == 8 * 8 * 8 * 4
