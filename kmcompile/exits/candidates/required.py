"""Check that the exits that must be in a program could be built."""

from __future__ import annotations

from collections.abc import Collection

from kmcompile.errors import InputError
from kmcompile.request.asked_stages import AskedStages


def require_built(
    asked: AskedStages, kinds: Collection[str], built: Collection[str], why_not: dict[str, str]
) -> None:
    """Raise InputError if an exit that must be there cannot be built for the machine.

    Parameters
    ----------
    asked : AskedStages
    kinds : collection of str
        The names of the exits that were tried.
    built : collection of str
        Those that were built in at least one size.
    why_not : dict of str to str
        Why a machine cannot have an exit.

    Raises
    ------
    InputError
    """
    for name in asked.needed:
        if name in kinds and name not in built:
            reason = why_not.get(name) or "no size of it is of any use here"
            raise InputError(f"{name} cannot be built for this machine: {reason}")
