"""Intervals of the decisions that certified exits prove, and their intersection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.numeric.arrays import Float32Array, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.labels.label import Label

_HALF = np.float32(0.5)
_WIDENED = np.float32(2.0**-22)
_TINY = np.float32(2.0**-100)

NARROW_OPERATIONS = 6
"""Multiply-adds of narrowing an interval and of its middle, for one decision."""


def narrowed(batch: Batch, low: Float32Array, high: Float32Array) -> Batch:
    """Return the batch with each proved interval intersected with another one.

    A bound that is NaN, which only a damaged table can give, proves nothing.

    Parameters
    ----------
    low, high : ndarray of shape (n_queries, n_decisions), float32
        Ends of an interval that is proved to hold the float64 model's decisions in real arithmetic.
    """
    least = np.where(low > batch.least, low, batch.least)
    most = np.where(high < batch.most, high, batch.most)
    return replace(batch, least=least, most=most)


def middles(batch: Batch) -> tuple[Float32Array, Float32Array]:
    """Return the middles of the proved intervals and their bounds, as `proved` describes them."""
    middle = batch.least * _HALF + batch.most * _HALF
    half = batch.most * _HALF - batch.least * _HALF
    return middle, half + ((half + magnitude(middle)) + _TINY) * _WIDENED


def proved(batch: Batch, label: Label) -> Batch:
    """Return the batch with the label that the proved intervals give, settled if they do.

    The decision becomes the middle m = l/2 + u/2 of the interval l .. u. It rounds by at most
    2^-24 max(|l|, |u|), and max(|l|, |u|) <= |m| + h to first order. The bound becomes
    h = u/2 - l/2 plus 2^-22 (h + |m|), four times the roundings, plus 2^-122 for boards that flush
    subnormals: at most 8 numbers lose 2^-126 each. So m and the bound enclose the interval. A
    binary machine answers with the interval itself, so that an end that is tiny beside the other
    keeps its sign.

    Parameters
    ----------
    label : Label
        The label stage of the program.
    """
    middle, bound = middles(batch)
    batch = label.run(replace(batch, decision=middle, bound=bound))
    if not label.reads_ends:
        return batch
    lower, upper = batch.least[:, 0], batch.most[:, 0]
    above, below = lower > np.float32(0.0), upper < np.float32(0.0)
    label_of_ends = np.where(above, 1, np.where(below, 0, batch.label)).astype(np.int32)
    return replace(batch, lower=lower, upper=upper, label=label_of_ends, settled=above | below)
