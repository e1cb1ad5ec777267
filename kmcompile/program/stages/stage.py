"""What a Program is made of: a stage has reference semantics, tables and a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.shared import Place, Shared


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
    def watches_range(self) -> bool:
        """Whether it may find that an input is unlike the samples of the calibration."""
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
