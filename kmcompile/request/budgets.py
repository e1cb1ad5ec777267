"""The budgets: the flash, the RAM and the instructions that a program may use."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.errors import BudgetError
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Budgets:
    """The largest flash and RAM of a program, in bytes, and its most instructions for one query.

    None is no limit, as on the host.
    """

    flash_bytes: int | None
    ram_bytes: int | None
    instructions: int | None = None


def budgets(
    target: Target, max_flash: int | None, max_ram: int | None, instructions: int | None = None
) -> Budgets:
    """Return the budgets: the user's where given, otherwise the sizes of the target's part.

    Raises
    ------
    BudgetError
        If a budget of the user exceeds the memory of the emulated machine.
    """
    for flag, asked, emulated in (
        ("--max-flash", max_flash, target.emulated_flash_bytes),
        ("--max-ram", max_ram, target.emulated_ram_bytes),
    ):
        if asked is not None and emulated is not None and asked > emulated:
            raise BudgetError(
                f"{flag} {asked:,}: the emulated {target.name} has {emulated:,} bytes; "
                f"give at most {emulated}"
            )
    return Budgets(
        target.flash_bytes if max_flash is None else max_flash,
        target.ram_bytes if max_ram is None else max_ram,
        instructions,
    )
