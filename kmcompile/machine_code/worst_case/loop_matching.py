"""Which loop of the source a loop of the machine code is, told by the lines of its tests.

A branch whose line is that of a head of a source loop is a test of it. A machine loop that makes
a test of the source loop in each round, and that each of the tests can leave, goes round as often
as the test holds at most; unrolling, vectorising and peeling only take rounds away. A test can
stand for that of a loop around it, too, if no machine loop further out has one: then the larger
bound counts. Where no source loop is certain in this way, all whose tests are in the machine loop
count, one in the other, and with them the loops around them, whose turns it may hold. Where there
is no such test, the heads' other instructions tell in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from kmcompile.machine_code.c_source.flow_facts import LoopFact
from kmcompile.machine_code.worst_case.flow_graph import EXIT, FlowGraph
from kmcompile.machine_code.worst_case.instruction import Kind
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop
from kmcompile.machine_code.worst_case.source_lines import Instance, SourceLines


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """A loop of the source in one instance of its function."""

    fact: LoopFact
    instance: Instance

    def holds(self, other: SourceLoop) -> bool:
        """Return whether another loop stands inside of this one."""
        line, instance = other.fact.line, other.instance
        while instance.key != self.instance.key:
            if instance.around is None:
                return False
            line, instance = instance.call_line, instance.around
        return self != other and self.fact.line <= line <= self.fact.last_line


@dataclass(frozen=True, slots=True)
class Match:
    """The source loop that a machine loop is.

    Attributes
    ----------
    loop : SourceLoop
    maximum : int
        Turns each time it is entered.
    total : int or None
        Turns of one call of its function, where known.
    tests_last : bool
        Each execution of its header is one turn: it is left and repeated by the same branch.
    """

    loop: SourceLoop
    maximum: int
    total: int | None
    tests_last: bool


class Matcher:
    """Matches the machine loops of an image."""

    def __init__(self, facts: Iterable[LoopFact], lines: SourceLines) -> None:
        self._lines = lines
        self._facts = tuple(facts)
        self._heads: dict[int, list[LoopFact]] = {}  # several files can have a head at one line
        for fact in self._facts:
            for line in range(fact.line, fact.body_line + 1):
                self._heads.setdefault(line, []).append(fact)

    def is_own(self, loop: MachineLoop) -> bool:
        """Return whether a loop is in a function of the sources, not of a library."""
        return self._lines.instance(loop.header) is not None

    def match_loops(
        self, graph: FlowGraph, loops: Sequence[MachineLoop]
    ) -> dict[int, Match | None]:
        """Return header -> source loop, None where no head of a loop is named."""
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
        if not heads:  # then it is one of the loops inside, or one around them
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
        """Return the source loops around some that no machine loop around this one tests.

        What leads from one of their turns to the next may be part of this machine loop.
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
        """Return the source loop whose head an instruction comes from."""
        facts = self._heads.get(self._lines.line(node), [])
        instance = self._lines.instance(node)
        while instance is not None:
            for fact in facts:
                if instance.function == fact.function:
                    return SourceLoop(fact, instance)
            instance = instance.around
        return None


def _outermost(found: Iterable[SourceLoop]) -> Match:
    """Return the loop that holds the others, which are unrolled, or the one that turns most."""
    found = set(found)
    for loop in found:
        if all(loop == other or loop.holds(other) for other in found):
            return Match(loop, loop.fact.maximum, loop.fact.total, False)
    largest = max(found, key=lambda loop: loop.fact.maximum)
    return Match(largest, largest.fact.maximum, None, False)


def _largest(loop: MachineLoop, found: set[SourceLoop], tests_last: bool) -> Match:
    """Take a loop for the one that turns most, or for all if it has several ways back."""
    if len(loop.latches) > 1:
        return _all_at_once(found)
    largest = max(found, key=lambda one: one.fact.maximum)
    return Match(largest, largest.fact.maximum, None, tests_last)


def _all_at_once(found: Iterable[SourceLoop]) -> Match:
    """Take a loop for several, one in the other."""
    turns = prod(loop.fact.maximum + 1 for loop in found)
    return Match(max(found, key=lambda loop: loop.fact.maximum), turns, None, False)


def _ends(graph: FlowGraph, loop: MachineLoop, tests: set[int]) -> bool:
    """Return whether each of the tests can leave the loop, and each round makes one of them."""
    if any(all(e.target in loop.nodes for e in graph.edges[node]) for node in tests):
        return False
    reached = {loop.header} - tests
    to_do = list(reached)
    while to_do:
        for edge in graph.edges[to_do.pop()]:
            if edge.target == loop.header:
                return False
            if edge.target in loop.nodes - tests - reached:
                reached.add(edge.target)
                to_do.append(edge.target)
    return True


def _goes_back(graph: FlowGraph, loop: MachineLoop, node: int) -> bool:
    """Return whether a branch, unless it leaves the loop, leads straight to its header."""
    inside = [edge.target for edge in graph.edges[node] if edge.target in loop.nodes]
    while len(inside) == 1 and inside[0] != loop.header:
        inside = [edge.target for edge in graph.edges[inside[0]] if edge.target != EXIT]
    return inside == [loop.header]


def rounds_around(
    loop: MachineLoop, matches: Mapping[int, Match | None]
) -> tuple[int, MachineLoop | None]:
    """Return how often the loops around it in its own function go round, and the first beyond."""
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
