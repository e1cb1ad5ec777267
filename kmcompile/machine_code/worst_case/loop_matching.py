"""Matching of each loop of the machine code to a loop of the source, by the lines of its tests.

A branch on the line of the head of a source loop is a test of that loop. Suppose each round of a
machine loop makes a test of one source loop, and each of these tests can leave the machine loop.
Then the machine loop has at most as many rounds as the test can hold; unrolling, vectorising and
peeling only reduce them. If no machine loop further out has a test of the next outer source loop,
the test may stand for that one, and the larger bound counts. If no source loop is certain in this
way, all source loops with tests in the machine loop count as nested, together with the loops around
them, whose rounds it may contain. If there is no test at all, the other instructions of heads
serve instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from kmcompile.machine_code.c_source.branch_facts import BranchFact
from kmcompile.machine_code.c_source.flow_facts import LoopFact
from kmcompile.machine_code.limits import drained
from kmcompile.machine_code.worst_case.flow_graph import EXIT, FlowGraph
from kmcompile.machine_code.worst_case.guarded_code import Guarded, find_guarded
from kmcompile.machine_code.worst_case.instruction import Kind
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop
from kmcompile.machine_code.worst_case.source_lines import Instance, SourceLines


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """A loop of the source in one instance of its function."""

    fact: LoopFact
    instance: Instance

    def holds(self, other: SourceLoop) -> bool:
        """Return whether another loop is inside this one."""
        line, instance = other.fact.line, other.instance
        while instance.key != self.instance.key:
            if instance.around is None:
                return False
            line, instance = instance.call_line, instance.around
        return self != other and self.fact.line <= line <= self.fact.last_line


@dataclass(frozen=True, slots=True)
class Match:
    """The source loop to which a machine loop is matched.

    Attributes
    ----------
    loop : SourceLoop
    maximum : int
        Largest number of iterations each time the loop is entered.
    total : int or None
        Largest number of iterations in one call of the function, if known.
    query_total : int or None
        Largest number of iterations in one query, if stated.
    tests_last : bool
        Whether one branch leaves and repeats the loop, so that each execution of the header is one
        iteration.
    """

    loop: SourceLoop
    maximum: int
    total: int | None
    tests_last: bool
    query_total: int | None = None


class Matcher:
    """Matches the machine loops of an image, and the code of bounded branches."""

    def __init__(
        self,
        facts: Iterable[LoopFact],
        lines: SourceLines,
        branches: Iterable[BranchFact] = (),
    ) -> None:
        self._lines = lines
        self._branches = tuple(branches)
        self._facts = tuple(facts)
        self._heads: dict[int, list[LoopFact]] = {}  # several files can have a head at one line
        for fact in self._facts:
            for line in range(fact.line, fact.body_line + 1):
                self._heads.setdefault(line, []).append(fact)

    def is_own(self, loop: MachineLoop) -> bool:
        """Return whether a loop is in a function of the sources, not of a library."""
        return self._lines.instance(loop.header) is not None

    def guarded(self, graph: FlowGraph, loops: Sequence[MachineLoop]) -> tuple[Guarded, ...]:
        """Return the regions of code that runs only where a bounded condition holds."""
        return find_guarded(graph, loops, self._branches, self._lines)

    def match_loops(
        self, graph: FlowGraph, loops: Sequence[MachineLoop]
    ) -> dict[int, Match | None]:
        """Return header -> match; None where no instruction is on a line of a head."""
        matches: dict[int, Match | None] = {}
        for loop in sorted(loops, key=lambda loop: len(loop.nodes)):
            inner = {
                found.loop
                for other in loops
                if other.parent is loop and (found := matches[other.header]) is not None
            }
            matches[loop.header] = self._match(graph, loop, inner)
        return matches

    def _match(self, graph: FlowGraph, loop: MachineLoop, inner: set[SourceLoop]) -> Match | None:
        branches = [n for n in sorted(loop.own) if graph.flows[n].kind is Kind.BRANCH]
        tests: dict[SourceLoop, set[int]] = {}
        for node in branches:
            head = self._head(node)
            if head is not None and head not in inner:
                tests.setdefault(head, set()).add(node)
        counted = [node for node in branches if graph.flows[node].counts_turns]
        if tests and not counted:
            certain = {head for head, nodes in tests.items() if _ends(graph, loop, nodes)}
            if not certain:
                return _all_at_once(set(tests) | self._around(graph, loop, set(tests)))
            match = _outermost(certain)
            tests_last = all(_goes_back(graph, loop, node) for node in tests[match.loop])
            around = self._around(graph, loop, {match.loop})
            if around:
                return _largest(loop, certain | around, tests_last)
            return replace(match, tests_last=tests_last)
        heads = {head for node in loop.own if (head := self._head(node)) is not None}
        if not heads:  # then the machine loop is one of the loops inside, or a loop around them
            heads = {head for node in loop.nodes if (head := self._head(node)) is not None}
            found = heads | self._around(graph, loop, heads)
            return _largest(loop, found, False) if found else None
        meant = heads - inner
        around = self._around(graph, loop, meant or heads)
        if len(meant) == 1 and not around:
            return replace(_outermost(meant), tests_last=bool(counted))
        return _largest(loop, (meant or heads) | around, bool(counted))

    def _around(
        self, graph: FlowGraph, loop: MachineLoop, found: set[SourceLoop]
    ) -> set[SourceLoop]:
        """Return the source loops around the found ones that no outer machine loop tests.

        The step from one of their iterations to the next may be part of this machine loop.
        """
        tested: set[SourceLoop] = set()
        around = loop.parent
        while around is not None:
            branches = (node for node in around.own if graph.flows[node].kind is Kind.BRANCH)
            tested |= {head for node in branches if (head := self._head(node)) is not None}
            around = around.parent
        instances = {one.instance for one in found}
        while True:
            more = {one.around for one in instances if one.around is not None} - instances
            if not more:
                break
            instances |= more
        every = {
            SourceLoop(fact, instance)
            for fact in self._facts
            for instance in instances
            if instance.function == fact.function
        }
        return {one for one in every if any(one.holds(other) for other in found)} - tested

    def _head(self, node: int) -> SourceLoop | None:
        """Return the source loop on whose head line an instruction is."""
        facts = self._heads.get(self._lines.line(node), [])
        instance = self._lines.instance(node)
        while instance is not None:
            for fact in facts:
                if instance.function == fact.function:
                    return SourceLoop(fact, instance)
            instance = instance.around
        return None


def _outermost(found: Iterable[SourceLoop]) -> Match:
    """Return the loop around the others, which are unrolled, or the one of most iterations."""
    found = set(found)
    for loop in found:
        if all(loop == other or loop.holds(other) for other in found):
            fact = loop.fact
            return Match(loop, fact.maximum, fact.total, False, fact.query_total)
    largest = max(found, key=_size)
    return Match(largest, largest.fact.maximum, None, False)


def _largest(loop: MachineLoop, found: set[SourceLoop], tests_last: bool) -> Match:
    """Match a loop to the source loop of most iterations, or to all if it has several latches."""
    if len(loop.latches) > 1:
        return _all_at_once(found)
    largest = max(found, key=_size)
    return Match(largest, largest.fact.maximum, None, tests_last)


def _all_at_once(found: Iterable[SourceLoop]) -> Match:
    """Match a loop to several source loops as if they were nested."""
    turns = prod(loop.fact.maximum + 1 for loop in found)
    return Match(max(found, key=_size), turns, None, False)


def _size(loop: SourceLoop) -> tuple[int, int, int]:
    """Return what the largest loop is found by: of equal bounds the first one in the source."""
    return loop.fact.maximum, -loop.fact.line, -loop.instance.key


def _ends(graph: FlowGraph, loop: MachineLoop, tests: set[int]) -> bool:
    """Return whether each test can leave the loop, and each round makes one of the tests."""
    if any(all(e.target in loop.nodes for e in graph.edges[node]) for node in tests):
        return False
    reached = {loop.header} - tests
    to_do = list(reached)
    for known in drained(to_do, f"the loop at {loop.header:#x}"):
        for edge in graph.edges[known]:
            if edge.target == loop.header:
                return False
            if edge.target in loop.nodes - tests - reached:
                reached.add(edge.target)
                to_do.append(edge.target)
    return True


def _goes_back(graph: FlowGraph, loop: MachineLoop, node: int) -> bool:
    """Return whether a branch, unless it leaves the loop, leads straight to its header."""
    inside = [edge.target for edge in graph.edges[node] if edge.target in loop.nodes]
    for _ in loop.nodes:
        if len(inside) != 1 or inside[0] == loop.header:
            break
        inside = [edge.target for edge in graph.edges[inside[0]] if edge.target != EXIT]
    return inside == [loop.header]


def rounds_around(
    loop: MachineLoop, matches: Mapping[int, Match | None]
) -> tuple[int, MachineLoop | None]:
    """Return the rounds of the loops around it in its own function, and the first loop beyond."""
    match = matches[loop.header]
    assert match is not None
    times, around = 1, loop.parent
    while around is not None:
        outer = matches[around.header]
        if outer is None or outer.loop.instance.key != match.loop.instance.key:
            break
        times *= outer.maximum
        around = around.parent
    return times, around
