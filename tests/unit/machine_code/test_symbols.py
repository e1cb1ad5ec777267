"""The symbols that are read at once are those that pyelftools gives one by one."""

from __future__ import annotations

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from kit.tools import need, succeed
from kmcompile.machine_code.symbols import Symbol, read_relocations, read_symbols
from kmcompile.target import list_targets

SOURCE = """
static int own(int v) { return v * 3; }
int outer(int v);
const int table[3] = { 1, 2, 3 };
int given(int v);
int given(int v) { return own(v) + outer(v) + table[v]; }
"""
SPECIAL = {"SHN_UNDEF": 0, "SHN_ABS": 0xFFF1}
COMPILERS = {target.compiler.command: target.compiler for target in list_targets()}


def compiled(command, folder):
    """Return an object of a target's compiler."""
    need(command)
    source, built = folder / "part.c", folder / "part.o"
    source.write_text(SOURCE)
    flags = [*COMPILERS[command].flags, "-O0", "-ffreestanding", "-ffunction-sections"]
    succeed([command, *flags, "-c", source, "-o", built])
    return built


def section_of(symbol):
    """Return the number of the section that has a symbol."""
    return SPECIAL.get(symbol["st_shndx"], symbol["st_shndx"])


@pytest.mark.parametrize("command", COMPILERS)
def test_they_are_those_that_pyelftools_gives(command, tmp_path):
    with compiled(command, tmp_path).open("rb") as file:
        elf = ELFFile(file)
        found = read_symbols(elf)
        assert found == [
            Symbol(
                symbol.name,
                symbol["st_value"],
                symbol["st_size"],
                symbol["st_info"]["type"] == "STT_FUNC",
                symbol["st_shndx"] != "SHN_UNDEF",
                symbol["st_info"]["bind"] != "STB_LOCAL",
                section_of(symbol),
            )
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_name"]
        ]
    assert {"outer"} <= {symbol.name for symbol in found if not symbol.is_defined}
    assert {"given"} == {s.name for s in found if s.is_function and s.is_external and s.is_defined}


@pytest.mark.parametrize("command", COMPILERS)
def test_relocations_are_those_that_pyelftools_gives(command, tmp_path):
    with compiled(command, tmp_path).open("rb") as file:
        elf = ELFFile(file)
        found = [
            (section, symbol.name, symbol.section, symbol.is_defined)
            for section, symbol in read_relocations(elf)
        ]
        expected = []
        for table in elf.iter_sections():
            if isinstance(table, RelocationSection):
                symbols = elf.get_section(table["sh_link"])
                for each in table.iter_relocations():
                    number = each["r_info_sym"]
                    if number != 0:
                        symbol = symbols.get_symbol(number)
                        name = symbol.name if symbol["st_name"] else ""
                        here = symbol["st_shndx"] != "SHN_UNDEF"
                        expected.append((table["sh_info"], name, section_of(symbol), here))
    assert found == expected
    assert "outer" in {name for _, name, _, is_defined in found if not is_defined}
    assert any(is_defined for *_, is_defined in found)
