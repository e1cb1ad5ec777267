"""Lowering of a one-vs-one machine to a pair sum: one sum for each pair of classes."""

from __future__ import annotations

import numpy as np

from kmcompile.lower.stored import stored
from kmcompile.lower.sum_constants import SumContext, Summation, squares, sum_constants
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import PairSum
from kmcompile.program.stages.sums.pair_sum import SECTION

MOST_VECTORS = 0xFFFF
"""Largest number of vectors that an entry of the table can index."""

_RIDGE = 1e-3
"""Ridge of the scores' least squares, relative to the variance of features, which may be linearly
dependent."""


def lower_pair_sum(
    machine: KernelMachine,
    context: SumContext,
    scores: tuple[Float32Array, Float32Array] | None = None,
) -> PairSum:
    """Return the stage `PairSum` of a machine.

    Parameters
    ----------
    machine : KernelMachine
        A one-vs-one machine after the passes, with at most `MOST_VECTORS` vectors.
    context : SumContext
    scores : tuple of ndarray, optional
        Weights of shape (n_classes, n_features) and offsets of shape (n_classes,) of the class
        scores. None in the replay, which evaluates all pairs.
    """
    precision, low_parts = context.precision, context.low_parts
    spread = decision_coefficients(machine)
    positive = [np.flatnonzero(row > 0) for row in spread]
    negative = [np.flatnonzero(row < 0) for row in spread]
    parts = [part for pair in zip(positive, negative, strict=True) for part in pair]
    longest = max(len(part) for part in parts)
    vectors = stored(machine.support_vectors, precision, low_parts)
    # A product takes part in the additions of its section, of its sign, and of both signs.
    additions = SECTION + -(-longest // SECTION) + 1
    summation = Summation(additions + 1, longest=additions, n_products=2 * longest)
    constants = sum_constants(machine, vectors, summation, context)
    rows = [spread[p // 2, part] for p, part in enumerate(parts)]
    weights, offset = scores or (np.zeros((0, 0), np.float32), np.zeros(0, np.float32))
    return PairSum(
        **constants,
        n_classes=machine.n_classes,
        vectors=vectors[:, :, None],
        entry_vectors=np.concatenate(parts),
        coefficients=stored(np.concatenate(rows), precision, low_parts),
        pair_ends=np.cumsum([len(part) for part in parts]).reshape(-1, 2),
        skip_zeros=context.skip_zeros,
        squares=(
            squares(vectors)[:, None]
            if context.skip_zeros and constants["kernel"].uses_distance
            else np.zeros((0, 0), dtype=precision.dtype)
        ),
        score_weights=weights,
        score_offset=offset,
    )


def class_scores(
    x: Float64Array, labels: np.ndarray, n_classes: int
) -> tuple[Float32Array, Float32Array]:
    """Return the linear scores of the classes; the largest score marks the likely class.

    The scores are least squares with a ridge on the indicators of the classes [1]_. Only their
    order counts, so they are scaled: no score exceeds the largest feature in magnitude, and none
    overflows.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float64
        Prepared samples.
    labels : ndarray of shape (n_samples,), int
        The machine's labels of these samples.

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
