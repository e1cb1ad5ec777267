"""The section of the report on the answer in steps."""

from __future__ import annotations

import numpy as np

from kmcompile.emit.layout import Layout
from kmcompile.emit.step_view import job_bytes
from kmcompile.program.program import Program
from kmcompile.program.schedule import Part, schedule, smallest_step
from kmcompile.report import stepwise
from kmcompile.report.costs import Sample
from kmcompile.report.section import Section
from kmcompile.target import Target
from kmcompile.verify.findings import Findings

_NOT_ASKED = "the C answers at once: --step N makes it answer in steps, too"


def stepping_section(
    program: Program, target: Target, findings: Findings, sample: Sample
) -> Section[stepwise.Stepping | None]:
    """Return the section on `--step`; its content is None without the option."""
    steps = sample.answers.steps
    if program.step is None or steps is None:
        return Section(None, {"stepping": _NOT_ASKED})
    planned, largest = schedule(program), smallest_step(program)
    instructions, reasons = _instructions(findings)
    if program.replay is None:
        reasons["stepping.replay_weight"] = "the program has no replay"
    content = stepwise.Stepping(
        asked=program.step.operations,
        replay_weight=None if program.replay is None else program.step.replay_weight,
        operations=planned.operations,
        smallest=largest.operations,
        largest_piece=largest.name,
        steps_mean=float(steps.mean()),
        steps_p99=float(np.percentile(steps, 99)),
        steps_max=float(steps.max()),
        steps_worst=planned.most_steps,
        job_bytes=job_bytes(Layout.of(program, target)) or 0,
        places=[
            stepwise.StepPlace(
                does=[text_of(part) for part in place.parts],
                steps=place.repeats,
                operations=place.operations,
            )
            for place in planned.places
        ],
        not_in_steps=_at_once(program),
        instructions=instructions,
    )
    return Section(content, reasons)


def text_of(part: Part) -> str:
    """Return what a part of a step does."""
    if part.piece.per_kernel:
        return f"up to {part.count} x kernel of a pair, and the pair"
    if part.piece.count == 1:
        return part.piece.name
    return f"{part.count} x {part.piece.name}"


def _at_once(program: Program) -> list[str]:
    """Return the functions of the header that have no form in steps."""
    others = ["decision"]
    if any(stage.exit == "certified" for stage in program.early_exits):
        others.append("predict_within" if program.is_regression else "classify_within")
    if program.probability is not None:
        others.append("probability")
    if program.takes_risk:
        others.append("audit")
    return others


def _instructions(
    findings: Findings,
) -> tuple[stepwise.StepInstructions | None, dict[str, str]]:
    """Return the instructions of a step, with the reasons of what is not known."""
    found, path = findings.stepping, "stepping.instructions"
    if found is None or found.most is None or found.of_all_steps is None or found.at_once is None:
        return None, {path: findings.skipped.get("instructions", "no step was counted")}
    reasons = {
        f"{path}.{name}": case.reason or "not known"
        for name, case in (("worst", found.worst), ("worst_of_begin", found.worst_of_begin))
        if case.instructions is None
    }
    content = stepwise.StepInstructions(
        worst=found.worst.instructions,
        worst_of_begin=found.worst_of_begin.instructions,
        max=found.most,
        all_steps_mean=found.of_all_steps,
        at_once_mean=found.at_once,
        queries=found.queries,
    )
    return content, reasons
