"""Programs of reduced machines: their bounds are about the machine that was trained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kmcompile import kernels
from kmcompile.errors import InputError
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.model.kernel_machine import KernelMachine, ReducedFrom
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, LARGEST_INTERMEDIATE
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum, Prepare, RoutedFixedSum, RoutedSum
from kmcompile.program.stages.sums.self_bound import SelfBound


def with_distance(program: Program, machine: KernelMachine) -> Program:
    """Return the program with bounds on the distance from the trained machine's decisions.

    The bounds of the sum are about the reduced machine. The distance of its decisions from those of
    the trained machine (`ReducedFrom`) is added. Where K(x, x) is constant, it does not depend on
    the query and belongs to the part of the bounds that no query changes. For a poly kernel the sum
    computes a bound on sqrt(K(x, x)) (`SelfBound`). A certified label is then the trained
    machine's.

    Parameters
    ----------
    program : Program
    machine : KernelMachine
        The machine that the program was lowered from. Unless it is reduced, the program is returned
        as it is.

    Raises
    ------
    InputError
        If the bounds overflow float32 at inputs as large as the training data.
    """
    if machine.reduced_from is None:
        return program
    summed = program.sum
    if isinstance(summed, RoutedSum | RoutedFixedSum):
        return replace(program, sum=_with_leaf_distance(summed, machine))
    assert isinstance(summed, ExactSum | FixedSum)
    apart = machine.reduced_from.offset * (1 + 1e-9)
    kernel = summed.kernel
    if isinstance(summed, ExactSum) and isinstance(kernel, PolyFloat32) and kernel.degree > 0:
        reduced = _self_bound(machine.reduced_from, summed, kernel)
        program = replace(program, prepare=_limited(program, reduced))
        summed = replace(summed, reduced=reduced)
    else:
        apart = apart + constant_distance(machine)
    minimum = FLOAT32.bound_constants(summed.minimum.astype(np.float64) + apart)
    if isinstance(summed, FixedSum):
        return replace(program, sum=replace(summed, minimum=minimum))
    trivial = FLOAT32.bound_constant(float(summed.trivial_bound) + float(apart.max()))
    return replace(program, sum=replace(summed, minimum=minimum, trivial_bound=trivial))


def _with_leaf_distance(
    summed: RoutedSum | RoutedFixedSum, machine: KernelMachine
) -> RoutedSum | RoutedFixedSum:
    """Return the sum with bounds that hold for the trained leaves.

    One bound for all leaves holds by the most distant leaf.

    Where rounding leaves several leaves open, `apart` is the largest difference of two of the
    reduced leaves, and the bound holds the rest.
    """
    of_leaves = leaf_distance(machine)
    apart = of_leaves.max(axis=0)
    if isinstance(summed, RoutedFixedSum):
        own = of_leaves if summed.has_leaf_bounds else apart
        far = FLOAT32.bound_constant(float(summed.apart) + float(apart.max()))
        minimum = FLOAT32.bound_constants(summed.minimum.astype(np.float64) + own)
        return replace(summed, minimum=minimum, apart=far)
    minimum = FLOAT32.bound_constants(summed.minimum.astype(np.float64) + apart)
    trivial = FLOAT32.bound_constant(float(summed.trivial_bound) + float(apart.max()))
    return replace(summed, minimum=minimum, trivial_bound=trivial)


def leaf_distance(machine: KernelMachine) -> Float64Array:
    """Return upper bounds on |f_p(x) - f^_p(x)| in each leaf, shape (n_leaves, n_decisions).

    Parameters
    ----------
    machine : KernelMachine
        A reduced routed machine, whose K(x, x) is constant: neither rbf's nor any other such value
        depends on gamma.
    """
    assert machine.reduced_from is not None
    return constant_distance(machine) + machine.reduced_from.offset * (1 + 1e-9)


def constant_distance(machine: KernelMachine) -> Float64Array:
    """Return upper bounds on |<W_p - W^_p, phi(x)>| where K(x, x) is constant.

    Their shape is that of the distance: (n_decisions,), in a routed machine a row a leaf.
    """
    require_self_value(machine)
    assert machine.reduced_from is not None
    value = machine.kernel.self_value
    if value is None:
        value = 1.0  # of a polynomial of degree 0
    apart: Float64Array = machine.reduced_from.distance * np.sqrt(value)
    return apart * (1 + 1e-9)


def require_self_value(machine: KernelMachine) -> None:
    """Raise InputError unless the C can bound K(x, x)."""
    if machine.kernel.self_value is None and not machine.kernel.is_polynomial:
        raise InputError(
            "machines are reduced for the kernels "
            f"{kernels.names_of(lambda one: one.self_value is not None)}, poly; this machine's is "
            f"{machine.kernel.name}\nleave out --reduce"
        )


def _self_bound(of: ReducedFrom, summed: ExactSum, kernel: PolyFloat32) -> SelfBound:
    """Return the constants of the bound on the distance of a polynomial machine.

    They are in the units of the sum: those of its kernel and of its stored vectors.
    """
    half, is_odd = divmod(kernel.degree, 2)
    squares = (summed.columns().astype(np.float64) ** 2).sum(axis=0)
    t = float(kernel.gamma) * float(np.median(squares)) + float(kernel.coef0)
    typical = float(np.float32(t)) or 1.0
    # Each factor t has at most 6 roundings, each product one.
    factor = 1 + 2 * FLOAT32.gamma_factor(8 * (half + 1) + 16)
    if is_odd:
        factor /= 2 * math.sqrt(typical) * (1 - 1e-12)
    return SelfBound(
        per_square=FLOAT32.bound_constant(float(kernel.gamma)),
        constant=FLOAT32.bound_constant(float(kernel.coef0)),
        half_degree=half,
        typical=np.float32(typical if is_odd else 0.0),
        distance=FLOAT32.bound_constants(of.distance * factor),
    )


def _limited(program: Program, reduced: SelfBound) -> Prepare:
    """Return the preprocessing with a limit of the norm beyond which the bound would overflow."""
    prepare = program.prepare
    norm = float(LARGEST_INTERMEDIATE) if prepare.prepared_limit is None else prepare.prepared_limit
    limit = np.float32(norm)
    while not _fits(reduced, float(limit)):
        limit = limit / np.float32(2)
    if prepare.prepared_limit == limit:
        return prepare
    made = replace(prepare, prepared_limit=limit)
    if program.codes is not None:  # a code is never that large
        return made
    batch = made.run(Batch.of(program.known_answers.inputs, program.n_decisions))
    if made.beyond(batch).any():
        raise InputError(
            "the bound of the reduced machine's distance overflows float32 for inputs as large as "
            "the training data; scale the data and retrain, or leave out --reduce"
        )
    return made


def _fits(reduced: SelfBound, limit: float) -> bool:
    """Return whether no result of the bound exceeds the range analysis' limit."""
    reach = 2 * limit
    t = float(reduced.per_square) * reach * reach + float(reduced.constant)
    largest = 1.01 * max(t + float(reduced.typical), reach * reach, 1.0)
    powers = (reduced.half_degree + 1) * math.log2(largest)
    apart = max(1.0, float(reduced.distance.max()))
    return powers + math.log2(apart) < math.log2(LARGEST_INTERMEDIATE)
