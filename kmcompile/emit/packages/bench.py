"""Two C files that count the clock cycles of shipped queries, for a board without a framework.

Sources: Arm's architecture reference manuals DDI 0403E (ARMv7-M: DWT and SysTick), DDI 0419E
(ARMv6-M: SysTick), DDI 0406C (ARMv7-A and R: performance monitors) and DDI 0487 (AArch64);
RISC-V's privileged architecture 1.10 (mcycle); the data sheet of the ATmega2560 (Timer 1); the
Power ISA (time base).
"""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.emit.packages.framework import Framework

_FILES: Mapping[str, str] = {
    "{name}_bench/README.md": "bench/README.md",
    "{name}_bench/{name}.h": "{name}.h",
    "{name}_bench/{name}.c": "{name}.c",
    "{name}_bench/{name}_bench.h": "bench/bench.h",
    "{name}_bench/{name}_bench.c": "bench/bench.c",
    "{name}_bench/{name}_bench_counter.h": "bench/core_counter.h",
}

FRAMEWORK = Framework(_FILES)
