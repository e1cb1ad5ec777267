"""What early exits may take beside the exact program."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.program import Program
from kmcompile.request.budgets import Budgets

_CODE_BYTES = 16_000
_STACK_BYTES = 4_000
"""What the rest of a program takes at most, beside its tables and its workspace."""


@dataclass(frozen=True, slots=True)
class Room:
    """What early exits may take.

    Parameters
    ----------
    operations : float
        Multiply-adds of a query without zeros that none of them decides, beyond those of the
        exact sum.
    flash_bytes, ram_bytes : int or None
        None: no limit.
    """

    operations: float
    flash_bytes: int | None
    ram_bytes: int | None


def room_for_exits(program: Program, allowed: Budgets, workspace_bytes: int, share: float) -> Room:
    """Return what early exits may take beside the exact program.

    Parameters
    ----------
    program : Program
        The exact one.
    allowed : Budgets
    workspace_bytes : int
        Of the exact one.
    share : float
        Of the exact program's operations, in the worst case.
    """
    operations = sum(stage.operations() for stage in program.stages)
    flash, ram = allowed.flash_bytes, allowed.ram_bytes
    return Room(
        share * operations,
        None if flash is None else flash - program.table_bytes - _CODE_BYTES,
        None if ram is None else ram - workspace_bytes - _STACK_BYTES,
    )
