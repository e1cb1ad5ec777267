"""The cores whose cycles are known, by the name that a target's `time.core` gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kmcompile.machine_code.cycles import avr, cortex_m0, cortex_m3, ibex
from kmcompile.machine_code.cycles.cycles import CyclesOf

BY_CORE: Final[Mapping[str, CyclesOf]] = {
    "avr-22": avr.cycles_of,
    "cortex-m0": cortex_m0.cycles_of_m0,
    "cortex-m0plus": cortex_m0.cycles_of_m0plus,
    "cortex-m3": cortex_m3.cycles_of_m3,
    "cortex-m4": cortex_m3.cycles_of_m4,
    "ibex": ibex.cycles_of,
}
"""Name -> cycles of an instruction. The AVR is one whose program counter has 22 bits."""
