"""Vectors in blocks: the sizes of an array `vectors`."""

from __future__ import annotations

from kmcompile.numeric.arrays import RealArray


class VectorBlocks:
    """Sizes of the field `vectors`, whose shape begins with the blocks and ends with the lanes."""

    __slots__ = ()

    vectors: RealArray

    @property
    def n_blocks(self) -> int:
        """Blocks of vectors."""
        return int(self.vectors.shape[0])

    @property
    def lanes(self) -> int:
        """Vectors of a block."""
        return int(self.vectors.shape[2])

    @property
    def n_slots(self) -> int:
        """Number of slots: vectors, and padding slots of blocks."""
        return self.n_blocks * self.lanes
