"""The view of a whole program: what the templates of model, harness and entry points read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kmcompile.emit.early_exits_view import EarlyExitsView, InputMember
from kmcompile.emit.header_text import COMMENT_COLUMNS, absent_lines, interval_lines
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.members import Member, confidence_members, sum_members, vote_members
from kmcompile.emit.replay_view import ReplayView
from kmcompile.emit.tables import TableView, checksum_table, table_view
from kmcompile.ir.program import Program
from kmcompile.stages import (
    BoundSequence,
    ExactSum,
    FoldedWeights,
    LinearSum,
    NearestVectors,
    Prepare,
    Vote,
)
from kmcompile.stages.subspace_certificate import SubspaceCertificate
from kmcompile.version import VERSION

WORDS_PER_STEP = 256
"""Table words that one step of the self-test reads."""

RECORD_HEADER_WORDS = 8
"""Words of a harness record before the decisions."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A private #define of the model file."""

    name: str
    value: int
    meaning: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """Everything that the templates say about a program, worked out."""

    command: str
    version: str
    name: str
    upper: str
    target: str
    number_format: str
    mode: str
    description: str
    model_sha256: str
    n_features: int
    n_classes: int
    n_decisions: int
    n_stages: int
    input_limit: float
    limits_prepared: bool
    prepared_limit: float | None
    kernel_evals: int
    adds_evals: bool
    replays: bool
    replay_stage: int
    replay_lines: tuple[str, ...]
    most_kernel_evals: int
    lists_nonzeros: bool
    has_early_exits: bool
    proves: bool
    calibrated: bool
    checks_range: bool
    no_range_text: str
    reuses_kernels: bool
    last_stage: int
    input_members: tuple[InputMember, ...]
    promise_lines: tuple[str, ...]
    decisions_text: str
    interval_lines: tuple[str, ...]
    absent_lines: tuple[str, ...]
    evals_text: str
    stages_lines: tuple[str, ...]
    class_names: tuple[str, ...]
    stage_names: tuple[str, ...]
    workspace_lines: tuple[str, ...]
    constant_lines: tuple[str, ...]
    tables: tuple[TableView, ...]
    emitted_tables: tuple[TableView, ...]
    n_tables: int
    n_known_answers: int
    n_test_parts: int
    n_test_steps: int
    has_integer_tables: bool
    has_word_tables: bool
    has_double_tables: bool
    table_unit: str
    table_units: str
    words_per_step: int
    record_words: int
    sum_function: str
    label_function: str


def model_view(
    program: Program,
    command: str,
    description: str,
    buffers: tuple[tuple[str, int], ...],
    early: EarlyExitsView,
    promise_text: str,
    replay: ReplayView | None = None,
) -> ModelView:
    """Return the view of a program.

    Parameters
    ----------
    command : str
        The canonical command, for line 1.
    description : str
        One line on the model.
    buffers : tuple of (str, int)
        Workspace members of the preprocessing with their lengths.
    early : EarlyExitsView
    promise_text : str
        The promised risk with its evidence, for the header; may be empty.
    replay : ReplayView, optional
    """
    prepare, (summed, label) = program.prepare, (program.ends.exact, program.ends.label)
    tables = tuple(table_view(table) for table in program.tables())
    checksums = table_view(checksum_table(program.tables()))
    n_answers = len(program.known_answers)
    steps = sum(-(-table.n_words // WORDS_PER_STEP) for table in tables)
    doubles = any(table.is_double for table in tables)
    upper = program.name.upper()
    exact = isinstance(summed, ExactSum)
    return ModelView(
        command=command,
        version=VERSION,
        name=program.name,
        upper=upper,
        target=program.target,
        number_format=program.number_format,
        mode=program.mode,
        description=description,
        model_sha256=program.model_sha256,
        n_features=program.n_features,
        n_classes=len(program.classes),
        n_decisions=program.n_decisions,
        n_stages=len(program.exit_stages),
        input_limit=float(prepare.limit),
        limits_prepared=prepare.prepared_limit is not None,
        prepared_limit=None if prepare.prepared_limit is None else float(prepare.prepared_limit),
        kernel_evals=summed.kernel_evaluations(),
        most_kernel_evals=(1 + (replay is not None)) * summed.kernel_evaluations()
        + _before_sum(program, early),
        adds_evals=bool(early.exits),
        replays=replay is not None,
        replay_stage=len(early.exits) + 1,
        replay_lines=() if replay is None else _with_meanings(_member_lines(replay.members)),
        lists_nonzeros=early.nonzeros is not None,
        has_early_exits=bool(early.exits),
        proves=early.proves,
        calibrated=early.calibrates,
        checks_range=early.gate is not None,
        no_range_text="does not check the range" if early.calibrates else "was not calibrated",
        reuses_kernels=early.reuses_kernels,
        last_stage=len(early.exits),
        input_members=early.input_members,
        promise_lines=tuple(textwrap.wrap(promise_text, COMMENT_COLUMNS)),
        decisions_text=_decisions_text(program),
        interval_lines=interval_lines(program),
        absent_lines=absent_lines(program, early),
        evals_text="full kernel evaluations" if exact else "inner products",
        stages_lines=tuple(textwrap.wrap(_stages_text(program), COMMENT_COLUMNS)),
        class_names=tuple(str(label) for label in program.classes),
        stage_names=tuple(stage.name for stage in program.exit_stages),
        workspace_lines=_with_meanings(
            (*_replay_member(program), *_member_lines(workspace_members(program, buffers, early)))
        ),
        constant_lines=_with_meanings(
            (
                f"#define {upper}_{constant.name} {unsigned_literal(constant.value)}",
                constant.meaning,
            )
            for constant in _constants(prepare, summed, early)
        ),
        tables=tables,
        emitted_tables=(*tables, checksums),
        n_tables=len(tables),
        n_known_answers=n_answers,
        n_test_parts=len(tables) + n_answers,
        n_test_steps=steps + n_answers + 1,
        has_double_tables=doubles,
        table_unit="A word" if doubles else "An element",
        table_units="words" if doubles else "elements",
        has_integer_tables=any(table.c_type == "uint16_t" for table in tables),
        has_word_tables=any(table.c_type == "uint32_t" for table in tables),
        words_per_step=WORDS_PER_STEP,
        record_words=RECORD_HEADER_WORDS + program.n_decisions,
        sum_function=summed.name,
        label_function=label.name,
    )


def _member_lines(members: Iterable[Member]) -> Iterator[tuple[str, str]]:
    """Yield the declaration of each array with its meaning."""
    for member in members:
        yield f"{member.c_type} {member.name}[{unsigned_literal(member.length)}];", member.meaning


def _replay_member(program: Program) -> Iterator[tuple[str, str]]:
    """Yield the replay's part of the workspace; it comes first, so that nothing is padded."""
    if program.replay is not None:
        yield f"{program.name}_replay_workspace_t replay;", "what the replay computes in double"


def _before_sum(program: Program, early: EarlyExitsView) -> int:
    """Return the kernels that early exits evaluate at most, and the exact sum again."""
    kinds = (NearestVectors, SubspaceCertificate)
    return sum(
        stage.kernel_evaluations() for stage in program.early_exits if not isinstance(stage, kinds)
    )


def _with_meanings(rows: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return lines of code with comments that stand in one column."""
    rows = list(rows)
    width = max(len(code) for code, _ in rows)
    return tuple(f"{code:{width}}  /* {meaning} */" for code, meaning in rows)


def _stages_text(program: Program) -> str:
    text = f"The stages, in order: {', '.join(stage.name for stage in program.stages)}."
    if program.replay is not None:
        text += " Where they leave the label open, the replay computes the sums again in double."
    return text


def _decisions_text(program: Program) -> str:
    if program.n_decisions == 1:
        return "> 0 for class 1"
    if isinstance(program.stages[-1], Vote):
        return "pairs (0, 1), (0, 2), ...: > 0 for the first"
    return "one a class"


def workspace_members(
    program: Program, buffers: tuple[tuple[str, int], ...], early: EarlyExitsView
) -> tuple[Member, ...]:
    """Return the arrays of the workspace in order."""
    summed, label = program.ends.exact, program.ends.label
    members = [Member("float", name, length, "the prepared input") for name, length in buffers]
    members += sum_members(summed, "float")
    members += _early_members(program, early)
    members += [*vote_members(label), *confidence_members(label, "float")]
    return tuple(members)


def _early_members(program: Program, early: EarlyExitsView) -> list[Member]:
    members = []
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
            Member("uint32_t", "n_touched", 1, "such bits"),
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


def _constants(
    prepare: Prepare, summed: ExactSum | LinearSum, early: EarlyExitsView
) -> tuple[Constant, ...]:
    rows = "support vectors" if isinstance(summed, ExactSum) else "decisions"
    constants = [
        Constant("N_PREPARED", prepare.n_out, "features after the preprocessing"),
        Constant("LANES", summed.lanes, f"{rows} of a block, side by side"),
        Constant("N_BLOCKS", summed.n_blocks, "the last ones of a group filled up"),
        Constant("BLOCK_WORDS", prepare.n_out * summed.lanes, "N_PREPARED * LANES"),
    ]
    if isinstance(summed, ExactSum):
        constants.append(Constant("N_ROWS", summed.n_rows, "decisions that a vector is part of"))
        constants.append(Constant("N_GROUPS", summed.n_groups, "of vectors with the same ones"))
    if early.nearest is not None or early.reuses_kernels:
        slots = summed.n_blocks * summed.lanes
        constants.append(Constant("N_SLOTS", slots, "N_BLOCKS * LANES: places of vectors"))
    return tuple(constants)
