"""Prove a decision's sign in boxes of inputs, and halve boxes where inputs are likely."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.density import Density
from kmcompile.exits.certified.expansions import Sum
from kmcompile.exits.certified.lattice import Keys
from kmcompile.exits.certified.monomials import Monomials
from kmcompile.numeric.arrays import Float64Array

Signs = NDArray[np.int8]

_LEAST = 2.0**-60
"""Smallest |f| in a box with a proved sign: a normal float32 number."""
_FIRST_SHARE = 1 / 64
_STEP = 1.5
"""Ratio of consecutive least shares of the points, above which boxes are halved."""
_UP = 1.0 + 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The boxes of one level that were examined.

    Parameters
    ----------
    keys : ndarray of shape (n_boxes,), int64
        Sorted.
    signs : ndarray of shape (n_boxes,), int8
        1 or -1 if the sign is proved for the whole box, otherwise 0.
    halved : ndarray of shape (n_boxes,), bool
        Whether the next level contains the box's parts.
    """

    keys: Keys
    signs: Signs
    halved: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Subdivision:
    """All examined boxes with their proved signs.

    Parameters
    ----------
    first_level : int
    levels : tuple of Level
        The levels from `first_level` on.
    least, largest : float
        Bounds on |f| that hold in every box with a proved sign.
    """

    first_level: int
    levels: tuple[Level, ...]
    least: float
    largest: float


@dataclass(eq=False)
class _Open:
    """Boxes of a level that have no sign and are not halved, with their polynomials and errors."""

    keys: Keys
    coefficients: Float64Array
    error: Float64Array
    share: Float64Array

    def chosen(self, rows: NDArray[np.bool_]) -> _Open:
        return _Open(self.keys[rows], self.coefficients[rows], self.error[rows], self.share[rows])


def _joined(parts: list[_Open]) -> _Open:
    return _Open(
        *(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(_Open))
    )


@dataclass(eq=False)
class _Search:
    """The state of a running subdivision."""

    basis: Monomials
    density: Density
    first_level: int
    budget: SearchBudget
    is_full: bool = False
    seen: list[list[tuple[Keys, Signs]]] = field(default_factory=list)
    open: list[list[_Open]] = field(default_factory=list)
    halved: list[list[Keys]] = field(default_factory=list)
    least: float = np.inf
    largest: float = 0.0

    def __post_init__(self) -> None:
        for _ in range(self.first_level, self.density.lattice.last_level + 1):
            self.seen.append([])
            self.open.append([])
            self.halved.append([])

    def admit(
        self, depth: int, keys: Keys, coefficients: Float64Array, error: Float64Array
    ) -> None:
        """Add boxes `depth` levels below the first, where |f - polynomial| <= error.

        The error that is added for the rounding of the range also covers the rounding of halving
        the box.
        """
        level = self.first_level + depth
        inflation = self.density.lattice.inflation(level)
        error = error + self.basis.rounding(coefficients, inflation)
        signs, low, high = proved_signs(self.basis, coefficients, error, inflation)
        self.seen[depth].append((keys, signs))
        if signs.any():
            self.least = min(self.least, float(low[signs != 0].min()))
            self.largest = max(self.largest, float(high[signs != 0].max()))
        rest = signs == 0
        share = self.density.of(keys[rest], level)
        self.open[depth].append(_Open(keys[rest], coefficients[rest], error[rest], share))

    def halve(self, least_share: float) -> int:
        """Halve all open boxes with more than a share of the points; return how many were halved.

        Boxes stay whole if memory has no room for their parts. The search then counts as full.
        """
        n = 0
        n_features = self.density.lattice.n_features
        for depth, found in enumerate(self.open[:-1]):
            if not found:
                break
            boxes = _joined(found)
            likely = boxes.share > least_share
            if not self.budget.allows(self._bytes(len(boxes.keys), int(likely.sum()))):
                self.is_full = True
                break
            self.open[depth] = [boxes.chosen(~likely)]
            boxes = boxes.chosen(likely)
            self.halved[depth].append(boxes.keys)
            n += len(boxes.keys)
            for part, coefficients in enumerate(self.basis.parts(boxes.coefficients)):
                keys = (boxes.keys << n_features) + part
                self.admit(depth + 1, keys, coefficients, boxes.error)
        return n

    def _bytes(self, n_joined: int, n_halved: int) -> float:
        """Return the bytes of all polynomials while n_halved boxes of a level are halved.

        The polynomials of the level are in memory three times: joined, and parted into halved and
        whole. The polynomials of all parts stay in memory. One part at a time needs its range's
        coefficients, too.
        """
        n_monomials, n_coefficients = self.basis.bernstein.shape
        n_open = sum(len(part.keys) for parts in self.open for part in parts)
        n_parts = len(self.basis.halves)
        rows = n_open + 3 * n_joined + (n_parts + 5) * n_halved
        return 8.0 * float(rows * (n_monomials + 4) + n_halved * n_coefficients)

    def result(self) -> Subdivision:
        """Return the levels with all their boxes."""
        levels = []
        for seen, halved in zip(self.seen, self.halved, strict=True):
            if not seen:
                break
            keys, signs = (np.concatenate(parts) for parts in zip(*seen, strict=True))
            order = np.argsort(keys)
            every = np.concatenate([*halved, np.zeros(0, dtype=np.int64)])
            levels.append(Level(keys[order], signs[order], np.isin(keys[order], every)))
        return Subdivision(self.first_level, tuple(levels), self.least, self.largest)


def proved_signs(
    basis: Monomials, coefficients: Float64Array, error: Float64Array, inflation: float
) -> tuple[Signs, Float64Array, Float64Array]:
    """Return the signs of f in boxes, and bounds on |f| there.

    An input may lie outside its box by `inflation` i of a half-width. There the polynomial differs
    from its values in the box by at most sum_a |c_a| ((1 + i)^|a| - 1).

    Parameters
    ----------
    coefficients : ndarray of shape (n_boxes, n_monomials), float64
    error : ndarray of shape (n_boxes,), float64
        >= |f - polynomial| for inputs of the box; the rounding of its range included.
    inflation : float

    Returns
    -------
    signs : ndarray of shape (n_boxes,), int8
    least, largest : ndarray of shape (n_boxes,), float64
        Bounds on |f| where the sign is not 0.
    """
    growth = np.expm1(basis.total * np.log1p(inflation)) * _UP
    outside = np.abs(coefficients) @ growth
    error = (error + outside) * _UP
    low, high = np.zeros(len(error)), np.zeros(len(error))
    rest = ~basis.changes_sign(coefficients)  # no sign can be proved in the other boxes
    low[rest], high[rest] = basis.range(coefficients[rest])
    least = np.maximum(low, -high) - error * _UP
    signs = np.where(least > _LEAST, np.sign(low), 0).astype(np.int8)
    return signs, least * (1 - 1e-9), (np.maximum(-low, high) + error) * _UP


def subdivide(
    basis: Monomials,
    density: Density,
    first_level: int,
    keys: Keys,
    expanded: Sum,
    most_halved: int,
    budget: SearchBudget | None = None,
) -> Subdivision:
    """Halve the boxes without a sign, starting where most inputs lie.

    Parameters
    ----------
    keys : ndarray of shape (n_boxes,), int64
        Boxes of the first level.
    expanded : Sum
        The polynomials of f on these boxes.
    most_halved : int
        About how many boxes to halve.
    budget : SearchBudget, optional
    """
    budget = budget or SearchBudget("sign_map")
    search = _Search(basis, density, first_level, budget)
    search.admit(0, keys, expanded.coefficients, expanded.error)
    least_share, n_halved = _FIRST_SHARE, 0
    while n_halved < most_halved and least_share * len(density.keys) > 1:
        budget.tell(f"halving boxes, {n_halved:,} of about {most_halved:,}")
        n_halved += search.halve(least_share)
        least_share /= _STEP
        if search.is_full:
            budget.ended(f"{n_halved:,} halved boxes of about {most_halved:,}")
            break
    return search.result()
