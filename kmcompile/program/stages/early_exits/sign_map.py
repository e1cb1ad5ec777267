"""A map of the inputs: boxes in which the sign of the decision is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.batch import UNKNOWN, Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS, narrowed, proved
from kmcompile.program.stages.stage import Stage

NEGATIVE, POSITIVE, HALVED, OPEN = range(4)
"""Kinds of boxes, which the map stores in two bits for each box."""

_WORD = 32
_KIND_OPERATIONS = 8
_RANK_OPERATIONS = 30
"""Operations of a rank: 12 to count the ones of a word, 14 more for the preceding word in every
other case, and shifts, masks and sums."""


@dataclass(frozen=True, slots=True, eq=False)
class SignMap(EarlyExit):
    """A grid of boxes of inputs x, each box halved along all features where that proves more.

    x is the raw input. In an integer format x is the prepared input, a multiple of the codes' unit.
    `low` and the boxes' widths are then multiples of the unit, too, and nothing rounds. The exactly
    prepared input may lie up to `deviation` from x, which the proof includes.

    The place of an input is floor(fl(x - low) scale) for each feature, scale a power of two, in
    the boxes of the last level. Its first bits say which box of the grid it is, and each further
    bit which half. The parts of a halved box are stored together, in the order of the halved
    boxes; bit j of a part's number tells the halves of feature j apart. So the parts of the n-th
    halved box begin at n_roots + (n << n_features). n is the number of ones before the box's bit.

    An input outside the grid stays undecided. The proof covers the rounding of an input's place: a
    sign is proved for a box with a margin on all sides
    (`exits.certified.lattice.Lattice.inflation`).

    Parameters
    ----------
    low, width, scale : ndarray of shape (n_features,), float32
        Start and width of the grid, and the number of boxes of the last level in one unit of x.
    across : ndarray of shape (n_features,), uint16
        Boxes of the grid along each feature, the last one first in memory.
    depth : int
        Largest number of times that a box is halved.
    outer, inner : ndarray of shape (n_words,), uint32
        Two bits for each box, 32 boxes in a word: kind = 2 outer + inner.
    n_nodes : int
        Boxes in the map.
    least, largest : float32
        0 < least <= |f| <= largest in every box with a sign.
    deviation : float32 or None
        Largest deviation; an input beyond it stays undecided. None if x is the raw input.
    """

    low: Float32Array
    width: Float32Array
    scale: Float32Array
    across: NDArray[np.uint16]
    depth: int
    outer: Annotated[
        NDArray[np.uint32],
        Layout("Upper bits of the kinds of the boxes, the lowest bit first: [word]"),
    ]
    inner: Annotated[NDArray[np.uint32], Layout("Lower bits of the same: [word]")]
    ranks: Annotated[NDArray[np.uint16], Layout("Number of halved boxes before: [pair of words]")]
    n_nodes: int
    least: np.float32
    largest: np.float32
    deviation: Bound | None = None

    template: ClassVar[str] = "sign_map"
    exit: ClassVar[str | None] = "certified"
    prefix: ClassVar[str] = "map"

    @classmethod
    def of(
        cls,
        kinds: NDArray[np.uint8],
        low: ArrayLike,
        size: ArrayLike,
        across: ArrayLike,
        depth: int,
        sizes: tuple[np.float32, np.float32],
        deviation: np.float32 | None = None,
    ) -> SignMap:
        """Return the map of the given boxes.

        Parameters
        ----------
        kinds : ndarray of shape (n_nodes,), uint8
            The grid, then the parts of the halved boxes.
        low, size : array-like of shape (n_features,)
            Start of the grid, and the widths of its boxes, which are powers of two.
        across : array-like of shape (n_features,), int
        depth : int
        sizes : tuple of float32
            `least` and `largest`.
        deviation : float32 or None
        """
        n_words = -(-len(kinds) // _WORD)
        padded = np.zeros(n_words * _WORD, dtype=np.uint8)
        padded[: len(kinds)] = kinds
        bits = padded.reshape(n_words, _WORD)
        before = np.concatenate([[0], np.cumsum((bits == HALVED).sum(axis=1))[:-1]])
        weights = np.uint32(1) << np.arange(_WORD, dtype=np.uint32)
        size64 = np.asarray(size, dtype=np.float64)
        return cls(
            low=np.asarray(low, dtype=np.float32),
            width=(size64 * np.asarray(across)).astype(np.float32),
            scale=(2.0**depth / size64).astype(np.float32),
            across=np.asarray(across),
            depth=depth,
            outer=(bits >> 1) @ weights,
            inner=(bits & 1) @ weights,
            ranks=before[::2],
            n_nodes=len(kinds),
            least=sizes[0],
            largest=sizes[1],
            deviation=deviation,
        )

    @property
    def n_features(self) -> int:
        """Features of an input."""
        return len(self.low)

    @property
    def in_integers(self) -> bool:
        """Whether the inputs of the map are codes."""
        return self.deviation is not None

    @property
    def reads_raw(self) -> bool:
        """Whether the map looks up the input before it is prepared."""
        return not self.in_integers

    @property
    def n_roots(self) -> int:
        """Boxes of the grid."""
        return int(np.prod(self.across.astype(np.int64)))

    def places(self, x: Float32Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places of inputs, shape (n_queries, n_features), and which are in the grid."""
        distance = x - self.low
        inside = np.all((distance >= 0) & (distance < self.width), axis=1)
        return (np.where(inside[:, None], distance, 0) * self.scale).astype(np.int64), inside

    def kinds(self, x: Float32Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the kind of the smallest box around each input, and its depth in the map."""
        place, inside = self.places(x)
        node = np.zeros(len(x), dtype=np.int64)
        for j, n in enumerate(self.across.tolist()):
            node = node * n + (place[:, j] >> self.depth)
        kind = np.where(inside, self._kind(node), OPEN)
        n_halved = np.zeros(len(x), dtype=np.int64)
        for shift in reversed(range(self.depth)):
            goes_on = kind == HALVED
            part = (((place >> shift) & 1) << np.arange(self.n_features)).sum(axis=1)
            below = self.n_roots + (self._rank(node) << self.n_features) + part
            node = np.where(goes_on, below, node)
            kind = np.where(goes_on, self._kind(node), kind)
            n_halved += goes_on
        return kind, n_halved

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check that the ranks are those of the kinds: they lead to the parts of halved boxes."""
        Laid.check_tables(self, known)
        if not len(self.low) == len(self.width) == len(self.scale) == len(self.across):
            raise ValueError("the map's grid has not one number for each feature")
        if not len(self.outer) == len(self.inner) == -(-self.n_nodes // _WORD):
            raise ValueError("the map has other words than there are boxes")
        halved = _ones((self.outer & ~self.inner).astype(np.int64))
        before = np.concatenate([[0], np.cumsum(halved)])
        if not np.array_equal(self.ranks, before[:-1:2]):
            raise ValueError("the map's ranks are not those of its halved boxes")
        if self.n_roots + (int(before[-1]) << self.n_features) * (self.depth > 0) != self.n_nodes:
            raise ValueError("the map's halved boxes have other parts than there are boxes")

    def _kind(self, node: NDArray[np.int64]) -> NDArray[np.int64]:
        word, bit = np.divmod(node, _WORD)
        outer, inner = ((plane[word] >> bit) & 1 for plane in (self.outer, self.inner))
        kind: NDArray[np.int64] = outer.astype(np.int64) * 2 + inner
        return kind

    def _rank(self, node: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many halved boxes come before each node."""
        word, bit = np.divmod(node, _WORD)
        halved = (self.outer & ~self.inner).astype(np.int64)
        rank = self.ranks[word // 2] + _ones(halved[word] & ((1 << bit) - 1))
        first = _ones(halved[np.maximum(word, 1) - 1])
        total: NDArray[np.int64] = (rank + np.where(word % 2 == 1, first, 0)).astype(np.int64)
        return total

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with proved intervals, and which queries they decide."""
        if self.deviation is None:
            kind, n_halved = self.kinds(batch.raw)
        else:
            near = batch.deviation <= self.deviation
            kind, n_halved = self.kinds(batch.x)
            kind, n_halved = np.where(near, kind, OPEN), np.where(near, n_halved, 0)
        sign = np.select([kind == POSITIVE, kind == NEGATIVE], [1, -1], 0)[:, None]
        unknown = np.where(sign == 0, UNKNOWN, np.float32(0.0))
        low = np.where(sign > 0, self.least, -self.largest) - unknown
        high = np.where(sign < 0, -self.least, self.largest) + unknown
        known = sign[:, 0] != 0
        spent = first_operations(self.n_features) + n_halved * step_operations(self.n_features)
        spent = spent + np.where(known, NARROW_OPERATIONS + ends.label.operations(), 0)
        batch = replace(narrowed(batch, low, high), operations=batch.operations + spent)
        batch = proved(batch, ends.label)
        return batch, batch.settled & known

    def shared(self) -> Shared:
        """Return the numbers of raw features and decisions."""
        return (("N_FEATURES", self.n_features), ("N_DECISIONS", 1))

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum: both take codes, or neither does."""
        return EarlyExit.stands_before(self, other) and other.takes_codes == self.in_integers

    def operations(self) -> int:
        """Return the worst-case multiply-adds, with one for each shift and each mask."""
        steps = self.depth * step_operations(self.n_features)
        return first_operations(self.n_features) + steps + NARROW_OPERATIONS

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the map's sizes and the kinds of boxes."""
        constants = (
            Constant("MAP_NODES", self.n_nodes, "boxes of the map"),
            Constant("MAP_OPEN", OPEN, "the kind of a box that holds both signs"),
            Constant("MAP_NEGATIVE", NEGATIVE, "of one where the decision is negative"),
            Constant("MAP_POSITIVE", POSITIVE, "of one where it is positive"),
        )
        if self.depth == 0:
            return constants
        return (
            *constants,
            Constant("MAP_HALVED", HALVED, "of one that is halved"),
            Constant("MAP_ROOTS", self.n_roots, "boxes of the first level"),
            Constant("MAP_DEPTH", self.depth, "how often a box is halved, at most"),
        )


def _ones(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of ones in each 32-bit word, counted as the C does."""
    twos = bits - ((bits >> 1) & 0x55555555)
    fours = (twos & 0x33333333) + ((twos >> 2) & 0x33333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F
    ones: NDArray[np.int64] = ((eights * 0x01010101) & 0xFFFFFFFF) >> 24
    return ones


def first_operations(n_features: int) -> int:
    """Return the multiply-adds of finding a box of the grid: five for a place, two for an index."""
    return 7 * n_features + _KIND_OPERATIONS


def step_operations(n_features: int) -> int:
    """Return the multiply-adds of going from a halved box to one of its parts."""
    return _RANK_OPERATIONS + 3 * n_features + 4 + _KIND_OPERATIONS


def map_bytes(n_nodes: int) -> int:
    """Return the bytes of the tables of a map with n_nodes boxes."""
    n_words = -(-n_nodes // _WORD)
    return 8 * n_words + 2 * -(-n_words // 2)
