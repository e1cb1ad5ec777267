"""Reading of objects and images: sizes of sections, symbols, frames of library routines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile

from kmcompile.errors import ToolError
from kmcompile.machine_code.symbols import Symbol, read_symbols

ALLOCATED = 0x2  # SHF_ALLOC
EXECUTABLE = 0x4  # SHF_EXECINSTR
_WRITABLE = 0x1  # SHF_WRITE
_NOT_LOADED = "SHT_NOBITS"
# Constant pointers, fixed when a shared library is loaded or an image is linked.
_RELOCATED = (".data.rel.ro", ".model_got")
_VARIABLES = ".model_data"  # in RAM, also constants that no pointer to flash can address
_SCRIPT = (".start", ".model_", ".text", ".eh_frame", ".stack", ".data", ".bss")
"""The sections of the linker script of an image."""
_UNWIND = (".eh_frame", ".note", ".ARM.exidx", ".ARM.extab")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes that an object or a set of sections takes on the board."""

    code_bytes: int
    constants_bytes: int
    data_bytes: int
    zeroed_bytes: int

    @property
    def flash_bytes(self) -> int:
        """Return code, constants and the initial values of data."""
        return self.code_bytes + self.constants_bytes + self.data_bytes

    @property
    def ram_bytes(self) -> int:
        """Return the bytes of RAM that are kept between calls."""
        return self.data_bytes + self.zeroed_bytes


def sizes(path: Path, prefix: str = "") -> Sizes:
    """Add up the allocated sections whose names begin with a prefix, but for unwind tables."""
    totals = {"code": 0, "constants": 0, "data": 0, "zeroed": 0}
    with opened(path) as elf:
        for section in elf.iter_sections():
            name, flags = section.name, section["sh_flags"]
            if not flags & ALLOCATED or not name.startswith(prefix) or name.startswith(_UNWIND):
                continue
            if section["sh_type"] == _NOT_LOADED:
                kind = "zeroed"
            elif flags & EXECUTABLE:
                kind = "code"
            else:
                writable = flags & _WRITABLE and not name.startswith(_RELOCATED)
                writable = writable or name == _VARIABLES
                kind = "data" if writable else "constants"
            totals[kind] += section["sh_size"]
    return Sizes(*(totals[kind] for kind in ("code", "constants", "data", "zeroed")))


def check_placed(path: Path, ram: range) -> None:
    """Raise ToolError if RAM has a section that the linker script does not name.

    The start-up code neither loads nor clears such a section: constants in it would be lost.

    Parameters
    ----------
    path : Path
        An image.
    ram : range
        The addresses of the RAM.
    """
    with opened(path) as elf:
        for section in elf.iter_sections():
            known = section.name.startswith(_SCRIPT) or section["sh_size"] == 0
            if section["sh_flags"] & ALLOCATED and not known and section["sh_addr"] in ram:
                raise ToolError(
                    f"{path.name}: section {section.name} lies where no start-up code loads it\n"
                    "use compiler flags that leave small data among the others"
                )


def undefined_symbols(path: Path) -> frozenset[str]:
    """Return the names that an object uses and does not define."""
    with opened(path) as elf:
        return frozenset(s.name for s in read_symbols(elf) if not s.is_defined)


def function_address(path: Path, name: str) -> int:
    """Return the address of an external function's first instruction.

    Raises
    ------
    ToolError
        If the image has no such function.
    """
    functions = defined_functions(path, external=True)
    if name not in functions:
        raise ToolError(f"{path.name}: has no function {name}")
    return functions[name]


def section_span(path: Path, name: str) -> range:
    """Return the addresses of a section of an image, none if it has no such section."""
    with opened(path) as elf:
        section = elf.get_section_by_name(name)
        start = int(section["sh_addr"]) if section is not None else 0
        return range(start, start + (int(section["sh_size"]) if section is not None else 0))


def code_bytes(path: Path, names: Iterable[str]) -> int:
    """Return the bytes of some functions of an image; two names of one function count once."""
    wanted = frozenset(names)
    with opened(path) as elf:
        sizes = {
            _address(symbol): symbol.size_bytes
            for symbol in read_symbols(elf)
            if symbol.is_function and symbol.name in wanted
        }
    return sum(sizes.values())


def defined_functions(path: Path, external: bool = False) -> dict[str, int]:
    """Return the functions of an object or image with their addresses, or only external ones."""
    with opened(path) as elf:
        return {
            symbol.name: _address(symbol)
            for symbol in read_symbols(elf)
            if symbol.is_function and symbol.is_defined and (symbol.is_external or not external)
        }


def flash_image(path: Path, origin: int = 0) -> bytes:
    """Return the bytes of the flash from its origin on, initial values of variables included."""
    with opened(path) as elf:
        parts = [
            (part["p_paddr"] - origin, part.data())
            for part in elf.iter_segments()
            if part["p_type"] == "PT_LOAD" and part["p_filesz"]
        ]
    image = bytearray(max(start + len(data) for start, data in parts))
    for start, data in parts:
        image[start : start + len(data)] = data
    return bytes(image)


def code_and_functions(path: Path) -> tuple[bytes, dict[str, int]]:
    """Return the code of an image from address 0 on, its functions and its entry points."""
    with opened(path) as elf:
        code = bytearray()
        for section in elf.iter_sections():
            if section["sh_flags"] & EXECUTABLE:
                start = section["sh_addr"]
                code.extend(bytes(max(0, start + section["sh_size"] - len(code))))
                code[start : start + section["sh_size"]] = section.data()
        functions = {
            symbol.name: int(symbol["st_value"])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS")
            and (
                symbol["st_info"]["type"] == "STT_FUNC"
                or (symbol["st_info"]["type"], symbol["st_info"]["bind"])
                == ("STT_NOTYPE", "STB_GLOBAL")
            )
        }
    return bytes(code), functions


def helper_frames(
    image: Path, section: str, own: Iterable[Path], known: Mapping[str, int]
) -> dict[str, int]:
    """Return the stack frames in bytes of the compiler's library routines in a section.

    No call graph covers these routines. Their frames come from the call frame information: the
    largest distance between the stack pointer and the canonical frame address (CFA).

    Parameters
    ----------
    image : path
        The linked image.
    section : str
        The section that holds the model with its helpers.
    own : paths
        The model's objects before linking.
    known : mapping
        Frames of routines that have no call frame information, or an incomplete one.

    Returns
    -------
    dict
        Helper -> bytes of its own frame.

    Raises
    ------
    ToolError
        If the frame of a helper is unknown.
    """
    own_names = {name for path in own for name in defined_functions(path)}
    functions = defined_functions(image)
    with opened(image) as elf:
        place = elf.get_section_by_name(section)
        start = place["sh_addr"] if place is not None else 0
        end = start + place["sh_size"] if place is not None else 0
        ranges = _frame_ranges(elf) if start < end else []
    helpers = {
        name: address
        for name, address in functions.items()
        if start <= address < end and name not in own_names
    }
    frames: dict[str, int] = {}
    charged: set[object] = set()
    for name, address in helpers.items():
        covering = [span for span in ranges if span[0] <= address < span[1]]
        if not covering and name not in known:
            raise ToolError(
                f"{image.name}: the stack use of the compiler's helper {name} is unknown\n"
                "find it out and add it to helper_stack_bytes in the target's TOML"
            )
        # Several names of one routine are charged once: the frames are added up.
        if name in known:
            charges: dict[object, int] = {address: known[name]}
        else:
            charges = {span: span[2] for span in covering}
        frames[name] = sum(charge for key, charge in charges.items() if key not in charged)
        charged |= charges.keys()
    return frames


def _frame_ranges(elf: Any) -> list[tuple[int, int, int]]:
    """Return (first address, end address, frame bytes) from `.debug_frame` and `.eh_frame`."""
    dwarf = elf.get_dwarf_info()
    entries = list(dwarf.CFI_entries()) if dwarf.has_CFI() else []
    entries += dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else []
    ranges = []
    for entry in entries:
        if not isinstance(entry, FDE):
            continue  # a CIE, the common part of several frames, or the end
        first = entry["initial_location"]
        table = entry.get_decoded().table
        offsets = [row["cfa"].offset for row in table if row["cfa"].offset is not None]
        ranges.append((first, first + entry["address_range"], max(offsets, default=0)))
    return ranges


def _address(symbol: Symbol) -> int:
    """Return a symbol's address without the bit that marks Thumb code."""
    return symbol.value & ~1


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open an object or image for reading.

    Raises
    ------
    ToolError
        If the file is missing or no ELF file.
    """
    try:
        with path.open("rb") as stream:
            yield ELFFile(stream)
    except ELFError as error:
        raise ToolError(f"{path.name}: not a readable ELF file: {error}") from error
    except FileNotFoundError as error:
        raise ToolError(f"{path.name}: the compiler ended well and did not write it") from error
