"""The symbols that are read at once are those that pyelftools gives one by one."""

from __future__ import annotations

import pytest
from elftools.elf.elffile import ELFFile

from kit.tools import need, succeed
from kmcompile.machine_code.symbols import Symbol, read_symbols
from kmcompile.target import list_targets

SOURCE = """
static int own(int v) { return v * 3; }
int outer(int v);
const int table[3] = { 1, 2, 3 };
int given(int v);
int given(int v) { return own(v) + outer(v) + table[v]; }
"""
COMPILERS = {target.compiler.command: target.compiler for target in list_targets()}


@pytest.mark.parametrize("command", COMPILERS)
def test_they_are_those_that_pyelftools_gives(command, tmp_path):
    need(command)
    source, built = tmp_path / "part.c", tmp_path / "part.o"
    source.write_text(SOURCE)
    flags = [*COMPILERS[command].flags, "-O0", "-ffreestanding", "-ffunction-sections"]
    succeed([command, *flags, "-c", source, "-o", built])
    with built.open("rb") as file:
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
            )
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_name"]
        ]
    assert {"outer"} <= {symbol.name for symbol in found if not symbol.is_defined}
    assert {"given"} == {s.name for s in found if s.is_function and s.is_external and s.is_defined}
