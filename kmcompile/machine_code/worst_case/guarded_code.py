"""The machine code that runs only where the condition of a bounded `if` of the source holds.

A branch on the lines of the condition, or on those of a function that was inlined into it, decides
it. Where one of its edges dominates code of the body and the other one does not, the code that this
edge dominates runs only after the edge was taken, which happens at most as often as the condition
holds. The compiler may make several copies of the `if`; together they are taken that often. Code of
the body elsewhere is part of no such region and counts as often as the loops around it say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kmcompile.machine_code.c_source.branch_facts import BranchFact
from kmcompile.machine_code.limits import drained
from kmcompile.machine_code.worst_case.flow_graph import EXIT, FlowGraph
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop, dominance
from kmcompile.machine_code.worst_case.source_lines import SourceLines

_Place = tuple[BranchFact, int]
"""A fact, and the key of the instance of its function."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A region of machine code that one edge dominates.

    Attributes
    ----------
    header : int
        The node to which the edge leads.
    nodes : frozenset of int
    fact : BranchFact
        How often regions of this fact are entered in one query, all together.
    """

    header: int
    nodes: frozenset[int]
    fact: BranchFact


def find_guarded(
    graph: FlowGraph,
    loops: Iterable[MachineLoop],
    facts: Iterable[BranchFact],
    lines: SourceLines,
) -> tuple[Guarded, ...]:
    """Return the regions of a function, each inside the innermost loop around its branch."""
    facts = tuple(facts)
    if not facts:
        return ()
    order, _, before, dominator = dominance(graph)
    children: dict[int, list[int]] = {node: [] for node in order}
    for node in order[1:]:
        children[dominator[node]].append(node)
    innermost = sorted(loops, key=lambda loop: len(loop.nodes))
    found: list[tuple[int, _Place, Guarded]] = []
    for node in order:
        targets = {edge.target for edge in graph.edges[node]}
        place = _place(node, facts, lines, is_head=True) if len(targets) > 1 else None
        if place is None:
            continue
        around = next((loop.nodes for loop in innermost if node in loop.nodes), frozenset(order))
        below = {target: _dominated(target, children) for target in targets - {EXIT}}
        holding = [t for t, nodes in below.items() if _has_body(nodes, place, lines)]
        for target in holding:
            ways_in = [one for one in before[target] if one not in below[target]]
            if len(holding) == 1 and target in around and ways_in == [node]:
                region = Guarded(target, below[target] & around, place[0])
                found.append((node, place, region))
    # Of branches one inside the other's region the inner one decides.
    return tuple(
        region
        for _, place, region in found
        if not any(other == place and branch in region.nodes for branch, other, _ in found)
    )


def _dominated(node: int, children: Mapping[int, list[int]]) -> frozenset[int]:
    """Return the nodes that a node dominates, itself among them."""
    found = {node}
    to_do = [node]
    for known in drained(to_do, f"the code that {node:#x} dominates"):
        below = children[known]
        found.update(below)
        to_do += below
    return frozenset(found)


def _has_body(nodes: Iterable[int], place: _Place, lines: SourceLines) -> bool:
    return any(_place(node, place[:1], lines, is_head=False) == place for node in nodes)


def _place(
    node: int, facts: Iterable[BranchFact], lines: SourceLines, is_head: bool
) -> _Place | None:
    """Return on whose condition, or in whose body, an instruction is, also inlined, and where."""
    line, instance = lines.line(node), lines.instance(node)
    while instance is not None:
        for fact in facts:
            in_head = fact.line <= line <= fact.body_line
            in_body = fact.body_line < line <= fact.last_line
            if fact.function == instance.function and (in_head if is_head else in_body):
                return fact, instance.key
        line, instance = instance.call_line, instance.around
    return None
