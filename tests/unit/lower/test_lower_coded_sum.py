"""Sums of other kernels over codes: what is refused, what is counted, what is stored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.fixed_sums import codes_of, in_format, queries, random_machine
from kmcompile.errors import InputError
from kmcompile.kernels import Poly, Sigmoid
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import interpret
from kmcompile.program.stages import CodedSum
from kmcompile.program.stages.sums.code_table import GROUP
from kmcompile.program.stages.sums.sparse_list import TURN

DENSE, SPARSE = IntegerTableForm(sparse=False, wide_coefficients=True), IntegerTableForm(True, True)


def whole_machine(kernel, scale=1.0):
    """Return a machine of bytes, or of bytes times a scale."""
    machine = random_machine(0, "int8")
    vectors = np.rint(machine.support_vectors) * scale
    return replace(machine, preprocessing=(), support_vectors=vectors, kernel=kernel)


def test_a_power_that_overflows_at_the_largest_codes_is_refused():
    machine = whole_machine(Poly(1e-4, 0.5, 3))
    in_format(machine, "lossless", DENSE)
    with pytest.raises(InputError, match="overflows float32 for codes"):
        in_format(replace(machine, kernel=Poly(1.0, 0.5, 60)), "lossless", DENSE)


@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_vectors_of_zeros_only_have_tables_that_are_not_empty(layout):
    """An array of no elements is not C."""
    case = in_format(whole_machine(Sigmoid(1e-4, 0.5), 0.0), "lossless", layout)
    assert all(table.values.size for table in case.program.tables())


def test_lists_of_zeros_are_not_counted():
    case = in_format(whole_machine(Sigmoid(1e-4, 0.5)), "lossless", SPARSE)
    stage = case.program.ends.exact
    assert isinstance(stage, CodedSum)
    codes = np.zeros((2, stage.n_features), dtype=np.int64)
    codes[1] = 1
    spent = interpret(case.program, codes).exact_operations
    assert spent[1] - spent[0] == GROUP * TURN * stage.codes.n_turns


def test_the_length_is_at_least_that_of_the_codes():
    case = in_format(whole_machine(Poly(1e-4, 0.5, 3)), "lossless", DENSE)
    prepare = case.program.prepare
    codes = codes_of(case, queries(case, 5, 0))
    batch = prepare.run_codes(Batch.of(codes.astype(np.float32), case.program.n_decisions))
    for row, length in zip(codes, batch.length, strict=True):
        with mp.workdps(30):
            exact = mp.sqrt(sum(int(code) ** 2 for code in row)) * float(prepare.quantize.unit)
            assert mpf(float(length)) >= exact
