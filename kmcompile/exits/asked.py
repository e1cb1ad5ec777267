"""Check the early exits that the user asks for by name."""

from __future__ import annotations

from collections.abc import Collection

from kmcompile.errors import InputError, UsageError
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.request.asked_stages import AskedStages


def check_names(asked: AskedStages, mode: str) -> None:
    """Refuse names that are no early exits, and exits that the mode does not have.

    Parameters
    ----------
    asked : AskedStages
    mode : {"certified", "statistical"}

    Raises
    ------
    UsageError
    """
    certified = [fit.kind.template for fit in certified_fits()]
    statistical = [fit.kind.template for fit in statistical_fits()]
    for name in asked.named:
        if name not in (*certified, *statistical):
            known = ", ".join((*statistical, *certified))
            raise UsageError(f"{name} is no early exit; there are {known}")
    for name in asked.needed:
        if mode == "certified" and name in statistical:
            raise UsageError(
                f"{name} is a statistical exit, which mode certified has not\n"
                "give --data FILE and leave out --mode certified"
            )


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
