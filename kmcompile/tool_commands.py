"""The commands about what is here: the targets, and the tools that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kmcompile import console
from kmcompile.program_options import json_option
from kmcompile.text.visible import printable

if TYPE_CHECKING:
    from kmcompile.target import Target
    from kmcompile.tools.toolchain import Diagnosis


@click.command(short_help="List the targets.")
@json_option
def targets_command(as_json: bool) -> None:
    """List the targets: the boards and machines that C can be compiled for."""
    from kmcompile.target import list_parts, list_targets

    targets = list_targets() + list_parts()
    listed = [target.to_dict() for target in targets]
    console.tell(listed, _print_targets, targets, as_json=as_json)


@click.command()
@click.option(
    "--targets", metavar="A,B,...|all", help="Which targets, or evidence [all, and evidence]."
)
@json_option
def doctor_command(targets: str | None, as_json: bool) -> None:
    """Say which compilers, emulators and tools of the evidence are here, how to get the others.

    Exits 0 also where some are missing: what is here still works.
    """
    from dataclasses import asdict

    from kmcompile.target import chosen_targets
    from kmcompile.tools.evidence_tools import EVIDENCE, diagnose_evidence
    from kmcompile.tools.toolchain import diagnose

    names = (f"all,{EVIDENCE}" if targets is None else targets).replace(" ", "").split(",")
    chosen = ",".join(name for name in names if name != EVIDENCE)
    only_evidence = names == [EVIDENCE]
    diagnoses = diagnose(() if only_evidence else chosen_targets(chosen, (EVIDENCE,)))
    if EVIDENCE in names:
        diagnoses += (diagnose_evidence(),)
    listed = [asdict(diagnosis) for diagnosis in diagnoses]
    console.tell(listed, _print_diagnoses, diagnoses, as_json=as_json)


def _print_targets(targets: Sequence[Target]) -> None:
    from kmcompile.tools.toolchain import is_ready

    rows = [("target", "part", "flash", "RAM", "format", "emulator", "tools", "what it is")]
    for target in targets:
        rows.append(
            (
                target.name,
                target.part.name if target.part else "-",
                console.exact_bytes_text(target.flash_bytes),
                console.exact_bytes_text(target.ram_bytes),
                target.number_format,
                target.emulator.machine if target.emulator else "-",
                "here" if is_ready(target) else "missing",
                target.description,
            )
        )
    console.print_table(rows)


def _print_diagnoses(diagnoses: Sequence[Diagnosis]) -> None:
    from kmcompile.tools.evidence_tools import EVIDENCE
    from kmcompile.tools.toolchain import install_command

    found: dict[tuple[str, ...], list[str]] = {}
    for diagnosis in diagnoses:
        for tool in diagnosis.tools:
            here = "missing" if tool.path is None else tool.version or "here, but it does not run"
            key = (tool.command, tool.purpose, printable(here))
            found.setdefault(key, []).append(diagnosis.target)
    rows = [(*key, ", ".join(targets)) for key, targets in found.items()]
    console.print_table([("command", "is the", "version", "of the targets"), *rows])
    for what, evidence in ("", False), (" of the evidence", True):
        own = [one for one in diagnoses if (one.target == EVIDENCE) == evidence]
        missing = sorted({name for diagnosis in own for name in diagnosis.missing_packages})
        if missing:
            click.echo(f"to install what is missing{what}: {install_command(missing)}")
