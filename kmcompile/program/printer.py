"""A Program as text, one line for each constant, fact and table: for reading and for diffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.table import Table
from kmcompile.program.shared import is_left_out
from kmcompile.program.stages.stage import Stage

_WRITTEN_OUT = 8
"""Largest number of elements of an array that is printed in full; a larger array is printed as its
range and checksum."""


def stage_facts(stage: Stage) -> dict[str, Any]:
    """Return the facts of a stage that are no constants and no tables.

    Returns
    -------
    dict
        exit: the kind of exit, or None. operations: worst-case multiply-adds of one query, without
        the label tests of an early exit. kernel_evaluations: their worst-case number.
    """
    return {
        "exit": stage.exit,
        "operations": stage.operations(),
        "kernel_evaluations": stage.kernel_evaluations(),
    }


def section(name: str, part: Any, facts: Mapping[str, Any], tables: tuple[Table, ...] = ()) -> str:
    """Return the lines of one part of a program.

    Each line begins with the full path of its constant, so that a line of a diff needs no context.

    Parameters
    ----------
    name : str
        The first word of each line.
    part : dataclass or mapping
        The constants. An array that is also a table is printed as the table only.
    facts : mapping
        The facts, printed after the constants.
    tables : tuple of Table

    Raises
    ------
    TypeError
        If a constant is of a type that no program holds.

    Examples
    --------
    >>> tables = (Table("weights", np.ones((3, 4), np.float32), "w: [block][lane]"),)
    >>> part = {"limit": np.float32(0.1), "order": (2, 1), "name": None}
    >>> print(section("sum", part, {"operations": 12}, tables))
    sum.limit = float32 0.1
    sum.order = (2, 1)
    sum.name = None
    sum.operations = 12
    sum.table_bytes = 48
    sum.tables.weights = float32 [3][4], 48 bytes, 1.0 to 1.0, CRC-32C 0xecc87573
    """
    shown = frozenset(id(table.values) for table in tables)
    lines = [*_lines(name, part, shown), *_lines(name, facts, shown)]
    if tables:
        lines.append(f"{name}.table_bytes = {sum(table.n_bytes for table in tables)}")
    lines += [f"{name}.tables.{table.name} = {_table_text(table)}" for table in tables]
    return "\n".join(lines)


def _lines(path: str, value: Any, shown: frozenset[int]) -> Iterator[str]:
    """Yield the lines of a value: one line for each constant in it."""
    inner: Iterable[tuple[str, Any]]
    if is_dataclass(value):
        yield f"{path} = {type(value).__name__}"
        shown_fields = (field for field in fields(value) if not is_left_out(field, value))
        inner = ((field.name, getattr(value, field.name)) for field in shown_fields)
    elif isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, tuple) and any(map(is_dataclass, value)):
        inner = ((str(number), item) for number, item in enumerate(value))
    else:
        if id(value) not in shown:
            yield f"{path} = {_value_text(value)}"
        return
    for name, item in inner:
        yield from _lines(f"{path}.{name}", item, shown)


def _value_text(value: Any) -> str:
    """Return the exact text of a constant: a float as the shortest decimal that reads back."""
    if isinstance(value, np.ndarray):
        return _table_text(Table("", value, ""), in_flash=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(_value_text, value))})"
    if isinstance(value, np.float32 | np.float64):
        return f"{value.dtype.name} {value!s}"
    if value is None or isinstance(value, bool | int | float | str):
        return ascii(value)  # a label may hold what would turn or hide the text of a line
    raise TypeError(f"{type(value)} is nothing that a program holds")


def _table_text(table: Table, in_flash: bool = True) -> str:
    """Return the text of an array: type, shape, content, and for a table the C's checksum."""
    values: NDArray[Any] = table.values
    text = values.dtype.name + " " + "".join(f"[{length}]" for length in values.shape)
    if in_flash:
        text += f", {table.n_bytes} bytes"
    if values.size == 0:
        return text
    if values.size <= _WRITTEN_OUT:
        return f"{text}: {', '.join(str(value) for value in values.flat)}"
    return f"{text}, {values.min()!s} to {values.max()!s}, CRC-32C {table.checksum():#010x}"
