"""Lowering of the replay of an integer format: exact distances of finer codes, then float64."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.code_table import slot_order
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs
from kmcompile.lower.fine_tables import FineTables, fine_tables
from kmcompile.lower.long_kernel import long_kernel, value_error
from kmcompile.lower.prepare import length_bound, lower_steps
from kmcompile.lower.program import replay_label
from kmcompile.lower.replay_errors import ReplayErrors, replay_errors
from kmcompile.lower.sums import sign_groups
from kmcompile.numeric.rounding import FLOAT64, SMALLEST_NORMAL, UNIT_ROUNDOFF_64, stored_error
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE
from kmcompile.numeric.width import WIDTHS
from kmcompile.program.program import Program
from kmcompile.program.stages import FixedSum, Prepare
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.fine_sum import FineSum
from kmcompile.program.stages.sums.long_kernel import LongKernel
from kmcompile.steps import Affine, Integers
from kmcompile.target import Target

_FINE_BITS = 24
"""Bits of a fine code with its sign: as many as the significand of a float32 and its sign."""

_EXACT_BITS = 53
"""Bits of the integers that float64 holds exactly."""

_RESULT_ROUNDINGS = 4
"""Roundings relative to |f|, counted twice: the addition of the intercept, and the outward rounding
of lower and upper."""


def lower_integer_replay(coded: Coded, target: Target, program: Program, low_parts: bool) -> Replay:
    """Return the replay of a program in an integer format.

    Parameters
    ----------
    coded : Coded
        The machine with codes from which the program was lowered.
    target : Target
    program : Program
    low_parts : bool
        Whether the replay has tables of low parts.
    """
    fixed = program.ends.exact
    assert isinstance(fixed, FixedSum)
    low_bits = _low_bits(coded)
    tables = fine_tables(coded, fixed, low_bits, low_parts)
    prepare = _prepare(coded, target, program, low_bits)
    input_error = FLOAT64.bound_constant(np.sqrt(coded.machine.n_features) * SMALLEST_NORMAL)
    in_integers = target.program.replay == "integers"
    summed = _fine_sum(coded, fixed, tables, low_bits, in_integers)
    label = replay_label(coded.machine, program)
    low = tables.low_vectors, tables.low_coefficients
    return Replay(prepare, input_error, summed, False, label, *low)


def _low_bits(coded: Coded) -> int:
    """Return the number of bits that fine codes add, so that squared distances stay below 2^53."""
    # A low part moves a vector by at most half a code, and may give an input one more code.
    apart = (np.abs(coded.codes) + _most_code(coded) + 2).astype(np.float64)
    largest = float((apart**2).sum(axis=1).max())
    room = math.floor((_EXACT_BITS - math.log2(largest)) / 2)
    if room < 0:
        raise InputError(
            f"{coded.machine.n_features} features are too many for a replay in integers\n"
            f"use --replay none"
        )
    return min(room, _FINE_BITS - WIDTHS[coded.width].bits)


def _most_code(coded: Coded) -> int:
    return max(-coded.low, coded.high)


def _prepare(coded: Coded, target: Target, program: Program, low_bits: int) -> Prepare:
    """Return the stage `prepare` in float64, which turns a raw input into fine codes."""
    n = coded.machine.n_features
    zeros = np.zeros(n)
    scale = cast("tuple[Affine, ...]", coded.machine.preprocessing)
    last = scale[-1] if scale else Affine(zeros, np.ones(n), zeros, 0.0)
    fine = replace(last, factor=np.ldexp(last.factor / coded.unit, low_bits))
    _, steps = lower_steps((fine,), n, target.lanes, False, FLOAT64)
    most = np.float64((_most_code(coded) + 1) << low_bits)
    integers = Integers(most=most, rest=length_bound(n, FLOAT64), n_in=n)
    return Prepare(n, program.prepare.limit, None, None, (*steps, integers))


def _errors(coded: Coded, tables: FineTables, unit: float, long: LongKernel | None) -> ReplayErrors:
    """Return the constants of the error bound, with the deviation in units of the fine codes.

    Lossless codes may differ from the vectors by roundings in a pass.
    """
    machine = coded.machine
    vectors = unit * tables.vectors.astype(np.float64)
    pairs = VectorPairs(machine.kernel.gaussian_gamma, machine.support_vectors, vectors)
    moved = coded.moved_error
    if coded.lossless:
        moved += stored_error(pairs.trained, pairs.stored)
        pairs = replace(pairs, trained=pairs.stored)
    each = _each(machine.n_support_vectors) if long is None else value_error(long)
    return replay_errors(machine, pairs, moved, tables.coefficients, each, unit)


def _each(n: int) -> float:
    """Return the error of a decision of n vectors per sum of |coefficients|, in float64.

    - D^2 is exact. gamma D^2 rounds once: u z exp(-z) < u, relative to |c|. The exponential adds
      its relative error tau. From the cutoff on exp(-z) is lost; twice exp(-cutoff) covers it and
      an underflow.
    - Sum: a product passes its own rounding, at most n_slots additions of its row and one addition
      for each group.
    """
    exponential = EXP_NEGATIVE[np.float64]
    each = exponential.relative_error + 2 * UNIT_ROUNDOFF_64 + FLOAT64.gamma_factor(2 * n + 64)
    return each + 2 * math.exp(1 - float(exponential.limit))


def _fine_sum(
    coded: Coded, fixed: FixedSum, tables: FineTables, low_bits: int, in_integers: bool
) -> FineSum:
    machine = coded.machine
    unit = float(np.ldexp(coded.unit, -low_bits))
    long = None
    if in_integers:
        units = float(np.abs(tables.coefficients).sum(axis=1).max()) / tables.step
        gamma = Fraction(machine.kernel.gaussian_gamma) * Fraction(unit) ** 2
        long = long_kernel(gamma, math.ceil(units * (1 + 1e-9)))
    errors = _errors(coded, tables, unit, long)
    order, filled = slot_order(sign_groups(coded.fitted), fixed.lanes)
    return FineSum(
        gamma=FLOAT64.stored_factor("gamma", machine.kernel.gaussian_gamma * unit**2),
        n_vectors=machine.n_support_vectors,
        vectors=np.where(filled[:, None], 0, tables.vectors[order]),
        coefficients=tables.by_slot,
        group_ends=fixed.group_ends.astype(np.int64) * fixed.lanes,
        group_decisions=fixed.group_rows.astype(np.int64) // 2,
        intercept=machine.intercept,
        per_deviation=FLOAT64.bound_constants(errors.per_deviation),
        minimum=FLOAT64.bound_constants(errors.minimum),
        result_error=FLOAT64.bound_constant(_RESULT_ROUNDINGS * UNIT_ROUNDOFF_64),
        low_bits=low_bits,
        coefficient_bits=tables.coefficient_bits,
        step=np.float64(tables.step),
        code_deviation=FLOAT64.bound_constant(coded.code_deviation / unit),
        n_stored=fixed.codes.operations(),
        long=long,
    )
