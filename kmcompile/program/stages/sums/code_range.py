"""The codes of an input where no support vector is stored as codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeRange:
    """An input of integer codes: how many, of which type, and from where to where.

    Parameters
    ----------
    n_features : int
    width : str
        The type of a code: "uint8", "int8" or "int16".
    low, high : int
        Least and largest code of an accepted input.
    """

    n_features: int
    width: str
    low: int
    high: int
