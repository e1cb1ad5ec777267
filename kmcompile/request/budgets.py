"""The flash and the RAM that a program may use."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.errors import BudgetError
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a program may use; None is no limit (the host)."""

    flash_bytes: int | None
    ram_bytes: int | None


def budgets(target: Target, max_flash: int | None, max_ram: int | None) -> Budgets:
    """Return the budgets: the part's, or the user's as far as the emulated machine goes.

    Raises
    ------
    BudgetError
        If the user's exceeds what the emulated machine has.
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
    )
