"""Lowering of a machine whose tables lie in an image, with room for other models."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.errors import InputError
from kmcompile.kernels import CATALOGUE
from kmcompile.lower.formats import (
    CANDIDATES,
    Lowered,
    codes_of,
    measure,
    narrow_if_enough,
    notes_on_codes,
    with_model_hash,
)
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.lower.program import lower
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.width import WIDTHS
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import FixedSum, Stage
from kmcompile.target import Target


def lower_for_image(
    original: KernelMachine,
    target: Target,
    name: str,
    number_format: str = "float32",
    like: Stage | None = None,
) -> Lowered:
    """Return the exact program whose structure depends least on the model's numbers.

    It keeps features that are 0 in all vectors and skips no zeros of an input: a retrained model
    may have others.

    Parameters
    ----------
    original : KernelMachine
    target : Target
    name : str
        Prefix of the C names.
    number_format : str
        "float32", "int16" or "int8".
    like : Stage, optional
        The sum of code that flies already, whose bits of coefficients and distances are taken. By
        default coefficients have 32 bits where this certifies much more.

    Raises
    ------
    InputError
        If no image holds sums of the machine's kernel, or the format does not support this machine.
    """
    if not original.kernel.fits_image:
        held = ", ".join(kernel.name for kernel in CATALOGUE if kernel.fits_image)
        raise InputError(
            f"--tables image: no image holds the {original.kernel.name} kernel, only {held}\n"
            "leave out --tables image"
        )
    if number_format != "float32":
        try:
            return _in_codes(original, target, name, number_format, like)
        except InputError as error:
            if like is None:
                raise InputError(f"--format {number_format}: {error}") from error
            reason = str(error).splitlines()[0]
            raise InputError(f"{reason}\ncompile the model anew, and fly its code") from error
    machine = run_passes(original, centers=True)
    ordinary = ordinary_inputs(machine, CANDIDATES)
    made = lower(machine, target, name, ordinary, skip_zeros=False)
    program = with_model_hash(made, original)
    return Lowered(machine, program, None, ordinary, measure(program, ordinary, None))


def _in_codes(
    original: KernelMachine,
    target: Target,
    name: str,
    number_format: str,
    like: Stage | None,
) -> Lowered:
    """Return what `lower_for_image` does, in an integer format.

    Codes of 16 bits have their whole range, whatever the vectors are.
    """
    machine = run_passes(original, centers=False)
    coded = codes_of(machine, number_format)
    if not WIDTHS[coded.width].is_byte:
        largest = WIDTHS[coded.width].high
        coded = replace(coded, low=-largest, high=largest)
    ordinary = ordinary_inputs(machine, CANDIDATES)

    def lowered(wide: bool, distance_shift: int | None = None) -> Program:
        form = IntegerTableForm(False, wide, True, distance_shift)
        return lower_integers(coded, target, name, ordinary, form, number_format)

    if isinstance(like, FixedSum):
        program = lowered(like.wide_coefficients, like.distance_shift)
    else:
        program = narrow_if_enough(lowered(False), lowered(True), coded.machine, ordinary)
    program = with_model_hash(program, original)
    measured = measure(program, ordinary, None)
    return Lowered(
        coded.machine, program, coded, ordinary, measured, notes_on_codes(coded, program)
    )
