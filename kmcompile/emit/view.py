"""The view of a whole program: values for the templates of model, harness and entry points."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace
from typing import Any

from kmcompile.emit.box_view import box_arguments
from kmcompile.emit.coded_view import coded_view, entries
from kmcompile.emit.constants import private_constants, self_test_constants
from kmcompile.emit.copies_view import copies_view
from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.header_text import (
    COMMENT_COLUMNS,
    absent_lines,
    bound_lines,
    evaluations_text,
    figure_lines,
    interval_lines,
    table_lines,
)
from kmcompile.emit.layout import Layout
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.monitor_view import monitor_view
from kmcompile.emit.probability_view import probability_view
from kmcompile.emit.program_texts import (
    proved_by,
    stage_lines,
    stages_text,
)
from kmcompile.emit.self_test_steps import WORDS_PER_STEP, n_test_steps, table_views
from kmcompile.emit.step_view import step_view
from kmcompile.emit.tables import (
    checksum_table,
    descriptor,
    readers_of,
    table_view,
)
from kmcompile.emit.telemetry_view import telemetry_view
from kmcompile.emit.usual_intervals import n_levels, usual_intervals
from kmcompile.emit.words import words_of
from kmcompile.emit.workspace_lines import member_lines, replay_member, with_meanings
from kmcompile.program.program import Program
from kmcompile.program.telemetry import n_words
from kmcompile.program.workspace import replay_members, workspace_bytes, workspace_members
from kmcompile.version import VERSION

RECORD_HEADER_WORDS = 8
"""Words of a harness record before the decisions."""

STEP_WORDS = 9
"""Words of an answer in steps: those before the status of `decision`, steps and agreement."""


def input_words(program: Program) -> int:
    """Return the words of a harness query; in an integer format, floats and then codes."""
    return len(entries(program)) * program.n_features


def answer_words(program: Program) -> int:
    """Return the words of one answer.

    A calibrated machine adds status, probabilities and bound, telemetry what is counted, `--step`
    the answer in steps.
    """
    return at_once_words(program) + (0 if program.step is None else STEP_WORDS)


def at_once_words(program: Program) -> int:
    """Return the words of one answer without the answer in steps, which comes last."""
    counted = 2 * n_words(program) if program.telemetry else 0
    return words_before_telemetry(program) + counted


def words_before_telemetry(program: Program) -> int:
    """Return the words of one answer before those of its telemetry."""
    probability = 0 if program.probability is None else 2 + len(program.classes)
    return RECORD_HEADER_WORDS + program.n_decisions + probability


def record_words(program: Program) -> int:
    """Return the words of a harness record: one answer for each form of the query."""
    return len(entries(program)) * answer_words(program)


class ModelView(SimpleNamespace):
    """All values that the templates of a program print or test, by name.

    A template refuses a name that is not here.
    """

    def changed(self, **values: Any) -> ModelView:
        """Return the view with some other values."""
        return ModelView(**{**vars(self), **values})


def model_view(
    layout: Layout, command: str, description: str, promise_text: str, reduced_text: str
) -> ModelView:
    """Return the view of a program.

    Parameters
    ----------
    layout : Layout
    command : str
        The canonical command, for line 1.
    description : str
        One line on the model.
    promise_text : str
        The promised risk with its evidence, for the header; may be empty.
    reduced_text : str
        What a reduced machine stands for; empty if the machine is the trained one.
    """
    program, early = layout.program, layout.early
    probability, tables = probability_view(program), _of_tables(program)
    replays = layout.replay is not None and not program.sums_at_once
    most_kernel_evals = (2 if replays else 1) * program.ends.exact.kernel_evaluations()
    most_kernel_evals += _before_sum(program)
    return ModelView(
        command=command,
        model_lines=tuple(textwrap.wrap(f"Model: {description}.", COMMENT_COLUMNS)),
        promise_lines=tuple(textwrap.wrap(promise_text, COMMENT_COLUMNS)),
        reduced_lines=tuple(textwrap.wrap(reduced_text, COMMENT_COLUMNS)),
        most_kernel_evals=most_kernel_evals,
        probability=probability,
        steps=step_view(layout, at_once_words(program)),
        image=None,
        **_of_program(layout),
        **_of_input(program, early, probability is not None),
        **_of_exits(program, early),
        **_of_sum(layout),
        **tables,
        **_comments(layout, most_kernel_evals, bool(reduced_text)),
        **_constants(program, early, len(tables["tables"])),
    )


def _of_program(layout: Layout) -> dict[str, Any]:
    """Return what the program is called, and how large its parts are."""
    program, tolerance = layout.program, layout.program.label.tolerance
    return dict(
        words=words_of(program),
        is_regression=program.is_regression,
        tolerance_text="" if tolerance is None else f"{tolerance:.9g}",
        version=VERSION,
        name=program.name,
        upper=program.name.upper(),
        target=program.target,
        number_format=program.number_format,
        mode=program.mode,
        model_sha256=program.model_sha256,
        n_features=program.n_features,
        n_classes=len(program.classes),
        n_decisions=program.n_decisions,
        class_names=tuple(str(label) for label in program.classes),
        stage_names=tuple(stage.name for stage in program.exit_stages),
        n_stages=len(program.exit_stages),
        answer_words=answer_words(program),
        words_before_telemetry=words_before_telemetry(program),
        input_words=input_words(program),
        record_words=record_words(program),
        words_per_step=WORDS_PER_STEP,
        of_table=layout.of_table,
        tables_apart=bool(layout.of_table),
        corrects_floats=bool(layout.target.program.arithmetic),
        telemetry=telemetry_view(program),
        monitor=monitor_view(program),
    )


def _of_input(program: Program, early: EarlyExitsView, has_probability: bool) -> dict[str, Any]:
    """Return how an input is received and prepared, and which inputs are refused."""
    prepare, (summed, label) = program.prepare, (program.ends.exact, program.ends.label)
    coded, entry_points = coded_view(program), entries(program)
    return dict(
        input_type="float" if coded is None else coded.input_type,
        received=entry_points[-1].x_type,
        float_suffix=entry_points[-1].suffix,
        entries=entry_points,
        coded=coded,
        prepares_in_workspace=coded is not None or bool(prepare.steps),
        accepts_in_workspace=entry_points[0].in_workspace,
        needs_magnitude=summed.needs_magnitude
        or (program.box is not None and not program.is_regression)
        or label.needs_magnitude
        or early.proves
        or has_probability,
        input_limit=float(prepare.limit),
        limits_prepared=prepare.prepared_limit is not None,
        limits_length=prepare.limits_length,
        prepared_limit=None if prepare.prepared_limit is None else float(prepare.prepared_limit),
        refuses_negatives=prepare.refuses_negatives,
        refuses_unknown=prepare.refuses_unknown,
    )


def _of_exits(program: Program, early: EarlyExitsView) -> dict[str, Any]:
    """Return what early exits do, and what the sum takes over from them."""
    upper = program.name.upper()
    return dict(
        lists_nonzeros=early.nonzeros is not None,
        has_early_exits=bool(early.exits),
        proves=early.proves,
        proved_by=proved_by(early),
        calibrated=early.calibrates,
        scores_classes=early.scores_classes,
        checks_range=early.gate is not None,
        usual_intervals=usual_intervals(early),
        # The sum over k of 2^k times the share of the samples with dissimilarity 2^k.
        usual_mean=f"{1 + n_levels(early) / 2:g}",
        no_range_text="does not check the range" if early.calibrates else "was not calibrated",
        reuses_kernels=early.reuses_kernels,
        sum_arguments=f"workspace, input{', workspace->n_touched' if early.reuses_kernels else ''}",
        evals_of_sum=(
            f"({upper}_SUM_EVALS - workspace->n_touched)"
            if early.reuses_kernels
            else f"{upper}_SUM_EVALS"
        ),
        input_members=early.input_members,
        box_arguments=box_arguments(program.box),
        conclude_reads_input=(bool(program.replay) and early.proves)
        or "input" in box_arguments(program.box),
    )


def _of_sum(layout: Layout) -> dict[str, Any]:
    """Return what the sum, its label and the replay are."""
    program, replay = layout.program, layout.replay
    summed, label, at_once = program.ends.exact, program.ends.label, program.sums_at_once
    evals = f"{program.name.upper()}_SUM_EVALS{' - n_known' if layout.early.reuses_kernels else ''}"
    if not at_once and (summed.sums_pairs or summed.counts_evaluations):
        evals = f"workspace->n_{'computed' if summed.sums_pairs else 'evaluated'}"
    return dict(
        kernel_evals=summed.kernel_evaluations(),
        replays=replay is not None,
        sums_at_once=at_once,
        replay_lines=() if replay is None else with_meanings(member_lines(replay_members(program))),
        sum_may_fail=summed.may_fail,
        sum_name=summed.name,
        decision_function=summed.decision_function,
        sums_pairs=summed.sums_pairs,
        counts_evaluations=summed.counts_evaluations,
        label_function=label.name,
        # The first sum that an answer asks: whether a label follows, its kernels, its stage.
        labels_sums=not (summed.sums_pairs or at_once),
        evals_of_answer=evals,
        stage_of_answer="REPLAY" if at_once else summed.name.upper(),
    )


def _of_tables(program: Program) -> dict[str, Any]:
    """Return the tables with their checksums, and the steps of the self-test."""
    tables = table_views(program)
    copies = copies_view(program, tables)
    checksums = table_view(checksum_table(program.tables())) if copies is None else copies.checksums
    upper = program.name.upper()
    return dict(
        tables=tables,
        emitted_tables=(*tables, checksums),
        n_known_answers=len(program.known_answers),
        n_test_steps=n_test_steps(program),
        readers=readers_of(tables),
        descriptors=tuple(descriptor(table, program.name) for table in tables),
        has_float_tables=any(table.c_type == "float" for table in tables),
        has_double_tables=any(table.c_type == "double" for table in tables),
        has_wide_tables=any(table.c_type == "uint64_t" for table in tables),
        has_halves=any(table.reader.halves for table in tables),
        copies=copies,
        const="const " if copies is None else f"{upper}_CONST ",
        tested="N_TABLES" if copies is None else "N_TABLE_BLOCKS",
    )


def _comments(layout: Layout, most_kernel_evals: int, is_reduced: bool) -> dict[str, Any]:
    """Return the comments on stages, bounds and figures."""
    program, early = layout.program, layout.early
    return dict(
        stage_lines=stage_lines(program),
        decisions_text=program.label.decisions_text,
        interval_lines=interval_lines(program, is_reduced),
        bound_lines=bound_lines(program),
        table_lines=table_lines(program.name, program.redundancy),
        figure_lines=figure_lines(program, workspace_bytes(program), most_kernel_evals),
        absent_lines=absent_lines(program, early),
        evals_text=evaluations_text(program),
        stages_lines=tuple(textwrap.wrap(stages_text(program), COMMENT_COLUMNS)),
        workspace_lines=with_meanings(
            (*replay_member(program), *member_lines(workspace_members(program)))
        ),
    )


def _constants(program: Program, early: EarlyExitsView, n_tables: int) -> dict[str, Any]:
    """Return the private constants."""
    upper = program.name.upper()
    return dict(
        constant_lines=with_meanings(
            (
                f"#define {upper}_{constant.name} {unsigned_literal(constant.value)}",
                constant.meaning,
            )
            for constant in (
                *private_constants(program, early),
                *(() if program.monitor is None else program.monitor.constants()),
                *self_test_constants(
                    n_tables, len(program.known_answers), n_test_steps(program), WORDS_PER_STEP
                ),
            )
        ),
    )


def _before_sum(program: Program) -> int:
    """Return the most kernels that early exits evaluate and the exact sum evaluates again."""
    return sum(stage.kernel_evaluations() for stage in program.early_exits if not stage.touches)
