"""Check the early exits that the user asks for by name."""

from __future__ import annotations

from kmcompile.errors import UsageError
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
    reading = [fit.kind.template for fit in statistical_fits() if fit.reads_intervals]
    for place, name in enumerate(asked.listed or ()):
        if name in reading and not {*certified} & {*(asked.listed or ())[:place]}:
            raise UsageError(
                f"{name} tests the intervals of certified exits, and none is listed before it\n"
                f"there are {', '.join(certified)}"
            )
    for name in asked.needed:
        if mode == "certified" and name in statistical:
            raise UsageError(
                f"{name} is a statistical exit, which mode certified has not\n"
                "use --mode statistical with --data FILE"
            )
