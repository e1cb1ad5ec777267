"""Lowering of a machine to the stages of its exact program in float32."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.known_answers import known_answers, no_known_answers
from kmcompile.lower.prepare import lower_steps, refuse_unknown
from kmcompile.lower.probability import lower_probability
from kmcompile.lower.ranges import input_limits
from kmcompile.lower.routed_sum import lower_sum_over_vectors
from kmcompile.lower.sparsity import skips_zeros
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.vectorless import lower_vectorless
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    Argmax,
    ExactSum,
    Label,
    LinearSum,
    Nonzeros,
    Prepare,
    RoutedSum,
    Sign,
    Stage,
    Value,
    VectorlessSum,
    Vote,
)
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.target import Target

_Sum = ExactSum | VectorlessSum | RoutedSum


def lower(
    machine: KernelMachine,
    target: Target,
    name: str,
    known_inputs: Float32Array,
    skip_zeros: bool | None = None,
    vectorless: type[VectorlessSum] | None = None,
) -> Program:
    """Return the exact program of a machine for a target.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.
    target : Target
    name : str
        Prefix of the C names.
    known_inputs : ndarray of shape (n, n_features), float32
        Ordinary inputs, candidates for the self-test's known answers. The program must accept all.
    skip_zeros : bool, optional
        Whether sums leave out features that are 0, by default `sparsity.skips_zeros`.
    vectorless : type, optional
        A subclass of `VectorlessSum` that takes the place of the sum over the support vectors; by
        default only a linear machine has one.
    """
    if machine.kernel.is_linear and machine.routing is None:
        vectorless = LinearSum
    if skip_zeros is None:
        plain = vectorless is None and machine.routing is None
        skip_zeros = plain and skips_zeros(machine)
    prepare, summed = _lower_stages(machine, target, known_inputs, skip_zeros, vectorless)
    # The stage lists the nonzero features, if the sum uses the list.
    exits = (Nonzeros(prepare.n_out),) if summed.skip_zeros else ()
    program = exact_program(machine, target, name, "float32", prepare, summed, exits)
    return replace(program, known_answers=known_answers(program, known_inputs))


def exact_program(
    machine: KernelMachine,
    target: Target,
    name: str,
    number_format: str,
    prepare: Prepare,
    summed: Sum,
    exits: tuple[Stage, ...] = (),
) -> Program:
    """Return the program of a preparation and a sum, without known answers."""
    return Program(
        name=name,
        target=target.name,
        number_format=number_format,
        mode="exact",
        n_features=machine.n_features,
        n_decisions=machine.n_decisions,
        classes=machine.classes,
        prepare=prepare,
        exits=exits,
        sum=summed,
        label=lower_label(machine),
        known_answers=no_known_answers(machine.n_features, machine.n_decisions),
        decision_function_shape=machine.decision_function_shape,
        threshold=machine.threshold,
        probability=lower_probability(machine),
        model_sha256=machine.sha256,
    )


def _lower_stages(
    machine: KernelMachine,
    target: Target,
    ordinary: Float32Array,
    skip_zeros: bool,
    vectorless: type[VectorlessSum] | None,
) -> tuple[Prepare, _Sum]:
    """Return the preprocessing and the sum.

    The preprocessing bounds the norm of the prepared input if the sum needs it, or if a single
    limit for all raw features would refuse ordinary inputs.
    """
    needed = machine.kernel.uses_length or skip_zeros or machine.routing is not None
    if needed or not machine.preprocessing:
        return _lower_with(machine, target, ordinary, needed, skip_zeros, vectorless)
    try:
        return _lower_with(machine, target, ordinary, False, skip_zeros, vectorless)
    except InputError:
        return _lower_with(machine, target, ordinary, True, skip_zeros, vectorless)


def _lower_with(
    machine: KernelMachine,
    target: Target,
    ordinary: Float32Array,
    uses_length: bool,
    skip_zeros: bool,
    vectorless: type[VectorlessSum] | None,
) -> tuple[Prepare, _Sum]:
    input_length, steps = lower_steps(
        machine.preprocessing, machine.n_features, target.lanes, uses_length
    )
    unlimited = Prepare(machine.n_features, np.float32(np.inf), None, input_length, steps)
    with np.errstate(all="ignore"):  # the limits refuse inputs that overflow here
        prepared = unlimited.run(Batch.of(ordinary, machine.n_decisions))
    if vectorless is not None:
        summed: _Sum = lower_vectorless(vectorless, machine, target.lanes)
        usable = math.inf
    else:
        typical = float(np.median(prepared.deviation)) if len(ordinary) else 0.0
        context = SumContext(typical, skip_zeros)
        over_vectors = lower_sum_over_vectors(machine, target.lanes, context)
        summed, usable = over_vectors, over_vectors.kernel.usable_deviation
    steps = refuse_unknown(steps, usable, prepared.deviation)
    unlimited = replace(unlimited, steps=steps)
    limits = input_limits(machine, steps, summed, ordinary, prepared if uses_length else None)
    assert unlimited.refuses_negatives or not machine.kernel.requires_nonnegative
    return replace(unlimited, limit=limits[0], prepared_limit=limits[1]), summed


def with_tolerance(program: Program, tolerance: float | None) -> Program:
    """Return a regression's program that answers once an interval is narrower than `tolerance`.

    A classifier's program is returned unchanged.
    """
    if not program.is_regression:
        return program
    return replace(program, label=Value.within(tolerance))


def replay_label(machine: KernelMachine, program: Program) -> Label:
    """Return the label stage of the replay, with its constants in float64."""
    return program.ends.label if program.is_regression else lower_label(machine, FLOAT64)


def lower_label(machine: KernelMachine, precision: Precision = FLOAT32) -> Label:
    """Return the stage that turns decisions and bounds in this precision into a label."""
    if machine.task.has_one_sign:
        return Sign(machine.zero_is_positive)
    if machine.task is Task.REGRESSION:
        return Value(None)
    if machine.task is Task.ONE_VS_REST:
        return Argmax(machine.n_classes, machine.last_of_equal)
    tie_error = precision.bound_constant(2 * precision.gamma_factor(machine.n_classes))
    return Vote(machine.n_classes, machine.break_ties, tie_error)
