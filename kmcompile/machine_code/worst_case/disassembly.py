"""The instructions of an image, as the disassembler of the target's compiler prints them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from kmcompile.errors import ToolError
from kmcompile.machine_code import elf
from kmcompile.machine_code.worst_case.instruction import Instruction, target_of
from kmcompile.target import Compiler
from kmcompile.tools import toolchain

_TIMEOUT_S = 120.0
_COMPILER: Final = re.compile(r"(.*?)gcc(-[\d.]+)?")
_LINE: Final = re.compile(r"^ *([0-9a-f]+):\t(\S+)[ \t]*(.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"\s+(?:@|//|#|!) .*")


@dataclass(frozen=True, slots=True)
class Disassembly:
    """An image's code.

    Attributes
    ----------
    machine : str
        The ELF file's name of the instruction set, such as "EM_ARM".
    is_little : bool
        Whether the byte order is little-endian.
    instructions : mapping
        Address -> instruction.
    functions : mapping
        Function -> its address; several functions can have one address.
    names : mapping
        Address -> a function that starts there.
    data : mapping
        Address -> byte between instructions, of tables of jumps for example.
    sections : tuple of (int, bytes)
        Address and content of all sections.
    """

    machine: str
    is_little: bool
    instructions: Mapping[int, Instruction]
    functions: Mapping[str, int]
    names: Mapping[int, str]
    data: Mapping[int, int]
    sections: tuple[tuple[int, bytes], ...]

    def word(self, address: int) -> int | None:
        """Return the 32-bit word at an address, or None if the image has no such address."""
        order: Literal["little", "big"] = "little" if self.is_little else "big"
        for start, content in self.sections:
            if start <= address <= start + len(content) - 4:
                offset = address - start
                return int.from_bytes(content[offset : offset + 4], order)
        return None

    def is_far_jump(self, call: Instruction) -> bool:
        """Return whether a call is a long jump within its function, as Thumb-1 has no other.

        Routines of libgcc, whose names begin with underscores, call parts of themselves.
        """
        target = call.target
        if self.machine != "EM_ARM" or target is None or target in self.names:
            return False
        function = self.function_at(call.address)
        return self.function_at(target) == function and not function.startswith("__")

    def function_at(self, address: int) -> str:
        """Return the name of the last function that starts at or before an address."""
        return self.names[max(start for start in self.names if start <= address)]

    def end_of(self, address: int) -> int:
        """Return the address at which the function at `address` ends: the start of the next one."""
        later = [start for start in self.names if start > address]
        return min(later, default=max(self.instructions) + 1)


def disassemble(image: Path, compiler: Compiler) -> Disassembly:
    """Return the code of an image.

    Raises
    ------
    ToolError
        If there is no disassembler beside the compiler.
    """
    found = _COMPILER.fullmatch(compiler.command)
    if found is None:
        raise ToolError(f"{compiler.command}: the disassembler beside it is not known")
    command = toolchain.find(f"{found[1]}objdump", compiler.packages)
    arguments = [command, "-d", "-z", "--no-show-raw-insn", str(image)]
    what = f"disassembling {image.name}"
    text = toolchain.run_tool(arguments, image.parent, _TIMEOUT_S, what)
    with elf.opened(image) as file:
        machine, is_little = file["e_machine"], file.little_endian
        sections = [
            (section["sh_addr"], section.data(), section["sh_flags"] & elf.EXECUTABLE)
            for section in file.iter_sections()
            if section["sh_flags"] & elf.ALLOCATED and section["sh_type"] == "SHT_PROGBITS"
        ]
    contents = {
        start + i: byte for start, code, runs in sections if runs for i, byte in enumerate(code)
    }
    lines = [(int(a, 16), mnemonic, rest) for a, mnemonic, rest in _LINE.findall(text)]
    is_data = {address: mnemonic.startswith(".") for address, mnemonic, _ in lines}
    instructions, data = {}, {}
    ends = [*(address for address, _, _ in lines[1:]), None]
    for (address, mnemonic, rest), end in zip(lines, ends, strict=True):
        next_address = address if end is None else end
        if is_data[address]:
            data.update({at: contents[at] for at in range(address, next_address) if at in contents})
            continue
        operands = _COMMENT.sub("", rest)
        comment = rest[len(operands) :]
        instructions[address] = Instruction(
            address, next_address, mnemonic, operands, comment, target_of(operands)
        )
    functions = elf.defined_functions(image)
    if machine == "EM_AVR":  # routines in assembler are not marked as functions there
        functions = elf.code_and_functions(image)[1]
    names = {address: name for name, address in functions.items()}
    contents_of = tuple((start, content) for start, content, _ in sections)
    return Disassembly(machine, is_little, instructions, functions, names, data, contents_of)
