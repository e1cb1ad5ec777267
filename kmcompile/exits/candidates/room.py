"""The operations, flash and RAM that early exits may add to the exact program."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.program import Program
from kmcompile.request.budgets import Budgets

_CODE_BYTES = 16_000
_STACK_BYTES = 4_000
"""Most bytes of RAM that the rest of a program takes beside its tables and its workspace."""


@dataclass(frozen=True, slots=True)
class Room:
    """The operations, flash and RAM that early exits may add to the exact program.

    Parameters
    ----------
    operations : float
        Most multiply-adds that the exits may add to a query that no exit decides and whose
        features are all nonzero.
    flash_bytes, ram_bytes : int or None
        Bytes that the exits may add; None: no limit.
    """

    operations: float
    flash_bytes: int | None
    ram_bytes: int | None


def room_for_exits(program: Program, allowed: Budgets, workspace_bytes: int, share: float) -> Room:
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
    """
    operations = sum(stage.operations() for stage in program.stages)
    flash, ram = allowed.flash_bytes, allowed.ram_bytes
    return Room(
        share * operations,
        None if flash is None else flash - program.table_bytes - _CODE_BYTES,
        None if ram is None else ram - workspace_bytes - _STACK_BYTES,
    )
