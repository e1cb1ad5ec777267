"""Lowering of a machine to its exact program in a given number format."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Additive
from kmcompile.lower.code_table import sparse_is_better
from kmcompile.lower.codes import Coded, lossless_codes, scaled_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.lower.linear_codes import inputs_with_codes, linear_codes
from kmcompile.lower.program import lower
from kmcompile.lower.sparsity import skips_zeros
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.width import WIDTHS
from kmcompile.passes import run_passes
from kmcompile.passes.drop_zero_features import drop_zero_features
from kmcompile.program.cost import exact_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedLinearSum, CodeTable, RoutedFixedSum, TableSum
from kmcompile.target import Target
from kmcompile.text.figures import counted, share_text

CANDIDATES = 256
"""Ordinary inputs that are made of a machine."""

LEAST_SHARE = 0.5
"""Share of the inputs that rounded codes must certify, unless they are asked for by name."""

_LOST_SHARE = 0.001
"""Share of ordinary inputs that 32-bit coefficients certify and 16-bit coefficients may leave
open."""

_WIDER = 1.25
"""Factor by which 16-bit coefficients may widen the intervals of a routed regression."""

_MOST_SAMPLES = 1024
"""Largest number of samples of --data on which shares and operations are measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of an exact program on inputs.

    Parameters
    ----------
    certified_share : float
        Share of the inputs whose label the exact sum certifies. Refused inputs are not certified.
    accepted_share : float
        Share of the inputs that the program accepts: those within its scale.
    operations : float
        Mean multiply-adds of an accepted input, without early exits.
    inputs : str
        The kind of inputs in words.
    of_samples : bool
        Whether the inputs are samples of --data.
    """

    certified_share: float
    accepted_share: float
    operations: float
    inputs: str
    of_samples: bool


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A machine and its exact program in one format.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of the format, to which early exits are fitted.
    program : Program
    coded : Coded or None
        The codes of an integer format; None in float32.
    ordinary : ndarray of shape (n, n_features), float32
        Inputs that resemble the training data.
    measured : Measured
    notes : tuple of str
        Remarks for the user on the codes.
    """

    machine: KernelMachine
    program: Program
    coded: Coded | None
    ordinary: Float32Array
    measured: Measured
    notes: tuple[str, ...] = ()


def lower_in_format(
    original: KernelMachine,
    target: Target,
    name: str,
    number_format: str,
    samples: Float32Array | None = None,
) -> Lowered:
    """Return the exact program of a machine in "float32", "int16" or "int8".

    Parameters
    ----------
    original : KernelMachine
    target : Target
    name : str
        Prefix of the C names.
    number_format : str
    samples : ndarray of shape (n, n_features), float32, optional
        Samples of --data on which the certified share is measured, by default ordinary inputs.

    Raises
    ------
    InputError
        If the format does not support this machine.
    """
    try:
        return lower_unchecked(original, target, name, number_format, samples)
    except InputError as error:
        prefix = "" if number_format == "float32" else f"--format {number_format}: "
        raise InputError(f"{prefix}{error}") from error


def lower_unchecked(
    original: KernelMachine,
    target: Target,
    name: str,
    number_format: str,
    samples: Float32Array | None = None,
) -> Lowered:
    """Return the exact program as `lower_in_format` does, with errors that name no option.

    Raises
    ------
    InputError
        If the format does not support this machine.
    """
    machine = run_passes(original, centers=number_format == "float32")
    if number_format == "float32":
        if machine.routing is None and not skips_zeros(machine):
            machine = drop_zero_features(machine)
        ordinary = ordinary_inputs(machine, CANDIDATES)
        program = with_model_hash(lower(machine, target, name, ordinary), original)
        measured = measure(program, ordinary, samples)
        return Lowered(machine, program, None, ordinary, measured)
    if machine.kernel.is_linear and machine.routing is None:
        coded = linear_codes(machine, number_format, samples)
        ordinary = inputs_with_codes(machine, samples, CANDIDATES)
    else:
        coded = codes_of(machine, number_format)
        ordinary = ordinary_inputs(machine, CANDIDATES)
    program = with_model_hash(_with_layout(coded, target, name, ordinary, number_format), original)
    measured = measure(program, ordinary, samples)
    return Lowered(
        coded.machine, program, coded, ordinary, measured, notes_on_codes(coded, program)
    )


def lacking_certificates(lowered: Lowered) -> str:
    """Return in words that codes certify too few inputs of this machine, or an empty text.

    The certificates of a reduced machine say nothing of its format: hardly any input has one.
    """
    coded = lowered.coded
    if coded is None or coded.lossless or lowered.machine.reduced_from is not None:
        return ""
    return bits_certify(lowered) if lowered.measured.certified_share < LEAST_SHARE else ""


def bits_certify(lowered: Lowered) -> str:
    """Return in words what share of the inputs a format certifies."""
    bits = lowered.program.number_format.removeprefix("float").removeprefix("int")
    measured = lowered.measured
    return f"{bits} bits certify {share_text(measured.certified_share)} of {measured.inputs}"


def measure(program: Program, ordinary: Float32Array, samples: Float32Array | None) -> Measured:
    """Return measurements on the samples or, without any, on ordinary inputs."""
    X, inputs = ordinary, "ordinary inputs"
    of_samples = samples is not None and len(samples) > 0
    if samples is not None and of_samples:
        X = samples[:: -(-len(samples) // _MOST_SAMPLES)]
        inputs = "the samples in --data"
    answers = interpret(program, X)
    accepted = answers.results["status"] == Status.OK
    operations = answers.exact_operations[accepted]
    mean = operations.mean() if len(operations) else exact_operations(program)
    certified = float(answers.results["certified"].mean())
    return Measured(certified, float(accepted.mean()), float(mean), inputs, of_samples)


def certified_share(program: Program, X: Float32Array) -> float:
    """Return the share of the inputs whose label the exact sum certifies."""
    return float(interpret(program, X).results["certified"].mean())


def with_model_hash(program: Program, original: KernelMachine) -> Program:
    """Return the program with the hash of the machine as it was trained."""
    return replace(program, model_sha256=original.sha256)


def codes_of(machine: KernelMachine, number_format: str) -> Coded:
    """Return lossless codes if the format holds them, otherwise rounded codes."""
    lossless = lossless_codes(machine)
    most = WIDTHS[number_format].bits
    if lossless is not None and WIDTHS[lossless.width].bits <= most:
        return lossless
    return scaled_codes(machine, number_format)


def _with_layout(
    coded: Coded, target: Target, name: str, ordinary: Float32Array, number_format: str
) -> Program:
    """Return the program with 16-bit coefficients, or 32-bit ones if these certify much more.

    Without a tolerance every value of a regression is certified. That of a routed machine, whose
    coefficients no C bounds, takes 32 bits if they narrow its intervals.
    """
    machine = coded.machine
    linear = machine.kernel.is_linear
    stores_vectors = machine.kernel.additive is not Additive.LINES and machine.routing is None
    stores_vectors = stores_vectors and not linear
    sparse = stores_vectors and sparse_is_better(coded, target, ordinary)

    def lowered(wide: bool) -> Program:
        layout = IntegerTableForm(sparse, wide)
        return lower_integers(coded, target, name, ordinary, layout, number_format)

    narrow = lowered(False)
    if linear:  # its weights have 16 bits
        return narrow
    if machine.routing is None and certified_share(narrow, ordinary) >= 1.0 - _LOST_SHARE:
        return narrow
    return narrow_if_enough(narrow, lowered(True), machine, ordinary)


def narrow_if_enough(
    narrow: Program, wide: Program, machine: KernelMachine, ordinary: Float32Array
) -> Program:
    """Return the program with 16-bit coefficients, unless 32-bit ones certify much more."""
    lost = certified_share(wide, ordinary) - certified_share(narrow, ordinary)
    widens = False
    if machine.routing is not None and machine.task is Task.REGRESSION:
        widens = _typical_bound(narrow, ordinary) > _WIDER * _typical_bound(wide, ordinary)
    return wide if widens or lost > _LOST_SHARE else narrow


def _typical_bound(program: Program, X: Float32Array) -> float:
    """Return the median bound of a decision."""
    return float(np.median(interpret(program, X).bounds))


def grid_text(original: KernelMachine) -> str:
    """Return a text on the integer codes of the support vectors, or on why there are none."""
    try:
        coded = lossless_codes(run_passes(original, centers=False))
    except InputError as error:
        return f"none: {str(error).splitlines()[0]}"
    if coded is None:
        return "none: the support vectors are real numbers"
    return _codes_text(coded)


def notes_on_codes(coded: Coded, program: Program) -> tuple[str, ...]:
    """Return the remarks for the user on the codes."""
    table, summed = program.codes, program.sum
    if isinstance(summed, CodedLinearSum):
        return (f"inputs are rounded to {_codes_text(coded)}", "sums of weights have 32 bits")
    kind = "are" if coded.lossless else "are real and rounded to"
    text = f"the support vectors {kind} {_codes_text(coded)}"
    if isinstance(summed, TableSum):
        values = f"{counted(summed.n_values, 'code', 'codes')} of all features"
        return (text, f"functions of features are stored at {values}, and looked up")
    if isinstance(summed, RoutedFixedSum):
        return (text, f"squared distances of codes have {64 if summed.wide else 32} bits")
    assert isinstance(table, CodeTable)
    dropped = table.n_features - table.n_used
    if dropped:
        text += f"; {counted(dropped, 'feature is', 'features are')} 0 in all of them"
    if table.sparse:
        text += "; only fours of features that are not all 0 are stored"
    return (text, f"sums of codes have {64 if table.wide else 32} bits")


def _codes_text(coded: Coded) -> str:
    codes = f"{coded.width} codes from {coded.low:,} to {coded.high:,}"
    lossless = ", without loss" if coded.lossless else ""
    return f"{codes} in steps of {_step_text(coded.scale.step)}{lossless}"


def _step_text(step: Float64Array) -> str:
    """Return the text of the step of one code, in units of the raw features."""
    least, most = float(step.min()), float(step.max())
    if most - least <= 1e-9 * most:
        return f"{most:.6g}"
    return f"{least:.3g} to {most:.3g}"
