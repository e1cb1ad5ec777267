"""Frames of the compiler's library on Arm cores: hand-written routines have none of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.covering import some
from kit.tools import need, run, succeed
from kmcompile.machine_code import elf
from kmcompile.target import load_target

TARGETS = ("cortex-m0", "cortex-m3", "cortex-r5", "cortex-a9")
AR, OBJDUMP = "arm-none-eabi-ar", "arm-none-eabi-objdump"
CHECKED = re.compile(
    r"(add|sub|mul|div|fix|fixuns|float\w+|eq|ge|le|extend|trunc|neg|unord)[sd]f|_aeabi_u?ldivmod"
)
PUSH = re.compile(r"\t(push|stmdb\tsp!,|stmfd\tsp!,)\s*\{(?P<registers>[^}]+)\}")
STORE = re.compile(r"\tstrd?(\.w)?\t.*\[sp, #-(?P<bytes>\d+)\]!")
SUBTRACT = re.compile(r"\tsub(\.w)?\tsp, (sp, )?#(?P<bytes>\d+)")
# What moves the stack pointer by an amount that is no constant.
OTHER = re.compile(r"\t(sub|add|mov|msr)\t(sp, (?!#|sp, #)|MSP)")
NUMBERS = {"sl": 10, "fp": 11, "ip": 12, "lr": 14}

pytestmark = pytest.mark.target


def number(register: str) -> int:
    """Return the number of a register."""
    return NUMBERS.get(register) or int(register[1:])


def registers_in(text: str) -> int:
    """Return how many registers a list such as "r4, r6-r8, lr" has."""
    ends = [part.strip().split("-") for part in text.split(",")]
    return sum(number(end[-1]) - number(end[0]) + 1 for end in ends)


def pushed_bytes(object_file: Path) -> int:
    """Return what all instructions of an object push, each taken once and none undone."""
    total = 0
    for line in succeed([OBJDUMP, "-d", "--no-show-raw-insn", object_file]).splitlines():
        assert not OTHER.search(line), line
        if push := PUSH.search(line):
            total += 4 * registers_in(push["registers"])
        elif moved := STORE.search(line) or SUBTRACT.search(line):
            total += int(moved["bytes"])
    return total


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", some(TARGETS, ("cortex-m3",)))
def test_the_figures_of_an_object_cover_all_that_it_pushes(target, tmp_path, monkeypatch):
    """reliability 36: the static figure is never a guess."""
    compiler = load_target(target).compiler
    known = dict(compiler.helper_stack_bytes)
    need(compiler.command, AR, OBJDUMP)
    library = succeed([compiler.command, *compiler.flags, "-print-libgcc-file-name"]).strip()
    monkeypatch.chdir(tmp_path)
    run([AR, "x", library])
    found = set()
    for path in sorted(tmp_path.glob("*.o")):
        functions = elf.defined_functions(path).keys()
        if CHECKED.match(path.name) or functions & known.keys():
            frames = elf.helper_frames(path, ".text", [], known)
            assert sum(frames.values()) >= pushed_bytes(path), path.name
            found |= functions
    assert known.keys() <= found
