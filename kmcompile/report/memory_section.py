"""The section `memory` of report.json."""

from __future__ import annotations

from kmcompile.program.program import Program
from kmcompile.program.redundancy import stored_bytes
from kmcompile.report.missing import Content, known
from kmcompile.request.plan import Plan
from kmcompile.verify.findings import Findings

_NO_STACK = "the host's C library is called, whose stack is not known"


def memory_section(
    program: Program, plan: Plan, workspace_bytes: int, findings: Findings
) -> Content:
    """Return the section on flash and RAM of the program and their budgets.

    Tables are constants; routines of the compiler's library are code. A budget may exceed the real
    part.

    Parameters
    ----------
    program : Program
    plan : Plan
    workspace_bytes : int
        RAM that the caller gives to the emitted functions.
    findings : Findings
        The findings, with the memory of the build. Without a build the flash is the tables' bytes.
    """
    built, target, allowed = findings.memory, plan.target, plan.budgets
    no_limit = f"{target.name} stands for no part with a limit"
    not_built = findings.skipped.get("memory", "")
    not_seen = findings.skipped.get("target", "seen on emulators only")
    return dict(
        flash_bytes=built.flash_bytes if built else stored_bytes(program),
        code_bytes=known(built and built.code_bytes, not_built),
        constants_bytes=known(built and built.constants_bytes, not_built),
        library_bytes=known(built and built.library_bytes, not_built),
        flash_is_lower_limit=built is None,
        flash_budget_bytes=known(allowed.flash_bytes, no_limit),
        part_flash_bytes=known(target.flash_bytes, no_limit),
        ram_bytes=known(built and built.ram_bytes, not_built),
        ram_budget_bytes=known(allowed.ram_bytes, no_limit),
        part_ram_bytes=known(target.ram_bytes, no_limit),
        stack_bytes=known(built and built.stack_bytes, _NO_STACK if built else not_built),
        painted_stack_bytes=known(findings.painted_stack_bytes, not_seen),
        workspace_bytes=workspace_bytes,
        tables=[
            dict(name=f"{copy}{t.name}", bytes=t.n_bytes)
            for copy in ("", "second_")[: program.redundancy]
            for t in program.tables()
        ],
    )
