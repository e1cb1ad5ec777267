"""Fit a bound sequence: from vectors z to the stage with constants that hold in float32."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kmcompile import kernels
from kmcompile.exits.certified.sequence_normals import Gram, Normals, Squares, gram_of
from kmcompile.kernels.float32 import KernelContext
from kmcompile.lower.sparsity import sum_skips_zeros
from kmcompile.lower.sum_constants import squares
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.factors import cholesky, solve_triangular
from kmcompile.numeric.rounding import (
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
    bound_constant,
    bound_constants,
    gamma_factor,
)
from kmcompile.program.program import Program
from kmcompile.program.stages import BoundSequence, FixedSum
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

_LARGEST_CONDITION = 1e8
"""Largest condition number of the Gram matrix: beyond it, the rounding of A costs more than further
vectors gain."""

_LARGEST_DEPARTURE = 0.5
"""Largest distance of A G A^T from I: beyond it no useful bound is left."""

_INVERSE_ERROR = 1.05
"""Covers the relative error of L^-1 in float64, at most about n cond(G) (error of G + 2^-53). For n
= 128, 784 features and degree 9 it is below 0.03."""

_MOST_LANES = 4
"""Most vectors between two tests of the interval: more of them leave the tests too far apart."""


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine can have no bound sequence; "" if it can."""
    kernel, exact = machine.kernel, program.ends.exact
    if not kernel.positive_definite:
        return (
            f"the {kernel.name} kernel is not positive definite with these parameters, so the "
            "kernels of a few vectors bound no others"
        )
    if not kernel.has_reach:
        able = kernels.names_of(lambda one: one.has_reach)
        return f"its bounds are derived for the kernels {able}, not for {kernel.name}"
    if not isinstance(exact, GroupedSum):
        return "the decisions are not a sum over support vectors"
    return ""


def why_unasked(machine: KernelMachine) -> str:
    """Return why a sequence is searched for only where an option names it; "" if it always is.

    Of 85 programs of rbf machines that were chosen with it in the search, none had one (the
    manual's page exits_chosen).
    """
    if machine.kernel.is_gaussian:
        return "it is seldom the best before an rbf sum; ask for it with --require bound_sequence"
    return ""


def lower_bound_sequence(
    machine: KernelMachine,
    program: Program,
    vectors: Float64Array,
    squares_of: Squares | None = None,
) -> BoundSequence | None:
    """Return the stage for the vectors z, in the given order.

    It uses only so many of the first vectors that the condition number of their Gram matrix G stays
    usable.

    Parameters
    ----------
    machine : KernelMachine
        After the passes; `why_not` must be "" for it.
    program : Program
        The exact program, without early exits.
    vectors : ndarray of shape (n, n_features), float64
        The vectors, which this function rounds to float32.
    squares_of : Squares, optional
        The squares of the machine's normals, which several sequences have in common.

    Returns
    -------
    BoundSequence or None
        None if there are no vectors, or if the rounding of the matrix A makes every bound useless.
    """
    exact = program.ends.exact
    assert isinstance(exact, GroupedSum)
    z = np.ascontiguousarray(vectors.astype(np.float32))
    gram = gram_of(machine.kernel, z.astype(np.float64))
    n = _usable(gram.values)
    if n == 0:
        return None
    z, gram = z[:n], Gram(gram.values[:n, :n], gram.error)
    lanes = min(exact.lanes, _MOST_LANES)
    normals = Normals.of(machine, z.astype(np.float64), squares_of or Squares.of(machine))
    return _lowered(machine, lanes, z, gram, _context(machine, program, z), normals)


def _usable(gram: Float64Array) -> int:
    """Return how many of the first vectors z have a Gram matrix with a usable condition number.

    One more vector never lessens the condition number (Cauchy's interlacing), so a bisection finds
    the number.
    """
    low, high, n = 0, len(gram), len(gram)  # all of them nearly always do
    while low < high:
        values = np.linalg.eigvalsh(gram[:n, :n])
        if values[0] * _LARGEST_CONDITION >= values[-1] > 0:
            low = n
        else:
            high = n - 1
        n = (low + high + 1) // 2
    return low


def _context(machine: KernelMachine, program: Program, z: Float32Array) -> KernelContext:
    longest = float(np.sqrt((z.astype(np.float64) ** 2).sum(axis=1)).max())
    return KernelContext(
        n_features=z.shape[1],
        vector_error=0.0,
        vector_length=longest,
        typical_deviation=_typical_deviation(program),
        sum_error=0.0,
        skip_zeros=sum_skips_zeros(program),
    )


def _typical_deviation(program: Program) -> float:
    """Return the typical deviation of an input; input codes are rounded like the vectors' codes."""
    if program.codes is not None:
        exact = program.ends.exact
        return float(exact.kernel.vector_error) if isinstance(exact, FixedSum) else 0.0
    known = program.known_answers.inputs
    deviation = program.prepare.run(Batch.of(known, program.n_decisions)).deviation
    return float(np.median(deviation)) if len(deviation) else 0.0


def _lowered(
    machine: KernelMachine,
    lanes: int,
    z: Float32Array,
    gram: Gram,
    context: KernelContext,
    normals: Normals,
) -> BoundSequence | None:
    n = len(z)
    reach = machine.kernel.reach(context)
    lower = cholesky(gram.values)
    A = np.tril(solve_triangular(lower, np.eye(n))).astype(np.float32).astype(np.float64)
    w = (normals.with_z @ A.T).astype(np.float32).astype(np.float64)
    rows, reaches = np.abs(A).sum(axis=1), np.abs(A) @ np.sqrt(np.diag(gram.values))
    float64 = (gram.error + 4 * n * UNIT_ROUNDOFF_64) * float((reaches**2).sum())
    departure = float(np.linalg.norm(A @ gram.values @ A.T - np.eye(n), 2)) * (1 + 1e-9) + float64
    if departure > _LARGEST_DEPARTURE:
        return None
    g = np.array([gamma_factor(j + 2 + lanes) for j in range(n)])
    bounds = []
    for end in range(lanes, n + lanes, lanes):
        k = min(end, n)
        c = w[:, :k] @ A[:k, :k]
        residual, inside = _residual(normals, gram, lower, c, k)
        rounding, of_reach = (g * rows)[:k], (g * reaches)[:k]
        spread = np.abs(w[:, :k])
        own = gamma_factor(k + 2) * np.sqrt((w[:, :k] ** 2).sum(axis=1))
        per_error = np.abs(c).sum(axis=1) * (1 + 1e-9) + spread @ rounding
        per_error += own * np.linalg.norm(((1 + g) * rows)[:k])
        per_reach = spread @ of_reach + inside
        per_reach += own * (np.sqrt(1 + departure) + np.linalg.norm(of_reach))
        bounds.append((residual, per_error, per_reach))
    of_blocks = bound_constants(np.array(bounds).transpose(1, 0, 2))
    shrink = (1 - gamma_factor(n + 4)) / (1 + departure) * (1 - 4 * UNIT_ROUNDOFF)
    intercept = machine.intercept.astype(np.float32)
    row_error = _blocks(np.stack([(1 + g) * rows, g * reaches]), lanes, "constant")
    return BoundSequence(
        reach=reach,
        vectors=_blocks(z.T, lanes, "edge"),
        triangle=_packed(A, lanes),
        weights=_blocks(w, lanes, "constant"),
        row_error=bound_constants(row_error),
        residual=of_blocks[0],
        per_error=of_blocks[1],
        per_reach=of_blocks[2],
        intercept=intercept,
        minimum=bound_constants(_minimum(machine, intercept, n)),
        slack=bound_constant(8 * UNIT_ROUNDOFF),
        shrink=np.nextafter(np.float32(shrink), np.float32(0)),
        result_error=bound_constant(4 * UNIT_ROUNDOFF),
        skip_zeros=context.skip_zeros,
        squares=(
            _blocks(squares(z)[None], lanes, "edge")[:, 0]
            if reach.expands
            else np.zeros((0, 0), dtype=np.float32)
        ),
    )


def _minimum(machine: KernelMachine, intercept: Float32Array, n: int) -> Float64Array:
    """Return the errors of f that no input changes, with n vectors and a stored intercept."""
    minimum: Float64Array = (
        np.abs(machine.intercept - intercept)
        + machine.intercept_error
        + gamma_factor(n + 2) * np.abs(machine.intercept)
        + (4 * n + 16) * SMALLEST_NORMAL
        + _rounded_by_passes(machine)
    )
    return minimum


def _rounded_by_passes(machine: KernelMachine) -> Float64Array:
    """Return how far the passes, which measure distances in other units, move decisions.

    The passes move every vector by at most 4 u of its length, and so the kernel by its slope times
    this. In codes they move gamma by at most 2 u, and the kernel by 2 u z exp(-z) < u.
    """
    beta: Float64Array = np.abs(decision_coefficients(machine)).sum(axis=1)
    slope = machine.kernel.slope
    if slope is None:
        return np.zeros_like(beta)
    longest = np.sqrt((machine.support_vectors**2).sum(axis=1)).max()
    moved: Float64Array = beta * 2.0**-50 * (1 + slope * longest)
    return moved


def _residual(
    normals: Normals, gram: Gram, lower: Float64Array, c: Float64Array, k: int
) -> tuple[Float64Array, Float64Array]:
    """Return bounds on |r| and on the norm of its component in the span, r = W - sum c_l phi(z_l).

    |r|^2 = |W|^2 - 2 <c, h> + c^T G c. Every product has a relative error of at most `error`; all
    errors together are at most error (size + |c|_1 scale)^2. The component in the span has the
    norm of L^-1 (h - G c), where G = L L^T.
    """
    G, h = gram.values[:k, :k], normals.with_z[:, :k]
    scale = np.sqrt(np.diag(G))
    size = normals.size + np.abs(c) @ scale
    error = normals.error + gram.error + 4 * (k + 4) * UNIT_ROUNDOFF_64
    square = normals.square - 2 * (c * h).sum(axis=1) + ((c @ G) * c).sum(axis=1)
    rest = np.sqrt(np.maximum(square, 0.0) + error * size**2)
    L = lower[:k, :k]
    with_z = np.abs(h - c @ G) + error * size[:, None] * scale
    inverse = np.abs(solve_triangular(L, np.eye(k))) * _INVERSE_ERROR
    inside = np.sqrt(((with_z @ inverse.T) ** 2).sum(axis=1))
    return rest, inside


def _blocks(rows: NDArray[Any], lanes: int, fill: Literal["edge", "constant"]) -> NDArray[Any]:
    """Return rows of shape (n_rows, n) as (n_blocks, n_rows, lanes), with the last block padded."""
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % lanes)), fill)
    return rows.reshape(len(rows), -1, lanes).transpose(1, 0, 2)


def _packed(A: Float64Array, lanes: int) -> Float32Array:
    """Return the lower triangle as [block][l][lane], with l up to the block's last vector."""
    A = np.pad(A, (0, -len(A) % lanes))
    blocks = [
        A[first : first + lanes, : first + lanes].T.ravel() for first in range(0, len(A), lanes)
    ]
    return np.concatenate(blocks).astype(np.float32)
