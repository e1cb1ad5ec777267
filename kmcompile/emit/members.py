"""Workspace members of sums and votes, in float or in the replay's double."""

from __future__ import annotations

from kmcompile.emit.literals import unsigned_literal
from kmcompile.program.layout import Member
from kmcompile.program.stages import DescribedSum, ExactSum, FixedSum, PairSum, Stage, Vote


def declaration(member: Member) -> str:
    """Return the declaration of a member in C."""
    size = "" if member.length is None else f"[{unsigned_literal(member.length)}]"
    return f"{member.c_type} {member.name}{size};"


def sum_members(stage: ExactSum | PairSum | FixedSum | DescribedSum, real: str) -> list[Member]:
    """Return the members that a sum works on; `real` is the C type of its arithmetic."""
    members = [
        Member(real, "decision", stage.n_decisions, "decision values"),
        Member(real, "bound", stage.n_decisions, ">= their errors"),
    ]
    if isinstance(stage, DescribedSum):
        members += stage.members(real)
    if isinstance(stage, ExactSum):
        if stage.compensates:
            members.append(Member(real, "lost", stage.n_decisions, "what rounding takes off"))
        members.append(Member(real, "row_sum", stage.n_rows, "sums of one group of vectors"))
        members.append(Member(real, "row_error", stage.n_rows, "and of their errors"))
    if isinstance(stage, PairSum):
        members.append(Member(real, "kernel", stage.n_vectors, "those that have been computed"))
        members.append(Member(real, "kernel_error", stage.n_vectors, ">= their errors"))
    return members


def pair_members(stage: Stage, votes: bool) -> list[Member]:
    """Return the marks of a pair sum, and with `votes` the order of the pairs."""
    if not isinstance(stage, PairSum):
        return []
    members = [
        Member("uint32_t", "computed", n_marks(stage.n_vectors), "a bit a vector: its kernel is"),
        Member("uint32_t", "n_computed", None, "such bits"),
        Member("uint32_t", "n_entries", None, "entries of the evaluated pairs"),
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
    """Return the number of words that hold n bits."""
    return -(-n // 32)


def confidence_members(label: Stage, real: str) -> list[Member]:
    """Return the members of votes that have the arithmetic's type."""
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
