"""Sums of products in the order in which the C adds them, so that every bit is the C's."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import RealArray


def sum_blocks(products: RealArray) -> RealArray:
    """Return the sum of (n_queries, n_blocks, lanes): lanes left to right, then the blocks."""
    block = _of_blocks(products)
    start = np.zeros((len(block), 1), dtype=block.dtype)
    # add.accumulate adds strictly from left to right, as the C does.
    running: RealArray = np.add.accumulate(np.concatenate([start, block], axis=1), axis=1)
    return running[:, -1]


def sum_groups(products: RealArray, group_ends: np.ndarray) -> RealArray:
    """Return the total of each group, shape (n_queries, n_groups).

    Parameters
    ----------
    products : ndarray of shape (n_queries, n_blocks, lanes)
    group_ends : ndarray of shape (n_groups,)
        The block after the last one of each group.
    """
    block = _of_blocks(products)
    ends = group_ends.astype(np.intp)
    starts = np.concatenate([[0], ends[:-1]])
    totals: RealArray = np.zeros((len(block), len(ends)), dtype=block.dtype)
    for number in range(int((ends - starts).max())):
        has = starts + number < ends
        totals[:, has] += block[:, starts[has] + number]
    return totals


def sum_totals(
    totals: RealArray, group_decisions: np.ndarray, n_decisions: int, compensates: bool
) -> RealArray:
    """Return the decisions, sums of the groups' totals, of shape (n_queries, n_decisions).

    Parameters
    ----------
    totals : ndarray of shape (n_queries, n_groups, n_rows)
    group_decisions : ndarray of shape (n_groups, n_rows)
        The decision to which each row of a group belongs.
    compensates : bool
        Whether what rounding takes off is added up apart, and added at the end.
    """
    totals = np.ascontiguousarray(totals.transpose(1, 2, 0))
    decision = np.zeros((n_decisions, totals.shape[2]), dtype=totals.dtype)
    lost = np.zeros_like(decision)
    for group, decisions in enumerate(group_decisions):
        apart = len(set(decisions.tolist())) == len(decisions)  # then all rows at once
        for row, p in [(slice(None), decisions)] if apart else enumerate(decisions):
            total, before = totals[group, row], decision[p]
            after = before + total
            if compensates:
                added = after - before
                lost[p] += (before - (after - added)) + (total - added)
            decision[p] = after
    return np.ascontiguousarray((decision + lost if compensates else decision).T)


def _of_blocks(products: RealArray) -> RealArray:
    """Return the sums of the lanes, left to right, of shape (n_queries, n_blocks)."""
    block: RealArray = products[:, :, 0].copy()
    for lane in range(1, products.shape[2]):
        block += products[:, :, lane]
    return block
