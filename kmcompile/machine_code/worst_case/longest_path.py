"""The longest path from a function's entry to its return, with every loop at its bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kmcompile.machine_code.worst_case.flow_graph import EXIT, Edge, FlowGraph
from kmcompile.machine_code.worst_case.guarded_code import Guarded
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop

_Ways = dict[int, dict[int, int]]
Weight = Callable[[int, Edge], int]
"""A node and an edge that leaves it -> its length, without what is called on it."""


def instructions_of(node: int, edge: Edge) -> int:
    """Return the length of an edge in instructions."""
    del node
    return edge.instructions


@dataclass(frozen=True, slots=True)
class LoopBound:
    """The bound of a loop of the machine code.

    Attributes
    ----------
    rounds : int
        Largest number of jumps back to the header each time the loop is entered.
    total : int or None
        Largest number of executions of the body, over all entries, in one iteration of `scope`, or
        in one call of the function if `scope` is None.
    scope : MachineLoop or None
        A loop around this one.
    tests_first : bool
        Whether the header may be executed once more than the body each time the loop is entered.
    left_out : bool
        Whether no path of interest enters the loop.
    query_total : QueryTotal or None
        Largest number of executions of the body in one query, over all calls of the function.
    """

    rounds: int
    total: int | None = None
    scope: MachineLoop | None = None
    tests_first: bool = True
    left_out: bool = False
    query_total: QueryTotal | None = None


@dataclass(frozen=True, slots=True)
class QueryTotal:
    """How often some code runs in one query, all its copies together.

    Attributes
    ----------
    function : str
    line : int
        The function of the source and the line that says it.
    times : int
    """

    function: str
    line: int
    times: int


@dataclass(frozen=True, slots=True)
class Longest:
    """The greatest length of a call, in instructions or in what else an edge weighs.

    Attributes
    ----------
    length : int
        Without that of the code that runs a known number of times in one query.
    each : mapping
        That code -> the greatest length of one execution of any of its copies.
    """

    length: int
    each: Mapping[QueryTotal, int]

    @property
    def of_query(self) -> int:
        """The length if this is the call of the query, with all of that code."""
        apart = sum(total.times * each for total, each in self.each.items())
        return self.length + apart


def most_of_each(parts: Iterable[Mapping[QueryTotal, int]]) -> dict[QueryTotal, int]:
    """Return the greatest length of one execution among several copies."""
    each: dict[QueryTotal, int] = {}
    for part in parts:
        for total, length in part.items():
            each[total] = max(each.get(total, 0), length)
    return each


def longest_of(ways: Iterable[Longest]) -> Longest | None:
    """Return a length that no way of a call exceeds; None without any."""
    found = list(ways)
    lengths = [one.length for one in found]
    return Longest(max(lengths), most_of_each(one.each for one in found)) if found else None


def longest_path(
    graph: FlowGraph,
    loops: Iterable[MachineLoop],
    bounds: Mapping[int, LoopBound],
    callees: Mapping[int, Longest | None],
    guarded: Iterable[Guarded] = (),
    weight: Weight = instructions_of,
) -> Longest | None:
    """Return the greatest length of a call: in instructions, or in what else an edge weighs.

    Each loop, from the innermost outwards, becomes one node. Its cost is that of all its rounds on
    the longest path around, plus the longest path to its exit. A loop with a total is charged for
    all its rounds once in its scope instead, and at each entry only for the path to its exit, which
    is one of these rounds unless the loop tests first. A loop with a total of the query, and
    guarded code, is charged to the query in the same way.

    Parameters
    ----------
    bounds : mapping
        Header -> the bound of a loop.
    callees : mapping
        Function -> the length of a call; None for a function that no path of interest calls.
    guarded : iterable of Guarded
        Regions that are entered a known number of times in one query.

    Returns
    -------
    Longest or None
        None if no path leads to the return.
    """
    ways = _ways(graph, callees, weight)
    beside: dict[MachineLoop | Guarded | None, int] = {}
    apart = [callee.each for callee in callees.values() if callee is not None]
    guarded = tuple(guarded)
    inner_first: list[MachineLoop | Guarded] = [*loops, *guarded]  # a loop before equal regions
    inner_first.sort(key=lambda part: len(part.nodes))
    for part in inner_first:
        header = part.header
        inside = {node: ways.pop(node) for node in part.nodes if node in ways}
        if header not in inside or (isinstance(part, MachineLoop) and bounds[header].left_out):
            continue
        round_trip, leaving = _through(inside, header, part.nodes)
        if isinstance(part, Guarded):
            fact = part.fact
            total = QueryTotal(fact.function, fact.line, fact.query_total)
            each = max(leaving.values(), default=0) + beside.pop(part, 0)
            apart.append({total: each})
            ways[header] = dict.fromkeys(leaving, 0)
            continue
        bound, once = bounds[header], beside.pop(part, 0)
        fixed = once if bound.tests_first else -round_trip
        if bound.query_total is not None:
            apart.append({bound.query_total: round_trip + once})
        elif bound.total is not None:
            scope = _scope(part, bound.scope, guarded)
            beside[scope] = beside.get(scope, 0) + bound.total * (round_trip + once)
        else:
            fixed = bound.rounds * (round_trip + once) + once
        ways[header] = {target: fixed + length for target, length in leaving.items()}
    far = _distances(ways, graph.entry)
    ends = [far[node] + ways[node][EXIT] for node in far if EXIT in ways[node]]
    if not ends:
        return None
    return Longest(max(ends) + beside.get(None, 0), most_of_each(apart))


def _scope(
    loop: MachineLoop, scope: MachineLoop | None, guarded: Iterable[Guarded]
) -> MachineLoop | Guarded | None:
    """Return the smallest guarded region around a loop inside its scope, otherwise the scope."""
    regions = [
        region
        for region in guarded
        if loop.nodes <= region.nodes and (scope is None or region.nodes < scope.nodes)
    ]
    return min(regions, key=lambda region: len(region.nodes), default=scope)


def _through(inside: _Ways, header: int, nodes: frozenset[int]) -> tuple[int, dict[int, int]]:
    """Return the longest way from a header back to it, and to each node outside."""
    round_trip = 0
    leaving: dict[int, int] = {}
    for node, distance in _distances(inside, header).items():
        for target, length in inside[node].items():
            if target == header:
                round_trip = max(round_trip, distance + length)
            elif target not in nodes:
                leaving[target] = max(leaving.get(target, 0), distance + length)
    return round_trip, leaving


def _ways(graph: FlowGraph, callees: Mapping[int, Longest | None], weight: Weight) -> _Ways:
    ways: _Ways = {node: {} for node in graph.edges}
    for node, edges in graph.edges.items():
        for edge in edges:
            below = Longest(0, {}) if edge.callee is None else callees[edge.callee]
            if below is not None:
                length = weight(node, edge) + below.length
                ways[node][edge.target] = max(ways[node].get(edge.target, 0), length)
    return ways


def _distances(ways: _Ways, start: int) -> dict[int, int]:
    """Return the longest distance from a node to each that it reaches, not back to itself."""
    order: list[int] = []
    state: dict[int, bool] = {}
    stack = [start] if start in ways else []
    while stack:
        node = stack[-1]
        if node not in state:
            state[node] = False
            for target in ways[node]:
                if target in ways and target != start and target not in state:
                    stack.append(target)
        else:
            stack.pop()
            if not state[node]:
                state[node] = True
                order.append(node)
    far = {start: 0} if order else {}
    for node in reversed(order):
        for target, length in ways[node].items():
            if target in ways and target != start:
                far[target] = max(far.get(target, far[node] + length), far[node] + length)
    return far
