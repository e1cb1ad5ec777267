"""The longest path from a function's entry to its return, with every loop at its bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kmcompile.machine_code.worst_case.flow_graph import EXIT, FlowGraph
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop

_Ways = dict[int, dict[int, int]]


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
    """

    rounds: int
    total: int | None = None
    scope: MachineLoop | None = None
    tests_first: bool = True
    left_out: bool = False


def longest_path(
    graph: FlowGraph,
    loops: Iterable[MachineLoop],
    bounds: Mapping[int, LoopBound],
    callees: Mapping[int, int | None],
) -> int | None:
    """Return the largest number of instructions of a call.

    Each loop, from the innermost outwards, becomes one node. Its cost is that of all its rounds on
    the longest path around, plus the longest path to its exit. A loop with a total is charged for
    all its rounds once in its scope instead, and at each entry only for the path to its exit, which
    is one of these rounds unless the loop tests first.

    Parameters
    ----------
    bounds : mapping
        Header -> the bound of a loop.
    callees : mapping
        Function -> instructions of a call; None for a function that no path of interest calls.

    Returns
    -------
    int or None
        None if no path leads to the return.
    """
    ways = _ways(graph, callees)
    beside: dict[int | None, int] = {}
    inner_first = sorted(loops, key=lambda loop: len(loop.nodes))
    for loop in inner_first:
        bound, header = bounds[loop.header], loop.header
        inside = {node: ways.pop(node) for node in loop.nodes if node in ways}
        if bound.left_out or header not in inside:
            continue
        far = _distances(inside, header)
        round_trip = 0
        leaving: dict[int, int] = {}
        for node, distance in far.items():
            for target, length in inside[node].items():
                if target == header:
                    round_trip = max(round_trip, distance + length)
                elif target not in loop.nodes:
                    leaving[target] = max(leaving.get(target, 0), distance + length)
        once = beside.pop(header, 0)
        if bound.total is None:
            fixed = bound.rounds * (round_trip + once) + once
        else:
            fixed = once if bound.tests_first else -round_trip
            scope = None if bound.scope is None else bound.scope.header
            beside[scope] = beside.get(scope, 0) + bound.total * (round_trip + once)
        ways[header] = {target: fixed + length for target, length in leaving.items()}
    far = _distances(ways, graph.entry)
    ends = [far[node] + ways[node][EXIT] for node in far if EXIT in ways[node]]
    return max(ends) + beside.get(None, 0) if ends else None


def _ways(graph: FlowGraph, callees: Mapping[int, int | None]) -> _Ways:
    ways: _Ways = {node: {} for node in graph.edges}
    for node, edges in graph.edges.items():
        for edge in edges:
            below = 0 if edge.callee is None else callees[edge.callee]
            if below is not None:
                length = edge.instructions + below
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
