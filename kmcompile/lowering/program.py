"""Choose the stages of a program and put them together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.analysis.ranges import input_limits
from kmcompile.analysis.rounding import UNIT_ROUNDOFF, bound_constant, gamma_factor
from kmcompile.interpret import Answers, Status, interpret
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.batch import Batch
from kmcompile.ir.kernel_machine import KernelMachine, Task
from kmcompile.ir.program import KnownAnswers, Program
from kmcompile.kernels import Linear
from kmcompile.lowering.prepare import lower_steps
from kmcompile.lowering.sums import lower_linear, lower_sum
from kmcompile.stages import Argmax, ExactSum, LinearSum, Prepare, Sign, Stage, Vote
from kmcompile.target import Target

_KNOWN_BYTES = 1024
"""Flash that the self-test's known answers may take, once there are two of them."""


def lower(machine: KernelMachine, target: Target, name: str, known_inputs: Float32Array) -> Program:
    """Return the exact program of a machine for a target.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    target : Target
    name : str
        Prefix of the C names.
    known_inputs : ndarray of shape (n, n_features), float32
        Candidates for the self-test's known answers, ordinary inputs: none of them is refused.
    """
    summed = _lower_sum(machine, target)
    uses_length = isinstance(summed, LinearSum) or summed.kernel.uses_length
    input_length, steps = lower_steps(
        machine.preprocessing, machine.n_features, target.lanes, uses_length
    )
    unlimited = Prepare(machine.n_features, np.float32(np.inf), None, input_length, steps)
    prepared = unlimited.run(Batch.of(known_inputs, machine.n_decisions))
    limit, prepared_limit = input_limits(machine, steps, summed, known_inputs, prepared)
    prepare = replace(unlimited, limit=limit, prepared_limit=prepared_limit)
    program = Program(
        name=name,
        target=target.name,
        number_format="float32",
        mode="exact",
        n_features=machine.n_features,
        n_decisions=machine.n_decisions,
        classes=machine.classes,
        stages=(prepare, summed, _lower_label(machine)),
        known_answers=_known_answers(None, known_inputs[:0], machine.n_decisions),
        decision_function_shape=machine.decision_function_shape,
        model_sha256=machine.sha256,
    )
    answers = _known_answers(program, known_inputs, machine.n_decisions)
    return replace(program, known_answers=answers)


def _lower_sum(machine: KernelMachine, target: Target) -> ExactSum | LinearSum:
    if isinstance(machine.kernel, Linear):
        return lower_linear(machine, target.lanes)
    norms = np.sqrt((machine.support_vectors**2).sum(axis=1))
    typical = 5 * UNIT_ROUNDOFF * float(np.median(norms)) if machine.preprocessing else 0.0
    return lower_sum(machine, target.lanes, typical)


def _lower_label(machine: KernelMachine) -> Stage:
    if machine.task is Task.BINARY:
        return Sign(machine.zero_is_positive)
    if machine.task is Task.ONE_VS_REST:
        return Argmax(machine.n_classes)
    tie_error = bound_constant(2 * gamma_factor(machine.n_classes))
    return Vote(machine.n_classes, machine.break_ties, tie_error)


_TWICE = np.float32(2.0 * (1 + 2.0**-8))


def _certified_twice_over(program: Program, answers: Answers) -> NDArray[np.bool_]:
    """Return which labels stay certified if every bound is twice as wide."""
    batch = Batch.of(np.zeros((len(answers.decisions), 1), np.float32), program.n_decisions)
    wide = replace(batch, decision=answers.decisions, bound=_TWICE * answers.bounds)
    certified = program.stages[-1].run(wide).certified
    both: NDArray[np.bool_] = certified & answers.results["certified"]
    return both


def _known_answers(
    program: Program | None, candidates: Float32Array, n_decisions: int
) -> KnownAnswers:
    """Return certified answers, one of each label as far as the flash for them goes.

    The intervals are twice as wide as the bounds: the bounds hold for any rounding of the same
    operations, so a compiler that contracts moves a decision by at most its own bound and this
    one, which differ by less than the slack in `_TWICE`. A label is only asked for if it is the
    same anywhere within such intervals.
    """
    if program is None or not len(candidates):
        empty = np.zeros((0, n_decisions), dtype=np.float32)
        return KnownAnswers(candidates, np.zeros(0), empty, empty)
    answers = interpret(program, candidates)
    size = 4 * program.n_features + 8 * n_decisions + 2
    most = max(2, _KNOWN_BYTES // size)
    sure = _certified_twice_over(program, answers)
    usable = np.flatnonzero((answers.results["status"] == Status.OK) & sure)
    labels = answers.results["label"][usable]
    # One of each label first, then more of them in the order of the candidates.
    _, firsts = np.unique(labels, return_index=True)
    rest = np.setdiff1d(np.arange(len(usable)), firsts)
    chosen = usable[np.concatenate([np.sort(firsts), rest])[:most]]
    decisions, reach = answers.decisions[chosen], _TWICE * answers.bounds[chosen]
    return KnownAnswers(
        candidates[chosen],
        answers.results["label"][chosen],
        np.nextafter(decisions - reach, np.float32(-np.inf)),
        np.nextafter(decisions + reach, np.float32(np.inf)),
    )
