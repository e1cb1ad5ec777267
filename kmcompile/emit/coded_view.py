"""The C interface of an integer format: input codes, their scale, and a float entry point."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from kmcompile.emit.header_text import COMMENT_COLUMNS
from kmcompile.numeric.arrays import Real
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.program import CodeScale, Program
from kmcompile.program.stages import Nonzeros
from kmcompile.program.stages.sums.code_table import CHUNKS, CodeTable


@dataclass(frozen=True, slots=True)
class Entry:
    """One of the entry points, which take an input as codes or as float.

    Parameters
    ----------
    suffix : str
        Suffix of the entry points' names.
    x_type : str
        The C type of a feature.
    in_workspace : bool
        Whether `accept` writes into the workspace.
    """

    suffix: str
    x_type: str
    in_workspace: bool


@dataclass(frozen=True, slots=True)
class CodedView:
    """Values that the templates print about the codes of an input.

    Parameters
    ----------
    low_text : str
        The least code in C.
    checks_low, checks_high : bool
        Whether the type holds smaller or larger numbers than the codes.
    scale_lines : tuple of str
        The lines that say which x_j a code stands for.
    in_fours, in_chunks : bool
        Whether inner products take four codes at a time, or vector registers.
    has_length : bool
        Whether the norm of the codes is bounded.
    deviation : float32
        Largest distance of the prepared input from the values of its codes.
    """

    input_type: str
    low_text: str
    high: int
    checks_low: bool
    checks_high: bool
    checks: bool
    scale_lines: tuple[str, ...]
    in_fours: bool
    in_chunks: bool
    has_length: bool
    deviation: Real


def entries(program: Program) -> tuple[Entry, ...]:
    """Return the entry points, with the float one last."""
    name = program.name
    if program.codes is None:
        in_workspace = bool(program.prepare.steps) or any(
            isinstance(stage, Nonzeros) for stage in program.stages
        )
        return (Entry("", f"{name}_input_t", in_workspace),)
    return (Entry("", f"{name}_input_t", False), Entry("_float", "float", True))


def coded_view(program: Program) -> CodedView | None:
    """Return the view of a program's codes; None in float32."""
    codes, quantize = program.codes, program.prepare.quantize
    if codes is None or program.scale is None or quantize is None:
        return None
    limits = np.iinfo(np.dtype(codes.width))
    checks_low, checks_high = codes.low > limits.min, codes.high < limits.max
    return CodedView(
        input_type=C_TYPES[codes.width],
        low_text=f"({codes.low})" if codes.low < 0 else f"{codes.low}",
        high=codes.high,
        checks_low=checks_low,
        checks_high=checks_high,
        checks=checks_low or checks_high,
        scale_lines=scale_lines(program.scale),
        in_fours=isinstance(codes, CodeTable) and codes.in_fours,
        in_chunks=isinstance(codes, CodeTable) and codes.layout == CHUNKS,
        has_length=quantize.length is not None,
        deviation=quantize.code_deviation,
    )


def scale_lines(scale: CodeScale) -> tuple[str, ...]:
    """Return lines on the value of a code: one formula, or one with a pair of numbers a feature.

    Examples
    --------
    >>> scale_lines(CodeScale(np.zeros(2), np.ones(2)))
    ('x_j = code_j.',)
    >>> scale_lines(CodeScale(np.zeros(2), np.full(2, 0.25)))
    ('x_j = 0.25 * code_j.',)
    >>> print("\\n".join(scale_lines(CodeScale(np.array([20.0, -1.5]), np.full(2, 0.25)))))
    x_j = offset_j + step_j * code_j; (offset_j,step_j) for j = 0, 1, ...:
    (20,0.25) (-1.5,0.25)
    """
    if np.ptp(scale.offset) == 0 and np.ptp(scale.step) == 0:
        step = "" if scale.step[0] == 1 else f"{_decimal(scale.step[0])} * "
        if scale.offset[0] == 0:
            return (f"x_j = {step}code_j.",)
        return (f"x_j = {_decimal(scale.offset[0])} + {step}code_j.",)
    pairs = (
        f"({_decimal(offset)},{_decimal(step)})"
        for offset, step in zip(scale.offset, scale.step, strict=True)
    )
    lines = textwrap.wrap(" ".join(pairs), COMMENT_COLUMNS, break_on_hyphens=False)
    return (
        "x_j = offset_j + step_j * code_j; (offset_j,step_j) for j = 0, 1, ...:",
        *lines,
    )


def _decimal(value: float) -> str:
    """Return the shortest decimal that reads back as this float64, which the proofs use."""
    return f"{float(value)!r}".removesuffix(".0")
