"""The operations, flash and RAM that early exits may add to the exact program, and its prices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kmcompile.program.estimate import CODE_BYTES, EXIT_CODE_BYTES, Estimate
from kmcompile.program.memory import VECTORS_BYTES
from kmcompile.program.prices import (
    OPERATIONS,
    Price,
    price_of_exit,
    price_of_floats,
    price_of_sum,
    worst_instructions,
)
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.wanted import Wanted
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets
from kmcompile.target import Cost, Target

_HARDLY = 0.05
"""Share of the exact program's operations, or of its tables, that exits may add where `--optimize`
names the worst case or the flash. Of the flash their code is a part."""

_TABLES_SHARE = 2.0
_PART = 0.05
_LEAST_PART_BYTES, _MOST_PART_BYTES = 12_000, 100_000
"""What the tables of one exit may take, as a multiple of the exact sum's tables or as a share of
the flash that is left; this share in bytes is at least and at most so much, and the least without a
limit of the flash. [measured: with 100 KB
in the place of 12 KB, breast cancer with 96 vectors takes 1,116 in the place of 1,534 operations]
"""

_CODE_BYTES = 16_000
_STACK_BYTES = 4_000
"""Most bytes of RAM that the rest of a program takes beside its tables and its workspace."""


@dataclass(frozen=True, slots=True)
class Room:
    """The operations, flash and RAM that early exits may add to the exact program.

    Parameters
    ----------
    operations : float
        Most multiply-adds that the exits may add to a query that no exit decides.
    flash_bytes, ram_bytes : int or None
        Bytes that the exits may add; None: no limit.
    map_bytes : int, optional
        Bytes of flash that a sign map may take; None: the default, `usual_bytes`.
    stages : AskedStages
        The exits that must be there. They may add any number of operations, and if the program has
        no others, any number of bytes: a program that exceeds its budgets is refused later.
    array_bytes : int or None, optional
        Most bytes of one table; None: no limit.
    wanted : Wanted
        By what sequences of exits are compared: if it is not "balanced", by the mean.
    cost : Cost
        Costs of the target; by default every operation is one instruction.
    """

    operations: float
    flash_bytes: int | None
    ram_bytes: int | None
    map_bytes: int | None = None
    stages: AskedStages = field(default_factory=AskedStages)
    array_bytes: int | None = None
    wanted: Wanted = field(default_factory=lambda: Wanted("mean"))
    cost: Cost = OPERATIONS

    def of_sum(self, ends: Ends) -> Price:
        """Return the price of the sum with the label."""
        return price_of_sum(ends, self.cost)

    def of_exit(self, stage: EarlyExit, ends: Ends) -> float:
        """Return the instructions of an operation of an early exit."""
        return price_of_exit(stage, ends, self.cost)

    def takes(self, mean: float, stages: Sequence[EarlyExit], ends: Ends) -> Estimate:
        """Return what a sequence of exits before a sum takes, in instructions and bytes.

        Parameters
        ----------
        mean : float
            Mean instructions of a query.
        stages : sequence of EarlyExit
        ends : Ends
        """
        cost = self.cost.worst or self.cost
        added = sum(
            price_of_exit(stage, ends, cost) * stage.weighted_operations(ends) for stage in stages
        )
        saved = sum(stage.saved_operations(ends) for stage in stages)
        summed = ends.exact.operations() + ends.label.operations() - saved
        tables = [table for stage in (ends.exact, *stages) for table in stage.tables()]
        return Estimate(
            mean,
            added
            + price_of_floats(stages, ends, cost)
            + price_of_sum(ends, cost).of(float(summed)),
            sum(table.n_bytes for table in tables) + CODE_BYTES + len(stages) * EXIT_CODE_BYTES,
        )

    def prefers_second(self, first: Estimate, second: Estimate, wins_ties: bool = False) -> bool:
        """Return whether the second of two programs is the better one."""
        takes = {2: second, 1: first} if wins_ties else {1: first, 2: second}
        return self.best(takes) == 2

    def best(self, found: Mapping[int, Estimate]) -> int:
        """Return the key of the best estimate; the first of those that are equal."""
        if self.wanted.optimize == "balanced":
            return self.wanted.best(found)
        able = self.wanted.fitting(found)
        return min(able, key=lambda key: able[key].mean)

    def of_kind(self, name: str) -> Room:
        """Return the room of one kind of exits: without limits if the kind must be there."""
        if name not in self.stages.needed:
            return self
        return replace(self, operations=math.inf)

    def has_operations(self, stages: Sequence[EarlyExit], operations: Sequence[float]) -> bool:
        """Return whether a program may have these exits, each with the operations that it adds."""
        free = [
            spent
            for stage, spent in zip(stages, operations, strict=True)
            if stage.template not in self.stages.needed
        ]
        return not free or sum(free) <= self.operations

    def has_flash(self, stages: Sequence[EarlyExit]) -> bool:
        """Return whether the tables of these exits fit into the flash, and each into an array."""
        sizes = [table.n_bytes for stage in stages for table in stage.tables()]
        if self.array_bytes is not None and max(sizes, default=0) > self.array_bytes:
            return False
        return self.flash_bytes is None or sum(sizes) <= self.flash_bytes

    def on(self, target: Target, program: Program) -> Room:
        """Return the room on a target, which has prices and may limit its arrays and tables.

        Parameters
        ----------
        target : Target
        program : Program
            The exact program, without early exits.
        """
        flash = self.flash_bytes
        if target.tables_end is not None:
            most = target.tables_end - VECTORS_BYTES - program.table_bytes
            flash = most if flash is None else min(flash, most)
        return replace(
            self,
            flash_bytes=flash,
            array_bytes=target.largest_object_bytes,
            cost=target.cost,
        )

    def table_bytes_of(self, program: Program) -> float:
        """Return the most bytes of the tables of one exit that grows with the flash it is given.

        They are at most twice the exact sum's tables, or a small part of the flash that is left:
        the tables of a small machine say little of what is worth its speed.

        Parameters
        ----------
        program : Program
            The exact program, without early exits.
        """
        tables = sum(table.n_bytes for table in program.ends.exact.tables())
        part: float = _LEAST_PART_BYTES
        if self.flash_bytes is not None:
            part = max(part, min(_MOST_PART_BYTES, _PART * self.flash_bytes))
        most = max(part, _TABLES_SHARE * tables)
        return most if self.flash_bytes is None else min(most, self.flash_bytes)

    def of(self, wanted: Wanted, program: Program) -> Room:
        """Return the room for what is wanted: less where the worst case or the flash comes first.

        Parameters
        ----------
        wanted : Wanted
        program : Program
            The exact program, without early exits.
        """
        limit = wanted.instructions
        if limit is not None:  # what the stages before the exits take is not theirs
            alone = self.takes(0.0, (), program.ends).worst
            limit -= math.ceil(worst_instructions(program, self.cost) - alone)
        room = replace(self, wanted=replace(wanted, instructions=limit))
        if wanted.optimize == "worst":
            most = _HARDLY * sum(stage.operations() for stage in program.stages)
            return replace(room, operations=min(self.operations, most))
        if wanted.optimize == "flash":
            n_bytes = max(0, int(_HARDLY * program.table_bytes) - EXIT_CODE_BYTES)
            flash = n_bytes if self.flash_bytes is None else min(self.flash_bytes, n_bytes)
            return replace(room, flash_bytes=flash)
        return room


def room_for_exits(
    program: Program,
    allowed: Budgets,
    workspace_bytes: int,
    share: float,
    stages: AskedStages | None = None,
) -> Room:
    """Return the operations, flash and RAM that early exits may add to the exact program.

    Parameters
    ----------
    program : Program
        The exact program, without early exits.
    allowed : Budgets
    workspace_bytes : int
        Workspace of the exact program.
    share : float
        Allowed operations as a share of the exact program's operations, in the worst case.
    stages : AskedStages, optional
    """
    operations = sum(stage.operations() for stage in program.stages)
    flash, ram = allowed.flash_bytes, allowed.ram_bytes
    return Room(
        share * operations,
        None if flash is None else flash - program.table_bytes - _CODE_BYTES,
        None if ram is None else ram - workspace_bytes - _STACK_BYTES,
        stages=stages or AskedStages(),
    )
