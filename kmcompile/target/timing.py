"""Timing: what is known of the time that instructions take on a part."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Timing:
    """What is known of the time that instructions take on the part.

    Attributes
    ----------
    core : str
        The core whose cycles are known (`kmcompile.machine_code.cycles.cores`); "" if they are not.
    clock_hz : int or None
        The clock at which times are given; None if no core's cycles are known.
    flash_wait_states : int or None
        Cycles that a read from the flash waits at this clock. Cycles are given without them. None
        if it is not known.
    simulator : str
        The part's name in simavr, which simulates its cycles; "" if it does not know the part.
    logic : str
        The open core that has the part's instructions and whose own logic can be simulated: "ibex",
        "cv32e40p"; "" if none is known. Its cycles are not those of the part.
    unknown : str
        The reason why no core's cycles are known; "" if they are.
    """

    core: str = ""
    clock_hz: int | None = None
    flash_wait_states: int | None = None
    simulator: str = ""
    logic: str = ""
    unknown: str = ""

    def at(self, clock_hz: int) -> Timing:
        """Return what is known at another clock, at which the flash may wait longer or shorter."""
        return replace(self, clock_hz=clock_hz, flash_wait_states=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the table of a target's file: what is not given is left out."""
        return {key: value for key, value in asdict(self).items() if value not in ("", None)}
