"""Labels: what the rooms above ask every stage that answers, with the answers of most."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Member
from kmcompile.program.shared import Place
from kmcompile.program.stages.stage import Always


class Label(Always):
    """A stage that makes a label, or a value, of decisions and their bounds.

    Emission, exits and report ask what a label is by the members below; for fields, see `Sum`.
    """

    place: ClassVar[Place] = Place.LABEL

    is_value: ClassVar[bool] = False
    """Whether the answer is a value: then signs of decisions mean nothing."""
    by_votes: ClassVar[bool] = False
    """Whether each decision is that of a pair of classes, for one of which it votes."""
    by_largest: ClassVar[bool] = False
    """Whether each class has a decision, and the largest one wins."""
    interval_text: ClassVar[str]
    """What `lower` and `upper` of a result bound, for the header."""
    reads_ends: ClassVar[bool] = False
    """Whether a proved interval answers by the signs of its ends, however large the other end."""
    needs_magnitude: ClassVar[bool] = False
    """Whether the C of the label takes magnitudes of floats."""

    @property
    @abstractmethod
    def decisions_text(self) -> str:
        """What a decision is, or what its sign means, for the header."""

    @abstractmethod
    def margins(self, decisions: Float64Array, labels: np.ndarray) -> tuple[Float64Array, str]:
        """Return each query's margin, of a regression its value, and its name for the report."""

    @property
    def tolerance(self) -> np.float32 | None:
        """The width below which an interval settles a value; None if it does not ask for one."""
        return None

    @property
    def break_ties(self) -> bool:
        """Whether ties of votes are broken by sums of decisions."""
        return False

    @property
    def counts_signs(self) -> bool:
        """Whether nothing but the signs of many decisions is counted."""
        return self.by_votes and not self.break_ties

    def rests_on(self) -> list[list[int]]:
        """Return the decisions whose signs, or value, give each answer; [] if it takes more."""
        return []

    def asked(self, batch: Batch) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return each decision that an answer rests on, with the queries whose answers do."""
        return [(own[0], np.ones(len(batch), dtype=bool)) for own in self.rests_on()]

    def interval_at(self, batch: Batch, label: np.ndarray) -> tuple[Float32Array, Float32Array]:
        """Return the intervals of labels that may be others than the batch's."""
        return batch.lower, batch.upper

    def members(self, real: str) -> tuple[Member, ...]:
        """Return what it keeps in the workspace in the arithmetic's type, `real`."""
        return ()

    def counters(self) -> tuple[Member, ...]:
        """Return the counters that it keeps in the workspace."""
        return ()


class OneDecision(Label):
    """A label that is the sign of the one decision, or the value that is this decision."""

    interval_text: ClassVar[str] = "the decision"

    def margins(self, decisions: Float64Array, labels: np.ndarray) -> tuple[Float64Array, str]:
        """Return the decisions."""
        return decisions[:, 0], "exact decision value f(x)"

    def rests_on(self) -> list[list[int]]:
        """Return the one decision, for every answer."""
        return [[0]]
