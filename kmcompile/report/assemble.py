"""Assemble the results of a compilation's steps into one Report."""

from __future__ import annotations

import shlex
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.program.interpreter import operations_alone
from kmcompile.program.program import Program
from kmcompile.program.stages import VectorlessSum
from kmcompile.report import checked, chosen, contents
from kmcompile.report.accuracy_section import Accuracy, accuracy_section
from kmcompile.report.choice import choice_section
from kmcompile.report.choices import choices_of
from kmcompile.report.compilation import Compilation
from kmcompile.report.costs import Sample, cost_section, stages_section
from kmcompile.report.flight import flight_sections
from kmcompile.report.formats import formats_section
from kmcompile.report.memory_section import memory_section
from kmcompile.report.model_section import model_section
from kmcompile.report.modes import modes_section
from kmcompile.report.notes import notes_of
from kmcompile.report.promise import calibration_section, measured_risk, risk_section
from kmcompile.report.reduction_section import reduction_section
from kmcompile.report.section import Section
from kmcompile.report.target_section import target_section
from kmcompile.report.verification_section import verification_section
from kmcompile.request.options import Options, text_of
from kmcompile.target import Target
from kmcompile.verify.findings import Findings
from kmcompile.verify.queries import Queries
from kmcompile.version import VERSION

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


def assemble(made: Compilation) -> contents.Report:
    """Return the report of a compilation.

    Means, percentiles and shares are taken over the user's samples if there are any, otherwise over
    the generated ones.
    """
    plan, program, findings = made.chosen.plan, made.chosen.program, made.findings
    answers, queries = made.answers, made.queries
    sample = made.sample
    no_check = findings.skipped.get("host", "")
    commands = _commands(plan.model_name)
    is_reduced = made.chosen.lowered.machine.reduced_from is not None
    sections: dict[str, Section[Any]] = {
        "model": model_section(made.machine, plan.model_name),
        "stages": stages_section(program, sample),
        "memory": memory_section(program, plan, made.chosen.workspace_bytes, findings),
        "cost": cost_section(program, sample, _operations_over_vectors(made, sample)),
        "verification": verification_section(program, findings, no_check, commands, is_reduced),
        "modes": modes_section(made.modes),
        "formats": formats_section(made.chosen.formats),
        "reduction": reduction_section(made.reduction),
        "target": target_section(program, plan.target, findings, answers, sample),
        "choice": _choice(made.chosen),
        "risk": _risk(made),
        "accuracy": _accuracy(made),
        "calibration": _calibration(made.chosen),
    }
    flown = flight_sections(made)
    reasons: dict[str, str] = {}
    for section in (*sections.values(), *flown.values()):
        reasons |= section.not_available
    return contents.Report(
        tool=contents.Tool(name="kmcompile", version=VERSION, command=plan.command),
        options=options_in_effect(plan.options, program),
        choices=choices_of(made.chosen.compared),
        flight={name: section.content for name, section in flown.items()},
        files=made.digests,
        notes=(*notes_of(made.chosen), *queries.notes, *findings.notes, *findings.warnings),
        not_available=reasons,
        **{name: section.content for name, section in sections.items()},
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
        With keys "verification", "target" and "not_available"; with a promise also "measured".
    """
    section = verification_section(program, findings, _ASK_FOR_MODEL, (), is_reduced)
    verification = asdict(section.content)
    del verification["commands"]
    emulator = target.emulator
    facts: dict[str, Any] = {
        "verification": verification,
        "target": {"name": target.name, "emulator": emulator.machine if emulator else None},
        "not_available": dict(section.not_available),
    }
    if promise is not None:
        measured = measured_risk(promise, queries, findings.check)
        facts["measured"] = None if measured.content is None else asdict(measured.content)
        facts["not_available"] |= measured.not_available
    return facts


def options_in_effect(options: Options, program: Program) -> dict[str, contents.OptionValue]:
    """Return the options in effect, given or default, with file names instead of paths."""
    values: dict[str, contents.OptionValue] = {}
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


def _choice(made: ChosenProgram) -> Section[chosen.Choice | None]:
    if made.exits.choice is None:
        return Section(None, {"choice": _NO_CHOICE[made.program.mode]})
    return Section(choice_section(made.exits.choice), {})


def _risk(made: Compilation) -> Section[checked.Risk | None]:
    program, calibration = made.chosen.program, made.chosen.exits.calibration
    if calibration is None:
        reason = _NO_EXITS if program.is_regression else _NO_RISK[program.mode]
        return Section(None, {"risk": reason})
    return risk_section(calibration, made.queries, made.findings.check)


def _accuracy(made: Compilation) -> Section[Accuracy | None]:
    """Return right labels of the control samples of what is promised, and of test samples."""
    exits, reduction, check = made.chosen.exits, made.reduction, made.findings.check
    control = None if reduction is None else reduction.chosen.accuracy
    if exits.calibration is not None:
        control = exits.calibration.accuracy
    tested = made.queries.source == "test-data" and check is not None
    return accuracy_section(
        made.chosen.plan.promise.what == "loss",
        made.chosen.program.classes,
        control,
        check.accuracy if tested and check is not None else None,
    )


def _calibration(made: ChosenProgram) -> Section[chosen.Calibration | None]:
    if made.exits.calibration is None:
        return Section(None, {"calibration": _NO_CALIBRATION[made.program.mode]})
    return calibration_section(made.exits.calibration)
