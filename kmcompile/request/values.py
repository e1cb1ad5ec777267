"""How options are spelled, and checks of the numbers that they may be."""

from __future__ import annotations

import math
from collections.abc import Iterable

from kmcompile.errors import UsageError
from kmcompile.request.options import Options, text_of


def flag(field: str) -> str:
    """Return an option as the command line spells it.

    Examples
    --------
    >>> flag("max_flash")
    '--max-flash'
    """
    return "--" + field.replace("_", "-")


def spelled(field: str, value: object) -> str:
    """Return an option with its value as the command line spells them.

    Examples
    --------
    >>> spelled("step", 90), spelled("telemetry", True)
    ('--step 90', '--telemetry')
    """
    return flag(field) if value is True else f"{flag(field)} {text_of(value)}"


def named(options: Options, among: Iterable[str]) -> str:
    """Return the text of the given options among `among`: each as it is spelled, with its value."""
    given = [field for field in among if getattr(options, field) is not None]
    return ", ".join(spelled(field, getattr(options, field)) for field in given)


def check_number(field: str, value: str | float, low: float, high: float) -> None:
    """Refuse what is no number between two others.

    Raises
    ------
    UsageError
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low < number < high:
        limits = f"between {low:g} and {high:g}"
        if high == math.inf:
            limits = "> 0" if low == 0 else "that is finite"
        raise UsageError(f"{flag(field)} {value}: must be a number {limits}")


def check_count(field: str, value: str | int, least: int = 1, most: float = math.inf) -> None:
    """Refuse what is no whole number, or one beyond its limits.

    Raises
    ------
    UsageError
    """
    text = str(value)
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise UsageError(f"{flag(field)} {value}: must be a whole number of at least {least}")
    if int(text) > most:
        raise UsageError(f"{flag(field)} {value}: must be at most {most}")
