"""The text of a program: every stage, table and constant, and the same for the same program."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from kit import (
    calibrated,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    integer_exits,
    pairs,
    polynomials,
    regressions,
    replays,
)
from kmcompile.numeric.arrays import frozen
from kmcompile.program import storage
from kmcompile.program.program import Program

CASES = (
    *catalogue.CORE[:2],
    certified.CORE[0],
    coded.CORE[5],
    integer_exits.CORE[9],
    regressions.MORE[0],
    calibrated.CORE[1],
    pairs.FEW_VECTORS[0],
    polynomials.FEW_TERMS[0],
    coded_polynomials.CORE[0],
    replays.CORE[0],
)

LANES = ("codes", "lanes")
"""They divide the vectors of a table of codes: with one more there is no such table."""

program_of = cache(lambda case: case.emit("host").program)


def constants(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where the numbers and arrays of a part are: fields, and places in tuples."""
    if is_dataclass(part):
        inner = [(field.name, getattr(part, field.name)) for field in fields(part)]
    elif isinstance(part, tuple):
        inner = list(enumerate(part))
    else:
        return [path] if isinstance(part, int | float | np.number | np.ndarray) else []
    return [found for name, item in inner for found in constants(item, (*path, name))]


def at(part: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        part = part[name] if isinstance(part, tuple) else getattr(part, name)
    return part


def put(part: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Change a part in place, whatever it is checked for when it is made; return it."""
    holder, name = at(part, path[:-1]), path[-1]
    if isinstance(holder, tuple):
        changed = tuple(value if n == name else item for n, item in enumerate(holder))
        return put(part, path[:-1], changed)
    object.__setattr__(holder, name, value)
    return part


def other(value: Any) -> Any:
    """Return the constant that is nearest: of an array with one other element."""
    if isinstance(value, np.ndarray):
        changed = np.array(value)
        changed.reshape(-1)[value.size // 2] = other(changed.reshape(-1)[value.size // 2])
        return frozen(changed, value.dtype)
    if isinstance(value, bool):
        return not value
    if isinstance(value, float | np.floating):
        return np.nextafter(value, type(value)(np.inf))
    return type(value)(int(value) ^ 1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_stage_and_table_has_its_lines(case):
    program = program_of(case)
    lines = str(program).splitlines()
    stages = [*program.stages, *([] if program.replay is None else [program.replay])]
    names = [line.split(" = ")[0] for line in lines if line]
    begun = [name for name in names if "." not in name]
    assert begun == [*(stage.name for stage in stages), "known_answers"]
    for stage in stages:
        assert f"{stage.name}.operations = {stage.operations()}" in lines
    shown = [name.split(".tables.")[1] for name in names if ".tables." in name]
    assert shown == [table.name for table in program.tables()]
    assert f"program.table_bytes = {program.table_bytes}" in lines


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_read_back_has_the_same_text(case):
    program = program_of(case)
    again = storage.load(storage.save(program), "program.npz")
    assert str(program) == str(program) == str(again)


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_another_constant_is_another_text(case):
    """By one unit in the last place, and of an array in one element."""
    program = program_of(case)
    content, text = storage.save(program), str(program)
    paths = [path for path in constants(program) if np.size(at(program, path))]
    paths = [path for path in paths if path[-2:] != LANES]
    assert len(paths) > 20
    for path in paths:
        again = storage.load(content, "program.npz")
        changed = put(again, path, other(at(again, path)))
        assert str(changed) != text, path


def test_a_constant_changes_its_own_line_only():
    program = program_of(CASES[1])
    changed = replace(program, threshold=0.5)
    different = set(str(program).splitlines()) ^ set(str(changed).splitlines())
    assert different == {"program.threshold = 0.0", "program.threshold = 0.5"}


def test_lines_hold_only_visible_characters():
    program = replace(program_of(CASES[0]), classes=("benign\n", "malig\u202enant \x1b[2J"))
    (line,) = (one for one in str(program).split("\n") if one.startswith("program.classes"))
    assert line == r"program.classes = ('benign\n', 'malig\u202enant \x1b[2J')"


def test_an_array_of_the_c_has_its_checksum_there():
    emitted = CASES[1].emit("host")
    (table,) = (t for t in emitted.program.tables() if t.name == "vectors")
    assert f"CRC-32C {table.checksum():#010x}" in str(emitted.program)
    source = emitted.files[f"{emitted.name}.c"].decode()
    assert f"{table.checksum()}" in source or f"{table.checksum():#x}" in source.lower()


def test_what_no_program_holds_has_no_text():
    class Elsewhere:
        pass

    program = program_of(CASES[0])
    changed = Program(**{f.name: getattr(program, f.name) for f in fields(program)})
    object.__setattr__(changed, "scale", Elsewhere())
    with pytest.raises(TypeError, match="nothing that a program holds"):
        str(changed)
