"""Rewriting of a flow graph so that each loop has one entry: jump threading may give it several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kmcompile.machine_code.limits import MOST_LOOPS, drained
from kmcompile.machine_code.worst_case.flow_graph import EXIT, Edge, FlowGraph
from kmcompile.machine_code.worst_case.instruction import NEXT


def with_one_entry(graph: FlowGraph) -> FlowGraph:
    """Return the graph with a node before each loop that is entered at several places.

    Every edge to one of the entries, also from inside the loop, leads to the new node, from which
    edges lead to all entries. Every path of the original graph remains possible.
    """
    edges, flows = dict(graph.edges), dict(graph.flows)
    to_do: list[tuple[set[int], int | None]] = [(set(edges), None)]
    made, what = EXIT, f"the loops of the code at {graph.entry:#x}"
    for nodes, header in drained(to_do, what, MOST_LOOPS):
        for part in _components(edges, nodes, header):
            before = [n for n in edges if n not in part]
            entries = {edge.target for n in before for edge in edges[n]} & part
            if graph.entry in part:
                entries.add(graph.entry)
            if header in part:
                entries = {header}
            if len(entries) > 1:
                made -= 1
                for node, ways in edges.items():
                    edges[node] = tuple(_led_through(made, entries, ways))
                edges[made] = tuple(Edge(entry, 0) for entry in sorted(entries))
                flows[made] = NEXT
                part, entries = part | {made}, {made}
            to_do.append((part, entries.pop()))
    return replace(graph, edges=edges, flows=flows)


def _led_through(node: int, entries: set[int], ways: Iterable[Edge]) -> Iterable[Edge]:
    return (replace(way, target=node) if way.target in entries else way for way in ways)


def _components(
    edges: dict[int, tuple[Edge, ...]], nodes: set[int], header: int | None
) -> list[set[int]]:
    """Return the loops among some nodes, without the ways to a header (Tarjan 1972)."""
    after = {
        node: [e.target for e in edges[node] if e.target in nodes and e.target != header]
        for node in nodes
    }
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[set[int]] = []
    for root in sorted(nodes):
        stack = [(root, iter(after[root]))] if root not in number else []
        while stack:
            node, ways = stack[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                open_nodes.append(node)
                is_open.add(node)
            for target in ways:
                if target not in number:
                    stack.append((target, iter(after[target])))
                    break
                if target in is_open:
                    low[node] = min(low[node], number[target])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    part = set()
                    while node not in part:
                        part.add(open_nodes.pop())
                    is_open -= part
                    if len(part) > 1 or node in after[node]:
                        found.append(part)
    return found
