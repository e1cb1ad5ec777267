"""Frames of the compiler's library on Cortex-M0, which does all of floating point there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import need, run, succeed

from kmcompile.build import elf
from kmcompile.target import load_target

COMPILER = load_target("cortex-m0").compiler
KNOWN = dict(COMPILER.helper_stack_bytes)
AR, OBJDUMP = "arm-none-eabi-ar", "arm-none-eabi-objdump"
FLOATING = re.compile(r"(add|sub|mul|div|fix|fixuns|float\w+|eq|ge|le|extend|trunc|neg|unord)[sd]f")
PUSH = re.compile(r"\tpush\t\{(?P<registers>[^}]+)\}")
SUBTRACT = re.compile(r"\tsub\tsp, #(?P<bytes>\d+)")
# What moves the stack pointer by an amount that is no constant.
OTHER = re.compile(r"\t(sub|add|mov|msr)\t(sp, (?!#)|MSP)")

pytestmark = pytest.mark.target


def pushed_bytes(object_file: Path) -> int:
    """Return what all instructions of an object push, each taken once and none undone."""
    total = 0
    for line in succeed([OBJDUMP, "-d", "--no-show-raw-insn", object_file]).splitlines():
        assert not OTHER.search(line), line
        if push := PUSH.search(line):
            assert "-" not in push["registers"]
            total += 4 * len(push["registers"].split(","))
        elif subtract := SUBTRACT.search(line):
            total += int(subtract["bytes"])
    return total


def test_the_figures_of_an_object_cover_all_that_it_pushes(tmp_path, monkeypatch):
    """reliability 36: the static figure is never a guess."""
    need(COMPILER.command, AR, OBJDUMP)
    library = succeed([COMPILER.command, *COMPILER.flags, "-print-libgcc-file-name"]).strip()
    monkeypatch.chdir(tmp_path)
    run([AR, "x", library])
    found = set()
    for path in sorted(tmp_path.glob("*.o")):
        functions = elf.defined_functions(path).keys()
        if FLOATING.match(path.name) or functions & KNOWN.keys():
            frames = elf.helper_frames(path, ".text", [], KNOWN)
            assert sum(frames.values()) >= pushed_bytes(path), path.name
            found |= functions
    assert KNOWN.keys() <= found
    assert {"__aeabi_fadd", "__aeabi_fmul", "__aeabi_dmul", "__aeabi_ddiv"} <= found
