"""Arrays of the workspace, in float or in the replay's double."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kmcompile.emit.literals import unsigned_literal
from kmcompile.program.stages import ExactSum, FixedSum, LinearSum, PairSum, Stage, Vote

_BYTES: Mapping[str, int] = MappingProxyType(
    {
        **{"float": 4, "double": 8, "uint32_t": 4, "uint64_t": 8},
        **{"uint8_t": 1, "int8_t": 1, "int16_t": 2, "int32_t": 4},
    }
)


@dataclass(frozen=True, slots=True)
class Member:
    """An array in the workspace; a single number where its length is None."""

    c_type: str
    name: str
    length: int | None
    meaning: str

    @property
    def n_bytes(self) -> int:
        """The bytes of the array or number."""
        return _BYTES[self.c_type] * (1 if self.length is None else self.length)

    @property
    def declaration(self) -> str:
        """Its declaration in C."""
        size = "" if self.length is None else f"[{unsigned_literal(self.length)}]"
        return f"{self.c_type} {self.name}{size};"


def sum_members(stage: ExactSum | PairSum | FixedSum | LinearSum, real: str) -> list[Member]:
    """Return what a sum works on; `real` is the C type of its arithmetic."""
    members = [
        Member(real, "decision", stage.n_decisions, "decision values"),
        Member(real, "bound", stage.n_decisions, ">= their errors"),
    ]
    if isinstance(stage, ExactSum):
        members.append(Member(real, "row_sum", stage.n_rows, "sums of one group of vectors"))
        members.append(Member(real, "row_error", stage.n_rows, "and of their errors"))
    if isinstance(stage, PairSum):
        members.append(Member(real, "kernel", stage.n_vectors, "those that have been computed"))
        members.append(Member(real, "kernel_error", stage.n_vectors, ">= their errors"))
    return members


def pair_members(stage: Stage, votes: bool) -> list[Member]:
    """Return what a sum marks that is evaluated pair by pair, and with `votes` their order."""
    if not isinstance(stage, PairSum):
        return []
    members = [
        Member("uint32_t", "computed", n_marks(stage.n_vectors), "a bit a vector: its kernel is"),
        Member("uint32_t", "n_computed", None, "such bits"),
        Member("uint32_t", "damaged", None, "1 where a table of the pairs is"),
    ]
    if votes:
        n_pairs, n_classes = stage.n_decisions, stage.n_classes
        members += [
            Member("uint32_t", "evaluated", n_marks(n_pairs), "a bit a pair: it has its decision"),
            Member("uint32_t", "met", n_classes, "such pairs of each class"),
            Member("uint32_t", "rank", n_classes, "classes by score, highest first"),
        ]
    return members


def n_marks(n: int) -> int:
    """Return the words of n bits."""
    return -(-n // 32)


def confidence_members(label: Stage, real: str) -> list[Member]:
    """Return what votes need of the arithmetic's type."""
    if not isinstance(label, Vote) or not label.break_ties:
        return []
    return [
        Member(real, "confidence", label.n_classes, "sum of decisions, breaks ties"),
        Member(real, "slack", label.n_classes, ">= its error"),
    ]


def vote_members(label: Stage) -> list[Member]:
    """Return the counters of votes."""
    if not isinstance(label, Vote):
        return []
    return [
        Member("uint32_t", "votes", label.n_classes, "of each class"),
        Member("uint32_t", "sure", label.n_classes, "those that no rounding can take away"),
        Member("uint32_t", "possible", label.n_classes, "those that rounding might give"),
    ]
