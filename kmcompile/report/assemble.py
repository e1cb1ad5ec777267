"""Put together what the steps of a compilation found into one Report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from kmcompile.exits.certified.certify import Choice
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.lower.format_choice import FormatCandidate
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.interpreter import Answers
from kmcompile.program.program import Program
from kmcompile.report import checked, contents, costs, promise
from kmcompile.report.choice import choice_section
from kmcompile.report.formats import formats_section
from kmcompile.report.modes import Modes, modes_section
from kmcompile.request.options import Options
from kmcompile.request.plan import Plan
from kmcompile.target import Target
from kmcompile.verify.checked import NO_LABELS
from kmcompile.verify.findings import Findings
from kmcompile.verify.queries import Queries
from kmcompile.version import VERSION

_NO_RISK = {
    "exact": "mode exact has no early exit: no answer is statistical",
    "certified": "mode certified has no statistical exit: a label is proved or not certified",
}
_NO_EXITS = "a regression has no statistical exit: every interval is proved"
_NO_CLASSES = "a regression gives values: it has no classes"
_NO_CALIBRATION = {
    "exact": _NO_RISK["exact"],
    "certified": "mode certified calibrates nothing: what is proved rests on no sample",
}
_NO_CHOICE = {
    "exact": "mode exact has no early exit",
    "certified": "the exits were given",
    "statistical": "how statistical exits were chosen is under calibration",
}


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """What the steps of a compilation gave: all that its report is made of.

    Parameters
    ----------
    plan : Plan
    machine : KernelMachine
        As it was trained.
    program : Program
    workspace_bytes : int
    queries : Queries
    answers : Answers
        The interpreter's to the queries.
    findings : Findings
    digests : mapping of file name to SHA-256
    notes : tuple of str
        What the user should know.
    calibration : Calibration or None
        Of mode statistical.
    choice : Choice or None
        Of mode certified.
    formats : sequence of FormatCandidate
        What `--format auto` compared.
    modes : Modes or str
        Mode statistical against certified, or why there is no such comparison.
    """

    plan: Plan
    machine: KernelMachine
    program: Program
    workspace_bytes: int
    queries: Queries
    answers: Answers
    findings: Findings
    digests: Mapping[str, str]
    notes: tuple[str, ...]
    calibration: Calibration | None = None
    choice: Choice | None = None
    formats: Sequence[FormatCandidate] = ()
    modes: Modes | str = "the modes were not compared"


def assemble(made: Compilation) -> contents.Report:
    """Return the report.

    Means, percentiles and shares are of the user's samples where there are any, otherwise of
    the generated ones.
    """
    plan, program, findings = made.plan, made.program, made.findings
    answers, queries, calibration = made.answers, made.queries, made.calibration
    target, model_name, choice = plan.target, plan.model_name or None, made.choice
    reasons: dict[str, str] = {}
    sample = costs.sample_of(answers, queries)
    instructions = _instructions(program, findings, answers, sample)
    report = contents.Report(
        tool=contents.Tool(name="kmcompile", version=VERSION, command=plan.command),
        options=options_in_effect(plan.options, program),
        model=_model(made.machine, model_name, reasons),
        stages=costs.stages(program, sample, reasons),
        memory=_memory(program, plan, made.workspace_bytes, findings, reasons),
        cost=costs.cost(program, sample, reasons),
        verification=_verification(program, findings, model_name, reasons),
        risk=None,
        calibration=None,
        choice=choice_section(choice) if choice is not None else None,
        modes=modes_section(made.modes, reasons),
        formats=formats_section(made.formats, reasons),
        target=_target(target, findings, instructions, reasons),
        files=made.digests,
        notes=made.notes,
        not_available=reasons,
    )
    if choice is None:
        reasons["choice"] = _NO_CHOICE[program.mode]
    if calibration is None:
        reasons["risk"] = _NO_EXITS if program.is_regression else _NO_RISK[program.mode]
        reasons["calibration"] = _NO_CALIBRATION[program.mode]
        return report
    return replace(
        report,
        risk=promise.risk(calibration, queries, findings.check, reasons),
        calibration=promise.calibration_section(calibration, reasons),
    )


def options_in_effect(options: Options, program: Program) -> dict[str, contents.OptionValue]:
    """Return the options in effect, given or by default, file names without paths."""
    values: dict[str, contents.OptionValue] = {}
    options = replace(
        options,
        mode=program.mode,
        format=program.number_format,
        name=program.name,
        replay="none" if program.replay is None else "float64",
        reduce="off",
    )
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in ("out", "n_jobs"):
            continue  # the same bytes wherever they are written
        values[field.name] = value.name if isinstance(value, Path) else value
    return values


def _model(
    machine: KernelMachine, model_name: str | None, reasons: dict[str, str]
) -> contents.Model:
    if model_name is None:
        reasons["model.file"] = "a fitted estimator was passed"
    if not machine.task.has_one_sign:
        reasons["model.threshold"] = (
            _NO_CLASSES if machine.task is Task.REGRESSION else "many classes: no single decision"
        )
    if machine.task is Task.REGRESSION:
        for name in ("n_classes", "classes"):
            reasons[f"model.{name}"] = _NO_CLASSES
    return contents.Model(
        file=model_name,
        kind=machine.kind,
        kernel=machine.kernel.name,
        parameters=machine.kernel.parameters(),
        preprocessing=[str(step) for step in machine.preprocessing],
        n_features=machine.n_features,
        n_classes=machine.n_classes or None,
        classes=machine.classes or None,
        n_support_vectors=machine.n_support_vectors,
        threshold=machine.threshold if machine.task.has_one_sign else None,
        sha256=machine.sha256,
    )


def _memory(
    program: Program,
    plan: Plan,
    workspace_bytes: int,
    findings: Findings,
    reasons: dict[str, str],
) -> contents.Memory:
    built, target, allowed = findings.memory, plan.target, plan.budgets
    if built is None:
        for name in ("code_bytes", "constants_bytes", "library_bytes", "ram_bytes", "stack_bytes"):
            reasons[f"memory.{name}"] = findings.skipped["memory"]
    elif built.stack_bytes is None:
        reasons["memory.stack_bytes"] = "the host's C library is called, whose stack is not known"
    if findings.painted_stack_bytes is None:
        reasons["memory.painted_stack_bytes"] = findings.skipped.get(
            "target", "seen on emulators only"
        )
    limits = {
        "flash_budget_bytes": allowed.flash_bytes,
        "part_flash_bytes": target.flash_bytes,
        "ram_budget_bytes": allowed.ram_bytes,
        "part_ram_bytes": target.ram_bytes,
    }
    for name, limit in limits.items():
        if limit is None:
            reasons[f"memory.{name}"] = f"{target.name} stands for no part with a limit"
    return contents.Memory(
        flash_bytes=built.flash_bytes if built else program.table_bytes,
        code_bytes=built.code_bytes if built else None,
        constants_bytes=built.constants_bytes if built else None,
        library_bytes=built.library_bytes if built else None,
        flash_is_lower_limit=built is None,
        flash_budget_bytes=allowed.flash_bytes,
        part_flash_bytes=target.flash_bytes,
        ram_bytes=built.ram_bytes if built else None,
        ram_budget_bytes=allowed.ram_bytes,
        part_ram_bytes=target.ram_bytes,
        stack_bytes=built.stack_bytes if built else None,
        painted_stack_bytes=findings.painted_stack_bytes,
        workspace_bytes=workspace_bytes,
        tables=[contents.Table(name=t.name, bytes=t.n_bytes) for t in program.tables()],
    )


def _verification(
    program: Program, findings: Findings, model_name: str | None, reasons: dict[str, str]
) -> checked.Verification:
    for machine in ("host", "target"):
        if machine in findings.skipped:
            reasons[f"verification.exact.{machine}"] = findings.skipped[machine]
    check = findings.check
    if check is None:
        for name in ("bounded", "certified"):
            reasons[f"verification.{name}"] = findings.skipped["host"]
    elif program.is_regression:
        reasons["verification.bounded.sign_disagreements"] = NO_LABELS
        reasons["verification.certified"] = NO_LABELS
    if check is None or check.probabilities is None:
        reasons["verification.probabilities"] = (
            "the model has no probabilities"
            if program.probability is None
            else findings.skipped["host"]
        )
    commands = ["kmcompile verify ."]
    if model_name is not None:
        commands.append(shlex.join(["kmcompile", "verify", ".", "--model", model_name]))
    return checked.Verification(
        queries_source=findings.source,
        exact=checked.Exact(host=findings.host, target=findings.target),
        bounded=check.bounded if check else None,
        certified=check.certified if check else None,
        probabilities=check.probabilities if check else None,
        commands=commands,
    )


def _instructions(
    program: Program, findings: Findings, answers: Answers, sample: costs.Sample
) -> contents.Instructions | None:
    """Return the instructions of the sample; of all queries where all take the same way."""
    found = findings.instructions
    if found is None:
        return None
    differ = len(program.exit_stages) > 1
    if differ:
        found = costs.of_sample(found, answers, sample)
    worst = findings.worst_case
    return contents.Instructions(
        exact=findings.exact_instructions if differ else float(found.mean()),
        mean=float(found.mean()),
        p99=float(np.percentile(found, 99)),
        max=float(found.max()),
        worst=worst.instructions if worst else None,
        worst_without_replay=worst.without_replay if worst else None,
        queries=len(found),
    )


def _no_worst_case(
    counted: contents.Instructions, worst: WorstCase | None, reasons: dict[str, str]
) -> None:
    """Add why there is no static worst case."""
    reason = worst.reason if worst and worst.reason else "the target was not run"
    for name in ("worst", "worst_without_replay"):
        if getattr(counted, name) is None:
            reasons[f"target.instructions.{name}"] = reason


def _target(
    target: Target,
    findings: Findings,
    counted: contents.Instructions | None,
    reasons: dict[str, str],
) -> contents.TargetSection:
    if target.part is None:
        reasons["target.part"] = f"{target.name} stands for no part with a limit"
    if target.emulator is None:
        reasons["target.emulator"] = "the target is the machine that runs kmcompile"
    if counted is None:
        reasons["target.instructions"] = findings.skipped["instructions"]
    else:
        _no_worst_case(counted, findings.worst_case, reasons)
        if counted.exact is None:
            reasons["target.instructions.exact"] = "the exact sum alone was not run"
    return contents.TargetSection(
        name=target.name,
        description=target.description,
        stands_for=target.stands_for,
        part=target.part.name if target.part else None,
        emulator=target.emulator.machine if target.emulator else None,
        instructions=counted,
        not_shown=target.not_shown,
    )
