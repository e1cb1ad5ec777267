"""The section `target` of report.json, with the instructions that its emulator counted."""

from __future__ import annotations

import numpy as np

from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.program.interpreter import Answers
from kmcompile.program.program import Program
from kmcompile.report import contents, costs
from kmcompile.report.section import Section
from kmcompile.target import Target
from kmcompile.verify.findings import Findings


def target_section(
    program: Program, target: Target, findings: Findings, answers: Answers, sample: costs.Sample
) -> Section[contents.TargetSection]:
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
    counted = _instructions(program, findings, answers, sample)
    reasons = {}
    if target.part is None:
        reasons["target.part"] = f"{target.name} stands for no part with a limit"
    if target.emulator is None:
        reasons["target.emulator"] = "the target is the machine that runs kmcompile"
    if counted is None:
        reasons["target.instructions"] = findings.skipped["instructions"]
    else:
        reasons |= _unknown(counted, findings.worst_case)
    content = contents.TargetSection(
        name=target.name,
        description=target.description,
        stands_for=target.stands_for,
        part=target.part.name if target.part else None,
        emulator=target.emulator.machine if target.emulator else None,
        instructions=counted,
        not_shown=target.not_shown,
    )
    return Section(content, reasons)


def _instructions(
    program: Program, findings: Findings, answers: Answers, sample: costs.Sample
) -> contents.Instructions | None:
    """Return the instructions of the sample, or of all queries if all take the same path."""
    found = findings.instructions
    if found is None:
        return None
    differ = len(program.exit_stages) > 1
    if differ:
        found = costs.of_sample(found, answers, sample)
    worst = findings.worst_case
    without = None if worst is None else worst.without_replay
    if worst is not None and program.sums_at_once:
        without = worst.instructions  # every query may need it
    return contents.Instructions(
        exact=findings.exact_instructions if differ else float(found.mean()),
        mean=float(found.mean()),
        p99=float(np.percentile(found, 99)),
        max=float(found.max()),
        worst=worst.instructions if worst else None,
        worst_without_replay=without,
        queries=len(found),
    )


def _unknown(counted: contents.Instructions, worst: WorstCase | None) -> dict[str, str]:
    """Return the null fields of the instructions, and why each is null."""
    reason = worst.reason if worst and worst.reason else "the target was not run"
    reasons = {
        f"target.instructions.{name}": reason
        for name in ("worst", "worst_without_replay")
        if getattr(counted, name) is None
    }
    if counted.exact is None:
        reasons["target.instructions.exact"] = "the exact sum alone was not run"
    return reasons
