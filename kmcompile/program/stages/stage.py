"""Stage: a part of a Program, with reference semantics, tables and a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid
from kmcompile.program.shared import Place


class Stage(Laid, ABC):
    """One stage: a frozen dataclass whose fields are exactly the constants of its C.

    The template in `templates/stages/` that has the stage's name emits its C.
    """

    template: ClassVar[str]
    """Name of the stage's template."""

    place: ClassVar[Place]
    """The place of the stage in a program."""

    takes_exits: ClassVar[bool] = False
    """Whether the stage is a sum before which early exits may stand."""

    exit: ClassVar[str | None] = None
    """How the stage decides queries: "exact", "certified", "statistical", or None: it does not."""

    @property
    def name(self) -> str:
        """Name of the stage, unique in its program."""
        return self.template

    @property
    def in_integers(self) -> bool:
        """Whether nearly all operations of the stage are on integers."""
        return False

    @property
    def takes_codes(self) -> bool:
        """Whether the stage is a sum over an input of integer codes."""
        return False

    @property
    def watches_range(self) -> bool:
        """Whether the stage may find that an input is out of the calibrated range."""
        return False

    @property
    def is_calibrated(self) -> bool:
        """Whether the stage's decisions depend on calibration samples."""
        return self.exit == "statistical"

    @property
    def is_certified(self) -> bool:
        """Whether the stage's decisions are proved."""
        return self.exit == "certified"

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query in the worst case, all overhead included."""

    def kernel_evaluations(self) -> int:
        """Return the full kernel evaluations of one query in the worst case."""
        return 0

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum, or a sum before a label stage."""
        return True

    def makes(self) -> frozenset[str]:
        """Return the results that later stages may read: "nonzeros", "square" or "intervals"."""
        return frozenset()

    def needs(self) -> frozenset[str]:
        """Return which of these results an earlier stage must have made."""
        return frozenset()


class Always(Stage):
    """A stage that has one procedure for every query that reaches it."""

    @abstractmethod
    def run(self, batch: Batch) -> Batch:
        """Return the batch after the stage: the reference semantics, in float32."""

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of each query of a batch before the stage."""
        return np.full(len(batch.x), self.operations(), dtype=np.int64)
