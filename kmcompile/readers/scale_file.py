"""Scales of LIBSVM's users as text: svm-scale's range file, and the scale file of R's write.svm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget
from kmcompile.readers.libsvm.model import first_index
from kmcompile.readers.record import short_ascii
from kmcompile.readers.size_limits import require_room
from kmcompile.readers.sklearn.columns import MOST_COLUMNS
from kmcompile.steps import Affine, Selection, Step

_RANGE_STARTS = (b"x", b"y")
_WORD_BYTES = 8 * ITEM_BYTES
_SPACES = (b" ", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""What parts words in Python."""


def is_scale_file(content: bytes) -> bool:
    """Return whether the content is text that starts as one of both files does."""
    first = content[:200].split(b"\n", 1)[0].strip()
    return first in _RANGE_STARTS or len(_numbers(first.decode("latin1").split())) == 2


def behind_scale_file(machine: KernelMachine, content: bytes) -> KernelMachine:
    """Return the machine of inputs that a scale file scales first.

    Raises
    ------
    InputError
        The text is damaged, or its scale does not fit the machine.
    """
    n_spaces = sum(content.count(space) for space in _SPACES)
    current_budget().spend(_WORD_BYTES * (n_spaces + 1) + len(content), "its words")
    if not content.isascii():
        raise InputError("a scale file is ASCII text; save it again")
    lines = [line.split() for line in content.decode("ascii").split("\n") if line.strip()]
    if lines and lines[0] == ["y"]:
        raise InputError(
            "the range file scales y, too, so the model's values are of a scaled y;\n"
            "train with svm-scale without -y, or scale the values back behind the model"
        )
    if lines and lines[0] == ["x"]:
        return _behind_range(machine, lines[1:])
    steps = _centre_and_scale(lines, machine.n_features)
    return replace(machine, preprocessing=steps + machine.preprocessing)


def _behind_range(machine: KernelMachine, lines: list[list[str]]) -> KernelMachine:
    """Return the machine behind svm-scale: lower + (upper - lower) (x - min) / (max - min).

    svm-scale leaves out features that the range file does not list: they are 0 for the model.
    """
    ends = _row(lines[0], 2, "line 2") if lines else []
    if not ends or not ends[0] < ends[1]:
        raise InputError("the range file has no lower and upper limit in line 2; save it again")
    first = first_index(machine)
    listed = _listed(lines[1:], first)
    columns = tuple(sorted(listed))
    lows, highs = np.array([listed[column] for column in columns]).T
    scale = _scale(ends[0], ends[1], lows, highs)
    n_features = max(columns[-1] + 1, machine.n_features)
    if len(columns) == n_features == machine.n_features:
        return replace(machine, preprocessing=(scale, *machine.preprocessing))
    vectors = machine.support_vectors
    if machine.preprocessing or machine.n_features != vectors.shape[1]:
        raise InputError(
            f"the range file is for {len(columns)} of {n_features} features, the model for "
            f"{machine.n_features}; give the file that svm-scale saved with the training data"
        )
    rest = np.setdiff1d(np.flatnonzero(vectors.any(axis=0)), columns)
    if len(rest):
        raise InputError(
            f"the range file leaves out feature {rest[0] + first}, which the model's vectors have; "
            "give the file that svm-scale saved with the training data"
        )
    n_numbers = len(vectors) * len(columns)
    require_room(n_numbers, "the vectors")
    current_budget().spend(2 * FLOAT_BYTES * n_numbers, f"vectors of {len(columns)} features")
    there = [column for column in columns if column < machine.n_features]
    own = np.zeros((len(vectors), len(columns)))
    own[:, : len(there)] = vectors[:, there]
    steps: tuple[Step, ...] = (scale,)
    if len(columns) < n_features:
        steps = (Selection(columns, n_features), scale)
    return replace(machine, support_vectors=own, n_features=n_features, preprocessing=steps)


def _scale(lower: float, upper: float, lows: Float64Array, highs: Float64Array) -> Affine:
    """Return lower + (upper - lower) (x - low) / (high - low) as (x - offset) factor.

    The factor has three roundings, lower / factor four; the offset is low - lower / factor.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        factor = (upper - lower) / (highs - lows)
        shift = lower / factor
        offset = lows - shift
        error = 2.0**-52 * (4 * np.abs(shift) + np.abs(offset))
    if not (np.isfinite(error).all() and np.isfinite(factor).all() and factor.all()):
        raise InputError("a range is so small or large that scaling overflows; save it again")
    return Affine(offset, factor, error, 2.0**-51)


def _listed(lines: list[list[str]], first: int) -> dict[int, tuple[float, float]]:
    """Return the least and the largest value of each feature, which count from 0 here.

    In the file they count from `first`, as in that of the model.
    """
    listed: dict[int, tuple[float, float]] = {}
    for number, line in enumerate(lines, 3):
        index, low, high = _row(line, 3, f"line {number}")
        column = int(index) - first
        if index != int(index) or not 0 <= column < MOST_COLUMNS or column in listed:
            raise InputError(
                f"line {number}: feature {line[0]}, must be a new number from {first} up, from "
                "which the model's features count"
            )
        if not low < high:
            raise InputError(f"line {number}: {line[1]} is not below {line[2]}; save it again")
        listed[column] = (low, high)
    if not listed:
        raise InputError("the range file lists no feature; save it again")
    return listed


def _centre_and_scale(lines: list[list[str]], n_features: int) -> tuple[Step, ...]:
    """Return the steps of R's scale file, (x - centre) / scale, a line a feature."""
    if len(lines) != n_features:
        raise InputError(
            f"the scale file has {len(lines)} lines, must have one for each of the model's "
            f"{n_features} features"
        )
    rows = np.array([_row(line, 2, f"line {n}") for n, line in enumerate(lines, 1)])
    if not np.all(rows[:, 1] > 0):
        raise InputError(f"line {int(np.argmin(rows[:, 1])) + 1}: a scale is not above 0")
    with np.errstate(over="ignore"):
        factor = 1.0 / rows[:, 1]
    if not np.isfinite(factor).all():
        raise InputError("a scale is so small that scaling overflows; save it again")
    return (Affine(rows[:, 0], factor, np.zeros(n_features)),)


def _row(words: list[str], length: int, where: str) -> list[float]:
    numbers = _numbers(words)
    if len(numbers) != length:
        shown = short_ascii(" ".join(words))
        raise InputError(f"{where} is '{shown}', must be {length} numbers; save the file again")
    return numbers


def _numbers(words: list[str]) -> list[float]:
    """Return the numbers; none if a word is no finite number."""
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []
