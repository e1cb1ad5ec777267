"""What exits share that approximate all kernels and compute the largest ones exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kmcompile.program.layout import Constant, Member

_CHUNK_VALUES = 1 << 22


def chunks(n_queries: int, n_slots: int) -> Iterator[slice]:
    """Yield the queries that are answered at once: arrays of all their slots need room."""
    rows = max(1, _CHUNK_VALUES // max(1, n_slots))
    for start in range(0, max(1, n_queries), rows):
        yield slice(start, start + rows)


def heap_operations(n_slots: int) -> int:
    """Return the multiply-adds of taking the slot with the largest score off the heap."""
    return 3 * max(1, math.ceil(math.log2(n_slots)))


def slots(n_slots: int) -> Constant:
    """Return the constant for the number of slots: places of vectors in the exact sum."""
    return Constant("N_SLOTS", n_slots, "N_BLOCKS * LANES: places of vectors")


def approximation_members(
    n_decisions: int, n_slots: int, n_blocks: int, touches: bool
) -> tuple[Member, ...]:
    """Return the members for approximate kernels, and with `touches` for the order of slots.

    Parameters
    ----------
    n_decisions, n_slots, n_blocks : int
        Sizes of the exact sum.
    touches : bool
        Whether any kernel may be computed.
    """
    members = (
        Member("float", "running", n_decisions, "decisions as far as they are summed"),
        Member("float", "kernel_total", n_slots, "in the projection; score; exact"),
        Member("float", "approximate", n_slots, "kernels in the projection"),
    )
    if not touches:
        return members
    return (
        *members,
        Member("uint32_t", "heap", n_slots, "slots by score"),
        Member("uint32_t", "touched", n_blocks, "a bit a lane: exact total is known"),
        Member("uint32_t", "n_touched", None, "such bits"),
    )
