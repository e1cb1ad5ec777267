"""Samples that repeat others, read in two ways, and evidence that holds in both.

A limit of a probability rests on independent draws. Where samples are equal or nearly equal, there
are two readings. *Every sample counts*: each is a draw of its own, and an input that carries much
of the mass is drawn often. *Every group counts once*: somebody copied some of the draws. Nothing in
the samples tells which is true, so a limit must hold in both.

Each sample is set aside by a coin, with a probability q <= 1/2 that does not depend on its value.
Of a group of k samples, j are then on the other side. What is fitted sees these with the
probability 1 - r(j),

    r(j) = q + (1 - q) t^j,   t = -q / (1 - q),

and none of them otherwise.

- Every sample counts: the fit knows the samples on the other side and coins, nothing else. The
  samples that were set aside are independent draws that it has not seen.
- Every group counts once: j is binomial(k, 1 - q), so the fit has not seen a group with the
  probability E r(j) = q + (1 - q) (q + (1 - q) t)^k = q, whatever its size. The groups that it has
  not seen are a fair choice of all groups.

r(0) is 1, and r(1) is 0: where nothing repeats, nothing is lost. For q = 1/2 the fit sees a group
if an odd number of its samples is on the other side. Two things are taken as given: which samples
repeat each other; and that the coins are independent, while a fixed number of them is drawn, which
changes the probabilities by about one in the number of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.loss import Losses
from kmcompile.exits.statistical.risk import Control, Tally
from kmcompile.numeric.arrays import frozen
from kmcompile.request.counted import Counted


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Samples that nothing has seen, and which of them count in each of the two readings.

    Parameters
    ----------
    rows : ndarray of shape (n,), int
        The samples, as indices.
    every, once : ndarray of shape (n,), bool
        Which of them count if every sample does, and if every group counts once.
    """

    rows: NDArray[np.intp]
    every: NDArray[np.bool_]
    once: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in ("rows", "every", "once"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array, array.dtype))

    @classmethod
    def of(cls, rows: NDArray[np.intp]) -> Evidence:
        """Return the evidence of samples that do not repeat each other."""
        all_count = np.ones(len(rows), dtype=np.bool_)
        return cls(rows, all_count, all_count)

    @property
    def n(self) -> int:
        """The number of samples that count, in the reading in which fewer do."""
        return int(min(self.every.sum(), self.once.sum()))

    @property
    def repeats(self) -> bool:
        """Whether the two readings differ."""
        return not np.array_equal(self.every, self.once)

    def worst(
        self, losses: Losses, control: Control = "guaranteed", confidence: float = CONFIDENCE
    ) -> Tally:
        """Return the samples that count and are wrong, in the reading with the larger limit.

        Parameters
        ----------
        losses : ndarray of shape (n,), bool or int8
            What each sample costs, as `loss.losses_of` returns it.
        control : {"guaranteed", "expected"}
        confidence : float
            Of a guaranteed limit.
        """
        every, once = (Tally.of(losses[counts]) for counts in (self.every, self.once))
        if every == once:
            return every
        return max((every, once), key=lambda tally: tally.limit(control, confidence))


@dataclass(frozen=True, slots=True, eq=False)
class Aside:
    """Samples that are set aside, and those that a fit may see.

    Parameters
    ----------
    every : ndarray of shape (n,), bool
        Samples that are set aside.
    once : ndarray of shape (n,), bool
        One sample of each group that no fit may see.
    seen : ndarray of shape (n,), bool
        The samples that a fit may see: on the other side, in other groups.
    """

    every: NDArray[np.bool_]
    once: NDArray[np.bool_]
    seen: NDArray[np.bool_]

    def where(self, counted: Counted) -> Aside:
        """Return which samples are set aside of those that count."""
        return Aside(self.every & counted.every, self.once & counted.once, self.seen)

    @property
    def evidence(self) -> Evidence:
        """The samples that are set aside, and those of groups that no fit may see."""
        rows = np.flatnonzero(self.every | self.once)
        return Evidence(rows, self.every[rows], self.once[rows])


def set_aside(group: NDArray[np.intp], share: float, rng: np.random.Generator) -> Aside:
    """Set aside a share of the samples, and as large a share of the groups.

    Parameters
    ----------
    group : ndarray of shape (n,), int
        For each sample the index of the first sample of its group.
    share : float
        At most 1/2.
    rng : Generator
    """
    assert 0 < share <= 0.5
    n = len(group)
    every = np.zeros(n, dtype=np.bool_)
    every[rng.permutation(n)[: math.ceil(share * n)]] = True
    left = np.bincount(group, weights=~every, minlength=n)
    hidden = rng.random(n) < share + (1 - share) * (-share / (1 - share)) ** left
    return Aside(every, hidden & (group == np.arange(n)), ~every & ~hidden[group])
