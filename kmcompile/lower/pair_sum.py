"""Lower a one-vs-one machine to sums that are evaluated pair by pair."""

from __future__ import annotations

import numpy as np

from kmcompile.lower.stored import stored
from kmcompile.lower.sum_constants import SumContext, Summation, squares, sum_constants
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import PairSum
from kmcompile.program.stages.pair_sum import SECTION

MOST_VECTORS = 0xFFFF
"""The largest number that the entries can index."""

_RIDGE = 1e-3
"""Of the scores' least squares, relative to the features' variance: features may be dependent."""


def lower_pair_sum(
    machine: KernelMachine,
    context: SumContext,
    scores: tuple[Float32Array, Float32Array] | None = None,
) -> PairSum:
    """Return the stage that sums pair by pair over the support vectors of a machine.

    Parameters
    ----------
    machine : KernelMachine
        After the passes: one-vs-one, with at most `MOST_VECTORS` vectors.
    context : SumContext
    scores : tuple of ndarray, optional
        Weights of shape (n_classes, n_features) and offsets of shape (n_classes,); none in the
        replay, where all pairs are evaluated.
    """
    precision, low_parts = context.precision, context.low_parts
    spread = decision_coefficients(machine)
    positive = [np.flatnonzero(row > 0) for row in spread]
    negative = [np.flatnonzero(row < 0) for row in spread]
    parts = [part for pair in zip(positive, negative, strict=True) for part in pair]
    longest = max(len(part) for part in parts)
    vectors = stored(machine.support_vectors, precision, low_parts)
    # A product passes the additions of its section, of its sign's sections and of both signs.
    additions = SECTION + -(-longest // SECTION) + 1
    summation = Summation(additions + 1, longest=additions, n_products=2 * longest)
    constants = sum_constants(machine, vectors, summation, context)
    rows = [spread[p // 2, part] for p, part in enumerate(parts)]
    weights, offset = scores or (np.zeros((0, 0)), np.zeros(0))
    return PairSum(
        kernel=constants.kernel,
        n_classes=machine.n_classes,
        vectors=vectors[:, :, None],
        entry_vectors=np.concatenate(parts),
        coefficients=stored(np.concatenate(rows), precision, low_parts),
        pair_ends=np.cumsum([len(part) for part in parts]).reshape(-1, 2),
        intercept=constants.intercept,
        final_factor=constants.final_factor,
        result_error=constants.result_error,
        minimum=constants.minimum,
        trivial_bound=constants.trivial_bound,
        skip_zeros=context.skip_zeros,
        squares=(
            squares(vectors)[:, None]
            if context.skip_zeros and constants.kernel.uses_distance
            else np.zeros((0, 0), dtype=precision.dtype)
        ),
        score_weights=weights,
        score_offset=offset,
    )


def class_scores(
    x: Float64Array, labels: np.ndarray, n_classes: int
) -> tuple[Float32Array, Float32Array]:
    """Return linear forms of which the largest tells the likely class.

    Least squares on the indicators of the classes [1]_ with a ridge; only their order counts, so
    they are scaled such that no score exceeds the largest feature in magnitude, and cannot
    overflow.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float64
        Prepared samples.
    labels : ndarray of shape (n_samples,), int
        What the machine gives them.

    Returns
    -------
    weights : ndarray of shape (n_classes, n_features), float32
    offset : ndarray of shape (n_classes,), float32

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, The Elements of Statistical Learning, 2009,
       section 4.2.
    """
    mean = x.mean(axis=0)
    centred = x - mean
    gram = centred.T @ centred / len(x)
    targets = np.eye(n_classes)[labels]
    own = targets.mean(axis=0)
    ridge = _RIDGE * np.trace(gram) / len(gram) + 1e-30
    slopes = np.linalg.solve(
        gram + ridge * np.eye(len(gram)), centred.T @ (targets - own) / len(x)
    ).T
    offset = own - slopes @ mean
    size = max(float((np.abs(slopes).sum(axis=1) + np.abs(offset)).max()), 1e-30)
    return (slopes / size).astype(np.float32), (offset / size).astype(np.float32)
