"""The flow of control of each instruction, one module for each instruction set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kmcompile.machine_code.worst_case.instruction import Flow, Instruction
from kmcompile.machine_code.worst_case.instruction_sets import (
    aarch64,
    arm,
    avr,
    powerpc,
    riscv,
    sparc,
)

FlowOf = Callable[[Instruction], Flow]

BY_MACHINE: Final[Mapping[str, FlowOf]] = {
    "EM_ARM": arm.flow,
    "EM_AARCH64": aarch64.flow,
    "EM_RISCV": riscv.flow,
    "EM_PPC": powerpc.flow,
    "EM_SPARC": sparc.flow,
    "EM_SPARC32PLUS": sparc.flow,
    "EM_AVR": avr.flow,
}
"""The ELF file's name of the instruction set -> the function that gives an instruction's flow."""
