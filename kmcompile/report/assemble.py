"""Assemble the results of a compilation's steps into the content of report.json."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.program.interpreter import operations_alone
from kmcompile.program.program import Program
from kmcompile.program.stages import VectorlessSum
from kmcompile.report.accuracy_section import accuracy_section
from kmcompile.report.choice import choice_section
from kmcompile.report.choices import choices_of
from kmcompile.report.compilation import Compilation
from kmcompile.report.costs import Sample, cost_section, stages_section
from kmcompile.report.flight import flight_sections
from kmcompile.report.formats import formats_section
from kmcompile.report.json_report import plain
from kmcompile.report.memory_section import memory_section
from kmcompile.report.missing import Content, Missing, known
from kmcompile.report.model_section import model_section
from kmcompile.report.notes import notes_of
from kmcompile.report.promise import calibration_section, measured_risk, risk_section
from kmcompile.report.reduction_section import reduction_section
from kmcompile.report.target_section import target_section
from kmcompile.report.verification_section import verification_section
from kmcompile.request.options import Options, text_of
from kmcompile.target import Target
from kmcompile.verify.findings import Findings
from kmcompile.verify.queries import Queries
from kmcompile.version import VERSION

OptionValue = str | int | float | bool | None
_NO_RISK = {
    "exact": "mode exact has no early exit: no answer is statistical",
    "certified": "mode certified has no statistical exit: a label is proved or not certified",
}
_NO_EXITS = "a regression has no statistical exit: every interval is proved"
_NO_CALIBRATION = {
    "exact": _NO_RISK["exact"],
    "certified": "mode certified calibrates nothing: what is proved rests on no sample",
}
_NO_CHOICE = {
    "exact": "mode exact has no early exit",
    "certified": "the exits were given",
    "statistical": "how statistical exits were chosen is under calibration",
}
_ASK_FOR_MODEL = "give --model to check against it"


def assemble(made: Compilation) -> Content:
    """Return the content of report.json, its fields in the order of the file.

    Means, percentiles and shares are taken over the user's samples if there are any, otherwise over
    the generated ones.
    """
    chosen, findings, queries, sample = made.chosen, made.findings, made.queries, made.sample
    plan, program, compared = chosen.plan, chosen.program, chosen.exits.choice
    no_check = findings.skipped.get("host", "")
    commands = _commands(plan.model_name)
    is_reduced = chosen.lowered.machine.reduced_from is not None
    options = options_in_effect(plan.options, program)
    return dict(
        tool=dict(name="kmcompile", version=VERSION, command=plan.command),
        options={name: known(value, "not given") for name, value in options.items()},
        model=model_section(made.machine, plan.model_name),
        stages=stages_section(program, sample),
        memory=memory_section(program, plan, chosen.workspace_bytes, findings),
        cost=cost_section(program, sample, _operations_over_vectors(made, sample)),
        verification=verification_section(program, findings, no_check, commands, is_reduced),
        risk=_risk(made),
        accuracy=_accuracy(made),
        calibration=_calibration(chosen),
        choice=choice_section(compared) if compared else Missing(_NO_CHOICE[program.mode]),
        choices=choices_of(chosen.compared),
        modes=made.modes,
        formats=formats_section(chosen.formats),
        reduction=reduction_section(made.reduction),
        **flight_sections(made),
        target=target_section(program, plan.target, findings, made.answers, sample),
        files=made.digests,
        notes=(*notes_of(chosen), *queries.notes, *findings.notes, *findings.warnings),
    )


def verified_again(
    program: Program,
    target: Target,
    queries: Queries,
    findings: Findings,
    promise: Promise | None,
    is_reduced: bool = False,
) -> dict[str, Any]:
    """Return the findings of a repeated verification, in the shape of report.json.

    Parameters
    ----------
    program : Program
    target : Target
    queries : Queries
    findings : Findings
    promise : Promise or None
        The promise in the folder's report; if there is one, its disagreements are counted again.
    is_reduced : bool
        Whether the machine has fewer vectors than the trained one.

    Returns
    -------
    dict
        With keys "verification", "accuracy", "target" and "not_available"; with a promise also
        "measured".
    """
    section = verification_section(program, findings, _ASK_FOR_MODEL, (), is_reduced)
    del section["commands"]
    risk = {} if promise is None else {"measured": measured_risk(promise, queries, findings.check)}
    right: Content | Missing = Missing(_ASK_FOR_MODEL)
    if findings.check is not None:
        right = accuracy_section(False, program.classes, None, _tested(queries, findings))
    again, reasons = plain({"verification": section, "accuracy": right, "risk": risk})
    emulator = target.emulator
    return {
        "verification": again["verification"],
        "accuracy": again["accuracy"],
        "target": {"name": target.name, "emulator": emulator.machine if emulator else None},
        "not_available": reasons,
        **again["risk"],
    }


def options_in_effect(options: Options, program: Program) -> dict[str, OptionValue]:
    """Return the options in effect, given or default, with file names instead of paths."""
    values: dict[str, OptionValue] = {}
    options = replace(
        options,
        mode=program.mode,
        format=program.number_format,
        name=program.name,
        replay="none" if program.replay is None else "float64",
        optimize=options.optimize or "balanced",
        reduce=options.reduce or "off",
        tables=options.tables or "code",
    )
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in ("out", "n_jobs"):
            continue  # without paths: the report has the same bytes in every folder
        values[field.name] = text_of(value) if isinstance(value, Path | tuple) else value
    return values


def _operations_over_vectors(made: Compilation, sample: Sample) -> float | None:
    """Return the mean operations of the sum over the support vectors that another sum replaces."""
    lowered = made.chosen.lowered.program
    if type(made.chosen.program.sum) is type(lowered.sum):
        return None
    if not isinstance(made.chosen.program.sum, VectorlessSum):
        return None
    return float(operations_alone(lowered, made.queries.X[sample.rows]).mean())


def _commands(model_name: str) -> list[str]:
    """Return the commands that repeat the checks."""
    commands = ["kmcompile verify ."]
    if model_name:
        commands.append(shlex.join(["kmcompile", "verify", ".", "--model", model_name]))
    return commands


def _risk(made: Compilation) -> Content | Missing:
    program, calibration = made.chosen.program, made.chosen.exits.calibration
    if calibration is None:
        return Missing(_NO_EXITS if program.is_regression else _NO_RISK[program.mode])
    return risk_section(calibration, made.queries, made.findings.check)


def _accuracy(made: Compilation) -> Content | Missing:
    """Return right labels of the control samples of what is promised, and of test samples."""
    exits, reduction = made.chosen.exits, made.reduction
    control = None if reduction is None else reduction.chosen.accuracy
    if exits.calibration is not None:
        control = exits.calibration.accuracy
    return accuracy_section(
        made.chosen.plan.promise.what == "loss",
        made.chosen.program.classes,
        control,
        _tested(made.queries, made.findings),
    )


def _tested(queries: Queries, findings: Findings) -> Accuracy | None:
    """Return the right labels of the test samples, where there are some with labels."""
    check = findings.check
    return check.accuracy if queries.source == "test-data" and check is not None else None


def _calibration(made: ChosenProgram) -> Content | Missing:
    if made.exits.calibration is None:
        return Missing(_NO_CALIBRATION[made.program.mode])
    return calibration_section(made.exits.calibration)
