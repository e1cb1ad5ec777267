"""Choice of the codes of an integer format: the grid of the vectors, or a scale of their range."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.kernels import Additive
from kmcompile.lower.feature_space import VectorPairs, refitted
from kmcompile.model.coefficients import decision_coefficients, with_decision_coefficients
from kmcompile.model.grid import integer_grid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.numeric.width import WIDTHS, byte_for
from kmcompile.passes.code_units import to_code_units
from kmcompile.passes.vectors_behind import vectors_behind
from kmcompile.program.program import CodeScale
from kmcompile.steps import Affine


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A machine with integer codes for its vectors.

    Parameters
    ----------
    machine : KernelMachine
        The machine with vectors unit * code. They are about 1 or smaller, so that gamma is of
        ordinary size, as early exits need.
    fitted : KernelMachine
        `machine` with the coefficients for the rounded vectors: fitted again to the rounded vectors
        unless the codes are lossless.
    unit : float
        Value of one code in `machine`, a power of two.
    width : str
        "uint8", "int8" or "int16": the type of codes in tables and of inputs.
    low, high : int
        The least and the largest code of an input.
    lossless : bool
        Whether every support vector is exactly its codes.
    moved_error : float
        Bound on the Euclidean norm of a vector's float64 rounding errors.
    routing_error, linear_error : float
        Bounds on the float64 rounding of an offset of the routing, and of a leaf's decision by its
        linear part; 0 without one.
    """

    machine: KernelMachine
    fitted: KernelMachine
    unit: float
    width: str
    low: int
    high: int
    lossless: bool
    moved_error: float
    routing_error: float = 0.0
    linear_error: float = 0.0

    @property
    def scale(self) -> CodeScale:
        """The offset and the step of the codes in units of the raw features."""
        n = self.machine.n_features
        offset, factor = np.zeros(n), np.ones(n)
        for step in self.machine.preprocessing:
            assert isinstance(step, Affine)
            offset, factor = step.offset, step.factor
        return CodeScale(offset, self.unit / factor)

    @property
    def code_deviation(self) -> float:
        """Bound on the Euclidean distance between unit X and the scaled input of the codes X.

        The step of `scale` is a rounded quotient, and the trained scaler's offset and factor may
        be rounded too.
        """
        off = np.zeros(self.machine.n_features)
        for step in self.machine.preprocessing:
            assert isinstance(step, Affine)
            largest = self.unit * max(-self.low, self.high)
            off = np.full(len(off), largest * (step.factor_error + 2 * UNIT_ROUNDOFF_64))
            off += np.abs(step.factor) * step.offset_error
        return float(np.sqrt((off**2).sum())) * (1 + 1e-9)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The codes of the support vectors, shape (n_sv, n_features)."""
        return np.rint(self.machine.support_vectors / self.unit).astype(np.int64)


def lossless_codes(machine: KernelMachine) -> Coded | None:
    """Return the machine with codes that equal its vectors exactly, or None if there are none.

    Those of a reduced machine hold the trained machine's vectors, too, and so the inputs that
    resemble them.

    Raises
    ------
    InputError
        If integer formats do not support the machine.
    """
    _check(machine)
    vectors = vectors_behind(machine)
    grid = integer_grid(machine, vectors)
    if grid is None or (not machine.kernel.of_distance and grid[0].any()):
        return None
    offset, factor = grid
    if machine.kernel.homogeneous and factor < 0:  # min(c x, c s) is c min(x, s) for c > 0 only
        raise InputError(
            f"the scaler changes the signs of the features, which the {machine.kernel.name} "
            "kernel does not allow in integers\nuse --format float32"
        )
    codes = np.rint((vectors - offset) * factor)
    least, most = int(codes.min()), int(codes.max())
    byte = byte_for(least, most)
    if byte is not None:
        return _coded(machine, offset, factor, (byte.name, byte.low, byte.high), True)
    largest = WIDTHS["int16"].high
    if machine.kernel.additive is Additive.LINES:
        # A minimum with a code above all those of the vectors is the vectors' own.
        return _coded(
            machine, offset, factor, ("int16", max(2 * min(least, 0), -largest), largest), True
        )
    high = _widest_narrow(codes, 2 * max(-least, most))
    return _coded(machine, offset, factor, ("int16", -high, high), True)


def _coded(
    machine: KernelMachine,
    offset: Float64Array,
    factor: float,
    form: tuple[str, int, int],
    lossless: bool,
) -> Coded:
    """Return the machine with codes (s - offset) * factor, in units of 1 / 256 or 1 / 32,768."""
    width, low, high = form
    unit = WIDTHS[width].unit
    moved, error = to_code_units(machine, offset, factor * unit)
    if moved.kernel.is_gaussian:
        for share in (1.0,) if moved.routing is None else np.unique(moved.routing.relative_gamma):
            check_gamma(moved.kernel.gaussian_gamma * float(share) * unit**2)
    fitted = moved if lossless else _fitted(moved, unit)
    of_routing = _moved_errors(machine.routing, offset) if machine.routing else (0.0, 0.0)
    return Coded(moved, fitted, unit, width, low, high, lossless, error, *of_routing)


def _moved_errors(routing: Routing, offset: Float64Array) -> tuple[float, float]:
    """Return bounds on the rounding of t - <w, offset> and b + <w, offset> (`Routing.moved`)."""
    rounded = (len(offset) + 2) * 2 * UNIT_ROUNDOFF_64
    sizes = np.abs(routing.offsets) + np.abs(routing.weights) @ np.abs(offset)
    linear = 0.0
    if routing.has_weights:
        moved = np.abs(routing.leaf_weights) @ np.abs(offset)
        linear = rounded * float((np.abs(routing.intercepts) + moved).max())
    return rounded * float(sizes.max()), linear


def check_gamma(gamma: float) -> None:
    """Refuse a gamma, in units of the codes, that integers cannot multiply.

    gamma / ln 2 must be from 2^-58 to 64, because the sum in integers takes t = gamma D^2 / ln 2
    (`kmcompile.lower.fixed_sum`). From t = 32 on every kernel value is 0. Below 2^-58 the kernel
    values of codes of 16 bits hardly differ.

    Raises
    ------
    InputError
        If gamma is outside this range.
    """
    if not 2.0**-58 <= gamma / math.log(2) < 64.0:
        raise InputError(
            f"gamma is {gamma:g} in units of the codes, too large or too small for integers\n"
            "use --format float32"
        )


def _fitted(machine: KernelMachine, unit: float) -> KernelMachine:
    """Return the machine with coefficients that are fitted to the rounded vectors.

    Those of a routed machine are fitted by leaves, and there the kernels of one gamma together.
    """
    stored = np.rint(machine.support_vectors / unit) * unit
    pairs = VectorPairs(machine.kernel.gaussian_gamma, machine.support_vectors, stored)
    coefficients = decision_coefficients(machine)
    routing = machine.routing
    if routing is None:
        return with_decision_coefficients(machine, refitted(pairs, coefficients))
    fitted = coefficients.copy()
    for leaf in range(routing.n_leaves):
        members = np.arange(len(stored))[routing.members(leaf)]
        shares = routing.relative_gamma[members]
        for share, count in zip(*np.unique(shares, return_counts=True), strict=True):
            own = members[shares == share]
            if count > 1 or share == 1.0:
                of_gamma = replace(pairs, gamma=machine.kernel.gaussian_gamma * float(share))
                fitted[:, own] = refitted(of_gamma.chosen(own), coefficients[:, own])
    return replace(machine, dual_coef=fitted)


def scaled_codes(machine: KernelMachine, number_format: str, margin: float | None = None) -> Coded:
    """Return the machine with its vectors rounded to codes that cover the vectors' range.

    That of a reduced machine includes the trained machine's vectors (`vectors_behind`).

    Parameters
    ----------
    machine : KernelMachine
    number_format : str
        "int16" or "int8".
    margin : float, optional
        Largest distance of an input from the middle of the vectors, in half-ranges of the vectors;
        by default that of `Width`.
    """
    _check(machine)
    if not machine.kernel.is_gaussian:
        raise InputError(
            f"the support vectors are no integers that {number_format} holds as they are, and "
            f"others are rounded for the rbf kernel only, this machine's is {machine.kernel.name}"
            "\nuse --format float32"
        )
    vectors = vectors_behind(machine)
    middle = (vectors.max(axis=0) + vectors.min(axis=0)) / 2
    reach = float(np.abs(vectors - middle).max())
    width = WIDTHS[number_format]
    largest, margin = width.high, width.margin if margin is None else margin
    factor = largest / (margin * reach) if reach > 0 else 1.0
    return _coded(machine, middle, factor, (number_format, -largest, largest), False)


def _widest_narrow(codes: Float64Array, needed: int) -> int:
    """Return the largest code of an input with which sums fit 32 bits, or the largest of 16 bits.

    The result is at least `needed` if 16 bits hold `needed`.
    """
    for high in (32767, 16383, 8191, 4095, 2047, 1023, 511, 255):
        if high < needed:
            break
        apart = np.maximum(high - codes, codes + high)
        product = np.abs(codes).sum(axis=1).max() * high
        if (apart**2).sum(axis=1).max() + 1 < 2.0**32 and product < 2.0**31:
            return high
    return 32767


def _check(machine: KernelMachine) -> None:
    """Refuse a machine that integer formats do not support."""
    if machine.kernel.is_linear:
        raise InputError(
            "codes of support vectors are for sums over them, a linear machine is one inner "
            "product a decision\nuse --format float32"
        )
    # A sum of integer distances is one for rbf only, that of inner products for every function.
    kernel = machine.kernel
    summed = kernel.of_inner_product or kernel.is_gaussian
    scales = summed and kernel.in_code_units(1.0) is not None
    if not scales and kernel.additive is not Additive.LINES:
        raise InputError(
            "integer formats are for the rbf, poly, sigmoid and intersection kernels, this "
            f"machine's is {kernel.name}\nuse --format float32"
        )
    if machine.routing is not None and not kernel.is_gaussian:
        raise InputError(
            f"integer formats are for leaves of rbf kernels, this machine's are {kernel.name}\n"
            "use --format float32"
        )
    others = [step for step in machine.preprocessing if not isinstance(step, Affine)]
    if others or len(machine.preprocessing) > 1:
        raise InputError(
            "integer formats are for machines whose preprocessing is a scaler at most\n"
            "use --format float32"
        )
