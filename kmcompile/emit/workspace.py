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
from kmcompile.program.stages import (
    BoundSequence,
    ExactSum,
    FixedSum,
    FoldedWeights,
    NearestVectors,
    PairSum,
    ReducedSet,
    Stage,
    SubspaceCertificate,
)


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
    own = [member for stage in early.exits for member in _members_of(stage, program, early)]
    return [*members, *{member.name: member for member in own}.values()]


def _members_of(stage: Stage, program: Program, early: EarlyExitsView) -> list[Member]:
    rows = program.n_decisions + 1
    if isinstance(stage, BoundSequence):
        n = stage.kernel_evaluations()
        return [
            Member("float", "sequence_kernels", n, "kernels of the bound sequence"),
            Member("float", "sequence_estimate", program.n_decisions, "what they give of f"),
        ]
    if isinstance(stage, FoldedWeights):
        return _folded_members(stage)
    if isinstance(stage, ReducedSet):
        is_earlier = any(view.is_earlier for view in early.reduced_sets)
        earlier = Member("float", "earlier", rows, "the same, for the stages behind it")
        return [
            Member("float", "estimate", rows, "of a reduced set: decisions, spread"),
            *((earlier,) if is_earlier else ()),
        ]
    if isinstance(stage, NearestVectors | SubspaceCertificate):
        return _touching_members(stage.touches, program)
    return []


def _touching_members(touches: bool, program: Program) -> list[Member]:
    """Return what approximates all kernels and computes the largest ones."""
    exact = program.ends.exact
    assert isinstance(exact, ExactSum)
    members = [
        Member("float", "running", program.n_decisions, "decisions as far as they are summed"),
        Member("float", "kernel_total", exact.n_slots, "in the projection; score; exact"),
        Member("float", "approximate", exact.n_slots, "kernels in the projection"),
    ]
    if touches:
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
