"""What a Program is made of: a stage has reference semantics, tables and a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from kmcompile.ir.batch import Batch
from kmcompile.ir.table import Table


class Stage(ABC):
    """One stage: a frozen dataclass whose fields are exactly the constants of its C.

    The template of the same name in `templates/stages/` is its image.
    """

    name: ClassVar[str]
    """Name of the stage and of its template."""

    exit: ClassVar[str | None] = None
    """How the stage decides: None (it does not), "exact", "certified" or "statistical"."""

    @abstractmethod
    def run(self, batch: Batch) -> Batch:
        """Return the batch after the stage: the reference semantics, in float32."""

    @abstractmethod
    def operations(self) -> int:
        """Return the multiply-adds of one query in the worst case, all overhead included."""

    def tables(self) -> tuple[Table, ...]:
        """Return the constant tables, in the order of the C."""
        return ()

    def kernel_evaluations(self) -> int:
        """Return the full kernel evaluations of one query."""
        return 0
