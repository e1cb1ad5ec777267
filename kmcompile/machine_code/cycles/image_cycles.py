"""The cycles of an image's instructions: on the edges of its flow graphs, and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kmcompile.machine_code.cycles.avr import when_skipped
from kmcompile.machine_code.cycles.cores import BY_CORE
from kmcompile.machine_code.cycles.cycles import Cycles, Range, UnknownCyclesError, exactly
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import Edge
from kmcompile.machine_code.worst_case.instruction import Instruction, Kind
from kmcompile.machine_code.worst_case.instruction_sets import BY_MACHINE


class ImageCycles:
    """The cycles of the instructions of an image on a core."""

    def __init__(self, program: Disassembly, core: str) -> None:
        """Take the code and the name of a core of `BY_CORE`."""
        self._program = program
        self._cycles_of = BY_CORE[core]
        self._known: dict[int, Cycles] = {}

    @cached_property
    def _before(self) -> dict[int, Instruction]:
        """Address -> the instruction that ends there."""
        return {one.next_address: one for one in self._program.instructions.values()}

    def of(self, address: int) -> Cycles:
        """Return the cycles of the instruction at an address where it is not skipped.

        Raises
        ------
        UnknownCyclesError
            If the manual of the core does not tell them.
        """
        if address not in self._known:
            one = self._program.instructions[address]
            after = self._program.instructions.get(one.next_address)
            found = self._cycles_of(one, self._before.get(address), after)
            goes_to = None if one.target is None else self._program.instructions.get(one.target)
            self._known[address] = found.arriving(goes_to)
        return self._known[address]

    def most_on(self, node: int, edge: Edge) -> int:
        """Return the most cycles of an edge of a flow graph, without those of a callee.

        Raises
        ------
        UnknownCyclesError
            If the manual of the core does not tell them.
        """
        if edge.instructions == 0:
            return 0
        cycles = self.of(node)
        if edge.skips:
            skipped = self._program.instructions[node].next_address
            return cycles.going_on.high + when_skipped(self._program.instructions[skipped])
        return (cycles.going_away if edge.jumps else cycles.going_on).high

    def table(self) -> str:
        """Return a line for each instruction whose cycles are known.

        A line has its address, that of the next one, the fewest and the most cycles where the next
        one follows, and the same where another one follows.
        """
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for address, one in self._program.instructions.items():
            try:
                cycles = self.of(address)
            except UnknownCyclesError:
                continue
            on, away = self._where_it_may_be_skipped(one, cycles), cycles.going_away
            numbers = (address, one.next_address, on.low, on.high, away.low, away.high)
            yield " ".join(str(number) for number in numbers)

    def _where_it_may_be_skipped(self, one: Instruction, cycles: Cycles) -> Range:
        """Return the cycles where the next instruction follows, also as one that is skipped."""
        before = self._before.get(one.address)
        if before is None or BY_MACHINE[self._program.machine](before).kind is not Kind.SKIP:
            return cycles.going_on
        skipped = exactly(when_skipped(one))
        if cycles.on is None and one.target != one.next_address:
            return skipped
        return cycles.going_on | skipped
