"""Lowering of an input tolerance: how far decisions move while the input stays within it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.box_polynomial import growths
from kmcompile.lower.box_slopes import poly_slopes, rbf_slopes
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import FLOAT32
from kmcompile.numeric.table import Table
from kmcompile.passes.sum_linear import sum_linear
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum, LinearSum
from kmcompile.program.stages.tolerance.box_distance import BEYOND
from kmcompile.program.stages.tolerance.box_slopes import BoxSlopes
from kmcompile.program.stages.tolerance.input_tolerance import InputTolerance
from kmcompile.steps import Affine, Clip, Columns, Extension, Projection, Step

_ROUNDED = 1 + 1e-9
"""Covers the float64 roundings of these constants."""

_KERNEL_ERROR = 1e-10
"""Ten times the relative error of a kernel value in |W_p|^2."""


def with_input_tolerance(
    program: Program, machine: KernelMachine, tolerance: Float64Array | None
) -> Program:
    """Return the program whose answers hold for all inputs within a tolerance.

    Parameters
    ----------
    program : Program
        The exact program.
    machine : KernelMachine
        The machine after the passes, from which the program was lowered.
    tolerance : ndarray of shape (n_features,), float64, or None
        The largest difference of each raw feature. None: the program is returned as it is.

    Raises
    ------
    InputError
        If there are no bounds for such a machine, or none that float32 holds.
    """
    if tolerance is None:
        return program
    _require_bounds(program, machine)
    t = prepared_tolerance(machine.preprocessing, tolerance)
    reach = FLOAT32.bound_constant(float(np.sqrt((t**2).sum())) * _ROUNDED)
    if isinstance(program.sum, ExactSum):
        program = replace(program, sum=sorted_by_size(program.sum, t))
    sloping = _with_slopes(program)
    slopes: BoxSlopes | None = None
    distance = None
    if machine.kernel.is_gaussian:
        u = machine.kernel.gaussian_gamma * float((t**2).sum()) * _ROUNDED
        lengths = _lengths(machine)
        widths = lengths * np.sqrt(-2 * np.expm1(-u)) * _ROUNDED
        bends = lengths * np.sqrt(3) * u * _ROUNDED
        # Of a box so large that no decision is linear in it, slopes prove nothing.
        if sloping is not None and bool((bends < widths).any()):
            slopes = rbf_slopes(sloping, machine.kernel.gaussian_gamma, t, bends)
    elif machine.kernel.is_polynomial:
        grown = growths(machine, t)
        distance, widths = grown.distance(), grown.widths[:, 0]
        is_nearer = grown.at_typical(grown.bends) < grown.at_typical(grown.widths)
        if sloping is not None and machine.kernel.polynomial.degree > 1 and bool(is_nearer.any()):
            slopes = poly_slopes(sloping, machine, t, grown)
    else:
        widths = _linear_widths(machine, t)
    if slopes is not None and not _within_float32(slopes.tables()):
        slopes = None  # they prove nothing either
    box = InputTolerance(tolerance, reach, FLOAT32.bound_constants(widths), slopes, distance)
    if not (reach < BEYOND and _within_float32(box.tables())):
        raise InputError(
            "--input-tolerance: within it decisions differ by more than float32 holds\n"
            "give a smaller tolerance"
        )
    return replace(program, prepare=replace(program.prepare, reach=reach), box=box)


def _within_float32(tables: tuple[Table, ...]) -> bool:
    return all(bool((np.abs(table.values) < BEYOND).all()) for table in tables)


def _with_slopes(program: Program) -> ExactSum | None:
    """Return the sum of a program whose answer is a value, or rests on signs of decisions."""
    return program.sum if isinstance(program.sum, ExactSum) and program.label.rests_on() else None


def _require_bounds(program: Program, machine: KernelMachine) -> None:
    """Raise InputError unless there are bounds over a box for the machine."""
    kernel = machine.kernel
    if machine.routing is not None:
        why = "this model chooses among leaves, whose labels it does not bound"
    elif program.codes is not None and not isinstance(program.sum, FixedSum):
        why = f"in integers it bounds rbf kernels, this machine's is {machine.kernel.name}"
    elif not isinstance(program.sum, ExactSum | LinearSum | FixedSum):
        why = f"it bounds sums over vectors, this program's is {program.sum.name}"
    elif not (kernel.is_gaussian or kernel.is_polynomial or kernel.is_linear):
        why = f"it bounds kernels rbf, poly and linear, this machine's is {kernel.name}"
    else:
        return
    raise InputError(f"--input-tolerance: {why}\nleave it out")


def prepared_tolerance(steps: tuple[Step, ...], tolerance: Float64Array) -> Float64Array:
    """Return t with |x'_i - x_i| <= t_i for the prepared inputs of any two within the tolerance.

    Raises
    ------
    InputError
        If a step does not keep inputs that are near each other near each other.
    """
    t = np.asarray(tolerance, dtype=np.float64)
    for step in steps:
        if isinstance(step, Affine):
            t = t * np.abs(step.factor) * (1 + step.factor_error)
        elif isinstance(step, Columns):
            t = t[list(step.columns)]
        elif isinstance(step, Projection):
            t = np.abs(step.matrix) @ t
        elif isinstance(step, Extension):
            t = np.concatenate([t, np.zeros(step.n_out - len(t))])
        elif not isinstance(step, Clip):  # which brings no two inputs further apart
            raise InputError(
                f"--input-tolerance: the step {step} before the kernel has no bound over a box\n"
                "leave it out, or train without this step"
            )
        t = t * _ROUNDED
    return t


def _lengths(machine: KernelMachine) -> Float64Array:
    """Return |W_p| of an rbf machine, rounded up."""
    squares = Normals.of(machine).squares
    sums = np.abs(decision_coefficients(machine)).sum(axis=1)
    lengths: Float64Array = np.sqrt(squares + _KERNEL_ERROR * sums**2) * _ROUNDED
    return lengths


def _linear_widths(machine: KernelMachine, t: Float64Array) -> Float64Array:
    """Return sum_i t_i |w_pi|, rounded up."""
    weights, error = sum_linear(machine)
    widths: Float64Array = (np.abs(weights) @ t + error * np.sqrt((t**2).sum())) * _ROUNDED
    return widths


def sorted_by_size(exact: ExactSum, t: Float64Array) -> ExactSum:
    """Return the sum with the vectors of large coefficients first, among those of equal groups.

    The blocks that bounds over a box may leave out are then those of small coefficients. Groups
    that have the same decisions and signs, as the parts of a long group, exchange vectors.
    """
    lanes, rows = exact.lanes, exact.n_rows
    reach = t @ np.abs(exact.columns())
    coefficients = exact.coefficients.transpose(0, 2, 1).reshape(-1, rows)
    ends = exact.group_ends.astype(np.intp) * lanes
    starts = np.concatenate([[0], ends[:-1]])
    alike: dict[tuple[bytes, bytes], list[np.ndarray]] = {}
    for start, end, decisions in zip(starts, ends, exact.group_decisions, strict=True):
        slots = np.arange(start, end)
        signs = np.sign(coefficients[slots].sum(axis=0)).tobytes()
        alike.setdefault((decisions.tobytes(), signs), []).append(slots)
    order = np.arange(exact.n_slots)
    for parts in alike.values():
        slots = np.concatenate(parts)
        size = np.abs(coefficients[slots]).sum(axis=1) * reach[slots]
        # Slots that fill up a block have coefficients of 0 and stay.
        is_real = (coefficients[slots] != 0).any(axis=1)
        real = slots[is_real]
        order[real] = real[np.argsort(-size[is_real], kind="stable")]
    columns = exact.columns()[:, order]
    blocks = (exact.n_blocks, lanes)
    return replace(
        exact,
        vectors=columns.reshape(-1, *blocks).transpose(1, 0, 2),
        coefficients=coefficients[order].reshape(*blocks, rows).transpose(0, 2, 1),
        squares=exact.squares.reshape(-1)[order].reshape(blocks)
        if exact.expands
        else exact.squares,
    )
