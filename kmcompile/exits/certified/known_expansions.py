"""What trees of centres about the same samples have in common, so that it is made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.expansion import Expansion, Vectors, expand
from kmcompile.exits.certified.expansion_constants import Bend
from kmcompile.numeric.arrays import Float32Array, Float64Array

_Place = tuple[int, bytes, float]
"""Level, centre and radius of an expansion."""

_OF_ROWS = (
    "constant",
    "linear",
    "quadratic",
    "ends",
    "squares",
    "squares_error",
    "norms",
    "tail",
    "error",
)

Part = tuple[Float64Array, NDArray[np.intp]]
"""The mean and the samples of a part of a cell."""


class Known:
    """Parts of cells, rows of expansions, axes and bounds of forms that were made before.

    A tree whose centres prove more labels has the same centres, with more rows.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[bytes, int], list[Part]] = {}
        self._rows: dict[_Place, tuple[NDArray[np.int64], Expansion]] = {}
        self._axes: dict[bytes, Float32Array] = {}
        self._bends: dict[tuple[bytes, float, int, bytes], Bend] = {}

    def parts(
        self, cell: NDArray[np.intp], branches: int, made: Callable[[], list[Part]]
    ) -> list[Part]:
        """Return the parts of a cell; `made` makes them."""
        key = (cell.tobytes(), branches)
        if key not in self._parts:
            self._parts[key] = made()
        return self._parts[key]

    def expansion(
        self,
        level: int,
        vectors: Vectors,
        decisions: NDArray[np.int64],
        centre: Float64Array,
        radius: float,
    ) -> Expansion:
        """Return the expansion of increasing decisions about a centre of a level."""
        key = (level, centre.tobytes(), radius)
        if key not in self._rows:
            self._rows[key] = (decisions, expand(vectors, decisions, centre, radius))
        have, e = self._rows[key]
        missing = np.setdiff1d(decisions, have)
        if len(missing):
            e = _joined(e, expand(vectors, missing, centre, radius))
            have = np.concatenate([have, missing])
            order = np.argsort(have)
            have, e = self._rows[key] = (have[order], _chosen(e, order))
        if len(have) == len(decisions):
            return e
        return _chosen(e, np.searchsorted(have, decisions))

    def keep(self, n_levels: int) -> None:
        """Forget the expansions of deeper levels."""
        self._rows = {key: rows for key, rows in self._rows.items() if key[0] < n_levels}

    def axes(self, centres: Float64Array, made: Callable[[], Float32Array]) -> Float32Array:
        """Return the axes of a level; those of the tree that came first are good for all."""
        key = centres.tobytes()
        if key not in self._axes:
            self._axes[key] = made()
        return self._axes[key]

    def bend(self, e: Expansion, decision: int, basis: bytes, made: Callable[[], Bend]) -> Bend:
        """Return the bounds of a decision's forms along a basis; `made` makes them."""
        key = (e.centre.tobytes(), e.radius, decision, basis)
        if key not in self._bends:
            self._bends[key] = made()
        return self._bends[key]


def _joined(one: Expansion, other: Expansion) -> Expansion:
    rows: dict[str, Any] = {
        name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _OF_ROWS
    }
    return replace(one, **rows)


def _chosen(e: Expansion, rows: NDArray[np.intp]) -> Expansion:
    return replace(e, **{name: getattr(e, name)[rows] for name in _OF_ROWS})
