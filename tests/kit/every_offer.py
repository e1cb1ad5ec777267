"""All certified exits that a machine can have, those that are only tried where asked for, too."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.certify import fit
from kmcompile.exits.certified.offers import Offer
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.program import Program
from kmcompile.request.asked_stages import AskedStages

_ASKED = AskedStages(required=("bound_sequence",))


def every_offer(machine: KernelMachine, program: Program, X: np.ndarray, room: Room) -> list[Offer]:
    """Return the exits that the compiler considers where a bound sequence is asked for, too."""
    with suppress(InputError):  # the machine can have none
        return fit(machine, program, X, replace(room, stages=_ASKED))
    return fit(machine, program, X, room)
