"""The loops of a flow graph: Aho, Sethi, Ullman, Compilers (1986), section 10.4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.machine_code.limits import drained
from kmcompile.machine_code.worst_case.flow_graph import EXIT, FlowGraph
from kmcompile.machine_code.worst_case.instruction import NotUnderstoodError


@dataclass(frozen=True, slots=True, eq=False)
class MachineLoop:
    """A natural loop.

    Attributes
    ----------
    header : int
        Address of the instruction at which the loop is entered.
    nodes : frozenset of int
        Addresses of the loop's instructions.
    own : frozenset of int
        The nodes that are in no inner loop.
    latches : frozenset of int
        The nodes from which an edge leads back to the header.
    parent : MachineLoop or None
        The loop around it.
    """

    header: int
    nodes: frozenset[int]
    own: frozenset[int]
    latches: frozenset[int]
    parent: MachineLoop | None


def find_loops(graph: FlowGraph) -> tuple[MachineLoop, ...]:
    """Return the loops of a function, outer loops before inner ones.

    Raises
    ------
    NotUnderstoodError
        If a loop is entered at several places.
    """
    order, position, before, dominator = dominance(graph)
    latches: dict[int, set[int]] = {}
    for node in order:
        for other in before[node]:
            if position[other] >= position[node]:
                if not _dominates(node, other, dominator, position):
                    raise NotUnderstoodError(f"the loop at {node:#x} is entered at several places")
                latches.setdefault(node, set()).add(other)
    bodies = {header: _body(header, ends, before) for header, ends in latches.items()}
    loops: dict[int, MachineLoop] = {}
    for header in sorted(bodies, key=lambda header: -len(bodies[header])):
        around = [loop for loop in loops.values() if header in loop.nodes]
        inside = [b for h, b in bodies.items() if h != header and h in bodies[header]]
        loops[header] = MachineLoop(
            header,
            bodies[header],
            bodies[header].difference(*inside),
            frozenset(latches[header]),
            min(around, key=lambda loop: len(loop.nodes), default=None),
        )
    return tuple(loops.values())


def dominance(
    graph: FlowGraph,
) -> tuple[list[int], dict[int, int], dict[int, list[int]], dict[int, int]]:
    """Return the reached nodes, their places in this order, what is before each, and dominators.

    Returns
    -------
    order : list of int
        In reverse postorder.
    position, before, dominator : dict
        Node -> its index in the order; the nodes from which an edge leads to it; the node that
        dominates it immediately.
    """
    order = _reverse_postorder(graph)
    position = {node: i for i, node in enumerate(order)}
    before: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for edge in graph.edges[node]:
            if edge.target != EXIT:
                before[edge.target].append(node)
    return order, position, before, _dominators(order, position, before)


def _reverse_postorder(graph: FlowGraph) -> list[int]:
    order: list[int] = []
    seen = {graph.entry}
    stack = [(graph.entry, iter(graph.edges[graph.entry]))]
    while stack:
        node, ways = stack[-1]
        for edge in ways:
            if edge.target != EXIT and edge.target not in seen:
                seen.add(edge.target)
                stack.append((edge.target, iter(graph.edges[edge.target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def _dominators(
    order: list[int], position: Mapping[int, int], before: Mapping[int, list[int]]
) -> dict[int, int]:
    """Return each node's immediate dominator (Cooper, Harvey, Kennedy 2001, figure 3)."""
    dominator = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            found: int | None = None
            for other in before[node]:
                if other in dominator:
                    found = other if found is None else _meet(found, other, dominator, position)
            assert found is not None
            changed |= dominator.get(node) != found
            dominator[node] = found
    return dominator


def _meet(a: int, b: int, dominator: Mapping[int, int], position: Mapping[int, int]) -> int:
    while a != b:
        while position[a] > position[b]:
            a = dominator[a]
        while position[b] > position[a]:
            b = dominator[b]
    return a


def _dominates(
    node: int, other: int, dominator: Mapping[int, int], position: Mapping[int, int]
) -> bool:
    while position[other] > position[node]:
        other = dominator[other]
    return other == node


def _body(header: int, latches: set[int], before: Mapping[int, list[int]]) -> frozenset[int]:
    body = {header}
    to_do = list(latches)
    for node in drained(to_do, f"the loop at {header:#x}"):
        if node not in body:
            body.add(node)
            to_do += before[node]
    return frozenset(body)
