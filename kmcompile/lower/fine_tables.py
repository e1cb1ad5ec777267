"""Tables of an integer format's replay: codes and coefficients with their low parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.lower.code_table import slot_order
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs, refitted
from kmcompile.lower.sums import sign_groups
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages import CodeTable, FixedSum

_NARROW_BITS, _WIDE_BITS = 16, 14
"""Bits that a low part of int16 or of int32 adds to a coefficient of 16 bits. Coefficients of 32
bits need no low part."""


@dataclass(frozen=True, slots=True, eq=False)
class FineTables:
    """The values that the replay's C reads from its tables.

    Parameters
    ----------
    vectors : ndarray of shape (n_sv, n_features), int64
        Vectors in fine codes.
    coefficients : ndarray of shape (n_decisions, n_sv), float64
    by_slot : ndarray of shape (n_slots, n_rows), float64
        The coefficients in the order of the stage's slots.
    low_vectors : ndarray of shape (n_stored,), int8 or int16
        Low parts of the stored codes, in the order of the table of codes; empty without low parts.
    low_coefficients : ndarray of shape (n_blocks, n_rows, lanes), int16 or int32
    coefficient_bits : int
    step : float
    """

    vectors: NDArray[np.int64]
    coefficients: Float64Array
    by_slot: Float64Array
    low_vectors: NDArray[Any]
    low_coefficients: NDArray[Any]
    coefficient_bits: int
    step: float


def fine_tables(coded: Coded, fixed: FixedSum, low_bits: int, low_parts: bool) -> FineTables:
    """Return the fine codes of the vectors and the coefficients that are fitted to them.

    Without low parts these are the codes and the coefficients of the format itself.
    """
    order, filled = slot_order(sign_groups(coded.fitted), fixed.lanes)
    real = np.flatnonzero(~filled)
    fine, low_vectors = _vectors(coded, fixed.codes, order, filled, low_bits, low_parts)
    vectors = np.zeros((coded.machine.n_support_vectors, fixed.n_features), dtype=np.int64)
    vectors[order[real]] = fine[real]
    fitted = _fitted(coded, np.ldexp(vectors * coded.unit, -low_bits))
    decisions = _decisions_of_slots(fixed)
    wanted = np.where(filled[:, None], 0.0, fitted[decisions, order[:, None]])
    by_slot, low_coefficients, bits, step = _coefficients(fixed, wanted, low_parts)
    coefficients = np.zeros_like(fitted)
    coefficients[decisions[real], order[real, None]] = by_slot[real]
    return FineTables(vectors, coefficients, by_slot, low_vectors, low_coefficients, bits, step)


def _fitted(coded: Coded, vectors: Float64Array) -> Float64Array:
    """Return coefficients fitted again to these vectors, (n_decisions, n_sv)."""
    machine = coded.machine
    trained = decision_coefficients(machine)
    if coded.lossless:
        return trained
    return refitted(
        VectorPairs(machine.kernel.gaussian_gamma, machine.support_vectors, vectors), trained
    )


def _vectors(
    coded: Coded,
    table: CodeTable,
    order: NDArray[np.intp],
    filled: NDArray[np.bool_],
    low_bits: int,
    low_parts: bool,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the fine codes of all slots, and their low parts in the order of storage.

    Only codes that are stored have a low part; the other codes and low parts are 0.
    """
    exact = np.ldexp(coded.machine.support_vectors[order][:, table.columns] / coded.unit, low_bits)
    coarse = table.codes << low_bits
    dtype = np.int8 if low_bits <= 8 else np.int16
    low = nearest(exact - coarse, dtype)
    if coded.lossless or not low_parts:
        low[:] = 0
    low = np.where(table.stored() & ~filled[:, None], low, 0)
    fine = np.zeros((table.n_slots, table.n_features), dtype=np.int64)
    fine[:, table.columns] = coarse + low
    return fine, (table.arranged(low) if low.any() else np.zeros(0)).astype(dtype)


def _decisions_of_slots(fixed: FixedSum) -> NDArray[np.int64]:
    """Return the index of the decision of each row of a slot, shape (n_slots, n_rows)."""
    decisions = fixed.group_rows.astype(np.int64) // 2
    return np.asarray(np.repeat(decisions, _sizes(fixed), axis=0), dtype=np.int64)


def _sizes(fixed: FixedSum) -> NDArray[np.int64]:
    """Return the number of slots of each group."""
    return np.asarray(np.diff(fixed.group_ends.astype(np.int64), prepend=0) * fixed.lanes)


def _coefficients(
    fixed: FixedSum, wanted: Float64Array, low_parts: bool
) -> tuple[Float64Array, NDArray[Any], int, float]:
    """Return the slots' coefficients, the low parts, the bits of a low part and the step."""
    sign = 1 - 2 * np.repeat(fixed.group_rows.astype(np.int64) % 2, _sizes(fixed), axis=0)
    codes = fixed.coefficients.transpose(0, 2, 1).reshape(wanted.shape).astype(np.int64)
    step = float(fixed.result_scale) * 2.0 ** (exp2_fixed.RESULT_BITS - fixed.result_shift)
    narrow = fixed.coefficients.dtype == np.uint16
    forms = ((_NARROW_BITS if narrow else 0, np.int16), (_WIDE_BITS if narrow else 0, np.int32))
    for bits, dtype in forms if low_parts else ():
        fine_step = step * 2.0**-bits
        rest = sign * wanted / fine_step - (codes << bits)
        low = nearest(rest, dtype)
        if dtype is np.int32 or np.abs(rest - low).max() <= 1:
            break
    if not low_parts or not low.any():
        return sign * (step * codes.astype(np.float64)), np.zeros(0, dtype=np.int16), 0, step
    by_block = low.reshape(fixed.n_blocks, fixed.lanes, -1).transpose(0, 2, 1)
    fine = sign * (fine_step * ((codes << bits) + low).astype(np.float64))
    return fine, by_block.astype(dtype), bits, fine_step


def nearest(values: Float64Array, dtype: type[np.signedinteger[Any]]) -> NDArray[np.int64]:
    """Return the nearest integers in the range of the dtype."""
    most = np.iinfo(dtype).max
    return np.clip(np.rint(values), -most, most).astype(np.int64)
