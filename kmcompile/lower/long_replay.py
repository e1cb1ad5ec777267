"""Lowering of the replay in integers of an rbf machine in float32 (`LongSum`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kmcompile.lower.code_table import slot_order
from kmcompile.lower.feature_space import VectorPairs
from kmcompile.lower.fine_tables import nearest
from kmcompile.lower.long_kernel import long_kernel, value_error
from kmcompile.lower.prepare import lower_steps
from kmcompile.lower.program import replay_label
from kmcompile.lower.replay_errors import replay_errors
from kmcompile.lower.sum_constants import RESULT_ROUNDINGS
from kmcompile.lower.sums import summed_groups
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array, RealArray
from kmcompile.numeric.rounding import FLOAT64, SMALLEST_NORMAL, UNIT_ROUNDOFF_64, stored_error
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, PairSum, Prepare
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.fine_sum import by_slot
from kmcompile.program.stages.sums.long_kernel import LongKernel
from kmcompile.program.stages.sums.long_pairs import LongPairs
from kmcompile.program.stages.sums.long_sum import PART_BITS, LongSum, scaled_integers
from kmcompile.steps import LongIntegers
from kmcompile.target import Target

_SQUARE_BITS = 62
"""Every |s - x|^2 is below two to this, and with what roundings and low parts add below 2^63."""

_MOST_BITS = 30
"""Differences and coefficients are at most two to this, and with roundings far below 2^31."""

_MOST_ADDED_BITS = 9
"""A coefficient is within 65 units of its float32, which is cut off: 2^15 of these parts."""

_MOST_SCALE_BITS = 100
"""Powers of two up to this are ordinary float32 numbers, and so are their inverses."""

_REACH = 2
"""An input that is further out than so many times the largest feature of a vector is cut off."""

_LARGEST_LOST = 2.0**-32
"""Largest gamma |e|^2 of what is left out of squared distances. float64 takes what is beyond."""


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where vectors and coefficients of a sum stand.

    Parameters
    ----------
    order : ndarray of shape (n_slots,)
        The vector of each slot.
    vector, decision, real : ndarray in the shape of the coefficients by slot or entry
        Of each coefficient; `real` is false where it only fills up a block.
    """

    order: np.ndarray
    vector: np.ndarray
    decision: np.ndarray
    real: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """What the C makes of the tables, by slot, and their low parts."""

    vectors: np.ndarray
    lows: np.ndarray
    units: np.ndarray
    low_units: np.ndarray
    scale_bits: int
    unit_bits: int
    added_bits: int

    @property
    def step(self) -> float:
        """The coefficient of a unit."""
        return 2.0 ** -(self.unit_bits + self.added_bits)


def lower_long_replay(
    machine: KernelMachine, target: Target, program: Program, low_parts: bool
) -> Replay | None:
    """Return the replay of a program in float32 in integers; None where these do not do.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes, from which the program was lowered.
    target : Target
    program : Program
    low_parts : bool
        Whether the replay has tables of low parts.
    """
    exact, kernel = program.ends.exact, machine.kernel
    if type(exact) not in (ExactSum, PairSum) or not kernel.is_gaussian:
        return None
    assert isinstance(exact, ExactSum | PairSum)
    reach = _REACH * float(np.abs(machine.support_vectors).max())
    bits, unit_bits = _scale_bits(machine.support_vectors, reach), _unit_bits(machine)
    if bits is None or unit_bits is None:
        return None
    places = _places(machine, exact)
    tables = _tables(machine, exact, places, (bits, unit_bits), low_parts)
    coefficients = np.zeros((machine.n_decisions, machine.n_support_vectors))
    taken = places.decision[places.real], places.vector[places.real]
    coefficients[taken] = tables.step * tables.units[places.real]
    most = math.ceil(np.abs(coefficients).sum(axis=1).max() / tables.step)
    long = long_kernel(Fraction(kernel.gaussian_gamma) / Fraction(4) ** bits, most)
    lost = _lost(kernel.gaussian_gamma, tables)
    if long is None or lost > _LARGEST_LOST:
        return None
    unit = 2.0 ** -(bits + PART_BITS)
    vectors = np.zeros(machine.support_vectors.shape)
    vectors[places.order] = unit * (np.ldexp(tables.vectors, PART_BITS) + tables.lows)
    pairs = VectorPairs(kernel.gaussian_gamma, machine.support_vectors, vectors)
    moved = stored_error(machine.support_vectors, machine.support_vectors)
    each = value_error(long) + lost
    errors = replay_errors(machine, pairs, moved, coefficients, each, unit)
    parts: dict[str, Any] = {
        "gamma": np.float64(kernel.gaussian_gamma * unit**2),
        "n_vectors": machine.n_support_vectors,
        "vectors": tables.vectors,
        "coefficients": tables.step * tables.units,
        "intercept": machine.intercept,
        "per_deviation": FLOAT64.bound_constants(errors.per_deviation),
        "minimum": FLOAT64.bound_constants(errors.minimum),
        "result_error": FLOAT64.bound_constant(RESULT_ROUNDINGS * UNIT_ROUNDOFF_64),
        "low_bits": PART_BITS,
        "coefficient_bits": tables.added_bits,
        "step": np.float64(tables.step),
        "code_deviation": np.float64(0.0),
        "n_stored": int(tables.vectors.size),
        "long": long,
        "lows": tables.lows,
        "scale_bits": bits,
        "unit_bits": unit_bits,
    }
    prepare = _prepare(machine, target, program, bits, reach)
    input_error = FLOAT64.bound_constant(np.sqrt(machine.n_features) * SMALLEST_NORMAL)
    low = _stored(_in_blocks(tables.lows, exact)), _stored(_as_table(tables.low_units, exact))
    label = replay_label(machine, program)
    return Replay(prepare, input_error, _summed(exact, parts), False, label, *low)


def _summed(exact: ExactSum | PairSum, parts: dict[str, Any]) -> LongSum:
    """Return the sum with the groups or pairs of the exact sum."""
    if isinstance(exact, PairSum):
        return LongPairs(
            group_ends=np.zeros(0, dtype=np.int64),
            group_decisions=np.zeros((0, 0), dtype=np.int64),
            entry_vectors=exact.entry_vectors,
            pair_ends=exact.pair_ends,
            **parts,
        )
    return LongSum(
        group_ends=exact.group_ends.astype(np.int64) * exact.lanes,
        group_decisions=exact.group_decisions.astype(np.int64),
        **parts,
    )


def _places(machine: KernelMachine, exact: ExactSum | PairSum) -> _Places:
    if isinstance(exact, PairSum):
        vector = exact.entry_vectors.astype(np.int64)
        ends = exact.pair_ends[:, 1].astype(np.int64)
        sizes = np.diff(ends, prepend=0).astype(np.int64)
        decision = np.repeat(np.arange(exact.n_decisions), sizes)
        order = np.arange(machine.n_support_vectors)
        return _Places(order, vector, decision, np.ones(len(vector), dtype=bool))
    groups, _ = summed_groups(machine, exact.lanes)
    order, filled = slot_order(groups, exact.lanes)
    sizes = np.diff(exact.group_ends.astype(np.int64), prepend=0).astype(np.int64) * exact.lanes
    decision = np.repeat(exact.group_decisions.astype(np.int64), sizes, axis=0)
    vector = np.broadcast_to(order[:, None], decision.shape)
    return _Places(order, vector, decision, np.broadcast_to(~filled[:, None], decision.shape))


def _lost(gamma: float, tables: _Tables) -> float:
    """Return a bound on what kernels lose by what is left out of squared distances.

    A difference of low parts is at most the vector's and half a unit; the sum is cut off.
    """
    apart = np.ldexp(np.abs(tables.lows).astype(np.float64), -PART_BITS) + 0.5
    square = float((apart**2).sum(axis=1).max()) * (1 + 1e-9) + 1
    return gamma * 4.0**-tables.scale_bits * square


def _scale_bits(vectors: Float64Array, reach: float) -> int | None:
    """Return the bits of a unit of high parts; None if float32 does not scale so.

    Inputs lie within `reach`.
    """
    apart = np.abs(vectors) + reach
    square = float((apart**2).sum(axis=1).max())
    if not 0.0 < square < math.inf:
        return None
    bits = math.floor((_SQUARE_BITS - math.log2(square)) / 2)
    return _scalable(min(bits, _MOST_BITS - math.ceil(math.log2(float(apart.max())))))


def _unit_bits(machine: KernelMachine) -> int | None:
    """Return the bits of a coefficient's unit; None if float32 does not scale so."""
    largest = float(np.abs(machine.dual_coef).max())
    return _scalable(_MOST_BITS - math.ceil(math.log2(largest))) if largest > 0 else None


def _scalable(bits: int) -> int | None:
    return bits if abs(bits) <= _MOST_SCALE_BITS else None


def _tables(
    machine: KernelMachine,
    exact: ExactSum | PairSum,
    places: _Places,
    bits: tuple[int, int],
    low_parts: bool,
) -> _Tables:
    scale_bits, unit_bits = bits
    vectors = by_slot(scaled_integers(exact.vectors, scale_bits))
    units = by_slot(scaled_integers(exact.coefficients, unit_bits))
    lows, added, added_bits = np.zeros_like(vectors), np.zeros_like(units), 0
    if low_parts:
        trained = np.ldexp(machine.support_vectors[places.order], scale_bits)
        lows = nearest(np.ldexp(trained - vectors, PART_BITS), np.int16)
        added_bits = _added_bits(int(np.abs(units).sum()))
        units = units << added_bits
        beta = decision_coefficients(machine)[places.decision, places.vector]
        wanted = np.ldexp(np.where(places.real, beta, 0.0), unit_bits + added_bits)
        added = nearest(wanted - units, np.int16)
    return _Tables(vectors, lows, units + added, added, scale_bits, unit_bits, added_bits)


def _added_bits(most: int) -> int:
    """Return the bits that low parts add to coefficients that are at most so many units in all.

    Sums of products with halves of kernels then still fit 64 bits, and low parts 16.
    """
    room = 63 - LongKernel.most_half_bits - most.bit_length()
    return max(0, min(room, _MOST_ADDED_BITS))


def _in_blocks(by_slots: np.ndarray, exact: ExactSum | PairSum) -> np.ndarray:
    """Return values by slot in the order of a table of blocks."""
    return by_slots.reshape(exact.n_blocks, exact.lanes, -1).transpose(0, 2, 1)


def _as_table(units: np.ndarray, exact: ExactSum | PairSum) -> np.ndarray:
    return units if isinstance(exact, PairSum) else _in_blocks(units, exact)


def _stored(low: np.ndarray) -> RealArray:
    """Return low parts as they are stored; empty if all are 0."""
    return (low if low.any() else np.zeros(0)).astype(np.int16)


def _prepare(
    machine: KernelMachine, target: Target, program: Program, bits: int, reach: float
) -> Prepare:
    """Return the preprocessing in float64, whose last step makes integers."""
    kernel = machine.kernel
    length, steps = lower_steps(
        machine.preprocessing, machine.n_features, target.lanes, kernel.uses_length, FLOAT64
    )
    n = machine.support_vectors.shape[1]
    scale = 2.0 ** (bits + PART_BITS)
    widen = FLOAT64.bound_constant(1 + 2 * FLOAT64.gamma_factor(n + 4))
    # |phi(x) - phi(X)|^2 <= 2: beyond this distance the bound of it is larger.
    largest = FLOAT64.bound_constant(scale / math.sqrt(kernel.gaussian_gamma))
    most = np.float64(math.floor(reach * scale))
    integers = LongIntegers(np.float64(scale), most, widen, largest, n)
    return Prepare(machine.n_features, program.prepare.limit, None, length, (*steps, integers))
