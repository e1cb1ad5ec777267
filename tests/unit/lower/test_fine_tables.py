"""The tables of an integer format's replay say what its sum computes with."""

from __future__ import annotations

import numpy as np
import pytest

from kit import catalogue, coded
from kit.emitted import Emitted
from kmcompile.program.stages import FixedSum
from kmcompile.program.stages.sums.fine_sum import FineSum


@pytest.fixture(params=coded.REPLAYED, ids=str)
def emitted(request) -> Emitted:
    return catalogue.emitted(request.param, "cortex-m7")


def parts(emitted: Emitted) -> tuple[FixedSum, FineSum]:
    """Return the format's sum and that of the replay."""
    program = emitted.program
    assert program.replay is not None
    fixed, fine = program.ends.exact, program.replay.sum
    assert isinstance(fixed, FixedSum) and isinstance(fine, FineSum)
    return fixed, fine


def test_vectors_are_the_codes_and_low_parts_in_the_order_of_their_table(emitted):
    fixed, fine = parts(emitted)
    table, low = fixed.codes, emitted.program.replay.low_vectors
    expected = table.arranged(table.codes) << fine.low_bits
    if low.size:
        expected = expected + low
    own = fine.vectors[:, table.columns].astype(np.int64)
    np.testing.assert_array_equal(table.arranged(own), expected)
    assert np.delete(fine.vectors, table.columns, axis=1).any() == 0


def test_coefficients_are_those_of_the_format_and_low_parts(emitted):
    fixed, fine = parts(emitted)
    low = emitted.program.replay.low_coefficients
    size = fixed.coefficients.astype(np.int64) << fine.coefficient_bits
    if low.size:
        size = size + low
    by_slot = size.transpose(0, 2, 1).reshape(fine.n_slots, fine.n_rows)
    group = np.searchsorted(fine.group_ends, np.arange(fine.n_slots), side="right")
    sign = 1 - 2 * (fixed.group_rows.astype(np.int64) % 2)[group]
    np.testing.assert_array_equal(sign * by_slot * fine.step, fine.coefficients)


def test_squared_distances_are_below_two_to_the_53(emitted):
    fixed, fine = parts(emitted)
    program = emitted.program
    most = int(program.replay.prepare.steps[-1].most)
    vectors = fine.vectors.astype(object)
    assert max(int(((abs(s) + most) ** 2).sum()) for s in vectors) < 1 << 53
    assert most >= (max(-fixed.codes.low, fixed.codes.high) + 1) << fine.low_bits
