"""Lowering of a poly or sigmoid machine with integer codes to its exact sum."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from kmcompile.lower.code_table import code_table, slot_order
from kmcompile.lower.codes import Coded
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_sum, vector_groups
from kmcompile.numeric.rounding import stored_error
from kmcompile.program.stages.sums.coded_sum import CodedSum


def lower_coded_sum(coded: Coded, lanes: int, layout: str) -> CodedSum:
    """Return the stage of a poly or sigmoid machine with lossless codes.

    Parameters
    ----------
    coded : Coded
    lanes : int
    layout : str
        Layout of the codes (`kmcompile.program.stages.CodeTable`).
    """
    vectors = coded.codes.astype(np.float64) * coded.unit
    machine = replace(coded.machine, support_vectors=vectors)
    moved = stored_error(coded.machine.support_vectors, vectors) + coded.moved_error
    exact = lower_sum(machine, lanes, SumContext(n_roundings=1, moved_error=moved))
    order, filled = slot_order(vector_groups(machine, lanes)[0], lanes)
    own = {field.name: getattr(exact, field.name) for field in fields(exact)}
    own["vectors"] = np.zeros((0, 0, 0), dtype=np.float32)
    return CodedSum(
        **own,
        codes=code_table(coded, order, filled, layout, lanes),
        per_unit=np.float32(1 / coded.unit),
        unit_square=np.float32(coded.unit**2),
    )
