"""Fit Taylor polynomials of an rbf machine: all features, degree 2 to 6, one about each centre."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb, factorial

import numpy as np

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.expansion import Expansion, Vectors, kept_vectors
from kmcompile.exits.certified.expansion_constants import reach_constants, stored
from kmcompile.exits.certified.expansion_tree import Centre, tree
from kmcompile.exits.certified.likely_labels import worthwhile
from kmcompile.exits.certified.local_expansion import affordable, spend
from kmcompile.exits.certified.local_expansion import why_not as why_not_expanded
from kmcompile.exits.certified.many_vectors import known_of, most_operations
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import (
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
    bound_constants,
    gamma_factor,
)
from kmcompile.passes.expand_polynomial import monomials, orderings_of, weighted_norms
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, TaylorPolynomial
from kmcompile.program.stages.early_exits.taylor_polynomial import N_HIGHER

_SHAPE = (1, 8, 8)
_DEGREES = (2, 3, 4, 5, 6)
_MOST_TERMS = 1500
_MOST_FEATURES = 16
"""With more features, polynomials of degree 3 have too many terms [measured]."""

_UP = 1 + 1e-9


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have Taylor polynomials; "" if it can."""
    if reason := why_not_expanded(machine, program):
        return reason
    if not isinstance(program.ends.exact, ExactSum):
        return "its polynomials stand before a sum in float32"
    n = machine.support_vectors.shape[1]
    if n > _MOST_FEATURES:
        return f"polynomials of {n} features have too many terms"
    return ""


def offer_taylor_polynomials(asked: Asked) -> list[Offer]:
    """Return stages of several degrees and numbers of centres that fit, each with a text."""
    machine, program = asked.machine, asked.program
    most = most_operations(machine, "taylor_polynomial")
    budget = asked.budgets.of("taylor_polynomial", most)
    samples = program.prepare.run(Batch.of(asked.X, program.n_decisions)).x.astype(np.float64)
    labels = evaluate(machine, asked.X).labels
    offers: list[Offer] = []
    searches = [1]
    for n_labels in searches:
        shape = affordable(_SHAPE, machine, program, asked.room, budget, n_labels)
        if not shape:
            continue
        spend(shape, machine, budget, n_labels)
        known = known_of(_SHAPE, machine, asked.known)
        levels = tree(machine, program, samples, labels, shape, budget.tell, n_labels, known)
        beside = f", {n_labels} labels each" if n_labels > 1 else ""
        for stage, text in _fitting(asked, shape, levels, budget.tell):
            offers.append((stage, f"taylor_polynomial({text}{beside})"))
        if n_labels == 1:
            searches += worthwhile(machine, (centre.likely.counts for centre in levels[-1]))
    return offers


def _fitting(
    asked: Asked,
    shape: tuple[int, ...],
    levels: list[list[Centre]],
    tell: Callable[[str], None],
) -> Iterator[tuple[TaylorPolynomial, str]]:
    """Yield the stages of a tree that fit into the room, each with a text."""
    machine, program = asked.machine, asked.program
    for last in range(1 if len(levels) > 1 else 0, len(levels)):
        first, n_leaves = min(last, 1), len(levels[last])
        branches = (int(np.prod(shape[: first + 1])), *shape[first + 1 : last + 1])
        for degree in _degrees(machine, program, asked.room, n_leaves):
            tell(f"polynomials of degree {degree} about {n_leaves} centres")
            stage = lower_taylor(machine, branches, levels[first : last + 1], degree)
            worst = stage.weighted_operations(program.ends)
            flash = sum(table.n_bytes for table in stage.tables())
            if worst <= asked.room.operations and flash <= asked.room.table_bytes_of(program):
                yield stage, f"degree {degree} about {n_leaves} centres"


def _degrees(machine: KernelMachine, program: Program, room: Room, n_leaves: int) -> Iterator[int]:
    n = machine.support_vectors.shape[1]
    most = room.table_bytes_of(program) / (4 * n_leaves)
    for degree in _DEGREES:
        n_terms = comb(n + degree, degree)
        if n_terms <= min(_MOST_TERMS, most):
            yield degree


def lower_taylor(
    machine: KernelMachine, branches: tuple[int, ...], levels: list[list[Centre]], degree: int
) -> TaylorPolynomial:
    """Return the stage with polynomials about the last level's centres.

    Parameters
    ----------
    machine : KernelMachine
        After the passes, with an rbf kernel.
    branches : tuple of int
        Number of children of a centre, for each level.
    levels : list of list of Centre
    degree : int
        From 2 to 6.
    """
    vectors = Vectors(
        machine.kernel.gaussian_gamma, machine.support_vectors, decision_coefficients(machine)
    )
    leaves = levels[-1]
    made = [_polynomials(vectors, leaf, degree) for leaf in leaves]
    return TaylorPolynomial(
        degree=degree,
        branches=np.array(branches),
        centres=np.stack([c.expansion.centre for level in levels for c in level]),
        radius=np.nextafter(
            np.array([c.expansion.radius for c in leaves], np.float32), np.float32(0)
        ),
        decisions=np.stack([c.decisions for c in leaves]),
        terms=np.stack([terms for terms, _ in made]),
        bounds=np.stack([bounds for _, bounds in made]),
        **reach_constants(machine.kernel.gaussian_gamma, machine.support_vectors.shape[1]),
    )


def _polynomials(
    vectors: Vectors, centre: Centre, degree: int
) -> tuple[Float64Array, Float64Array]:
    """Return the terms and the bounds of one centre; `TaylorPolynomial` derives them.

    A coefficient g_k k! / (t_1! .. t_n!) sum_i c_i s_i^t is off by 2 m + 4 k + n + 32 roundings in
    float64 of the sum of magnitudes, and these sums change order k by at most as much of
    g_k sum_i |c_i| |s_i|^k R^k, g_k = (2 gamma)^k / k!. That c_i and s_i are rounded themselves is
    in the expansion's `error`.
    """
    e, u = centre.expansion, UNIT_ROUNDOFF
    n, radius = len(e.centre), e.radius
    t, c = kept_vectors(vectors, centre.decisions, e.centre, radius)
    t = t * np.sqrt(2 * vectors.gamma)  # so that no power is large
    length = np.sqrt((t**2).sum(axis=1))
    scale = np.sqrt(2 * vectors.gamma)
    exact, orders, numbers = _coefficients(t, c, scale, degree)
    constant, rounded = stored(e.constant), stored(exact)
    sizes = weighted_norms(rounded, orders, numbers)
    offs = weighted_norms(rounded - exact, orders, numbers)
    rows: list[Float64Array] = []  # r_1 .. r_K
    moved, lost = np.zeros(len(c)), np.zeros(len(c))
    for k in range(1, degree + 1):
        size, off = sizes[:, k - 1], offs[:, k - 1]
        slope = k * (size + off) * (1 + u) ** (2 * k)
        spread = gamma_factor(n + 2 * k + 1) * size + off
        rows.append(spread * (1 + u) ** (2 * k) + u * slope)
        moved += slope * radius ** (k - 1)
        roundings = (2 * len(t) + 4 * k + n + 32) * UNIT_ROUNDOFF_64
        lost += roundings * (np.abs(c) @ (length * scale * radius) ** k) / factorial(k)
    higher = e.powers(radius, last=degree + N_HIGHER).T[degree - 2 :]
    bounds = np.stack([*rows, *higher, moved * _UP, np.zeros(len(c))], axis=1)
    bounds[:, -1] = _minimum(e, rounded, constant, centre.storage) + lost * _UP
    return np.concatenate([constant[:, None], rounded], axis=1), bound_constants(bounds)


def _minimum(
    e: Expansion, terms: Float64Array, constant: Float64Array, storage: Float64Array
) -> Float64Array:
    """Return the errors of f that no input changes, but for rounding in float64.

    Each of at most 16 (terms + features + 16) operations is off by 2^-126 if it underflows, and is
    then multiplied by at most 1 + R up to ten times.
    """
    n_operations = 16 * (terms.shape[1] + len(e.centre) + 16)
    underflow = n_operations * (1 + e.radius) ** 10 * (1 + np.abs(constant)) * SMALLEST_NORMAL
    total: Float64Array = (e.error + np.abs(constant - e.constant) + storage) * _UP + underflow
    return total


def _coefficients(
    t: Float64Array, c: Float64Array, scale: float, degree: int
) -> tuple[Float64Array, np.ndarray, np.ndarray]:
    """Return coefficients, degrees, and how many ordered products each monomial stands for.

    Parameters
    ----------
    t : ndarray of shape (m, n_features), float64
        sqrt(2 gamma) t_i: order k is scale^k / k! sum_i c_i <t, v>^k.
    c : ndarray of shape (n_rows, m), float64
    scale : float
        sqrt(2 gamma).

    Returns
    -------
    coefficients : ndarray of shape (n_rows, n_terms), float64
        In the order of nested sums.
    orders, numbers : ndarray of shape (n_terms,)
    """
    every = monomials(t.shape[1], degree)
    orders = np.array([len(factors) for factors in every])
    numbers = np.array([orderings_of(factors) for factors in every], dtype=np.float64)
    columns, values = [], [np.ones(len(t))] * (degree + 1)
    for factors, number in zip(every, numbers, strict=True):
        k = len(factors)
        values[k] = values[k - 1] * t[:, factors[-1]]  # the monomial before has these but the last
        columns.append((c @ values[k]) * (scale**k / factorial(k) * number))
    return np.stack(columns, axis=1), orders, numbers
