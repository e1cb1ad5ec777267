"""From a machine to its exact program in a number format."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.interpret import Status, interpret
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.program import Program
from kmcompile.lowering.codes import Coded, lossless_codes, scaled_codes
from kmcompile.lowering.integer_program import Layout, lower_integers
from kmcompile.lowering.program import lower
from kmcompile.passes.center_vectors import center_vectors
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.stages import FixedSum
from kmcompile.target import Target
from kmcompile.verify.queries import ordinary_inputs

_CANDIDATES = 256

_LEAST_SHARE = 0.5
"""Of ordinary inputs that 8 bits must certify where they are not lossless."""

_LOST_SHARE = 0.001
"""Of ordinary inputs that 16-bit coefficients may leave open beyond those of 32 bits."""

_SPARSE_GROUPS = 0.5
"""Share of groups of four codes that are not all 0 below which only these are stored."""


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A machine and its exact program in one format.

    Parameters
    ----------
    machine : KernelMachine
        After the passes of the format: what early exits are fitted to.
    program : Program
    coded : Coded or None
        The codes of an integer format.
    ordinary : ndarray of shape (n, n_features), float32
        Inputs like those of the training.
    notes : tuple of str
        What was found about the codes.
    """

    machine: KernelMachine
    program: Program
    coded: Coded | None
    ordinary: Float32Array
    notes: tuple[str, ...] = ()


def lower_in_format(
    original: KernelMachine, target: Target, name: str, number_format: str
) -> Lowered:
    """Return the exact program of a machine in "float32", "int16" or "int8".

    Raises
    ------
    InputError
        If the format is not for this machine.
    """
    machine = merge_duplicate_vectors(original)
    if number_format == "float32":
        machine = fold_scalers(center_vectors(machine))
        ordinary = ordinary_inputs(machine, _CANDIDATES)
        program = lower(machine, target, name, ordinary)
        return Lowered(machine, _of(program, original), None, ordinary)
    machine = fold_scalers(machine)
    coded = _codes(machine, number_format)
    ordinary = ordinary_inputs(machine, _CANDIDATES)
    program = _with_layout(coded, target, name, ordinary, number_format)
    share = certified_share(program, ordinary)
    if number_format == "int8" and not coded.lossless and share < _LEAST_SHARE:
        raise InputError(
            f"--format int8: 8 bits of these support vectors certify {share:.0%} of ordinary "
            f"inputs, must be {_LEAST_SHARE:.0%}\nuse --format int16"
        )
    return Lowered(coded.machine, _of(program, original), coded, ordinary, _notes(coded, program))


def certified_share(program: Program, X: Float32Array) -> float:
    """Return the share of the accepted inputs whose label the exact sum certifies."""
    results = interpret(program, X).results
    accepted = results["status"] == Status.OK
    return float(results["certified"][accepted].mean()) if accepted.any() else 0.0


def _of(program: Program, original: KernelMachine) -> Program:
    return replace(program, model_sha256=original.sha256)


def _codes(machine: KernelMachine, number_format: str) -> Coded:
    """Return lossless codes where the format holds them."""
    lossless = lossless_codes(machine)
    if lossless is not None and (number_format == "int16" or lossless.width != "int16"):
        return lossless
    return scaled_codes(machine, number_format)


def _with_layout(
    coded: Coded, target: Target, name: str, ordinary: Float32Array, number_format: str
) -> Program:
    """Return the program with the tables that are smallest for what they certify."""
    sparse = _filled_share(coded) < _SPARSE_GROUPS
    tracks = not coded.lossless

    def lowered(wide: bool) -> Program:
        layout = Layout(sparse, wide, tracks)
        return lower_integers(coded, target, name, ordinary, layout, number_format)

    narrow, wide = lowered(False), lowered(True)
    lost = certified_share(wide, ordinary) - certified_share(narrow, ordinary)
    return wide if lost > _LOST_SHARE else narrow


def _filled_share(coded: Coded) -> float:
    """Return the share of groups of four used features that are not all 0."""
    codes = coded.codes[:, coded.codes.any(axis=0)]
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4)))
    return float((padded.reshape(len(codes), -1, 4) != 0).any(axis=2).mean())


def _notes(coded: Coded, program: Program) -> tuple[str, ...]:
    """Return what the user should know of the codes."""
    stage = program.ends.exact
    assert isinstance(stage, FixedSum)
    table = stage.codes
    kind = (
        "the support vectors are integers" if coded.lossless else "the support vectors are scaled"
    )
    text = f"{kind}: {table.width} codes from {table.low} to {table.high}"
    dropped = table.n_features - table.n_used
    if dropped:
        text += f"; {dropped} features are 0 in all of them"
    if table.sparse:
        text += "; only groups of four features that are not all 0 are stored"
    return (text, f"sums have {64 if table.wide else 32} bits")
