"""What a Program is made of: a stage has reference semantics, tables and a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.agreement import Place, Shared
from kmcompile.ir.ends import Ends
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table


class Stage(ABC):
    """One stage: a frozen dataclass whose fields are exactly the constants of its C.

    The template of the same name in `templates/stages/` is its image.
    """

    template: ClassVar[str]
    """Name of the template."""

    place: ClassVar[Place]
    """Where it stands in a program."""

    takes_exits: ClassVar[bool] = False
    """Whether it is a sum before which early exits may stand."""

    exit: ClassVar[str | None] = None
    """How the stage decides: None (it does not), "exact", "certified" or "statistical"."""

    @property
    def name(self) -> str:
        """Name of the stage in a program, where no two have the same."""
        return self.template

    @property
    def in_integers(self) -> bool:
        """Whether nearly all of its operations are those of integers."""
        return False

    @property
    def is_calibrated(self) -> bool:
        """Whether what the stage decides rests on samples."""
        return self.exit == "statistical"

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query in the worst case, all overhead included."""

    def tables(self) -> tuple[Table, ...]:
        """Return the constant tables, in the order of the C."""
        return ()

    def kernel_evaluations(self) -> int:
        """Return the full kernel evaluations of one query in the worst case."""
        return 0

    def shared(self) -> Shared:
        """Return the constants that the stage is laid out for and that others have as well.

        A program whose stages return different values for one name cannot be made.
        """
        return ()

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum, or a sum before a label stage."""
        return True

    def makes(self) -> frozenset[str]:
        """Return what stages behind it may read of an input: "nonzeros" or "square"."""
        return frozenset()

    def needs(self) -> frozenset[str]:
        """Return what of this a stage before it must have made."""
        return frozenset()


class Always(Stage):
    """A stage that does the same for every query that reaches it."""

    @abstractmethod
    def run(self, batch: Batch) -> Batch:
        """Return the batch after the stage: the reference semantics, in float32."""

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of each query of a batch before the stage."""
        return np.full(len(batch.x), self.operations(), dtype=np.int64)


class EarlyExit(Stage):
    """A stage that estimates the decisions and decides the queries that it is sure of.

    An estimate with its half-width goes to the label stage in the places of decision and
    bound: where that finds the label to be the same within all of the half-widths, the query
    is decided.
    """

    place: ClassVar[Place] = Place.EXIT

    def stands_before(self, other: Stage) -> bool:
        """Return whether a sum takes early exits; most look at nothing else of it."""
        return other.takes_exits

    @abstractmethod
    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch after the stage and which of its queries are decided.

        A query that the stage finds to be out of the calibrated range is not decided, and its
        `in_range` is false. All queries given are in range.
        """

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that it does not decide, with those of the label."""
        return self.operations() + ends.label.operations()
