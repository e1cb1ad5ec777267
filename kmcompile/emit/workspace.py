"""The arrays of a program's workspace."""

from __future__ import annotations

from kmcompile.emit.code_table_view import code_bytes
from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.fixed_sum_view import integer_members
from kmcompile.emit.members import confidence_members, pair_members, sum_members, vote_members
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.layout import Member
from kmcompile.program.program import Program
from kmcompile.program.stages import CodeTable, PairSum


def workspace_members(
    program: Program, buffers: tuple[tuple[str, int], ...], early: EarlyExitsView
) -> tuple[Member, ...]:
    """Return the workspace's arrays in order, after the integer sums and their codes."""
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
    """Return the bytes of the integer sums and of the codes that inner products read."""
    summed = program.ends.exact
    sums = sum(member.n_bytes for member in integer_members(summed))
    return sums + (code_bytes(program.codes) if isinstance(program.codes, CodeTable) else 0)


def _early_members(program: Program, early: EarlyExitsView) -> list[Member]:
    members = []
    if early.float_codes is not None:
        members.append(Member("float", "float_codes", program.prepare.n_out, "the codes in float"))
    if early.nonzeros is not None:
        members.append(
            Member("uint32_t", "nonzeros", program.prepare.n_out, "features that are not 0")
        )
    if early.n_projected:
        length = early.n_projected
        members.append(Member("float", "projected", length, "inner products with the input"))
    if early.proves or program.box is not None:
        members += [
            Member("float", "least", program.n_decisions, "what is proved of the decisions: from"),
            Member("float", "most", program.n_decisions, "and to"),
        ]
    if program.box is not None:
        members += program.box.members(program.ends)
    return [*members, *early.members]
