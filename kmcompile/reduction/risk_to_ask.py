"""What to ask for where no reduced machine keeps the risk of `--reduce auto`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmcompile.exits.statistical.calibration import Of
from kmcompile.exits.statistical.risk import rounded_up
from kmcompile.reduction.curve import Point
from kmcompile.text.figures import percent_beside


def no_size(
    what: str,
    risk: float,
    points: Sequence[Point],
    tested: Callable[[float], Sequence[Point]],
    flash_bytes: int | None,
    remedy: str,
    of: Of = "risk",
) -> str:
    """Return the text of the error, with the curve and a `--risk` that a size keeps.

    Parameters
    ----------
    what : str
        What no size does.
    risk : float
        The risk that was asked for.
    points : sequence of Point
        The sizes that were tested.
    tested : callable
        From another risk to the sizes that are tested for it.
    flash_bytes : int or None
        The most bytes of tables.
    remedy : str
        What else helps.
    of : {"risk", "loss"}
    """
    curve = "; ".join(
        f"{p.n_vectors:,} vectors, {p.table_bytes:,} bytes: at most "
        f"{percent_beside(p.limit, risk)} {'differ' if of == 'risk' else 'lost'}"
        for p in points
        if p.limit is not None
    )
    ask = _risk_that_works(risk, tested, flash_bytes)
    told = remedy if ask is None else f"ask for --{of} {ask:g}, or {remedy}"
    return f"--reduce auto: {what} a {of} of {risk:.15g}\n{curve}\n{told}"


def _risk_that_works(
    risk: float, tested: Callable[[float], Sequence[Point]], flash_bytes: int | None
) -> float | None:
    """Return the next larger risk that a size keeps, of two digits; None if there is none.

    A larger risk tests other sizes: the limit of a size that failed is only where to look next.
    """
    while True:
        *kept, last = tested(risk)
        if last.limit is None:
            return None
        fails = last.limit > risk
        taken = kept[-1:] if fails else [last]
        if taken and (flash_bytes is None or taken[0].table_bytes <= flash_bytes):
            return risk
        if not fails or last.limit >= 1:
            return None
        risk = rounded_up(last.limit)
        if risk >= 1:
            return None
