"""What each constant of a bound must at least be, worked out once more from its derivation.

From the stored tables and the trained machine, in 50 digits where kernel values take part; the
roundings are counted here, from the order of the operations, and not taken from the lowering.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import binomial, matrix, mp, mpf

from kmcompile.kernels import Laplacian, Poly, Rbf
from kmcompile.kernels.additive_chi2 import AdditiveChi2Float32
from kmcompile.kernels.chi2 import Chi2Float32
from kmcompile.kernels.exponential import ExponentialFloat32
from kmcompile.kernels.fourier import FourierFloat32
from kmcompile.kernels.intersection import IntersectionFloat32
from kmcompile.kernels.laplacian import LaplacianFloat32
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.kernels.sigmoid import SigmoidFloat32
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.scalar import exp_negative, power
from kmcompile.numeric.scalar.functions import COSINE, TANH
from kmcompile.passes.expand_polynomial import monomials
from kmcompile.program.stages import (
    AdditiveSum,
    BoundSequence,
    CurveSum,
    ExactSum,
    LinearSum,
    LocalExpansion,
    PairSum,
    PolynomialSum,
    QuadraticBounds,
    SubspaceCertificate,
    TableSum,
)
from kmcompile.program.stages.replay import Replay

DIGITS = 50
U = 2.0**-24
TINY = 2.0**-126
Needed = dict[str, Any]
"""Term -> the least value that it may have, of its shape; "shrink" the largest."""


def gamma(n: int, unit: float = U) -> float:
    """Return gamma_n = n u / (1 - n u), from rationals."""
    u = Fraction(unit)
    return float(n * u / (1 - n * u))


def holds(stage: Any, needed: Needed) -> list[str]:
    """Return the terms that are too small (of "shrink", too large)."""
    bad = []
    for term, least in needed.items():
        value = stage
        for name in term.split("[")[0].split("."):
            value = getattr(value, name)
        value = np.asarray(value, dtype=np.float64)
        if term.endswith("]"):
            value = value[..., int(term[:-1].split("[")[1])]
        sure = value <= least if term == "shrink" else value >= least
        bad += [] if np.all(sure) else [term]
    return bad


@dataclass(frozen=True)
class Facts:
    """What is known of a sum over vectors.

    Parameters
    ----------
    n : int
        Features.
    error, length : float
        Largest distance of a stored vector from the trained one, and largest length.
    sum_error : float
        Relative error of coefficients, products and additions.
    u, tiny : float
        Unit roundoff and the smallest normal number.
    """

    n: int
    error: float
    length: float
    sum_error: float
    u: float
    tiny: float


def rbf(kernel: RbfFloat32, of: Facts) -> Needed:
    """Return those of exp(-gamma |s - x|^2).

    The balance t of the two parts of 2 D e <= t D^2 + e^2 / t is free: `z_error` says which it is,
    and then `shift` has to fit.
    """
    n, scale = of.n, float(kernel.gamma)
    g, tau = gamma(2 if kernel.expands else n + 4, of.u), kernel.exponential.relative_error
    t = max(float(kernel.z_error) * (1 - g) * (1 - tau) - g, 1e-30)
    own = {"shift_minimum": 4 * (scale * n + 1) * of.tiny}
    if kernel.expands:  # all n features nonzero
        own = {
            "shift_minimum": scale * gamma(4, of.u) * of.length**2,
            "per_reach": scale * gamma(n + 2, of.u) / (n + 2),
            "twice_length": 2 * of.length,
        }
    return own | {
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "shift": scale * (1 + 1 / t) / (1 - tau) * (1 - 4 * U),
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def poly(kernel: PolyFloat32, of: Facts) -> Needed:
    """Return those of (gamma <s, x> + coef0)^p: of gamma, product and addition u each."""
    p = kernel.degree
    return {
        **_inner_product(kernel, of),
        "slope": p * (1 + gamma(p + 2, of.u)),
        "value_error": power.relative_error(p, of.u) + of.sum_error,
    }


def sigmoid(kernel: SigmoidFloat32, of: Facts) -> Needed:
    """Return those of tanh(gamma <s, x> + coef0)."""
    return {
        **_inner_product(kernel, of),
        "function_error": TANH[kernel.precision.dtype].relative_error,
        "value_error": of.sum_error,
    }


def _inner_product(kernel: Any, of: Facts) -> Needed:
    scale = abs(float(kernel.gamma)) * (1 - U)
    return {
        "per_length": scale * (gamma(of.n, of.u) * of.length + of.error + 3 * of.u * of.length),
        "per_deviation": scale * (of.length + of.error),
        "minimum": 2 * of.u * abs(float(kernel.coef0)),
    }


def exponential(kernel: ExponentialFloat32, of: Facts) -> Needed:
    """Return those of exp(-gamma D): its terms of 1 and 5 roundings move by 1 and 3 times."""
    roundings, underflows, steepest = {LaplacianFloat32: (1, 2, 1.0), Chi2Float32: (5, 5, 3.0)}[
        type(kernel)
    ]
    g, tau = gamma(roundings + of.n + 1, of.u), kernel.exponential.relative_error
    return {
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "slope": float(kernel.gamma) * (1 - U) * steepest * math.sqrt(of.n),
        "shift_minimum": 2 * (float(kernel.gamma) * underflows * of.n + 1) * of.tiny,
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def intersection(kernel: IntersectionFloat32, of: Facts) -> Needed:
    """Return those of sum_j min(s_j, x_j): n - 1 additions, and n terms that move."""
    root = math.sqrt(of.n)
    return {
        "per_length": gamma(of.n - 1, of.u) * root,
        "per_deviation": root,
        "minimum": root * (gamma(of.n - 1, of.u) * of.length + of.error),
        "value_error": of.sum_error,
    }


def additive_chi2(kernel: AdditiveChi2Float32, of: Facts) -> Needed:
    """Return those of a sum of terms of 5 roundings, none negative, that move by 3 times."""
    steepest = 3 * math.sqrt(of.n)
    g = gamma(5 + of.n - 1, of.u)
    return {
        "per_deviation": steepest,
        "minimum": steepest * of.error + 5 * of.n * of.tiny,
        "value_error": g / (1 - g) + of.sum_error,
    }


def fourier(kernel: FourierFloat32, of: Facts) -> Needed:
    """Return those of cos(<s, x>): n products and n - 1 additions that round or are flushed."""
    return {
        "per_length": gamma(of.n, of.u) * of.length + of.error,
        "per_deviation": of.length + of.error,
        "minimum": (2 * of.n - 1) * of.tiny,
        "function_error": COSINE[kernel.precision.dtype].absolute_error,
        "value_error": of.sum_error,
    }


_KERNELS = {
    RbfFloat32: rbf,
    PolyFloat32: poly,
    SigmoidFloat32: sigmoid,
    LaplacianFloat32: exponential,
    Chi2Float32: exponential,
    IntersectionFloat32: intersection,
    AdditiveChi2Float32: additive_chi2,
    FourierFloat32: fourier,
}


def _longest(stage: ExactSum | PairSum) -> int:
    """Return the most roundings of a product, its own one included."""
    if isinstance(stage, PairSum):
        ends = stage.pair_ends.astype(int).ravel()
        entries = int(np.diff(ends, prepend=0).max())
        return 1 + (min(entries, 16) - 1) + -(-entries // 16) + 1  # a section, sections, signs
    blocks = int(np.diff(stage.group_ends.astype(int), prepend=0).max())
    return blocks + stage.lanes + stage.n_groups  # a product, its lanes, blocks and groups


def exact_sum(stage: ExactSum | PairSum, machine: KernelMachine) -> Needed:
    """Return those of the exact sum and of its kernel, in either precision."""
    kernel, precision = stage.kernel, stage.kernel.precision
    u = precision.unit_roundoff
    longest = _longest(stage)
    of = Facts(
        n=stage.n_features,
        error=_storage(stage, machine),
        length=float(np.sqrt((stage.vectors.astype(np.float64) ** 2).sum(axis=1)).max()),
        sum_error=(1 + gamma(longest, u)) * (1 + _coefficient_error(stage, machine)) - 1,
        u=u,
        tiny=precision.smallest_normal,
    )
    found = {f"kernel.{name}": v for name, v in _KERNELS[type(kernel)](kernel, of).items()}
    size = np.abs(decision_coefficients(machine)).sum(axis=1)
    storage = np.abs(machine.intercept - stage.intercept)
    found |= {
        "final_factor": 1 + gamma(longest + 4, u),
        "result_error": 2 * u * (1 + u),
        "minimum": storage + size * kernel.absolute_error,
    }
    if isinstance(kernel, RbfFloat32 | ExponentialFloat32):
        found["trivial_bound"] = float((2 * size + storage).max())
    return found


def _storage(stage: ExactSum | PairSum, machine: KernelMachine) -> float:
    """Return the largest distance of a stored vector from the trained one next to it."""
    slots = stage.vectors.transpose(0, 2, 1).reshape(-1, stage.n_features).astype(np.float64)
    largest = 0.0
    for slot in slots:
        largest = max(largest, float(((machine.support_vectors - slot) ** 2).sum(axis=1).min()))
    return math.sqrt(largest)


def _coefficient_error(stage: ExactSum | PairSum, machine: KernelMachine) -> float:
    """Return the largest relative error of a stored coefficient: rounding keeps their order."""
    stored = stage.coefficients.astype(np.float64).ravel()
    stored, trained = (np.sort(v[v != 0]) for v in (stored, machine.dual_coef.ravel()))
    return float(np.abs((stored - trained) / trained).max())


def linear_sum(stage: LinearSum, machine: KernelMachine) -> Needed:
    """Return those of <w, x> + b, in either precision."""
    precision = precision_of(stage.result_error)
    u, n = precision.unit_roundoff, stage.n_features
    stored = stage.weights.transpose(0, 2, 1).reshape(-1, n)[: stage.n_decisions]
    stored = stored.astype(np.float64)
    with mp.workdps(DIGITS):
        beta = matrix(decision_coefficients(machine).tolist())
        left = beta * matrix(machine.support_vectors.tolist()) - matrix(stored.tolist())
        e = np.sqrt((np.array(left.tolist(), dtype=np.float64) ** 2).sum(axis=1))
    length = np.sqrt((stored**2).sum(axis=1))
    return {
        "per_length": gamma(n, u) * length + e,
        "per_deviation": length + e,
        "minimum": np.abs(machine.intercept - stage.intercept) + 2 * n * precision.smallest_normal,
        "result_error": 2 * u * (1 + u),
    }


def polynomial_sum(stage: PolynomialSum, machine: KernelMachine) -> Needed:
    """Return those of nested sums over monomials, in either precision."""
    precision = precision_of(stage.result_error)
    kernel, u, n = machine.kernel, precision.unit_roundoff, stage.n_features
    d, order = kernel.degree, monomials(n, kernel.degree)
    stored = stage.terms.transpose(0, 2, 1).reshape(-1, len(order))[: stage.n_decisions]
    size, error = np.zeros((2, stage.n_decisions, d))
    with mp.workdps(DIGITS):
        beta = decision_coefficients(machine).tolist()
        outer = [
            binomial(d, k) * mpf(kernel.coef0) ** (d - k) * mpf(kernel.gamma) ** k
            for k in range(d + 1)
        ]
        for t, factors in enumerate(order):
            k, counts = len(factors), Counter(factors).values()
            orderings = math.factorial(k) // math.prod(map(math.factorial, counts))
            powers = [
                mp.fprod(mpf(s[j]) for j in factors) for s in machine.support_vectors.tolist()
            ]
            for p, row in enumerate(beta):
                exact = outer[k] * orderings * mp.fdot(row, powers)
                size[p, k - 1] += float(stored[p, t]) ** 2 / orderings
                error[p, k - 1] += float((exact - mpf(float(stored[p, t]))) ** 2) / orderings
        constant = [
            outer[0] * mp.fsum(row) + b
            for row, b in zip(beta, machine.intercept.tolist(), strict=True)
        ]
        off = [
            float(abs(c - mpf(float(b)))) for c, b in zip(constant, stage.intercept, strict=True)
        ]
    size, error = np.sqrt(size), np.sqrt(error)
    k = np.arange(1, d + 1)
    return {
        "per_length": np.array([gamma(n + 2 * int(each), u) for each in k]) * size + error,
        "per_deviation": k * (size + error),
        "minimum": np.array(off) + 2 * n * precision.smallest_normal,
        "result_error": 2 * u * (1 + u),
    }


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


def replay(stage: Replay, machine: KernelMachine) -> Needed:
    """Return those of the sum in float64, and what is lost of subnormals that are read as 0."""
    sums = {
        LinearSum: linear_sum,
        PolynomialSum: polynomial_sum,
        AdditiveSum: additive_sum,
        CurveSum: curve_sum,
    }
    own = sums.get(type(stage.sum), exact_sum)
    found = {f"sum.{name}": least for name, least in own(stage.sum, machine).items()}
    return found | {"input_error": math.sqrt(stage.prepare.n_features) * (TINY - 2.0**-149)}


def bound_sequence(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of the bound sequence; its docstring names them."""
    with mp.workdps(DIGITS):
        found = _sequence(stage, machine)
    reach = {Rbf: _rbf_reach, Poly: _poly_reach, Laplacian: _laplacian_reach}[type(machine.kernel)]
    return found | {f"reach.{name}": least for name, least in reach(stage, machine).items()}


def _sequence(stage: BoundSequence, machine: KernelMachine) -> Needed:
    lanes, n = stage.lanes, stage.n_blocks * stage.lanes
    z = stage.vectors.transpose(0, 2, 1).reshape(n, -1).astype(np.float64)
    A = _triangle(stage)
    n = int((np.diag(A) != 0).sum())  # the rest fill the last block
    z, A = z[:n], A[:n, :n]
    s, beta = machine.support_vectors, decision_coefficients(machine)
    G, H, K = (_kernels(machine, *pair) for pair in ((z, z), (z, s), (s, s)))
    scale = np.sqrt(np.array([float(G[i, i]) for i in range(n)]))
    magnitude = np.abs(A)
    path = lanes * (np.arange(n) // lanes + 1)
    g = np.array([gamma(int(k)) for k in path])
    rows, reaches = magnitude.sum(axis=1), magnitude @ scale
    A_mp = matrix(A.tolist())
    largest = float(max(mp.eigsy(A_mp * G * A_mp.T, eigvals_only=True)))
    weights = stage.weights.transpose(1, 0, 2).reshape(stage.n_decisions, -1)[:, :n]
    residual, per_error, per_reach = (np.zeros((stage.n_blocks, len(beta))) for _ in range(3))
    for block in range(stage.n_blocks):
        k = min(n, lanes * (block + 1))
        for p in range(len(beta)):
            w = np.abs(weights[p, :k]).astype(np.float64)
            c = matrix(weights[p, None, :k].astype(float).tolist()) * A_mp[:k, :k]
            residual[block, p], inside = _rest(G[:k, :k], H[:k, :], K, c, beta[p])
            sizes = [abs(float(value)) for value in c]
            per_error[block, p] = sum(sizes) + w @ (g * rows)[:k]
            own = gamma(k + 1) * np.sqrt((w**2).sum() * largest)
            per_reach[block, p] = w @ (g * reaches)[:k] + inside + own
    errors = np.zeros((2, stage.n_blocks * lanes))
    errors[:, :n] = (1 + g) * rows, g * reaches
    b = machine.intercept
    return {
        "row_error": errors.reshape(2, stage.n_blocks, lanes).transpose(1, 0, 2),
        "residual": residual,
        "per_error": per_error,
        "per_reach": per_reach,
        "minimum": np.abs(b - b.astype(np.float32)) + gamma(n + 2) * np.abs(b),
        "shrink": (1 - gamma(n + 2)) / largest,
        "slack": 3 * U,
        "result_error": 2 * U * (1 + U),
    }


def _triangle(stage: BoundSequence) -> np.ndarray:
    n, lanes = stage.n_blocks * stage.lanes, stage.lanes
    A, at = np.zeros((n, n)), 0
    for block in range(stage.n_blocks):
        known = lanes * (block + 1)
        rows = stage.triangle[at : at + known * lanes].reshape(known, lanes).T
        A[lanes * block : known, :known] = rows
        at += known * lanes
    return A


def _kernels(machine: KernelMachine, a: np.ndarray, b: np.ndarray) -> Any:
    kernel = machine.kernel
    found = matrix(len(a), len(b))
    rows, columns = ([[mpf(v) for v in row] for row in part.tolist()] for part in (a, b))
    for i, x in enumerate(rows):
        for j, y in enumerate(columns):
            if isinstance(kernel, Rbf):
                total = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
                found[i, j] = mp.exp(-mpf(kernel.gamma) * total)
            elif isinstance(kernel, Laplacian):
                total = mp.fsum(abs(v - w) for v, w in zip(x, y, strict=True))
                found[i, j] = mp.exp(-mpf(kernel.gamma) * total)
            else:
                v = mpf(kernel.gamma) * mp.fdot(x, y) + mpf(kernel.coef0)
                found[i, j] = v**kernel.degree
    return found


def _rest(G: Any, H: Any, K: Any, c: Any, beta: np.ndarray) -> tuple[float, float]:
    """Return |r| and the norm of its part in the span, r = W - sum c_l phi(z_l)."""
    beta = matrix(beta.tolist())
    h = H * beta
    square = (beta.T * K * beta)[0] - 2 * (c * h)[0] + (c * G * c.T)[0]
    left = h - G * c.T
    inside = (left.T * mp.lu_solve(G, left))[0]
    return float(mp.sqrt(max(square, 0))), float(mp.sqrt(max(inside, 0)))


def _rbf_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `RbfReach`: `shift` and the others say which balance t they are for."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    g = gamma(2 if stage.expands else n + 4)
    scale = machine.kernel.gamma
    t = 1 / max(float(stage.reach.shift) * (1 - tau) / scale - 1, 1e-30)
    z_error = (g + t) / (1 - g) / (1 - tau) * (1 - 2.0**-17)
    widest = float(stage.reach.per_z) * math.e / (1 + tau)
    least_t = max(widest * (1 - g) * (1 - tau) - g, 1e-30)
    own = {"shift_minimum": scale * 4 * n * TINY + 4 * TINY}
    if stage.expands:  # all n features nonzero
        longest = _longest_z(stage)
        own = {
            "shift_minimum": scale * gamma(4) * longest**2,
            "per_reach": scale * gamma(n + 2) / (n + 2),
            "twice_length": 2 * longest,
        }
    return own | {
        "shift": scale * (1 + 1 / least_t) * (1 - 2.0**-12),
        "widest": z_error * float(exp_negative.CUTOFF),
        "per_z": z_error * (1 + tau) / math.e,
        "value_error": tau / (1 - tau) + math.exp(1 - float(exp_negative.CUTOFF)),
    }


def _laplacian_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `ExponentialReach` for the laplacian kernel: a term has 1 rounding."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    z_error = gamma(n + 2) / (1 - gamma(n + 2)) / (1 - tau)
    return {
        "slope": machine.kernel.gamma * math.sqrt(n),
        "shift_minimum": 2 * (machine.kernel.gamma * 2 * n + 1) * TINY,
        "widest": z_error * float(exp_negative.CUTOFF),
        "per_z": z_error * (1 + tau) / math.e,
        "value_error": tau / (1 - tau) + math.exp(1 - float(exp_negative.CUTOFF)),
    }


def _longest_z(stage: BoundSequence) -> float:
    """Return the largest |z|."""
    return float(np.sqrt((stage.vectors.astype(np.float64) ** 2).sum(axis=1)).max())


def _poly_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `PolyReach`: K(x, x) loses 4 p roundings, the error 5 p + 8."""
    kernel, n = machine.kernel, stage.n_features
    p = kernel.degree
    length = _longest_z(stage)
    scale = kernel.gamma
    return {
        "gamma": scale,
        "coef0": kernel.coef0,
        "longest": length,
        "up": 1 + gamma(5 * p + 8),
        "per_length": scale * (gamma(n) + 3 * U) * length,
        "per_deviation": scale * length,
        "minimum": 2 * U * kernel.coef0,
        "slope": p,
        "value_error": power.relative_error(p),
    }


def subspace_certificate(stage: SubspaceCertificate, exact: ExactSum, kernel: Any) -> Needed:
    """Return those of the subspace certificate and of its remainder."""
    d, p, n = kernel.degree, stage.n_out, exact.n_features
    V = stage.products.matrix(n)
    seen = int(np.count_nonzero(np.abs(V).sum(axis=0)))
    frobenius, norm = float(np.linalg.norm(V)), float(np.linalg.norm(V, 2))
    zeta = gamma(seen) * frobenius
    v = norm + zeta
    used = stage.weights > 0
    beta = np.abs(exact.slot_decisions()[:, 0].astype(np.float64))[used]
    delta = beta / np.sqrt(stage.weights[used].astype(np.float64))
    scale, path = float(stage.remainder.scale), exact.n_blocks + exact.lanes + exact.n_groups
    own = _remainder(stage, exact, kernel, (V, used, delta, zeta, v))
    roundings = gamma(path + d + 4) * scale * float(np.linalg.norm(delta))
    return {f"remainder.{name}": least for name, least in own.items()} | {
        "slack": 2 * zeta * v + (gamma(p + 2) + max(0.0, 1 - norm**-2)) * v**2 + 3 * U,
        "remainder_factor": scale,
        "lost": gamma(path + 2 * d + 4) + stage.max_touched * U,
        "share_minimum": 2 * d * exact.n_slots * TINY,
        "rounding": 2 * roundings,
        "error_factor": 1 + gamma(stage.max_touched + 2),
        "moved_factor": 2 * U,
        "result_error": 2 * U,
        "minimum": float(exact.minimum[0]),
    }


def _remainder(
    stage: SubspaceCertificate, exact: ExactSum, kernel: Any, known: tuple[Any, ...]
) -> Needed:
    V, used, delta, zeta, v = known
    remainder, d, p = stage.remainder, kernel.degree, stage.n_out
    unit = float(remainder.scale) ** (1 / d)
    scale, coef0 = abs(kernel.gamma) / unit, abs(kernel.coef0) / unit
    projected = stage.vectors.transpose(0, 2, 1).reshape(-1, p).astype(np.float64)
    vectors = exact.columns().T.astype(np.float64)
    basis = np.linalg.qr(V.T)[0]
    inside = vectors @ basis
    along = float(np.sqrt(((inside - projected @ V @ basis) ** 2).sum(axis=1)).max())
    longest = float(np.sqrt((projected**2).sum(axis=1)).max())
    length = float(np.sqrt((vectors**2).sum(axis=1)).max())
    across = (vectors - inside @ basis.T)[used]
    gram = across @ across.T
    orders = np.zeros_like(remainder.orders, dtype=np.float64)
    for k in range(1, d + 1):
        values = np.linalg.eigvalsh(delta[:, None] * gram**k * delta)
        outside = scale * math.sqrt(max(values[-1], 0.0)) ** (1 / k)
        orders[k - 1, :3] = outside, np.linalg.norm(delta) ** (1 / k), math.comb(d, k)
    loose = 1 - 1e-5  # unit is known to float32
    return {
        **{f"orders[{column}]": orders[:, column] * loose for column in range(3)},
        "per_length": scale * loose * (longest * (zeta + gamma(p) * v + 3 * U * v) + along),
        "per_deviation": scale * loose * length,
        "minimum": 2 * U * coef0 * loose,
        "largest_per_length": scale * loose * longest * v,
        "largest_minimum": coef0 * loose,
    }


def quadratic_bounds(stage: QuadraticBounds, machine: KernelMachine) -> Needed:
    """Return those of quadratic bounds on a binary machine of degree 3, from its tensors."""
    S, beta, kernel = machine.support_vectors, machine.dual_coef[0], machine.kernel
    scale, coef0, n, r = kernel.gamma, kernel.coef0, stage.n_features, stage.n_levels - 1
    linear = 3 * coef0**2 * scale * (beta @ S)
    Q = 3 * coef0 * scale**2 * np.einsum("i,ia,ib->ab", beta, S, S)
    cubic = scale**3 * np.einsum("i,ia,ib,ic->abc", beta, S, S, S).reshape(n, -1)
    b = coef0**3 * math.fsum(beta) + float(machine.intercept[0])
    rows, factors = stage.rows.astype(np.float64), stage.levels[:, 0].astype(np.float64)
    values = np.linalg.eigvalsh(Q)
    order = np.argsort(-np.abs(values), kind="stable")
    behind = [np.append(values[order][level:], 0.0) for level in range(r + 1)]
    below = np.array([max(-rest) for rest in behind])
    above = np.array([max(rest) for rest in behind])
    most = max(below.max(), above.max())
    sizes = np.linalg.norm(rows, axis=1)
    zeta = gamma(n) * sizes[1:]
    w, c = sizes[1:] + zeta, np.abs(factors[1:])
    outside = 1 + float((w**2).sum())
    lost = 2 * float((zeta * w).sum()) + (2 * r + 1) * U * outside
    curved = float((c * w**2).sum()) + most * outside
    size, third = float(np.linalg.norm(linear)), float(np.linalg.norm(cubic, 2))
    return {
        "levels[1]": below * (1 - 1e-6),
        "levels[2]": above * (1 - 1e-6),
        "radii[0]": abs(b - float(stage.intercept)) + gamma(r + 3) * abs(b),
        "radii[1]": gamma(n) * size + np.linalg.norm(linear - rows[0]) + gamma(r + 3) * size,
        "radii[2]": 2 * float((c * zeta * w).sum()) + most * lost + gamma(r + 3) * curved,
        "radii[3]": third,
        "slopes[0]": size,
        "slopes[1]": 2 * float(np.abs(values).max()),
        "slopes[2]": 3 * third,
    }


def local_expansion(stage: LocalExpansion, machine: KernelMachine) -> Needed:
    """Return those of a tree of expansions of a binary machine."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    g, scale = gamma(n + 4), machine.kernel.gamma
    needed = {
        "up": 1 / math.sqrt(1 - gamma(n + 2)),
        "relative": tau / (1 - tau) + 4 * U,
        "relative_per_square": g / (1 - g) * scale / (1 - tau),
        "relative_per_reach": 2 * scale / (1 - tau),
        "result_error": 2 * U,
    }
    exact = np.array([_expansion(stage, machine, c) for c in range(stage.n_centres)])
    needed |= {f"constants[{c + 2}]": exact[:, None, c] for c in range(8)}
    return needed | (_curved(stage, machine, exact[:, None]) if stage.n_basis else {})


def _curved(stage: LocalExpansion, machine: KernelMachine, exact: np.ndarray) -> Needed:
    """Return those of the last level's second test, as far as its docstring says them.

    Left out are the second order and `t` without its rounding: attacks find the one, and the
    other is a largest eigenvalue of what only the lowering knows.
    """
    r, n = stage.basis.shape
    leaves = slice(stage.n_centres - len(stage.curved), None)
    basis = float((stage.basis.astype(np.float64) ** 2).sum())
    forms = stage.forms.astype(np.float64)
    beside = np.array([i != j for i in range(r) for j in range(i, r)])  # stored twofold
    Q, P, T = np.moveaxis(np.sqrt(np.where(beside, forms**2 / 2, forms**2).sum(axis=-1)), 2, 0)
    curvature = np.abs(stage.curved[:, :, 0].astype(np.float64))
    radius = stage.radius[leaves, None].astype(np.float64)
    length = np.sqrt((stage.weights[leaves].astype(np.float64) ** 2).sum(axis=-1))
    return {
        "curved[1]": exact[leaves, :, 0],
        "curved[3]": [[_from_order(8, stage, machine, c)] for c in range(stage.n_centres)[leaves]],
        "curved[4]": length + radius * (2 * curvature + 2 * (Q + P) * basis),
        "curved[5]": exact[leaves, :, 7],
        "curved[6]": T * basis * (2 * gamma(n + 1) + gamma(2 * r + 2)),
        "curved[7]": 2 * radius * T * basis,
    }


def _from_order(first: int, stage: LocalExpansion, machine: KernelMachine, centre: int) -> float:
    """Return r with order k at most norm_k |v|^k, sum norm_k |v|^k <= r |v|^first, up to R.

    norm_k^2 is the largest eigenvalue of g^2 sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T,
    g = (2 gamma)^k / k!, so that it says no more than the orders themselves.
    """
    rate, radius = machine.kernel.gamma, float(stage.radius[centre])
    t = machine.support_vectors - stage.centres[centre].astype(np.float64)
    inner = t @ t.T
    c = machine.dual_coef[0] * np.exp(-rate * np.diag(inner))
    total = 0.0
    for k in range(first, first + 9):
        square = (t * c[:, None]).T @ inner ** (k - 1) @ (t * c[:, None])
        norm = math.sqrt(max(float(np.linalg.eigvalsh(square)[-1]), 0.0))
        total += (2 * rate) ** k / math.factorial(k) * norm * radius ** (k - first)
    return total * (1 - 1e-6)


def _expansion(stage: LocalExpansion, machine: KernelMachine, centre: int) -> list[float]:
    """Return r1 .. r6, d and the minimum of one centre, from its orders.

    h(v) = sum_i beta_i exp(-gamma |t_i|^2) exp(2 gamma <t_i, v>), t = s - c. Orders 3 to 6 are
    known exactly with one feature, and are left out with more.
    """
    n = stage.n_features
    weights = stage.weights[centre, 0].astype(np.float64)
    constant, m = (float(v) for v in stage.constants[centre, 0, :2])
    with mp.workdps(DIGITS):
        c = [mpf(float(v)) for v in stage.centres[centre]]
        rate = mpf(machine.kernel.gamma)
        terms = []
        for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
            t = [mpf(float(a)) - b for a, b in zip(s, c, strict=True)]
            terms.append((mpf(float(beta)) * mp.exp(-rate * mp.fdot(t, t)), t))
        first = np.array([float(mp.fsum(2 * rate * w * t[j] for w, t in terms)) for j in range(n)])
        zeroth = mp.fsum(w for w, _ in terms)
        second = np.array(
            [
                [float(mp.fsum(2 * rate**2 * w * t[i] * t[j] for w, t in terms)) for j in range(n)]
                for i in range(n)
            ]
        )
        orders = [
            float(abs(mp.fsum(w * (2 * rate * t[0]) ** k for w, t in terms))) / math.factorial(k)
            if n == 1
            else 0.0
            for k in range(3, 7)
        ]
        storage = float(abs(zeroth - mpf(constant)))
    length = float(np.linalg.norm(weights))
    reach = float(stage.radius[centre])
    return [
        gamma(n + 1) * length + float(np.linalg.norm(weights - first)),
        float(np.abs(np.linalg.eigvalsh(second - m * np.eye(n))).max()),
        *orders,
        length + 2 * reach * abs(m),
        storage,
    ]
