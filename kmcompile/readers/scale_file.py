"""Scales of LIBSVM's users as text: svm-scale's range file, and the scale file of R's write.svm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.record import short_ascii
from kmcompile.readers.sklearn.columns import MOST_COLUMNS
from kmcompile.steps import Affine, Selection, Step

_RANGE_STARTS = (b"x", b"y")
_WORD_BYTES = 4 * ITEM_BYTES


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
    current_budget().spend(_WORD_BYTES * (content.count(b" ") + content.count(b"\n")), "its words")
    try:
        lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise InputError("a scale file is ASCII text; save it again") from None
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
    listed = _listed(lines[1:])
    columns = tuple(sorted(listed))
    lows, highs = np.array([listed[column] for column in columns]).T
    factor = (ends[1] - ends[0]) / (highs - lows)
    scale = Affine(lows - ends[0] / factor, factor)
    n_features = max(columns[-1] + 1, machine.n_features)
    if len(columns) == n_features == machine.n_features:
        return replace(machine, preprocessing=(scale, *machine.preprocessing))
    vectors = machine.support_vectors
    if machine.preprocessing or machine.n_features != vectors.shape[1]:
        raise InputError(
            f"the range file is for {len(columns)} of {n_features} features, the model for "
            f"{machine.n_features}; give the file that svm-scale saved with the training data"
        )
    wide = np.zeros((len(vectors), n_features))
    wide[:, : machine.n_features] = vectors
    rest = np.setdiff1d(np.flatnonzero(wide.any(axis=0)), columns)
    if len(rest):
        raise InputError(
            f"the range file leaves out feature {rest[0] + 1}, which the model's vectors have; "
            "give the file that svm-scale saved with the training data"
        )
    steps: tuple[Step, ...] = (scale,)
    if len(columns) < n_features:
        steps = (Selection(columns, n_features), scale)
    return replace(
        machine,
        support_vectors=wide[:, list(columns)],
        n_features=n_features,
        preprocessing=steps,
    )


def _listed(lines: list[list[str]]) -> dict[int, tuple[float, float]]:
    """Return the least and the largest value of each feature, which count from 0 here."""
    listed: dict[int, tuple[float, float]] = {}
    for number, line in enumerate(lines, 3):
        index, low, high = _row(line, 3, f"line {number}")
        if index != int(index) or not 1 <= index <= MOST_COLUMNS or int(index) - 1 in listed:
            raise InputError(f"line {number}: feature {line[0]}, must be a new number from 1 up")
        if not low < high:
            raise InputError(f"line {number}: {line[1]} is not below {line[2]}; save it again")
        listed[int(index) - 1] = (low, high)
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
    return (Affine(rows[:, 0], 1.0 / rows[:, 1], np.zeros(n_features)),)


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
