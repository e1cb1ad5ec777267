"""The flow graph of a function: the instructions that can follow each instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.machine_code.limits import drained
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.instruction import (
    Flow,
    Instruction,
    Kind,
    NotUnderstoodError,
    needs_target,
)
from kmcompile.machine_code.worst_case.instruction_sets import BY_MACHINE
from kmcompile.machine_code.worst_case.jump_tables import table_targets

EXIT: Final = -1
"""The node to which a return goes."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from one instruction to another.

    Attributes
    ----------
    target : int
        An address, or `EXIT`.
    instructions : int
        Executed instructions on the edge: the one that it leaves, and one in its delay slot.
    callee : int or None
        Address of the function that is called on the edge.
    jumps : bool
        Whether the instruction that it leaves jumps, calls or returns.
    skips : bool
        Whether that instruction skips the next one.
    """

    target: int
    instructions: int
    callee: int | None = None
    jumps: bool = False
    skips: bool = False


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """The instructions that a function can reach without a call, also by jumps to other functions.

    Attributes
    ----------
    entry : int
    edges : mapping
        Address -> the edges that leave it.
    flows : mapping
        Address -> the flow of its instruction.
    """

    entry: int
    edges: Mapping[int, tuple[Edge, ...]]
    flows: Mapping[int, Flow]

    @property
    def callees(self) -> frozenset[int]:
        """Return the functions that are called."""
        ways = (edge for edges in self.edges.values() for edge in edges)
        return frozenset(edge.callee for edge in ways if edge.callee is not None)


def read_flow_graph(program: Disassembly, entry: int) -> FlowGraph:
    """Follow a function from its entry.

    Raises
    ------
    NotUnderstoodError
        If the function calls or jumps to an address in a register, or leaves the code.
    ToolError
        Beyond `kmcompile.machine_code.limits.MOST_STEPS`.
    """
    flow_of = BY_MACHINE.get(program.machine)
    if flow_of is None:
        raise NotUnderstoodError(f"the instructions of {program.machine} are not known")
    edges: dict[int, tuple[Edge, ...]] = {}
    flows: dict[int, Flow] = {}
    to_do = [entry]
    for address in drained(to_do, f"the instructions of {program.function_at(entry)}"):
        if address in edges:
            continue
        instruction = _instruction(program, entry, address)
        flows[address] = flow_of(instruction)
        edges[address] = tuple(_edges(program, entry, instruction, flows[address]))
        to_do += [edge.target for edge in edges[address] if edge.target != EXIT]
    return FlowGraph(entry, edges, flows)


def _instruction(program: Disassembly, entry: int, address: int) -> Instruction:
    if address not in program.instructions:
        where = program.function_at(entry)
        raise NotUnderstoodError(f"{where} goes to {address:#x}, where no instruction is")
    return program.instructions[address]


def _edges(
    program: Disassembly, entry: int, instruction: Instruction, flow: Flow
) -> Iterator[Edge]:
    """Yield the edges from an instruction; those of a delayed jump include its delay slot."""
    taken, not_taken, on = 1, 1, instruction.next_address
    if flow.delayed:
        on = _instruction(program, entry, on).next_address
        taken = 1 if flow.annulled == "always" else 2
        not_taken = 2 if flow.annulled == "never" else 1
    match flow.kind:
        case Kind.NEXT:
            yield Edge(on, 1)
        case Kind.BRANCH:
            yield Edge(needs_target(instruction), taken, jumps=True)
            yield Edge(on, not_taken)
        case Kind.SKIP:  # emulators count skipped instructions
            yield Edge(on, 1)
            yield Edge(_instruction(program, entry, on).next_address, 2, skips=True)
        case Kind.JUMP:
            yield Edge(needs_target(instruction), taken, jumps=True)
        case Kind.CALL:
            target = needs_target(instruction)
            if program.is_far_jump(instruction):
                yield Edge(target, taken, jumps=True)
            else:
                yield Edge(on, taken, target, jumps=True)
        case Kind.RETURN:
            yield Edge(EXIT, taken, jumps=True)
        case Kind.TABLE:
            for target, callee in table_targets(program, instruction):
                yield Edge(target, taken, callee, jumps=True)
    if flow.conditional:
        yield Edge(on, not_taken)
