"""Lowering of the replay: the machine's sum in float64, on the tables of the exact program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.errors import UsageError
from kmcompile.lower.codes import Coded
from kmcompile.lower.integer_replay import lower_integer_replay
from kmcompile.lower.long_replay import lower_long_replay
from kmcompile.lower.pair_sum import lower_pair_sum
from kmcompile.lower.prepare import lower_steps
from kmcompile.lower.program import replay_label
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_sum
from kmcompile.lower.vectorless import lower_vectorless
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT64, SMALLEST_NORMAL
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum, PairSum, Prepare, VectorlessSum
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.vector_totals import VectorTotals
from kmcompile.request.option_values import check_double
from kmcompile.target import Target

_GAIN = 2.0
"""Factor by which low parts must reduce the median bound, because they double the tables."""

_CODE_BYTES = 12_000
"""Largest size of the code of a replay, with the compiler's routines for double."""


_ONLY_RBF = "integer formats are replayed for the rbf kernel only"


def add_replay(
    machine: KernelMachine,
    target: Target,
    program: Program,
    ordinary: Float32Array,
    room_bytes: int | None,
    required: bool,
    coded: Coded | None = None,
) -> tuple[Program, str]:
    """Return the program with a replay, and a note on the replay's tables.

    If the replay is not required and does not fit, the program is returned unchanged.

    Parameters
    ----------
    machine, target, program, ordinary, coded
        As in `lower_replay`.
    room_bytes : int or None
        Largest flash of the replay; None is no limit.
    required : bool
        Whether the replay is added even if it does not fit.

    Raises
    ------
    UsageError
        If a required replay does not exist for this program and target.
    """
    if coded is not None and not isinstance(program.ends.exact, FixedSum):
        if required:
            raise UsageError(f"{_ONLY_RBF}\nuse --replay none")
        return program, f"there is no replay: {_ONLY_RBF}"
    replay, note = _chosen(machine, target, program, ordinary, room_bytes, coded)
    needed = sum(table.n_bytes for table in replay.tables()) + _CODE_BYTES
    fits = room_bytes is None or needed <= room_bytes
    if fits or required:
        return replace(program, replay=replay), note
    return program, "there is no replay: it does not fit into the flash that is left"


def _chosen(
    machine: KernelMachine,
    target: Target,
    program: Program,
    ordinary: Float32Array,
    room_bytes: int | None,
    coded: Coded | None,
) -> tuple[Replay, str]:
    """Return the replay, with low parts if they pay, and a note on their gain."""
    plain, fine = (
        lower_replay(machine, target, program, ordinary, low, coded) for low in (False, True)
    )
    taken = fine.low_vectors.nbytes + fine.low_coefficients.nbytes
    fits = room_bytes is None or taken + _CODE_BYTES <= room_bytes
    gain = _gain(plain, fine, ordinary, program.n_decisions)
    chosen = fine if fits and gain >= _GAIN else plain
    if isinstance(program.ends.exact, VectorlessSum) and not program.ends.exact.shared_table().size:
        return chosen, ""
    if taken == 0:
        return chosen, "the replay needs no low parts: the tables hold vectors and coefficients"
    left_out = "" if chosen is fine else ", and are left out"
    return chosen, (
        f"the replay's tables of low parts take {taken:,} bytes and make its median bound "
        f"{gain:.3g} times smaller{left_out}"
    )


def _gain(plain: Replay, fine: Replay, ordinary: Float32Array, n_decisions: int) -> float:
    """Return the factor by which low parts reduce the median bound."""
    if not len(ordinary):
        return 1.0
    batch = Batch.of(ordinary, n_decisions)
    coarse_bound, fine_bound = (float(np.median(r.summed(batch).bound)) for r in (plain, fine))
    return coarse_bound / fine_bound


def lower_replay(
    machine: KernelMachine,
    target: Target,
    program: Program,
    ordinary: Float32Array,
    low_parts: bool,
    coded: Coded | None = None,
) -> Replay:
    """Return the replay of a program.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes, from which the program was lowered.
    target : Target
    program : Program
    ordinary : ndarray of shape (n, n_features), float32
        Inputs on which the bounds are compared.
    low_parts : bool
        Whether the replay has tables of low parts.
    coded : Coded, optional
        The machine with codes from which a program in an integer format was lowered.

    Raises
    ------
    UsageError
        If the target's C type double does not have 64 bits.
    """
    check_double(target)
    if coded is not None:
        return lower_integer_replay(coded, target, program, low_parts)
    if target.program.replay == "integers":
        replay = lower_long_replay(machine, target, program, low_parts)
        if replay is not None:
            return replay
    uses_length = machine.kernel.uses_length
    n = machine.n_features
    input_length, steps = lower_steps(machine.preprocessing, n, target.lanes, uses_length, FLOAT64)
    prepare = Prepare(n, program.prepare.limit, None, input_length, steps)
    input_error = FLOAT64.bound_constant(np.sqrt(n) * SMALLEST_NORMAL)
    exact = program.ends.exact
    assert isinstance(exact, ExactSum | PairSum | VectorlessSum)
    summed: ExactSum | PairSum | VectorlessSum
    if isinstance(exact, VectorlessSum):
        summed = lower_vectorless(type(exact), machine, target.lanes, FLOAT64, low_parts)
    else:
        wide = replace(
            Batch.of(ordinary, machine.n_decisions),
            x=ordinary.astype(np.float64),
            deviation=np.full(len(ordinary), input_error),
        )
        deviation = prepare.run(wide).deviation
        typical = float(np.median(deviation)) if len(ordinary) else 0.0
        context = SumContext(typical, precision=FLOAT64, low_parts=low_parts)
        if isinstance(exact, PairSum):
            summed = lower_pair_sum(machine, context)
        else:
            summed = lower_sum(machine, target.lanes, context)
    tables = zip(_tables(summed), _tables(exact), strict=True)
    vectors, coefficients = (_low(wide, stored) for wide, stored in tables)
    label = replay_label(machine, program)
    skips = _skips_zeros(exact)
    return Replay(prepare, input_error, summed, skips, label, vectors, coefficients)


def _skips_zeros(exact: ExactSum | PairSum | VectorlessSum) -> bool:
    """Return whether the replay leaves out zeros: only inner products can, differences cannot."""
    return isinstance(exact, VectorTotals) and exact.skip_zeros and exact.kernel.uses_inner_product


def _tables(stage: ExactSum | PairSum | VectorlessSum) -> tuple[RealArray, RealArray]:
    """Return the tables of vectors and coefficients, or the shared table of another sum."""
    if isinstance(stage, VectorlessSum):
        table = stage.shared_table()
        return table, np.zeros(0, dtype=table.dtype)
    return stage.vectors, stage.coefficients


def _low(wide: RealArray, stored: RealArray) -> Any:
    """Return the low parts of a table in float32; empty if all are 0."""
    low = (wide - stored).astype(np.float32)
    return low if low.any() else np.zeros(0, dtype=np.float32)
