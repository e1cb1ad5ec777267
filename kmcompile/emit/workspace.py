"""The arrays of a program's workspace."""

from __future__ import annotations

from kmcompile.emit.code_table_view import code_bytes
from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.fixed_sum_view import integer_members
from kmcompile.emit.members import (
    Member,
    confidence_members,
    pair_members,
    sum_members,
    vote_members,
)
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.program import Program
from kmcompile.program.stages import BoundSequence, ExactSum, FixedSum, FoldedWeights, PairSum


def workspace_members(
    program: Program, buffers: tuple[tuple[str, int], ...], early: EarlyExitsView
) -> tuple[Member, ...]:
    """Return the arrays of the workspace in order, behind the integer sums and their codes."""
    summed, label = program.ends.exact, program.ends.label
    members = [Member("float", name, length, "the prepared input") for name, length in buffers]
    members += sum_members(summed, "float")
    if isinstance(summed, PairSum):
        members.append(Member("float", "score", summed.n_classes, "of each class"))
    members += [*pair_members(summed, votes=True), *_early_members(program, early)]
    members += [*vote_members(label), *confidence_members(label, "float")]
    if program.codes is not None:
        codes = C_TYPES[program.codes.width]
        members.append(Member(codes, "quantized", program.n_features, "codes of a float input"))
    return tuple(members)


def integer_bytes(program: Program) -> int:
    """Return the bytes of the integer sums and the codes that inner products take."""
    summed = program.ends.exact
    members = integer_members(summed) if isinstance(summed, FixedSum) else []
    sums = sum(member.n_bytes for member in members)
    return sums + (0 if program.codes is None else code_bytes(program.codes))


def _early_members(program: Program, early: EarlyExitsView) -> list[Member]:
    members = []
    if early.float_codes is not None:
        members.append(Member("float", "float_codes", program.prepare.n_out, "the codes in float"))
    if early.nonzeros is not None:
        members.append(
            Member("uint32_t", "nonzeros", program.prepare.n_out, "features that are not 0")
        )
    if early.products:
        lengths = [products.n_padded for products in early.products]
        longest = max(*lengths, *(view.n_lifted for view in early.reduced_sets), 0)
        members.append(Member("float", "projected", longest, "inner products with the input"))
    if early.proves:
        members += [
            Member("float", "least", program.n_decisions, "what is proved of the decisions: from"),
            Member("float", "most", program.n_decisions, "and to"),
        ]
    sequence = next((s for s in early.exits if isinstance(s, BoundSequence)), None)
    if sequence is not None:
        n = sequence.kernel_evaluations()
        members += [
            Member("float", "sequence_kernels", n, "kernels of the bound sequence"),
            Member("float", "sequence_estimate", program.n_decisions, "what they give of f"),
        ]
    folded = next((s for s in early.exits if isinstance(s, FoldedWeights)), None)
    if folded is not None:
        members += _folded_members(folded)
    rows = program.n_decisions + 1
    if early.reduced_sets:
        members.append(Member("float", "estimate", rows, "of a reduced set: decisions, spread"))
    if any(view.is_earlier for view in early.reduced_sets):
        members.append(Member("float", "earlier", rows, "the same, for the stages behind it"))
    if early.estimates or early.reuses_kernels:
        members += _touching_members(program, early)
    return members


def _touching_members(program: Program, early: EarlyExitsView) -> list[Member]:
    """Return what approximates all kernels and computes the largest ones."""
    exact = program.ends.exact
    assert isinstance(exact, ExactSum)
    members = [
        Member("float", "running", program.n_decisions, "decisions as far as they are summed"),
        Member("float", "kernel_total", exact.n_slots, "in the projection; score; exact"),
        Member("float", "approximate", exact.n_slots, "kernels in the projection"),
    ]
    if early.reuses_kernels:
        members += [
            Member("uint32_t", "heap", exact.n_slots, "slots by score"),
            Member("uint32_t", "touched", exact.n_blocks, "a bit a lane: exact total is known"),
            Member("uint32_t", "n_touched", None, "such bits"),
        ]
    return members


def _folded_members(stage: FoldedWeights) -> list[Member]:
    members = [
        Member("float", "folded_offset", stage.n_features, "x - c, c being the nearest centre"),
        Member("float", "folded_base", stage.n_rows, "the linear forms of this"),
    ]
    if stage.n_basis:
        members.append(Member("float", "folded_projected", stage.n_basis, "x - c along the basis"))
    return members
