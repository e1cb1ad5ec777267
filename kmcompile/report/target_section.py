"""The section `target` of report.json, with the instructions that its emulator counted."""

from __future__ import annotations

import numpy as np

from kmcompile.program.interpreter import Answers
from kmcompile.program.program import Program
from kmcompile.report import costs
from kmcompile.report.measured import NOT_MEASURED
from kmcompile.report.missing import Content, Missing, known
from kmcompile.report.time_section import time_of
from kmcompile.target import Target
from kmcompile.verify.findings import Findings


def target_section(
    program: Program, target: Target, findings: Findings, answers: Answers, sample: costs.Sample
) -> Content:
    """Return the section on the target and the instructions counted on its emulator.

    Parameters
    ----------
    program : Program
    target : Target
    findings : Findings
    answers : Answers
        The interpreter's answers to all queries.
    sample : Sample
        The queries over which means are taken.
    """
    part, emulator = target.part, target.emulator
    return dict(
        name=target.name,
        description=target.description,
        stands_for=target.stands_for,
        part=known(part and part.name, f"{target.name} stands for no part with a limit"),
        emulator=known(
            emulator and emulator.machine, "the target is the machine that runs kmcompile"
        ),
        instructions=_instructions(program, findings, answers, sample),
        time=time_of(program, target, findings, answers, sample),
        measured=Missing(NOT_MEASURED),
        not_shown=target.not_shown,
    )


def _instructions(
    program: Program, findings: Findings, answers: Answers, sample: costs.Sample
) -> Content | Missing:
    """Return the instructions of the sample, or of all queries if all take the same path.

    They are neither cycles nor time. No input exceeds the static worst cases.
    """
    found = findings.instructions
    if found is None:
        return Missing(findings.skipped["instructions"])
    differ = len(program.exit_stages) > 1
    if differ:
        found = costs.of_sample(found, answers, sample)
    worst = findings.worst_case
    without = worst and worst.without_replay
    if worst is not None and program.sums_at_once:
        without = worst.instructions  # every query may need it
    unknown = (worst and worst.reason) or "the target was not run"
    exact = findings.exact_instructions if differ else float(found.mean())
    return dict(
        exact=known(exact, "the exact sum alone was not run"),
        mean=float(found.mean()),
        p99=float(np.percentile(found, 99)),
        max=float(found.max()),
        worst=known(worst and worst.instructions, unknown),
        worst_without_replay=known(without, unknown),
        queries=len(found),
    )
