"""Sentences of the header about a program and its early exits."""

from __future__ import annotations

import textwrap

import numpy as np

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.words import words_of
from kmcompile.program.cost import replay_operations, worst_operations
from kmcompile.program.program import Program
from kmcompile.program.redundancy import checksum_bytes, stored_bytes
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.tolerance.input_tolerance import InputTolerance
from kmcompile.text.figures import factor_text

COMMENT_COLUMNS = 96


def table_lines(name: str, copies: int) -> tuple[str, ...]:
    """Return lines on how a build places the tables, of which there are one or two copies."""
    upper = name.upper()
    if copies > 1:
        return wrapped(
            f"There are two copies of each table and of the checksums of its blocks. The first one "
            f"answers. {upper}_TABLE_SECTION and {upper}_SECOND_TABLE_SECTION, defined where "
            f"{name}.c is compiled, place them: attributes such as "
            '__attribute__((section(".tcm"))). The tables are constants; where '
            f"{upper}_TABLES_IN_RAM is defined there, they are variables, and the self-test "
            "repairs a damaged block from the good copy."
        )
    return wrapped(
        f"The tables are static constants. {name.upper()}_TABLE_SECTION, defined where {name}.c is "
        'compiled, places them: an attribute such as __attribute__((section(".tcm"))).'
    )


def figure_lines(program: Program, workspace_bytes: int, kernel_evals: int) -> tuple[str, ...]:
    """Return lines on the sizes and the longest path, and on where the image's figures are.

    Parameters
    ----------
    program : Program
    workspace_bytes : int
        `sizeof` of the workspace.
    kernel_evals : int
        Kernel evaluations or inner products of the longest path, those of the replay included.
    """
    replayed = f"{replay_operations(program)} more in the replay, " if program.replay else ""
    sizes = stored_bytes(program), checksum_bytes(program)
    return wrapped(
        f"Constants: {sizes[0]} bytes of tables and {sizes[1]} bytes of their checksums. RAM: a "
        f"workspace of {workspace_bytes} bytes, which is the caller's. The longest path of any "
        f"input has {worst_operations(program)} operations, which are counted as multiply-adds, "
        f"{replayed}and {kernel_evals} {evaluations_text(program)}. Stack, flash and worst-case "
        "instructions depend on the compiler: report.json and report.html, which are written "
        "beside this file, have them for the image that was built."
    )


def evaluations_text(program: Program) -> str:
    """Return a phrase for one kernel evaluation, the unit that the C counts."""
    return program.ends.exact.unit


def absent_lines(program: Program, early: EarlyExitsView) -> tuple[str, ...]:
    """Return lines on which functions of the interface are missing, and why."""
    name, call = program.name, words_of(program).call
    absent = []
    if not early.exits:
        absent.append(
            f"{name}_{call}_within and {name}_audit, because this program has no early exit to "
            "limit or to watch"
        )
    elif not early.proves:
        absent.append(f"{name}_{call}_within, because no early exit of this program proves bounds")
    elif not early.calibrates:
        absent.append(
            f"{name}_audit, because every early exit is proved: there is no risk to estimate"
        )
    if program.codes is None:
        absent.append(f"{name}_decision_float, because the input is float already")
    if not absent:
        return ()
    return wrapped(f"Not here: {'; '.join(absent)}.")


def bound_lines(program: Program) -> tuple[str, ...]:
    """Return lines with the formula by which the last sum bounds its own error."""
    summed = program.ends.exact
    start = (
        "The last sum bounds the error of its decision p, against the trained model in real "
        "arithmetic, by"
    )
    formula = f"{summed.bound_formula} + {factor_text(summed.result_error)} |decision_p|"
    meant = summed.bound_meaning
    if isinstance(summed, ExactSum) and summed.reduced is not None:
        formula += " + distance_p root"
        meant += ", root being the bound of sqrt(K(x, x)) without the factors in distance_p"
    return wrapped(
        f"{start} {formula}, {meant}, and d >= the distance of the prepared input from the "
        f"exactly prepared one. The names are those of tables in {program.name}.c."
    )


def interval_lines(program: Program, is_reduced: bool) -> tuple[str, ...]:
    """Return lines on the meaning of lower, upper and certified.

    Parameters
    ----------
    program : Program
    is_reduced : bool
        Whether the machine of the program has fewer vectors than the trained one.
    """
    meant = program.ends.label.interval_text
    if program.ends.exact.sums_pairs:
        meant += ", of the pairs that were evaluated"
    of_sign = f"The comment at {program.name.upper()}_N_DECISIONS says what its sign means."
    if program.box is not None:
        own = _box_lines(program.box, meant, of_sign, program.is_regression)
        return (*own, *_threshold_lines(program))
    return (
        *wrapped(
            f"lower and upper bound {meant}: in real arithmetic the trained model's lies between "
            f"them, for x as it was received and whatever is rounded here. {of_sign}"
        ),
        *_threshold_lines(program),
        *wrapped(
            "certified: the label is the same for all decisions that are possible within such "
            f"bounds. It is false where x lies {_near_text(program, is_reduced)}."
        ),
    )


def _box_lines(box: InputTolerance, meant: str, of_sign: str, is_value: bool) -> tuple[str, ...]:
    """Return lines on the meaning of lower, upper and certified with an input tolerance."""
    least, most = (np.format_float_positional(end(box.tolerance)) for end in (np.min, np.max))
    size = f"{most} or less" if least == most else f"its tolerance, {least} to {most}"
    if is_value:
        return wrapped(
            "lower and upper hold for every input near x, too: each of its features may differ "
            f"from x's by {size}, in the units of x. The trained model's value of every such input "
            "lies between them; value is that of x itself."
        )
    return (
        *wrapped(
            "The answers hold for every input near x: each of its features may differ from x's by "
            f"{size}, in the units of x."
        ),
        *wrapped(
            f"lower and upper bound {meant}: in real arithmetic the trained model's lies between "
            f"them for every such input, whatever is rounded here. {of_sign}"
        ),
        *wrapped(
            "certified: the trained model's label is this one for every such input. It is false "
            "where one of them may have another label, or the bounds cannot tell; the label is "
            "then that of x itself."
        ),
    )


def _near_text(program: Program, is_reduced: bool) -> str:
    """Return a phrase on how near to a boundary an input is without a certificate."""
    if is_reduced:
        return (
            "nearer to a boundary than the reduced machine is known to be to the trained one: then "
            "the label is the reduced machine's, and the trained model's may be another"
        )
    precision = "double does"
    if program.replay is not None and program.replay.in_integers:
        precision = "the replay does"
    if program.replay is None:
        precision = "float does" if program.codes is None else "sums of codes do"
    return f"so near a boundary that {precision} not tell"


def _threshold_lines(program: Program) -> tuple[str, ...]:
    """Return lines on the effect of a threshold of the decision."""
    if not program.threshold:
        return ()
    return wrapped(
        f"Decisions are compared with the threshold {program.threshold!r}, which is taken off all "
        "of them here, lower and upper included: the trained model's are that much more."
    )


def wrapped(text: str) -> tuple[str, ...]:
    """Return the lines of a comment of the header."""
    return tuple(textwrap.wrap(text, COMMENT_COLUMNS, break_on_hyphens=False))
