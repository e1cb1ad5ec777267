"""Checks of the flash, the RAM, the steps and the instructions of a program against its budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from kmcompile.errors import OverBudgetError, ToolError
from kmcompile.program.program import Program
from kmcompile.program.redundancy import stored_bytes
from kmcompile.program.schedule import schedule
from kmcompile.request.budgets import Budgets
from kmcompile.request.plan import Plan
from kmcompile.target import Target

VECTORS_BYTES = 1024
"""Largest flash before the tables: interrupt vectors and start-up code."""

_PARTS = "bytes: "
"""Begins the line of an error that says what takes the bytes."""


def check_fits(program: Program, workspace_bytes: int, plan: Plan) -> None:
    """Refuse a program whose tables, workspace or pieces alone exceed the plan's budgets.

    Raises
    ------
    OverBudgetError
        The text names every budget that is exceeded.
    """
    stored = stored_bytes(program)
    refuse(
        exceeded(
            partial(check_flash, program, stored, True, plan.budgets),
            partial(check_tables, program, plan.target),
            partial(check_ram, program, workspace_bytes, None, plan.budgets),
            *([partial(schedule, program)] if program.step is not None else []),
        )
    )


def exceeded(*checks: Callable[[], object]) -> list[OverBudgetError]:
    """Return the error of each check that finds a budget exceeded."""
    found: list[OverBudgetError] = []
    for check in checks:
        try:
            check()
        except OverBudgetError as error:
            found.extend(error.every)
    return found


def refuse(errors: Sequence[OverBudgetError]) -> None:
    """Raise one error for all of them; nothing if there are none.

    Raises
    ------
    OverBudgetError
        Its text has what is needed and allowed in the first line, the bytes in the second.
    """
    if len(errors) < 2:
        for error in errors:
            raise error
        return
    first, *others = (str(error).split("\n") for error in errors)
    name = first[0].partition(": ")[0]
    needs = ", and ".join([first[0], *(lines[0].removeprefix(f"{name}: ") for lines in others)])
    parts = [lines[1] for lines in (first, *others) if lines[1:] and lines[1].startswith(_PARTS)]
    told = _PARTS + "; ".join(part.removeprefix(_PARTS) for part in parts)
    text, one = "\n".join([needs, *([told] if parts else [])]), errors[0]
    raise OverBudgetError(text, one.over, one.needed, one.allowed, tuple(errors))


def check_flash(program: Program, flash_bytes: int, is_lower_limit: bool, allowed: Budgets) -> None:
    """Refuse a program that exceeds its flash budget; the error names the bytes of its tables.

    Raises
    ------
    OverBudgetError
    """
    if allowed.flash_bytes is None or flash_bytes <= allowed.flash_bytes:
        return
    largest = sorted(program.tables(), key=lambda table: -table.n_bytes)
    parts = ", ".join(f"{table.name} {table.n_bytes:,}" for table in largest[:4])
    rest = flash_bytes - sum(table.n_bytes for table in largest[:4])
    least = "at least " if is_lower_limit else ""
    raise OverBudgetError(
        f"{program.name}: needs {least}{flash_bytes:,} bytes of flash, {program.target} may use "
        f"{allowed.flash_bytes:,}\n"
        f"{_PARTS}{parts}, everything else {rest:,}",
        "flash",
        flash_bytes,
        allowed.flash_bytes,
    )


def check_tables(program: Program, target: Target) -> None:
    """Refuse a program with a table that exceeds the target's largest array.

    Refuse also a program whose tables together exceed the flash from which the target can read.

    Raises
    ------
    OverBudgetError
    """
    largest = max(program.tables(), key=lambda table: table.n_bytes)
    if largest.n_bytes > target.largest_object_bytes:
        raise OverBudgetError(
            f"{program.name}: the table {largest.name} has {largest.n_bytes:,} bytes, an array of "
            f"{target.name} at most {target.largest_object_bytes:,}\n"
            f"size_t has {target.program.size_bits} bits there",
            "array",
            largest.n_bytes,
            target.largest_object_bytes,
        )
    stored = stored_bytes(program)
    if target.tables_end is not None and stored > target.tables_end - VECTORS_BYTES:
        raise OverBudgetError(
            f"{program.name}: the tables have {stored:,} bytes, {target.name} reads "
            f"them below address {target.tables_end:,} only",
            "addresses",
            stored,
            target.tables_end - VECTORS_BYTES,
        )


def check_ram(
    program: Program,
    workspace_bytes: int,
    stack_bytes: int | None,
    allowed: Budgets,
    kept_bytes: int = 0,
) -> None:
    """Refuse a program whose workspace, stack and variables exceed its RAM budget.

    Parameters
    ----------
    kept_bytes : int
        RAM that the model keeps between calls: its texts, on targets whose flash is not addressable
        as data.

    Raises
    ------
    OverBudgetError
    """
    needed = workspace_bytes + (stack_bytes or 0) + kept_bytes
    if allowed.ram_bytes is None or needed <= allowed.ram_bytes:
        return
    stack = "not known before the build" if stack_bytes is None else f"{stack_bytes:,}"
    kept = f", names {kept_bytes:,}" if kept_bytes else ""
    raise OverBudgetError(
        f"{program.name}: needs {needed:,} bytes of RAM, {program.target} may use "
        f"{allowed.ram_bytes:,}\n"
        f"{_PARTS}workspace {workspace_bytes:,}, stack {stack}{kept}",
        "RAM",
        needed,
        allowed.ram_bytes,
    )


def check_instructions(
    program: Program, worst_case: int | None, why: str, allowed: Budgets
) -> None:
    """Refuse a program whose static worst case exceeds its budget of instructions.

    Parameters
    ----------
    program : Program
    worst_case : int or None
        Upper bound on the instructions of one query; None if it is not known.
    why : str
        Why it is not known.
    allowed : Budgets

    Raises
    ------
    OverBudgetError
        If the worst case is larger than the budget.
    ToolError
        If there is a budget and no worst case.
    """
    if allowed.instructions is None:
        return
    if worst_case is None:
        raise ToolError(
            f"--max-instructions {allowed.instructions:,}: the worst case is not known: {why}\n"
            "leave it out, or compile for a target whose tools are here (kmcompile doctor)"
        )
    if worst_case > allowed.instructions:
        raise OverBudgetError(
            f"{program.name}: a query may take {worst_case:,} instructions in the worst case, "
            f"{program.target} may use {allowed.instructions:,}",
            "instructions",
            worst_case,
            allowed.instructions,
        )
