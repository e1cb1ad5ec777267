"""What a Program is made of: a stage has reference semantics, tables and a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What is known of a batch of queries between two stages.

    Parameters
    ----------
    x : ndarray of shape (n_queries, n), float32
        The input as far as it is prepared.
    deviation : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean distance of `x` from the exactly prepared input.
    length : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean norm of `x`.
    decision, bound : ndarray of shape (n_queries, n_decisions), float32
        Decision values and the bounds on their errors.
    label : ndarray of shape (n_queries,), int32
    lower, upper : ndarray of shape (n_queries,), float32
    certified : ndarray of shape (n_queries,), bool
    """

    x: Float32Array
    deviation: Float32Array
    length: Float32Array
    decision: Float32Array
    bound: Float32Array
    label: NDArray[np.int32]
    lower: Float32Array
    upper: Float32Array
    certified: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Float32Array, n_decisions: int) -> Batch:
        """Return the state before the first stage."""
        zeros = np.zeros(len(X), dtype=np.float32)
        table = np.zeros((len(X), n_decisions), dtype=np.float32)
        label = np.zeros(len(X), dtype=np.int32)
        return cls(X, zeros, zeros, table, table, label, zeros, zeros, label != 0)


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

    def context(self) -> dict[str, Any]:
        """Return what the template gets besides the stage itself."""
        return {}
