"""Class scores: one score a class, of which the largest gives the label if its lead is large."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.early_exits.free_vectors import FreeVectors
from kmcompile.program.stages.ends import Ends

_PER_CLASS = 5
"""Operations of a class in the search of the largest score and of its lead."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores(FreeVectors):
    """The label is the class c with the largest score if its lead exceeds the half-width of c.

    score_c = sum_k weight_ck bump(v_k) + <slope_c, y> + c_c with y = M x, as in `FreeVectors`; or
    without vectors and slopes, score_c = y_c + c_c, where M has a row for each class. Of equal
    scores the first is the largest. The lead is the smallest difference of the largest score and
    another. A machine of pairs has far more decisions than classes, and its label needs no more
    than this order of the classes.

    `lower` and `upper` are the lead minus and plus the half-width.

    Parameters
    ----------
    number, products, vectors, weights, slopes, intercept, triangle, least, largest
        As in `FreeVectors`, a row for each class; without vectors their number of blocks is 0.
    half_width : ndarray of shape (n_classes,), float32
        Half of the calibrated band of the lead, for the class that leads. With an infinite one no
        query gets the label of this class.
    """

    weights: Annotated[Float32Array, Layout("Weights of the scores: [block][row][lane]")]
    half_width: Annotated[
        Float32Array,
        Layout(
            "Half of the calibrated band of the lead: [leading class]", ("N_CLASSES",), clipped=True
        ),
    ]

    template: ClassVar[str] = "class_scores"
    exit: ClassVar[str | None] = "statistical"

    far: ClassVar[np.float32] = np.float32(2.0**120)
    """At least every lead: no intermediate result of an accepted input is larger."""

    @property
    def prefix(self) -> str:
        """Prefix of its tables and, in capitals, of its constants: `scores_1`, ..."""
        return f"scores_{self.number}"

    @property
    def has_vectors(self) -> bool:
        """Whether the scores are sums over vectors, not inner products with the input only."""
        return self.n_blocks > 0

    def scores(self, y: Float32Array) -> Float32Array:
        """Return the scores, shape (n_queries, n_classes), given y of shape (n_queries, n_out)."""
        return self.rows(y) if self.has_vectors else y + self.intercept

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with labels and leads, and which queries these decide."""
        y = self.products.of(batch.x)
        in_range = self.is_inside(y, batch.square, batch.in_range)
        label, leads = leads_of(self.scores(y))
        lead = np.fmin(np.fmin.reduce(leads, axis=1), self.far)
        half_width = self.half_width[label]
        settled = np.all(leads > half_width[:, None], axis=1) & (half_width >= 0)
        spent = self.operations_of(batch.x) - np.where(in_range, 0, self._sum_operations())
        batch = replace(
            batch,
            label=np.where(in_range, label, batch.label),
            lower=np.where(in_range, lead - half_width, batch.lower),
            upper=np.where(in_range, lead + half_width, batch.upper),
            settled=settled & in_range,
            in_range=in_range,
            operations=batch.operations + spent,
        )
        return batch, batch.settled

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided; the stage has its own test."""
        return self.operations()

    def _sum_operations(self) -> int:
        test = _PER_CLASS * self.n_rows
        if not self.has_vectors:
            return self.n_rows + test
        return FreeVectors._sum_operations(self) + test

    def defines(self) -> tuple[Constant, ...]:
        """Return the constants for the stage's sizes."""
        return FreeVectors.defines(self) if self.has_vectors else ()

    def members(self) -> tuple[Member, ...]:
        """Return the workspace member for the scores."""
        return (Member("float", "scores", self.n_rows, "of the classes"),)

    def shared(self) -> Shared:
        """Return the constants that its projection shares, and the number of classes."""
        own = (*Laid.shared(self), *sizes(self.intercept, "N_CLASSES"))
        if not self.has_vectors:
            return (*own, ("N_CLASSES", self.products.n_rows))
        slopes = sizes(self.slopes[:, 0], "N_CLASSES")
        return (*own, *slopes, *sizes(self.weights[0, :, 0], "N_CLASSES"))

    def tables(self) -> tuple[Table, ...]:
        """Return projection, vectors, weights, slopes and intercepts, or only weights of inputs."""
        own = FreeVectors.tables(self)
        if self.has_vectors:
            return own
        text = "Weights of the scores, per prepared feature: [block][feature][lane]"
        weights = Table(f"{self.prefix}_weights", self.products.blocks, text)
        text = "Constants of the scores: [class]"
        return (weights, Table(f"{self.prefix}_intercept", self.intercept, text), own[-1])


def leads_of(scores: Float32Array) -> tuple[NDArray[np.int32], Float32Array]:
    """Return the class of each largest score, and its leads over the scores of other classes.

    Parameters
    ----------
    scores : ndarray of shape (n_queries, n_classes), float32

    Returns
    -------
    label : ndarray of shape (n_queries,), int32
    leads : ndarray of shape (n_queries, n_classes), float32
        Infinite for the class itself.
    """
    label = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    leads = scores[rows, label][:, None] - scores
    leads[rows, label] = np.inf
    return label.astype(np.int32), leads
