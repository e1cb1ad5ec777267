"""How large the models may be that fly later on code that is compiled once (`--tables image`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

ROUNDED_UP = 1.25
"""The default capacity, in the numbers of the first model."""
_SPARE_GROUPS = 2


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest counts that the code takes from an image.

    Parameters
    ----------
    vectors : int
        Support vectors without padding; 0 where the sum runs over no vectors.
    blocks, groups : int
        Blocks of vectors, and groups of vectors by what they are part of; 0 as above.
    answers : int
        Known answers of the self-test.
    """

    vectors: int
    blocks: int
    groups: int
    answers: int

    @classmethod
    def of(cls, summed: Stage, vectors: int | None, most_answers: int) -> Capacity:
        """Return the capacity of the code of a program with this sum.

        Any model of so many vectors in so many groups fits.

        Parameters
        ----------
        summed : Stage
        vectors : int or None
            The capacity that was asked for; None: the sum's own, rounded up by a quarter.
        most_answers : int
            Most known answers that a program of this shape may have.
        """
        if not isinstance(summed, GroupedSum):
            return cls(0, 0, 0, most_answers)
        most = vectors or math.ceil(summed.n_vectors * ROUNDED_UP)
        groups = max(summed.n_groups + _SPARE_GROUPS, math.ceil(summed.n_groups * ROUNDED_UP))
        return cls(most, summed.most_blocks(most, groups), groups, most_answers)

    def exceeded_by(self, summed: Stage, n_answers: int) -> tuple[str, int, int] | None:
        """Return which capacity a program exceeds, with its number and the most, or None.

        Parameters
        ----------
        summed : Stage
            The program's sum.
        n_answers : int
            Its known answers.
        """
        counts = [("known answers", n_answers, self.answers)]
        if isinstance(summed, GroupedSum):
            counts = [
                ("support vectors", summed.n_vectors, self.vectors),
                ("groups of vectors", summed.n_groups, self.groups),
                ("blocks of vectors", summed.n_blocks, self.blocks),
                *counts,
            ]
        return next((one for one in counts if one[1] > one[2]), None)
