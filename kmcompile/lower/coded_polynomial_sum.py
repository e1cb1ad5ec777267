"""Lowering of a polynomial machine with integer codes to its sum over monomials in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.codes import Coded
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, bound_constants, stored_error
from kmcompile.passes.expand_polynomial import Polynomials, expand_polynomial, monomials
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.coded_polynomial_sum import CodedPolynomialSum
from kmcompile.target import Target

_RESULT_ROUNDINGS = 6
"""Roundings relative to |f|, counted twice: the conversion of a word, the sum of both words, and
the outward rounding of lower and upper."""

_TERM_BITS = 31
_LARGEST_SUM = 2.0**62
_WANTED_SUM = 2.0**60
"""What the steps are chosen for: room for the rounding of coefficients, which counts exactly in the
end."""

_LEAST_LOG2, _MOST_LOG2 = -100, 50
"""Least and largest binary logarithm of the decisions' step: results are normal float32."""

_ROUNDED_GAMMA = 2.0**-50
"""Relative error of gamma in units of the codes, which float64 rounds twice."""

_WEIGHT_LONG, _WEIGHT_SHORT = 4, 20
"""Multiply-adds of codes in the instructions of one of 64 bits, with and without an instruction for
the product of two words; measured on emitted C."""


def multiply_add_weight(target: Target) -> int:
    """Return how many multiply-adds of codes take as many instructions as one of 64 bits."""
    return _WEIGHT_LONG if target.multiplies_long else _WEIGHT_SHORT


def lower_coded_polynomial(coded: Coded, target: Target) -> CodedPolynomialSum:
    """Return the stage of a polynomial machine with lossless codes that `can_expand` accepts.

    Raises
    ------
    InputError
        If the decisions leave the range of float32, or a sum that of 64 bits.
    """
    vectors = coded.codes.astype(np.float64) * coded.unit
    made = expand_polynomial(replace(coded.machine, support_vectors=vectors))
    tree = _Tree.of(made, coded)
    steps = tree.steps()
    exponents = (steps - tree.unit_logs)[made.degrees - 1]  # of a step in units of x
    with np.errstate(under="ignore"):
        whole = np.rint(np.ldexp(made.coefficients, -exponents))
        off = np.abs(made.coefficients - np.ldexp(whole, exponents)) + np.abs(made.low)
    ratios = np.append(steps[:-1] - steps[1:], 0)
    start = np.rint(made.constant / 2.0 ** float(steps[0]))
    tree.check(whole, ratios, start)
    error = made.weighted_norms(off) + made.error[:, 1:] + _moved(coded, vectors)
    rounded_down = np.ldexp(1.0, steps - tree.unit_logs) * (ratios > 0)
    error += rounded_down * made.weighted_norms(np.ones_like(made.coefficients))
    error *= 1 + 1e-9
    k = np.arange(1, len(steps) + 1)
    constant = np.abs(made.constant - start * 2.0 ** float(steps[0]))
    constant += np.abs(made.constant_low) + made.error[:, 0]
    return CodedPolynomialSum(
        codes=CodeRange(coded.machine.n_features, coded.width, coded.low, coded.high),
        per_unit=np.float32(1 / coded.unit),
        degree=len(steps),
        terms=_blocks(whole, min(target.lanes, 1 << (len(start) - 1).bit_length())),
        shifts=ratios.astype(np.uint8),
        start=np.column_stack([np.maximum(start, 0.0), np.maximum(-start, 0.0)]),
        result_scale=np.float32(2.0 ** float(steps[0])),
        result_error=bound_constant(_RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_length=bound_constants(error),
        per_deviation=bound_constants(k * (made.weighted_norms(made.coefficients) + error)),
        minimum=bound_constants(constant * (1 + 1e-9)),
        weight=multiply_add_weight(target),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """The monomials of each degree, with what their nested sums add up to at most.

    Parameters
    ----------
    made : Polynomials
    most : int
        The largest magnitude of a code.
    unit_logs : ndarray of shape (degree,), int64
        k times the binary logarithm of the value of a code, for degree k.
    places : list of ndarray
        The places of the monomials of each degree, from 1, in the order of `monomials`.
    parents : list of ndarray
        The number of each one's monomial without its last factor, among those of its degree.
    """

    made: Polynomials
    most: int
    unit_logs: NDArray[np.int64]
    places: list[NDArray[np.intp]]
    parents: list[NDArray[np.intp]]

    @classmethod
    def of(cls, made: Polynomials, coded: Coded) -> _Tree:
        degree = int(made.degrees.max())
        order = monomials(coded.machine.n_features, degree)
        places = [np.flatnonzero(made.degrees == k) for k in range(1, degree + 1)]
        number: dict[tuple[int, ...], int] = {(): 0}
        for own in places:
            number |= {order[t]: n for n, t in enumerate(own)}
        parents = [np.array([number[order[t][:-1]] for t in own]) for own in places]
        logs = round(math.log2(coded.unit)) * np.arange(1, degree + 1)
        return cls(made, max(-coded.low, coded.high), logs, places, parents)

    def steps(self) -> NDArray[np.int64]:
        """Return the binary logarithm of the step of each degree, in units of the decisions.

        Coefficients fit 31 bits and a sign, sums 60 bits. No step is finer than that of the next
        degree, or coarser by more than 2^31.
        """
        degree = len(self.places)
        found = np.full(degree, -(1 << 16), dtype=np.int64)
        of_below = np.zeros((len(self.made.constant), len(self.places[-1])))
        for k in range(degree, 0, -1):
            own = self._magnitudes(k) + of_below
            above = np.abs(self.made.constant)[:, None] if k == 1 else self._magnitudes(k - 1)
            of_below = self._summed(own, k, above.shape[1])
            least = max(
                float(self._magnitudes(k).max()) / (2.0**_TERM_BITS - 1),
                float((above + of_below).max()) / _WANTED_SUM,
            )
            finer = found[k] if k < degree else found[k - 1]
            found[k - 1] = max(finer, math.ceil(math.log2(least) + 1e-9) if least else finer)
        if found[0] > _MOST_LOG2:
            raise InputError(
                "the polynomial is too large for float32 at codes that the format allows\n"
                "use --format float32"
            )
        found[0] = max(found[0], _LEAST_LOG2)
        for k in range(1, degree):
            found[k] = max(found[k], found[k - 1] - _TERM_BITS)
        return found

    def check(self, whole: Float64Array, ratios: NDArray[np.int64], start: Float64Array) -> None:
        """Refuse integers whose sums could exceed 2^62 at codes within their limits.

        A sum of magnitudes bounds its partial sums, too.
        """
        degree = len(self.places)
        own = np.abs(whole[:, self.places[-1]])
        largest = float(own.max())
        for k in range(degree - 1, 0, -1):
            ratio = 2.0 ** float(ratios[k - 1])
            of_term = np.abs(whole[:, self.places[k - 1]]) * ratio
            before = of_term + self._summed(own, k + 1, of_term.shape[1])
            largest = max(largest, float(before.max()))
            own = before / ratio + 1
        total = np.abs(start)[:, None] + self._summed(own, 1, 1)
        largest = max(largest, float(total.max()))
        fits = float(np.abs(whole).max()) < 2.0**_TERM_BITS and ratios.max() <= _TERM_BITS
        if not fits or not largest * (1 + 1e-6) < _LARGEST_SUM:
            raise InputError(
                f"sums of the polynomial reach {largest:.3g} at codes that the format allows, too "
                "much for 64 bits\nuse --format float32"
            )

    def _magnitudes(self, k: int) -> Float64Array:
        """Return those of the coefficients of degree k, for codes instead of features."""
        own = np.abs(self.made.coefficients[:, self.places[k - 1]])
        sizes: Float64Array = np.ldexp(own, int(self.unit_logs[k - 1]))
        return sizes

    def _summed(self, own: Float64Array, k: int, n_parents: int) -> Float64Array:
        """Return the sums of what terms of degree k are at most, times the largest code."""
        sums = np.zeros((len(own), n_parents))
        np.add.at(sums.T, self.parents[k - 1], own.T * self.most)
        return sums


def _moved(coded: Coded, vectors: Float64Array) -> Float64Array:
    """Return how far the tensors of the codes are from those of the trained machine, in norm.

    The share of a support vector in degree k is beta C(d, k) c^(d - k) gamma^k times the tensor
    power of s, which changes by at most k (|s| + e)^(k - 1) e where s moves by e. A relative error
    of gamma counts k times.
    """
    machine = coded.machine
    kernel = machine.kernel.polynomial
    moved = stored_error(machine.support_vectors, vectors) + coded.moved_error
    lengths = np.sqrt((vectors**2).sum(axis=1)) + moved
    weight = np.abs(decision_coefficients(machine))
    d = kernel.degree
    shares = [
        math.comb(d, k) * abs(kernel.coef0) ** (d - k) * abs(kernel.gamma) ** k * k
        * (weight @ (lengths ** (k - 1) * (moved + _ROUNDED_GAMMA * lengths)))
        for k in range(1, d + 1)
    ]  # fmt: skip
    error: Float64Array = np.column_stack(shares)
    return error


def _blocks(whole: Float64Array, lanes: int) -> NDArray[np.int32]:
    """Return the integers as blocks, shape (n_blocks, n_terms, lanes), filled up with 0."""
    padded = np.pad(whole, ((0, -len(whole) % lanes), (0, 0))).astype(np.int32)
    return padded.reshape(-1, lanes, whole.shape[1]).transpose(0, 2, 1)
