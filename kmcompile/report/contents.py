"""The content of a report: report.json's fields as typed, frozen objects, in the file's order.

A field that does not apply is None, and `Report.not_available` holds its reason under the
field's path: `target.instructions`, `verification.exact.target`, `stages.linear_filter.decided`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kmcompile.report.accuracy_section import Accuracy
from kmcompile.report.checked import Risk, Verification
from kmcompile.report.chosen import Calibration, Choice, ComparedProgram, Format, Modes
from kmcompile.report.reduced import Reduction
from kmcompile.verify.queries import Source

Label = str | int | float | bool
OptionValue = str | int | float | bool | None
Exit = Literal["certified", "statistical", "exact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The tool that wrote the report; `command` is line 1 of the C."""

    name: str
    version: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The trained model.

    Attributes
    ----------
    file : str or None
        The file's name without its path; None where an estimator was passed.
    parameters : mapping
        The kernel's parameters.
    preprocessing : sequence of str
        The steps before the kernel, as the pipeline names them.
    threshold : float or None
        The number with which the trained decision is compared; None if there are several decisions.
    n_classes, classes
        None in a regression.
    """

    file: str | None
    kind: str
    kernel: str
    parameters: Mapping[str, float | int]
    preprocessing: Sequence[str]
    n_features: int
    n_classes: int | None
    classes: Sequence[Label] | None
    n_support_vectors: int
    threshold: float | None
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of the program; names are unique. The queries are those of `Cost`.

    Attributes
    ----------
    exit : {"certified", "statistical", "exact"} or None
        The kind of exit; None if the stage never decides.
    decided : float or None
        Share of the queries that this stage decides.
    certified : float or None
        Share of the queries that this stage decides with a certified label. The shares of all
        stages add up to the certified share. None in a regression.
    kernel_evals_mean, ops_mean : float or None
        Means of this stage over the queries that reach it.
    table_bytes : int or None
    reached : float
        Share of the queries that reach this stage.
    ops_mean_decided : float or None
        Mean operations of all stages up to this one, over the queries that this stage decides.
    ops_worst : float
        Worst-case operations of this stage. The replay's operations are in float64.
    """

    name: str
    exit: Exit | None
    decided: float | None
    certified: float | None
    kernel_evals_mean: float | None
    ops_mean: float | None
    table_bytes: int | None
    reached: float
    ops_mean_decided: float | None
    ops_worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the program in flash."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Bytes of the program, and its budgets.

    Attributes
    ----------
    code_bytes, constants_bytes : int or None
        Parts of flash_bytes. Tables are constants.
    library_bytes : int or None
        Routines of the compiler's library, a part of code_bytes.
    flash_is_lower_limit : bool
        Whether flash_bytes counts the tables only, because there is no cross-compiler.
    flash_budget_bytes, ram_budget_bytes : int or None
    part_flash_bytes, part_ram_bytes : int or None
        Sizes of the real part, which a budget may exceed.
    stack_bytes, painted_stack_bytes : int or None
        The worst-case stack of a call, and the largest stack measured in queries and self-test.
    tables : sequence of Table
        The tables in flash.
    """

    flash_bytes: int | None
    code_bytes: int | None
    constants_bytes: int | None
    library_bytes: int | None
    flash_is_lower_limit: bool
    flash_budget_bytes: int | None
    part_flash_bytes: int | None
    ram_bytes: int | None
    ram_budget_bytes: int | None
    part_ram_bytes: int | None
    stack_bytes: int | None
    painted_stack_bytes: int | None
    workspace_bytes: int | None
    tables: Sequence[Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Counted operations of one query; ops are multiply-adds, all overhead included.

    In an integer format an operation is one of integers. An operation in float32 of an early exit
    counts as several, in proportion to its instructions.

    The replay is in `max_ops_with_replay` and `replay_ops_mean` only: its operations are in
    float64, which is software on many boards.

    Attributes
    ----------
    exact_ops : float or None
        Mean operations without early exits and the stages for them.
    speedup_ops : float or None
        exact_ops / mean_ops.
    kernel_evals_mean : float or None
        Mean kernel evaluations. A query that is decided without a kernel counts 0.
    speedup_kernels : float or None
        The papers' m/k: support vectors over the mean of max(k, 1), as the papers count at least
        one kernel for each query.
    queries : int
        Number of accepted queries over which means, percentiles and shares are taken.
    queries_source : {"test-data", "calibration", "held-out", "generated"}
        Source of these queries: the given samples if there are any, otherwise generated queries;
        "calibration" if the samples of --test-data served for calibration.
    worst_ops : float
        Operations that no input exceeds.
    exact_worst_ops : float
        Operations that no input exceeds without early exits; exact_ops is a mean over the queries.
    replay_ops_mean : float or None
        Mean operations of the replay over all queries.
    kernel_evals_min, kernel_evals_median, kernel_evals_p99, kernel_evals_max : float
    pairs_mean, pairs_max : float or None
        One-vs-one: number of pairs of classes that a query evaluates, out of
        n_classes (n_classes - 1) / 2.
    """

    exact_ops: float | None
    mean_ops: float | None
    p99_ops: float | None
    max_ops: float | None
    max_ops_with_replay: float | None
    speedup_ops: float | None
    kernel_evals_mean: float | None
    speedup_kernels: float | None
    queries: int
    queries_source: Source
    worst_ops: float
    exact_worst_ops: float
    replay_ops_mean: float | None
    kernel_evals_min: float
    kernel_evals_median: float
    kernel_evals_p99: float
    kernel_evals_max: float
    pairs_mean: float | None
    pairs_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """Instructions of one query, counted on the emulator; neither cycles nor time.

    Attributes
    ----------
    worst : int or None
        The static worst case, which no input exceeds.
    worst_without_replay : int or None
        The static worst case of a query without the replay; equal to `worst` without a replay.
    """

    exact: float | None
    mean: float | None
    p99: float | None
    max: float | None
    worst: int | None
    worst_without_replay: int | None
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSection:
    """The board and what ran on its emulator.

    Attributes
    ----------
    stands_for : str
        Names of the boards or flight parts that this target represents.
    part : str or None
        The real part whose sizes are the default budgets.
    """

    name: str
    description: str
    stands_for: str
    part: str | None
    emulator: str | None
    instructions: Instructions | None
    not_shown: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole content of report.json.

    Attributes
    ----------
    options : mapping
        The options in effect. An option that was not given is None and needs no reason.
    choices : sequence of ComparedProgram
        The programs that were compared and that no other one beats, and the chosen one.
    accuracy : Accuracy or None
        Right labels of the trained model and of the program; None where no loss is promised.
    modes : Modes or None
        The comparison with mode certified; None in the other modes.
    formats : sequence of Format or None
        The compared formats; None if the format was given.
    reduction : Reduction or None
        The reduced machine; None without `--reduce`.
    flight : mapping
        The section on each option for flight, a field of its own in report.json; None without it.
    files : mapping of file name to SHA-256
        The other files of the output folder, without those that contain the report.
    notes : sequence of str
        Remarks for the user on how the model was read and the program was made.
    not_available : mapping of a field's path to the reason
    """

    tool: Tool
    options: Mapping[str, OptionValue]
    model: Model
    stages: Sequence[Stage]
    memory: Memory
    cost: Cost | None
    verification: Verification | None
    risk: Risk | None
    accuracy: Accuracy | None
    calibration: Calibration | None
    choice: Choice | None
    choices: Sequence[ComparedProgram]
    modes: Modes | None
    formats: Sequence[Format] | None
    reduction: Reduction | None
    flight: Mapping[str, object]
    target: TargetSection
    files: Mapping[str, str]
    notes: Sequence[str]
    not_available: Mapping[str, str]
