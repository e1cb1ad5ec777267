"""Boxes in which a decision's sign is proved, halved where inputs are likely."""

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
"""Of |f| in a box that is decided: a normal float32 number."""
_FIRST_SHARE = 1 / 64
_STEP = 1.5
"""From one least share of the boxes that are halved to the next."""
_UP = 1.0 + 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The boxes of one level that were looked at.

    Parameters
    ----------
    keys : ndarray of shape (n_boxes,), int64
        Sorted.
    signs : ndarray of shape (n_boxes,), int8
        1 or -1 where the sign is proved in all of the box, otherwise 0.
    halved : ndarray of shape (n_boxes,), bool
        The next level has its parts.
    """

    keys: Keys
    signs: Signs
    halved: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Subdivision:
    """Boxes with proved signs.

    Parameters
    ----------
    first_level : int
    levels : tuple of Level
        From the first one on.
    least, largest : float
        Bounds on |f| in every box that is decided.
    """

    first_level: int
    levels: tuple[Level, ...]
    least: float
    largest: float


@dataclass(eq=False)
class _Open:
    """Boxes of a level without a sign that are not halved: polynomials and their errors."""

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
    """The state of a subdivision."""

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
        """Take in boxes `depth` levels below the first with |f - polynomial| <= error there.

        What is added for the rounding of the range covers that of halving the box, too.
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
        """Halve all open boxes with more than a share of the points; return how many.

        Those for whose parts there is no room stay whole, and the search is full.
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
        """Return the bytes of all polynomials while some boxes of a level are halved.

        Those of the level are there three times, joined and parted. Of the parts all stay, one is
        worked on, with its range's coefficients.
        """
        n_monomials, n_coefficients = self.basis.bernstein.shape
        n_open = sum(len(part.keys) for parts in self.open for part in parts)
        n_parts = len(self.basis.halves)
        rows = n_open + 3 * n_joined + (n_parts + 5) * n_halved
        return 8.0 * float(rows * (n_monomials + 4) + n_halved * n_coefficients)

    def result(self) -> Subdivision:
        """Return what was found."""
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
    """Return the signs of f in boxes and bounds on |f| there.

    An input may lie outside its box by `inflation` of a half-width, i, where a polynomial differs
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
        Of |f|, where the sign is not 0.
    """
    growth = np.expm1(basis.total * np.log1p(inflation)) * _UP
    outside = np.abs(coefficients) @ growth
    error = (error + outside) * _UP
    low, high = np.zeros(len(error)), np.zeros(len(error))
    rest = ~basis.changes_sign(coefficients)  # of the others no sign can be proved
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
    """Halve boxes without a sign, those where most inputs are first.

    Parameters
    ----------
    keys : ndarray of shape (n_boxes,), int64
        Boxes of the first level.
    expanded : Sum
        f there.
    most_halved : int
        Boxes to halve, about.
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
