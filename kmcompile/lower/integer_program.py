"""Lowering of a machine with codes to its exact program in an integer format."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kmcompile.kernels import Additive
from kmcompile.lower.code_table import code_lanes
from kmcompile.lower.coded_linear_sum import digitize, lower_coded_linear
from kmcompile.lower.coded_polynomial_sum import lower_coded_polynomial
from kmcompile.lower.coded_sum import lower_coded_sum
from kmcompile.lower.codes import Coded
from kmcompile.lower.fixed_sum import lower_fixed_sum
from kmcompile.lower.known_answers import known_answers
from kmcompile.lower.prepare import length_bound, lower_steps
from kmcompile.lower.program import exact_program
from kmcompile.lower.ranges import check_codes, preparation_limit
from kmcompile.lower.routed_fixed_sum import lower_routed_fixed_sum
from kmcompile.lower.table_sum import lower_table_sum
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import bound_constant
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodedLinearSum,
    CodedSum,
    FixedSum,
    Prepare,
    RoutedFixedSum,
    TableSum,
)
from kmcompile.program.stages.sums.code_table import SPARSE
from kmcompile.steps import Quantize
from kmcompile.target import Target

_PREPARED_LIMIT = np.float32(2.0**60)
"""A limit above the norm and the deviation of every input within the scale, and below the
deviation that marks an input outside the scale."""

_LINEAR_LIMIT = np.float32(2.0**60)
"""The limit of a raw feature where no float is computed with: what is larger has no code."""

_Sum = FixedSum | CodedSum | TableSum | RoutedFixedSum


@dataclass(frozen=True, slots=True)
class IntegerTableForm:
    """The form of the tables of an integer format.

    Parameters
    ----------
    sparse : bool
        Whether the table leaves out groups of four codes that are all 0.
    wide_coefficients : bool
        Whether coefficients, or values of functions, have 32 bits instead of 16.
    of_any : bool
        Whether the table has room for any vectors of its type of codes, as code for images needs:
        for all features, and for the largest sums.
    distance_shift : int or None
        The bits of a distance that code for images leaves out, if that is there already.
    """

    sparse: bool
    wide_coefficients: bool
    of_any: bool = False
    distance_shift: int | None = None


def lower_integers(
    coded: Coded,
    target: Target,
    name: str,
    known_inputs: Float32Array,
    layout: IntegerTableForm,
    number_format: str,
) -> Program:
    """Return the exact program of a machine in an integer format.

    Parameters
    ----------
    coded : Coded
        The machine after the passes, with its codes.
    target : Target
    name : str
        Prefix of the C names.
    known_inputs : ndarray of shape (n, n_features), float32
        Candidates for the self-test's known answers.
    layout : IntegerTableForm
    number_format : str
        "int16" or "int8".
    """
    machine = coded.machine
    summed: _Sum | CodedLinearSum
    if machine.kernel.is_linear:
        prepare, summed = _linear_stages(coded, target)
    else:
        prepare, summed = _stages(coded, target, known_inputs, layout)
    program = replace(
        exact_program(machine, target, name, number_format, prepare, summed),
        float_weight=target.cost.float_weight(coded.width),
        scale=coded.scale,
    )
    prepared = prepare.run(Batch.of(known_inputs, machine.n_decisions))
    inside = prepared.deviation < _PREPARED_LIMIT
    codes = np.rint(prepared.x[inside] / coded.unit).astype(np.int64)
    return replace(program, known_answers=known_answers(program, codes))


def _linear_stages(coded: Coded, target: Target) -> tuple[Prepare, CodedLinearSum]:
    """Return the preparation and the sum of a linear machine, whose scaler is in its weights."""
    step = digitize(coded)
    prepare = Prepare(coded.machine.n_features, _LINEAR_LIMIT, _PREPARED_LIMIT, None, (step,))
    return prepare, lower_coded_linear(coded, target, float(step.root))


def _stages(
    coded: Coded, target: Target, known_inputs: Float32Array, layout: IntegerTableForm
) -> tuple[Prepare, _Sum]:
    """Return the preparation and the sum of a machine with support vectors or functions."""
    machine = coded.machine
    n = machine.n_features
    distances = machine.kernel.is_gaussian
    _, steps = lower_steps(machine.preprocessing, n, target.lanes, False)
    quantize = Quantize(
        low=np.float32(coded.low),
        high=np.float32(coded.high),
        unit=np.float32(coded.unit),
        per_unit=np.float32(1 / coded.unit),
        rest=length_bound(n),
        code_deviation=bound_constant(coded.code_deviation),
        n_in=n,
        length=length_bound(n) if machine.kernel.of_inner_product else None,
    )
    limit = preparation_limit(machine, steps, known_inputs)
    prepare = Prepare(n, limit, _PREPARED_LIMIT, None, (*steps, quantize))
    prepared = prepare.run(Batch.of(known_inputs, machine.n_decisions))
    typical = float(np.median(prepared.deviation)) if len(known_inputs) else 0.0
    codes_layout = SPARSE if layout.sparse else target.code_layout
    summed: _Sum
    if machine.kernel.additive is Additive.LINES:
        summed = lower_table_sum(coded, layout.wide_coefficients)
    elif machine.routing is not None:
        summed = lower_routed_fixed_sum(coded, target, layout.wide_coefficients)
    elif distances:
        summed = lower_fixed_sum(
            coded,
            code_lanes(target),
            codes_layout,
            layout.wide_coefficients,
            typical,
            layout.of_any,
            layout.distance_shift,
        )
    else:
        summed = lower_coded_sum(coded, code_lanes(target), codes_layout)
    if not isinstance(summed, FixedSum):
        largest = coded.unit * max(-coded.low, coded.high)
        check_codes(machine, prepare.steps, summed, largest)
    return prepare, summed


def with_polynomial(program: Program, coded: Coded, target: Target) -> Program:
    """Return an exact program with its polynomial multiplied out, in integers.

    Parameters
    ----------
    program : Program
        The program of a polynomial machine that `can_expand` accepts, without early exits.
    coded : Coded
        The machine with lossless codes from which the program was lowered.
    target : Target

    Raises
    ------
    InputError
        If sums leave the range of float32 or of integers of 64 bits.
    """
    summed = lower_coded_polynomial(coded, target)
    largest = coded.unit * max(-coded.low, coded.high)
    check_codes(coded.machine, program.prepare.steps, summed, largest)
    made = replace(program, sum=summed)
    known = program.known_answers.inputs.astype(np.int64)
    return replace(made, known_answers=known_answers(made, known))
