"""Choice of whether the exact sum of a one-vs-one program is evaluated pair by pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.known_answers import known_answers
from kmcompile.lower.pair_sum import MOST_VECTORS, class_scores, lower_pair_sum
from kmcompile.lower.ranges import input_limits
from kmcompile.lower.sum_constants import SumContext
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.threads import one_thread
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedSum, ExactSum

WORST_FACTOR = 1.25
"""Largest cost of all pairs one by one, relative to the operations of the exact sum."""


def with_pair_sum(
    machine: KernelMachine, program: Program, ordinary: Float32Array, X: Float32Array
) -> Program | None:
    """Return the exact program with a pair sum in place of its exact sum, or None.

    A pair sum is possible in float32 for one-vs-one machines whose ties go to the lower index. It
    is not used if all pairs one by one take more than `WORST_FACTOR` times the operations of the
    exact sum.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.
    program : Program
        The exact program.
    ordinary : ndarray of shape (n, n_features), float32
        Candidates for the known answers.
    X : ndarray of shape (n_samples, n_features), float32
        Accepted samples, whose labels determine the order of the pairs.
    """
    exact, label, prepare = program.ends.exact, program.ends.label, program.prepare
    if not isinstance(exact, ExactSum) or isinstance(exact, CodedSum) or not len(X):
        return None
    if not label.counts_signs or machine.n_classes < 3:
        return None
    if machine.n_support_vectors > MOST_VECTORS:
        return None
    answers = interpret(program, X)
    accepted = answers.results["status"] == Status.OK
    prepared = prepare.run(Batch.of(np.ascontiguousarray(X[accepted]), program.n_decisions))
    with one_thread():  # the roundings of a matrix product depend on the threads
        scores = class_scores(
            prepared.x.astype(np.float64), answers.results["label"][accepted], machine.n_classes
        )
    typical = float(np.median(prepared.deviation))
    pairs = lower_pair_sum(machine, SumContext(typical, exact.skip_zeros), scores)
    if pairs.operations() > WORST_FACTOR * (exact.operations() + label.operations()):
        return None
    unlimited = replace(prepare, limit=np.float32(np.inf), prepared_limit=None)
    checked = unlimited.run(Batch.of(ordinary, program.n_decisions))
    try:
        limits = input_limits(
            machine,
            prepare.steps,
            pairs,
            ordinary,
            checked if prepare.measures_length else None,
        )
    except InputError:
        return None
    prepare = replace(prepare, limit=limits[0], prepared_limit=limits[1])
    changed = replace(program, prepare=prepare, sum=pairs)
    return replace(changed, known_answers=known_answers(changed, ordinary))
