"""The preprocessing in kmcompile's own `.npz` layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, cast

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.fields import Fields
from kmcompile.readers.npz.layout import AFFINE_ERRORS, MAX_STEPS, STEPS, step_prefix
from kmcompile.readers.record import Record, short_ascii
from kmcompile.steps import (
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
    Step,
)


def read_steps(fields: Fields, n_features: int) -> tuple[Step, ...]:
    """Return the steps `step_0`, `step_1`, ... of a machine for `n_features` features.

    Raises
    ------
    InputError
        A field of a step is missing, unknown or of another type or shape.
    """
    names = {name for name in fields.record.attributes if name.startswith("step_")}
    steps: list[Step] = []
    for number in range(MAX_STEPS):
        if f"step_{number}" not in names:
            break
        width = steps[-1].n_out if steps else n_features
        step, read = _read_step(fields, number, width)
        steps.append(step)
        names -= read
    if names:
        raise InputError(
            f"{short_ascii(min(names))} is there, must belong to one of at most {MAX_STEPS} steps, "
            "numbered from step_0; write it as kmcompile.save_model does"
        )
    return tuple(steps)


def _read_step(fields: Fields, number: int, width: int) -> tuple[Step, set[str]]:
    """Return a step, and the names of its fields in the archive."""
    name = f"step_{number}"
    kind = fields.choice(name, tuple(STEPS))
    prefix = step_prefix(number)
    optional = AFFINE_ERRORS if kind == "Affine" else ()
    attributes = fields.record.attributes
    found = {n: attributes[prefix + n] for n in STEPS[kind] + optional if prefix + n in attributes}
    step = _READERS[kind](Fields(Record("", kind, found), prefix), width)
    return step, {name, *(prefix + field for field in found)}


def _affine(fields: Fields, width: int) -> Step:
    offset, factor = fields.array("offset", (width,)), fields.array("factor", (width,))
    if not np.all(factor):
        raise fields.error("factor", "has 0", "nowhere 0")
    step = Affine(offset, factor)
    error, relative = step.offset_error, step.factor_error
    if fields.has("offset_error"):
        error = fields.array("offset_error", (width,))
    if fields.has("factor_error"):
        relative = fields.number("factor_error")
    if np.min(error) < 0 or relative < 0:
        raise fields.error("offset_error or factor_error", "is negative", "0 or more")
    return Affine(offset, factor, error, relative)


def _clip(fields: Fields, width: int) -> Step:
    low, high = fields.number("low"), fields.number("high")
    if low > high:
        raise fields.error("low", f"is {low}", f"at most {high}, as high is")
    return Clip(low, high, width)


def _projection(fields: Fields, width: int) -> Step:
    matrix = fields.array("matrix", (None, width))
    if not len(matrix):
        raise fields.error("matrix", "has no rows", "1 or more")
    return Projection(matrix)


def _normalization(fields: Fields, width: int) -> Step:
    norm = fields.choice("norm", ("l1", "l2", "max"))
    return Normalization(cast(Literal["l1", "l2", "max"], norm), width)


def _selection(fields: Fields, width: int) -> Step:
    columns = fields.get("columns")
    length = len(columns) if isinstance(columns, np.ndarray) and columns.ndim else 0
    if not length:
        raise fields.error("columns", "has none", "an array of 1 or more integers")
    chosen = fields.counts("columns", length)
    if max(chosen) >= width:
        raise fields.error("columns", f"has {max(chosen)}", f"below {width}")
    return Selection(chosen, width)


def _extension(fields: Fields, width: int) -> Step:
    return Extension(fields.number("value"), width + 1)


_READERS: Mapping[str, Callable[[Fields, int], Step]] = MappingProxyType(
    {
        "Affine": _affine,
        "Clip": _clip,
        "Projection": _projection,
        "Normalization": _normalization,
        "Selection": _selection,
        "Extension": _extension,
    }
)
