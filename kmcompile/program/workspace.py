"""The workspace of a program: its arrays and its bytes, which are the same in every C ABI."""

from __future__ import annotations

from collections.abc import Iterator

from kmcompile.numeric.table import C_TYPES
from kmcompile.program.layout import Member, once
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodeTable,
    DescribedSum,
    EarlyExit,
    ExactSum,
    FixedSum,
    PairSum,
    Stage,
    Vote,
)
from kmcompile.program.stages.leaves.routed_fixed_sum import RoutedFixedSum
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.fine_sum import FineSum
from kmcompile.program.stages.sums.long_pairs import LongPairs
from kmcompile.program.stages.sums.long_sum import LongSum


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
    members = _integer_members(summed)
    if isinstance(codes, CodeTable):
        members += code_members(codes, program.name)
    members += _prepared_members("float", program.prepare.buffers()[1])
    members += _sum_members(summed, "float")
    if isinstance(summed, PairSum):
        members.append(Member("float", "score", summed.n_classes, "of each class"))
    members += [*_pair_members(summed, votes=True), *_early_members(program)]
    members += [*_vote_members(label), *_confidence_members(label, "float")]
    if codes is not None:
        text = "codes of a float input"
        members.append(Member(C_TYPES[codes.width], "quantized", program.n_features, text))
    return tuple(members)


def replay_members(program: Program) -> tuple[Member, ...]:
    """Return the arrays of the replay, the widest types first; none without a replay."""
    replay = program.replay
    if replay is None:
        return ()
    return (*_replay_sum_members(replay, program), *_vote_members(replay.label))


def code_members(table: CodeTable, name: str) -> list[Member]:
    """Return what inner products with a table of codes need; `name` is the program's prefix."""
    text, members = "what inner products take of the input", []
    if table.sparse:
        total = f"uint{64 if table.wide else 32}_t"
        members.append(Member(total, "total", table.n_totals, "inner products with all vectors"))
    if table.in_fours:
        return [*members, Member(f"{name}_four_t", "codes", table.n_fours, text, element_bytes=8)]
    return [*members, Member(table.x_type, "codes", table.n_padded, text)]


def n_marks(n: int) -> int:
    """Return the number of words that hold n bits."""
    return -(-n // 32)


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // 8) * 8


def _prepared_members(real: str, lengths: dict[str, int]) -> list[Member]:
    return [Member(real, name, length, "the prepared input") for name, length in lengths.items()]


def _integer_members(stage: Stage) -> list[Member]:
    """Return the sums in integers, which come first; none of a sum in float32."""
    if isinstance(stage, RoutedFixedSum):
        return list(stage.integer_members())
    if not isinstance(stage, FixedSum):
        return []
    n, rows = stage.n_decisions, stage.n_rows
    return [
        Member("uint64_t", "products", 2 * n, "kernels times coefficients, > 0 and < 0"),
        Member("uint64_t", "row_sum", rows, "products of one group of vectors"),
    ]


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
    proves = any(stage.exit == "certified" for stage in program.early_exits)
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


def _sum_members(stage: ExactSum | PairSum | FixedSum | DescribedSum, real: str) -> list[Member]:
    """Return what a sum works on; `real` is the C type of its arithmetic."""
    members = _decision_members(stage.n_decisions, real)
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


def _pair_members(stage: Stage, votes: bool) -> list[Member]:
    """Return the marks of a pair sum, and with `votes` the order of the pairs."""
    if not isinstance(stage, PairSum):
        return []
    members = [
        Member("uint32_t", "computed", n_marks(stage.n_vectors), "a bit a vector: its kernel is"),
        Member("uint32_t", "n_computed", None, "such bits"),
        *_ENTRY_MEMBERS,
    ]
    if votes:
        n_pairs, n_classes = stage.n_decisions, stage.n_classes
        members += [
            Member("uint32_t", "evaluated", n_marks(n_pairs), "a bit a pair: it has its decision"),
            Member("uint32_t", "met", n_classes, "such pairs of each class"),
            Member("uint32_t", "rank", n_classes, "classes by score, highest first"),
        ]
    return members


_ENTRY_MEMBERS = (
    Member("uint32_t", "n_entries", None, "entries of the evaluated pairs"),
    Member("uint32_t", "damaged", None, "1 where a table of the pairs is"),
)


def _confidence_members(label: Stage, real: str) -> list[Member]:
    """Return the members of votes that have the arithmetic's type."""
    if not isinstance(label, Vote) or not label.break_ties:
        return []
    return [
        Member(real, "confidence", label.n_classes, "sum of decisions, breaks ties"),
        Member(real, "slack", label.n_classes, ">= its error"),
    ]


def _vote_members(label: Stage) -> list[Member]:
    """Return the counters of votes."""
    if not isinstance(label, Vote):
        return []
    return [
        Member("uint32_t", "votes", label.n_classes, "of each class"),
        Member("uint32_t", "sure", label.n_classes, "those that no rounding can take away"),
        Member("uint32_t", "possible", label.n_classes, "those that rounding might give"),
    ]


def _replay_sum_members(replay: Replay, program: Program) -> list[Member]:
    """Return the input, the sums and the confidences of a replay."""
    summed, confidence = replay.sum, _confidence_members(replay.label, "double")
    if isinstance(summed, FineSum) and not isinstance(summed, LongSum):
        assert isinstance(program.codes, CodeTable)
        return [*_fine_sum_members(summed), *confidence, *_distance_members(program.codes)]
    members = _prepared_members("double", replay.prepare.buffers(converts=True)[1])
    if isinstance(summed, LongSum):
        return members + _long_sum_members(summed, confidence)
    assert not isinstance(summed, FineSum)
    members += [*_sum_members(summed, "double"), *confidence]
    return members + _pair_members(summed, votes=False)


def _fine_sum_members(stage: FineSum) -> list[Member]:
    members = _decision_members(stage.n_decisions, "double")
    if stage.long is None:
        return [*members, Member("double", "row_sum", stage.n_rows, "sums of one group of vectors")]
    halves = (("high", "upper"), ("low", "lower"))
    return [
        *members,
        *(Member("uint64_t", n, stage.n_decisions, f"sums of {h} halves") for n, h in halves),
        *(Member("uint64_t", f"row_{n}", stage.n_rows, "those of a group") for n, _ in halves),
    ]


def _distance_members(codes: CodeTable) -> list[Member]:
    members = []
    if codes.sparse:
        members.append(Member("uint64_t", "total", codes.n_totals, "|s - x|^2 of all vectors"))
    return [
        *members,
        Member("int32_t", "rounded", codes.n_features, "the input in fine codes"),
        Member("int32_t", "fine", codes.n_padded, "the fine codes in the order of the vectors"),
    ]


def _long_sum_members(stage: LongSum, confidence: list[Member]) -> list[Member]:
    """Return what a sum in integers works on; `confidence` are the members of its label."""
    n = int(stage.vectors.shape[1])
    parts = [
        Member("int32_t", "upper", n, "the input in units of the vectors"),
        Member("int32_t", "rest", n, "and what is left of it"),
    ]
    if not isinstance(stage, LongPairs):
        return [*_fine_sum_members(stage), *confidence, *parts]
    return [
        *_decision_members(stage.n_decisions, "double"),
        *confidence,
        Member("uint64_t", "kernel", stage.n_slots, "of all vectors"),
        *parts,
        *_ENTRY_MEMBERS,
    ]
