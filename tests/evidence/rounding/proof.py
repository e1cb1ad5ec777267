"""A claim about a function, and the scripts for Gappa that prove it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

_HEAD = ("@b32 = float<ieee_32, ne>;", "@b64 = float<ieee_64, ne>;")


@dataclass(frozen=True)
class Proof:
    """A script for Gappa.

    Parameters
    ----------
    name : str
        Of the script's file, without its ending.
    shows : str
        What the script proves, one sentence.
    text : str
    """

    name: str
    shows: str
    text: str


@dataclass(frozen=True)
class Claim:
    """A bound that kmcompile.numeric claims, with the proofs of it.

    Parameters
    ----------
    function : str
        The function's name, which all names of its scripts begin with.
    bound : str
        The claimed bound.
    proofs : tuple of Proof
        Together they show the bound, but for what is `left`.
    taken : tuple of str
        What the proofs take from elsewhere, each with what shows it.
    code : str
        The emitted C that the scripts were made from.
    left : tuple of str
        What of the claim Gappa does not show, each with what shows it.
    """

    function: str
    bound: str
    proofs: tuple[Proof, ...]
    taken: tuple[str, ...]
    code: str
    left: tuple[str, ...] = ()


def proof(
    name: str, shows: str, definitions: Iterable[str], goal: str, hints: Iterable[str] = ()
) -> Proof:
    """Return a proof whose script has the roundings, definitions, goal and hints in order."""
    lines = [f"# {shows}", *_HEAD, *definitions, "", goal, "", *hints, ""]
    return Proof(name, shows, "\n".join(lines))


def units(bound: float | Fraction, unit: int) -> str:
    """Return `bound` * 2^-unit as Gappa reads it, rounded down to 2^-80 of a unit.

    A goal that is rounded down is the stronger one.

    Examples
    --------
    >>> units(1.5, 24) == f"{3 * 2**79}b-104"
    True
    """
    return f"{int(Fraction(bound) * 2**80)}b-{unit + 80}"
