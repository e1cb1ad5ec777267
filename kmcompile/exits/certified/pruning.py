"""Choose which halvings of a subdivision are worth their bytes in a sign map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.density import Density
from kmcompile.exits.certified.lattice import Keys
from kmcompile.exits.certified.subdivision import Level, Signs, Subdivision
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages.early_exits.sign_map import HALVED, NEGATIVE, OPEN, POSITIVE

_BISECTIONS = 24
_NO_BOXES = Level(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8), np.zeros(0, dtype=np.bool_)
)


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A sign map as a forest: the roots are boxes of one level, halved where that saves cost.

    Parameters
    ----------
    root_level : int
    levels : tuple of Level
        The levels from the roots on. A box that has no sign and is not halved stays open.
    n_halved : int
    gain : float
        Share of the points that the map decides, less the cost of looking them up.
    """

    root_level: int
    levels: tuple[Level, ...]
    n_halved: int
    gain: float


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    """A level with the values that pruning reads repeatedly.

    Parameters
    ----------
    share : ndarray of shape (n_boxes,), float64
        Share of the points in each box.
    parents : ndarray of shape (n_boxes,), int64
        Indices of the boxes' parents in the level before; meaningless in the first level.
    """

    level: Level
    share: Float64Array
    parents: NDArray[np.intp]


class Forest:
    """All boxes that a subdivision found, from level 0 on.

    Parameters
    ----------
    subdivision : Subdivision
    density : Density
    last_root_level : int
        The deepest level that may be the grid of a map.
    step_cost : float
        Cost of looking into a halved box, as a share of the cost that the map saves for a query.
    most_steps : int
        Most halvings between a box of the grid and its smallest part.
    """

    def __init__(
        self,
        subdivision: Subdivision,
        density: Density,
        last_root_level: int,
        step_cost: float,
        most_steps: int,
    ) -> None:
        self.n_features = density.lattice.n_features
        self.step_cost, self.most_steps = step_cost, most_steps
        levels = list(subdivision.levels)
        for _ in range(subdivision.first_level):
            keys = np.unique(levels[0].keys >> self.n_features)
            zeros = np.zeros(len(keys), dtype=np.int8)
            levels.insert(0, Level(keys, zeros, zeros == 0))
        for number in range(subdivision.first_level, last_root_level):
            below = levels[number + 1] if number + 1 < len(levels) else _NO_BOXES
            levels[number + 1 : number + 2] = [self._with_parts(levels[number], below)]
        self.boxes = []
        for number, level in enumerate(levels):
            above = levels[max(number - 1, 0)].keys
            parents = np.searchsorted(above, level.keys >> self.n_features)
            self.boxes.append(_Boxes(level, density.of(level.keys, number), parents))

    def pruned(self, root_level: int, price: float) -> Pruned:
        """Return the forest with the largest gain if every halving costs a price.

        The gain of a halved box is the gain of its parts, less the price and the cost of looking
        into it. A box stays whole where this gain is negative, where its own sign is proved, or
        where the same sign is proved in all its parts.
        """
        n_parts = 1 << self.n_features
        levels: list[Level] = []
        gain = n_halved = np.zeros(0)
        signs: Signs = np.zeros(0, dtype=np.int8)
        whole = signs == 0
        last = min(len(self.boxes) - 1, root_level + self.most_steps)
        for number in range(last, root_level - 1, -1):
            boxes = self.boxes[number]
            n = len(boxes.share)
            mine = boxes.level.signs.copy()
            below = np.zeros(n) - price - self.step_cost * boxes.share
            count = np.ones(n)
            if number < last:
                parents = self.boxes[number + 1].parents
                below += np.bincount(parents, gain, n)
                count += np.bincount(parents, n_halved, n)
                for sign in (1, -1):
                    same = np.bincount(parents, whole & (signs == sign), n) == n_parts
                    mine[same & boxes.level.halved] = sign
            halved = boxes.level.halved & (mine == 0) & (below > 0) & (number < last)
            gain = np.where(halved, below, np.where(mine != 0, boxes.share, 0.0))
            n_halved = np.where(halved, count, 0.0)
            signs, whole = mine, ~halved
            levels.insert(0, Level(boxes.level.keys, mine, halved))
        return Pruned(root_level, tuple(levels), int(n_halved.sum()), float(gain.sum()))

    def fitted(self, root_level: int, most_halved: int) -> Pruned:
        """Return a forest with nearly the largest gain for at most `most_halved` halvings."""
        best = self.pruned(root_level, 0.0)
        low, high = 2.0**-30, 1.0
        if best.n_halved <= most_halved:
            return best
        best = self.pruned(root_level, high)
        for _ in range(_BISECTIONS):
            price = (low * high) ** 0.5
            found = self.pruned(root_level, price)
            if found.n_halved <= most_halved:
                best, high = found, price
            else:
                low = price
        return best

    def _with_parts(self, level: Level, below: Level) -> Level:
        """Return the next level with the parts of boxes that have a sign: these may be roots."""
        decided = level.signs != 0
        parts = np.arange(1 << self.n_features)
        keys = ((level.keys[decided, None] << self.n_features) + parts).reshape(-1)
        signs = np.repeat(level.signs[decided], len(parts))
        every = np.concatenate([below.keys, keys])
        order = np.argsort(every)
        return Level(
            every[order],
            np.concatenate([below.signs, signs])[order],
            np.concatenate([below.halved, np.zeros(len(keys), dtype=bool)])[order],
        )


def kinds(pruned: Pruned, roots: Keys, n_features: int) -> list[NDArray[np.uint8]]:
    """Return the kinds of all boxes of a map, level by level, parts in the order of their parents.

    Parameters
    ----------
    roots : ndarray of shape (n_roots,), int64
        Keys of the roots, in the order of the map.

    Returns
    -------
    list of ndarray of shape (n_boxes,), uint8
        One array a level; the kinds are those of `stages.sign_map`.
    """
    parts = np.arange(1 << n_features)
    found = []
    keys = roots
    for level in pruned.levels:
        place = np.minimum(np.searchsorted(level.keys, keys), len(level.keys) - 1)
        known = level.keys[place] == keys
        signs = np.where(known, level.signs[place], 0)
        halved = known & level.halved[place]
        kind = np.select([signs > 0, signs < 0, halved], [POSITIVE, NEGATIVE, HALVED], OPEN)
        found.append(kind.astype(np.uint8))
        keys = ((keys[halved, None] << n_features) + parts).reshape(-1)
        if not len(keys):
            break
    return found
