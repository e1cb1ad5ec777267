"""What certified exits prove of the decisions: intervals that are intersected along the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.numeric.arrays import Float32Array, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.sign import Sign
from kmcompile.program.stages.stage import Always

_HALF = np.float32(0.5)
_WIDENED = np.float32(2.0**-22)
_TINY = np.float32(2.0**-100)

NARROW_OPERATIONS = 6
"""Multiply-adds that narrowing an interval and its middle take, each decision."""


def narrowed(batch: Batch, low: Float32Array, high: Float32Array) -> Batch:
    """Return the batch with each proved interval intersected with another one.

    A bound that is no number, which only a damaged table can give, proves nothing.

    Parameters
    ----------
    low, high : ndarray of shape (n_queries, n_decisions), float32
        Proved to enclose the decisions of the float64 model in real arithmetic.
    """
    least = np.where(low > batch.least, low, batch.least)
    most = np.where(high < batch.most, high, batch.most)
    return replace(batch, least=least, most=most)


def proved(batch: Batch, label: Always) -> Batch:
    """Return the batch with the label that the proved intervals give, certified if they do.

    The decision is the middle m = l/2 + u/2, which rounds by at most 2^-24 max(|l|, |u|), and
    max(|l|, |u|) <= |m| + h to first order; the bound is h = u/2 - l/2 with 2^-22 (h + |m|) on top,
    four times what rounds. Where subnormals are flushed, halves, middle, h and the ends of what is
    enclosed lose 2^-126 each, 8 of them at most: 2^-122 is added. So the middle and the bound
    enclose the interval. Of a binary machine the interval itself is the answer: an end that is
    tiny beside the other one keeps its sign.

    Parameters
    ----------
    label : Always
        The label stage of the program.
    """
    middle = batch.least * _HALF + batch.most * _HALF
    half = batch.most * _HALF - batch.least * _HALF
    bound = half + ((half + magnitude(middle)) + _TINY) * _WIDENED
    batch = label.run(replace(batch, decision=middle, bound=bound))
    if not isinstance(label, Sign):
        return batch
    lower, upper = batch.least[:, 0], batch.most[:, 0]
    above, below = lower > np.float32(0.0), upper < np.float32(0.0)
    label_of_ends = np.where(above, 1, np.where(below, 0, batch.label)).astype(np.int32)
    return replace(batch, lower=lower, upper=upper, label=label_of_ends, certified=above | below)
