"""The workspace of a program: its arrays and its bytes, which are the same in every C ABI."""

from __future__ import annotations

from collections.abc import Iterator

from kmcompile.numeric.table import C_TYPES
from kmcompile.program.layout import Member, once
from kmcompile.program.program import Program
from kmcompile.program.stages import CodeTable, EarlyExit


def workspace_bytes(program: Program) -> int:
    """Return the RAM of the workspace in every C ABI, since the widest members come first.

    If it holds doubles of the replay or 64-bit sums, it is padded to a multiple of 8 bytes.
    """
    size = sum(member.n_bytes for member in workspace_members(program))
    if program.replay is None and program.codes is None:
        return size
    return _padded(size + _padded(sum(member.n_bytes for member in replay_members(program))))


def workspace_members(program: Program) -> tuple[Member, ...]:
    """Return the arrays behind the replay's part, the widest types first."""
    summed, label, codes = program.ends.exact, program.ends.label, program.codes
    members = list(summed.integer_members())
    if isinstance(codes, CodeTable):
        members += codes.members(program.name)
    members += _prepared_members("float", program.prepare.buffers()[1])
    members += [*_decision_members(summed.n_decisions, "float"), *summed.members("float")]
    members += [*_early_members(program), *label.counters(), *label.members("float")]
    if codes is not None:
        text = "codes of a float input"
        members.append(Member(C_TYPES[codes.width], "quantized", program.n_features, text))
    return tuple(members)


def replay_members(program: Program) -> tuple[Member, ...]:
    """Return the arrays of the replay, the widest types first; none without a replay."""
    replay = program.replay
    if replay is None:
        return ()
    summed, members = replay.sum, list[Member]()
    if not summed.takes_fine_codes:
        members += _prepared_members("double", replay.prepare.buffers(converts=True)[1])
    members += [*_decision_members(summed.n_decisions, "double"), *summed.members("double")]
    members += replay.label.members("double")
    return (*members, *summed.last_members(program.ends.exact), *replay.label.counters())


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // 8) * 8


def _prepared_members(real: str, lengths: dict[str, int]) -> list[Member]:
    return [Member(real, name, length, "the prepared input") for name, length in lengths.items()]


def _early_members(program: Program) -> list[Member]:
    """Return what the stages between `prepare` and the exact sum need, each array once."""
    members, n_out = [], program.prepare.n_out
    if program.floats_codes and program.prepare.quantize is not None:
        members.append(Member("float", "float_codes", n_out, "the codes in float"))
    if any("nonzeros" in stage.makes() for stage in program.exits):
        members.append(Member("uint32_t", "nonzeros", n_out, "features that are not 0"))
    if n_projected := max((stage.n_projected for stage in program.early_exits), default=0):
        text = "inner products with the input"
        members.append(Member("float", "projected", n_projected, text))
    proves = any(stage.is_certified for stage in program.early_exits)
    if proves or program.box is not None:
        members += [
            Member("float", "least", program.n_decisions, "what is proved of the decisions: from"),
            Member("float", "most", program.n_decisions, "and to"),
        ]
    if program.box is not None:
        members += program.box.members(program.ends)
    return [*members, *once(_exit_members(program.early_exits))]


def _exit_members(exits: tuple[EarlyExit, ...]) -> Iterator[Member]:
    for place, stage in enumerate(exits):
        own = stage.members()
        yield from own
        if stage.hands_on_estimate and any(other.takes_estimate for other in exits[place + 1 :]):
            text = "the estimates, for the stages behind it"
            yield Member("float", "earlier", own[0].length, text)


def _decision_members(n_decisions: int, real: str) -> list[Member]:
    return [
        Member(real, "decision", n_decisions, "decision values"),
        Member(real, "bound", n_decisions, ">= their errors"),
    ]
