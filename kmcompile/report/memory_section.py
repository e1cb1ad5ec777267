"""The section `memory` of report.json."""

from __future__ import annotations

from kmcompile.program.program import Program
from kmcompile.program.redundancy import stored_bytes
from kmcompile.report import contents
from kmcompile.report.section import Section
from kmcompile.request.plan import Plan
from kmcompile.verify.findings import Findings

_OF_THE_BUILD = ("code_bytes", "constants_bytes", "library_bytes", "ram_bytes", "stack_bytes")


def memory_section(
    program: Program, plan: Plan, workspace_bytes: int, findings: Findings
) -> Section[contents.Memory]:
    """Return the section on flash and RAM of the program and their budgets.

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
    reasons: dict[str, str] = {}
    if built is None:
        reasons |= {f"memory.{name}": findings.skipped["memory"] for name in _OF_THE_BUILD}
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
    no_limit = f"{target.name} stands for no part with a limit"
    reasons |= {f"memory.{name}": no_limit for name, limit in limits.items() if limit is None}
    content = contents.Memory(
        flash_bytes=built.flash_bytes if built else stored_bytes(program),
        code_bytes=built.code_bytes if built else None,
        constants_bytes=built.constants_bytes if built else None,
        library_bytes=built.library_bytes if built else None,
        flash_is_lower_limit=built is None,
        ram_bytes=built.ram_bytes if built else None,
        stack_bytes=built.stack_bytes if built else None,
        painted_stack_bytes=findings.painted_stack_bytes,
        workspace_bytes=workspace_bytes,
        tables=[
            contents.Table(name=f"{copy}{t.name}", bytes=t.n_bytes)
            for copy in ("", "second_")[: program.redundancy]
            for t in program.tables()
        ],
        **limits,
    )
    return Section(content, reasons)
