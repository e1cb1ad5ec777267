"""The static worst case: bounds on instructions and cycles of a call, from the linked image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from kmcompile.machine_code.c_source.branch_facts import BranchFact
from kmcompile.machine_code.c_source.flow_facts import LoopFact
from kmcompile.machine_code.limits import check_nested
from kmcompile.machine_code.worst_case.disassembly import Disassembly, disassemble
from kmcompile.machine_code.worst_case.flow_graph import FlowGraph, read_flow_graph
from kmcompile.machine_code.worst_case.guarded_code import Guarded
from kmcompile.machine_code.worst_case.instruction import NotUnderstoodError
from kmcompile.machine_code.worst_case.known_arguments import (
    COPYING,
    SHIFTING,
    copied_bytes,
    shifted_bits,
)
from kmcompile.machine_code.worst_case.longest_path import (
    Longest,
    LoopBound,
    QueryTotal,
    Weight,
    instructions_of,
    longest_of,
    longest_path,
)
from kmcompile.machine_code.worst_case.loop_matching import Match, Matcher, rounds_around
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop, find_loops
from kmcompile.machine_code.worst_case.one_entry import with_one_entry
from kmcompile.machine_code.worst_case.small_loops import most_rounds
from kmcompile.machine_code.worst_case.source_lines import Instance, read_source_lines
from kmcompile.target import Compiler
from kmcompile.target.description import Ways


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Upper bounds on the instructions and cycles of one call that runs through all stages.

    Attributes
    ----------
    instructions : int or None
        The bound; None if some machine code has no known bound.
    without_replay : int or None
        The bound for a call without the replay; equal to `instructions` if there is no replay.
    reason : str or None
        The machine code without a known bound, and its function.
    cycles : int or None
        The bound on clock cycles; None if it is not known.
    no_cycles : str or None
        The reason why there are no cycles; None if there are.
    """

    instructions: int | None
    without_replay: int | None
    reason: str | None
    cycles: int | None = None
    no_cycles: str | None = None


def worst_case(
    image: Path,
    name: str,
    sources: tuple[str, ...],
    compiler: Compiler,
    facts: Iterable[LoopFact],
    entry: str = "",
    branches: Iterable[BranchFact] = (),
    cycles: Callable[[Disassembly], Weight] | None = None,
) -> WorstCase:
    """Bound the instructions of one call, and its cycles.

    Each loop of the machine code is matched to a source loop, whose bound it takes. Loops of the
    compiler's library take their bounds from the target. Paths that no input takes count too, and
    each iteration of a loop counts as its longest.

    Parameters
    ----------
    image : Path
    name : str
        The model's prefix.
    sources : tuple of str
        File names of its C, without folders.
    compiler : Compiler
        The compiler of the target.
    facts : iterable of LoopFact
        The facts of all loops of the sources.
    entry : str
        The function that is called, by default `<name>_classify` or `<name>_predict`.
    branches : iterable of BranchFact
        The facts of branches of the sources.
    cycles : callable or None
        The image's code -> the most cycles of each edge of its flow graphs.

    Raises
    ------
    ToolError
        If the image cannot be disassembled, or beyond a limit of `kmcompile.machine_code.limits`.
    """
    program = disassemble(image, compiler)
    lines = read_source_lines(image, sources)
    library = {
        program.functions[routine]: ways
        for routine, ways in compiler.helper_loops
        if routine in program.functions
    }
    try:
        names = (entry, f"{name}_classify", f"{name}_predict")
        start = next(program.functions[one] for one in names if one in program.functions)
        matcher = Matcher(facts, lines, branches)
        # Of a part of a query the bounds of single calls may say less than those of a query.
        ways = (True, False) if entry else (True,)
        costs = [_Costs(program, matcher, library, f"{name}_replay", way) for way in ways]
        found = WorstCase(_least(costs, start, True), _least(costs, start, False), None)
    except NotUnderstoodError as error:
        return WorstCase(None, None, str(error), None, str(error))
    if cycles is None:
        return replace(found, no_cycles="the cycles of this core are not known")
    try:
        timed = [one.weighed(cycles(program)) for one in costs]
        return replace(found, cycles=_least(timed, start, True))
    except NotUnderstoodError as error:
        return replace(found, no_cycles=str(error))


def _least(costs: Iterable[_Costs], start: int, replays: bool) -> int | None:
    """Return the least of several bounds on the length of a call."""
    found = [one.of(start, replays) for one in costs]
    return min((longest.of_query for longest in found if longest is not None), default=None)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function's graph with what bounds its paths: the loops of a call go one of several ways."""

    graph: FlowGraph
    loops: tuple[MachineLoop, ...]
    ways: tuple[Mapping[int, LoopBound], ...]
    guarded: tuple[Guarded, ...]


class _Costs:
    """The worst case of each function, computed from the called functions up to the callers.

    With `by_query`, a loop whose bound of a query is known counts in the query, not in each call.
    """

    def __init__(
        self,
        program: Disassembly,
        matcher: Matcher,
        library: Mapping[int, Ways],
        replay: str,
        by_query: bool,
    ) -> None:
        self._program = program
        self._matcher = matcher
        self._library = library
        self._replay = replay
        self._by_query = by_query
        self._weight: Weight = instructions_of
        self._functions: dict[tuple[int, bool], _Function] = {}
        self._known: dict[tuple[int, bool], Longest | None] = {}
        self._open: list[int] = []

    def weighed(self, weight: Weight) -> _Costs:
        """Return the same with other lengths of edges."""
        other = copy(self)
        other._weight, other._known, other._open = weight, {}, []
        return other

    def of(self, entry: int, replays: bool) -> Longest | None:
        """Return the greatest length of a call; None if only the replay calls it.

        Raises
        ------
        NotUnderstoodError
            If a function is recursive, a loop has no bound or an instruction is not known.
        ToolError
            Beyond a limit of `kmcompile.machine_code.limits`.
        """
        if (entry, replays) not in self._known:
            name = self._program.names.get(entry, hex(entry))
            if entry in self._open:
                raise NotUnderstoodError(f"{name} is recursive")
            check_nested(self._open, "calls")
            self._open.append(entry)
            of_replay = not replays and name.startswith(self._replay)
            self._known[entry, replays] = None if of_replay else self._function(entry, replays)
            self._open.pop()
        return self._known[entry, replays]

    def _function(self, entry: int, replays: bool) -> Longest | None:
        if (entry, replays) not in self._functions:
            self._functions[entry, replays] = self._read(entry, replays)
        one = self._functions[entry, replays]
        callees = {callee: self._callee(one.graph, callee, replays) for callee in one.graph.callees}
        found = (
            longest_path(one.graph, one.loops, bounds, callees, one.guarded, self._weight)
            for bounds in one.ways
        )
        return longest_of(way for way in found if way is not None)

    def _read(self, entry: int, replays: bool) -> _Function:
        graph = with_one_entry(read_flow_graph(self._program, entry))
        loops = find_loops(graph)
        ways = self._declared(loops)
        bounds = self._bounds(graph, loops, replays, ways[0])
        every = tuple({**bounds, **way} for way in ways)
        return _Function(graph, loops, every, tuple(self._matcher.guarded(graph, loops)))

    def _callee(self, graph: FlowGraph, callee: int, replays: bool) -> Longest | None:
        """Return the greatest length of a call of the function's callee."""
        name = self._program.names.get(callee)
        if name in COPYING:  # each of the iterations moves at least one byte
            return self._with_rounds(callee, (copied_bytes(self._program, graph, callee),))
        bits = shifted_bits(self._program, graph, callee) if name in SHIFTING else None
        if bits is None:
            return self.of(callee, replays)
        found = (self._with_rounds(callee, divmod(count, 8)) for count in bits)
        return longest_of(way for way in found if way is not None)

    def _with_rounds(self, callee: int, rounds: tuple[int, ...]) -> Longest | None:
        """Return the greatest length of a call with these rounds of its loops, by address."""
        graph = with_one_entry(read_flow_graph(self._program, callee))
        loops = find_loops(graph)
        headers = sorted(one.header for one in loops)
        every = rounds * len(headers) if len(rounds) == 1 else rounds
        if len(every) != len(headers) or graph.callees:
            raise NotUnderstoodError(f"{self._program.names[callee]} has another form")
        bounds = dict(zip(headers, map(LoopBound, every), strict=True))
        return longest_path(graph, loops, bounds, {}, weight=self._weight)

    def _bounds(
        self,
        graph: FlowGraph,
        loops: tuple[MachineLoop, ...],
        replays: bool,
        declared: Mapping[int, LoopBound],
    ) -> dict[int, LoopBound]:
        name = self._program.function_at(graph.entry)
        matches = self._matcher.match_loops(graph, loops)
        bounds = dict(declared)
        for loop in loops:
            if loop.header in declared:
                continue
            match = matches[loop.header]
            small = most_rounds(self._program, graph, loop) if self._matcher.is_own(loop) else None
            if match is None and small is not None:
                bounds[loop.header] = LoopBound(small)
                continue
            if match is None:
                raise NotUnderstoodError(f"{name}: the loop at {loop.header:#x} has no bound")
            around = bounds[loop.parent.header] if loop.parent else None
            left_out = not replays and _is_in(match.loop.instance, self._replay)
            left_out |= around is not None and around.left_out
            times, scope = rounds_around(loop, matches)
            total, of_query = match.total, _query_total(match) if self._by_query else None
            if total is not None and total >= times * match.maximum:
                total = None
            rounds = max(0, match.maximum - match.tests_last)
            if small is not None:
                rounds, total, of_query = max(rounds, small), None, None
            bounds[loop.header] = LoopBound(
                rounds, total, scope, not match.tests_last, left_out, of_query
            )
        return bounds

    def _declared(self, loops: tuple[MachineLoop, ...]) -> tuple[dict[int, LoopBound], ...]:
        """Return header -> bound of the loops in library routines, for each way of a call.

        A routine can jump into another one; the routine that contains the loop counts.
        """
        found: dict[str, list[tuple[int, int]]] = {}
        for loop in loops:
            start = min(node for node in loop.nodes if node >= 0)
            name = self._program.function_at(start)
            if self._program.functions[name] in self._library:
                found.setdefault(name, []).append((start, loop.header))
        of_routines = []
        for name, starts in found.items():
            headers, ways = [header for _, header in sorted(starts)], []
            for rounds in self._library[self._program.functions[name]]:
                if len(rounds) not in (1, len(headers)):
                    raise NotUnderstoodError(
                        f"{name} has {len(headers)} loops, helper_loops of the target has "
                        f"{len(rounds)}"
                    )
                every = rounds * len(headers) if len(rounds) == 1 else rounds
                ways.append(dict(zip(headers, map(LoopBound, every), strict=True)))
            of_routines.append(ways)
        return tuple({h: b for way in one for h, b in way.items()} for one in product(*of_routines))


def _query_total(match: Match) -> QueryTotal | None:
    """Return how often a loop's body runs in one query, if its source loop says it."""
    if match.query_total is None:
        return None
    fact = match.loop.fact
    return QueryTotal(fact.function, fact.line, match.query_total)


def _is_in(instance: Instance | None, prefix: str) -> bool:
    """Return whether an instance is one of the replay or inlined into it."""
    while instance is not None:
        if instance.function.startswith(prefix):
            return True
        instance = instance.around
    return False
