"""What each constant of a sum of functions of single features must at least be."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from needed import Needed, U, gamma

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import precision_of
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    AdditiveSum,
    CodedLinearSum,
    CurveSum,
    TableSum,
)


def additive_sum(stage: AdditiveSum, machine: KernelMachine) -> Needed:
    """Return those of sum_j g_j(x_j) + b, in either precision, from g_j in rational numbers."""
    unit = precision_of(stage.result_error).unit_roundoff
    rows = [[Fraction(b) for b in row] for row in decision_coefficients(machine).tolist()]
    slopes = [[_slopes(row, s) for row in rows] for s in machine.support_vectors.T]
    deviation = np.sqrt((np.array(slopes, dtype=np.float64) ** 2).sum(axis=0))
    minimum, reach = np.zeros(len(rows)), []
    first, n = 0, stage.n_functions
    for q, (column, end) in enumerate(
        zip(stage.function_columns, stage.function_ends, strict=True)
    ):
        pieces = stage.weights[first:end].astype(np.float64)
        s = [Fraction(v) for v in machine.support_vectors[:, column].tolist()]
        additions = n - max(q, 1)
        own = [_of_function(pieces, row, s, p) for p, row in enumerate(rows)]
        stored, size, product, start = np.array(own).T
        per_reach = gamma(additions + 3, unit) * start
        minimum += stored + gamma(additions + 1, unit) * size + gamma(2, unit) * product
        minimum += per_reach * abs(pieces[0, 0])
        reach.append(per_reach)
        first = end
    return {
        "per_length": np.sqrt((np.array(reach) ** 2).sum(axis=0)),
        "per_deviation": deviation * (1 - 1e-12),
        "minimum": minimum * (1 - 1e-12),
        "result_error": 2 * unit * (1 + unit),
    }


def _slopes(row: list[Fraction], s: np.ndarray) -> float:
    """Return the largest slope of sum_i beta_i min(s_i, x)."""
    above, largest = sum(row), abs(float(sum(row)))
    for value in np.unique(s):
        above -= sum(row[i] for i in np.flatnonzero(s == value))
        largest = max(largest, abs(float(above)))
    return largest


def _of_function(
    pieces: np.ndarray, row: list[Fraction], s: list[Fraction], p: int
) -> tuple[float, float, float, float]:
    """Return how far the stored function is off, and its largest size, product and first slope.

    It is off most at a trained value or at the end of a piece.
    """
    n_decisions = (pieces.shape[1] - 1) // 2
    knots = [Fraction(v) for v in pieces[:, 0]]
    a, c = ([Fraction(v) for v in pieces[:, 1 + p + k * n_decisions]] for k in (0, 1))
    off = size = product = 0.0
    for k in range(1, len(knots)):
        end = knots[k + 1] if k + 1 < len(knots) else max(*s, knots[k])
        inside = {knots[k], end, *(v for v in s if knots[k] < v < end)}
        for x in inside:
            own = a[k] + c[k] * (x - knots[k])
            exact = sum((b * min(v, x) for b, v in zip(row, s, strict=True)), Fraction(0))
            off, size = max(off, abs(float(own - exact))), max(size, abs(float(own)))
            product = max(product, abs(float(own - a[k])))
    return off, size, product, abs(float(c[0]))


def table_sum(stage: TableSum, machine: KernelMachine) -> Needed:
    """Return those of sum_j g_j(x_j) + b in integers, of a machine whose features are its codes.

    Every function is worked out in rational numbers at every code, and the worst codes are put
    together. A feature without a function counts with all its codes, too.
    """
    rows = [[Fraction(b) for b in row] for row in decision_coefficients(machine).tolist()]
    columns = machine.support_vectors.T
    slopes = np.array([[_slopes(row, s) for row in rows] for s in columns], dtype=np.float64)
    step, starts = Fraction(float(stage.result_scale)), stage.start.astype(object)
    places = zip(stage.function_columns.tolist(), stage.function_ends.tolist(), strict=True)
    stored, first = {}, 0
    for column, end in places:
        stored[column], first = stage.values[first:end].astype(object), end
    minimum = []
    for p, row in enumerate(rows):
        lowest = highest = Fraction(machine.intercept[p]) - (starts[p, 0] - starts[p, 1]) * step
        for j, s in enumerate(columns):
            vectors = [Fraction(v) for v in s.tolist()]
            values = stored.get(j, np.zeros((int(max(s)) - stage.codes.low + 1, len(rows)), int))
            off = []
            for place, value in enumerate(values[:, p].tolist()):
                code = Fraction(stage.codes.low + place)
                g = sum((b * min(v, code) for b, v in zip(row, vectors, strict=True)), Fraction(0))
                off.append(g - value * step)
            lowest, highest = lowest + min(off), highest + max(off)
        minimum.append(float(max(-lowest, highest)))
    return {
        "per_deviation": np.sqrt((slopes**2).sum(axis=0)) * float(stage.per_unit) * (1 - 1e-12),
        "minimum": np.array(minimum) * (1 - 1e-12),
        "result_error": 2 * U * (1 + U),
    }


def coded_linear_sum(stage: CodedLinearSum, program: Program, machine: KernelMachine) -> Needed:
    """Return those of <w, X> + b in integers, in units, of a machine behind a scaler.

    Every product is rounded down by less than one, and three times the bound itself.
    """
    scale, (scaler,) = program.scale, machine.preprocessing
    rows = [[Fraction(b) for b in row] for row in decision_coefficients(machine).tolist()]
    vectors = [[Fraction(v) for v in s] for s in machine.support_vectors.tolist()]
    features = range(machine.n_features)
    factors = [Fraction(v) for v in scaler.factor.tolist()]
    moved = [
        Fraction(o) - Fraction(m)
        for o, m in zip(scale.offset.tolist(), scaler.offset.tolist(), strict=True)
    ]
    steps = [Fraction(v) for v in scale.step.tolist()]
    of_products = Fraction(stage.n_features * ((1 << stage.shift) - 1), 1 << stage.shift)
    start = stage.sums(np.zeros((1, stage.n_features), dtype=np.int64))[0]
    base, per_part = [], []
    for p, row in enumerate(rows):
        unit = Fraction(2) ** int(stage.exponents[p])
        w = [
            factors[j] * sum(b * s[j] for b, s in zip(row, vectors, strict=True)) for j in features
        ]
        b = Fraction(machine.intercept[p]) + sum(w[j] * moved[j] for j in features)
        # The sum at the codes 0 is that of products without a remainder less 1 for each at most.
        off = abs(int(start[p]) - b / unit)
        base.append(float(max(off, of_products / 2)) + 3)
        per_part.append(float(sum(abs(w[j]) * steps[j] for j in features) / unit))
    return {"base": np.array(base), "per_part": np.array(per_part)}


def curve_sum(stage: CurveSum, machine: KernelMachine) -> Needed:
    """Return those of sum_j g_j(x_j) + b with the additive chi2 kernel, of one decision.

    From g_j in rational numbers at points of every piece, and far beyond the last knot.
    """
    unit = precision_of(stage.result_error).unit_roundoff
    row = [Fraction(b) for b in decision_coefficients(machine)[0].tolist()]
    minimum, beyond, steepest, reach = 0.0, 0.0, [], []
    first, n = 0, stage.n_functions
    for q, (column, end) in enumerate(
        zip(stage.function_columns, stage.function_ends, strict=True)
    ):
        pieces = [[Fraction(v) for v in piece] for piece in stage.weights[first:end].tolist()]
        s = [Fraction(v) for v in machine.support_vectors[:, column].tolist()]
        own = [
            _of_curve(piece, x, row, s)
            for piece, after in itertools.pairwise(pieces)
            for x in (piece[0] + (after[0] - piece[0]) * Fraction(k, 8) for k in range(8))
        ]
        off, size, products, slope = np.array(own).max(axis=0)
        additions = n - max(q, 1)
        minimum += off + gamma(additions + 1, unit) * size + 3 * unit * products
        line = [*pieces[-1][:3], -sum(row) / pieces[-1][1]]  # its slope without an error
        beyond = max(beyond, _of_curve(line, Fraction(2) ** 60, row, s)[0])
        reach.append(gamma(additions + 3, unit) * abs(float(pieces[-1][3] * pieces[-1][1])))
        steepest.append(slope)
        first = end
    return {
        "per_length": math.hypot(*reach),
        "per_deviation": math.hypot(*steepest) * (1 - 1e-12),
        "minimum": minimum * (1 - 1e-12),
        "beyond": beyond * 0.99,  # c_0 is rounded, too, and x is not infinite
        "result_error": 2 * unit * (1 + unit),
    }


def _of_curve(
    piece: list[Fraction], x: Fraction, row: list[Fraction], s: list[Fraction]
) -> tuple[float, float, float, float]:
    """Return how far a polynomial is off at x, its size, its k c_k y^k and the slope of g."""
    knot, scale, *coefficients = piece
    y = (x - knot) * scale
    terms = [c * y**k for k, c in enumerate(coefficients)]
    pairs = [(b, v) for b, v in zip(row, s, strict=True) if x + v]
    exact = -sum((b * (x - v) ** 2 / (x + v) for b, v in pairs), Fraction(0))
    slope = sum((b * (2 * v / (x + v)) ** 2 for b, v in pairs), -sum(row))
    products = float(sum(k * abs(term) for k, term in enumerate(terms)))
    own = sum(terms)
    return abs(float(own - exact)), abs(float(own)), products, abs(float(slope))
