"""The command for evidence: tools of others look at the C of a compiled model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmcompile import console
from kmcompile.errors import VerificationError
from kmcompile.program_options import FOLDER, json_option, out_option, quiet_option
from kmcompile.progress import Progress
from kmcompile.text.visible import printable

if TYPE_CHECKING:
    from kmcompile.evidence.finding import Finding

_PARTS = "description, supply_chain, coverage, mutation, run_time_errors"


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--parts", metavar="A,B,...", help=f"Which parts: {_PARTS} [all].")
@out_option("DIR", "Folder [<DIR>-evidence].")
@json_option
@quiet_option
def evidence_command(
    folder: Path, parts: str | None, out: Path | None, as_json: bool, quiet: bool
) -> None:
    """Gather evidence about a compiled model in DIR, by tools that are not kmcompile's.

    Each finding is written with the command that repeats it. A tool that is not installed is
    named, with the command that installs it. A claim that is refuted exits 1.
    """
    from kmcompile.evidence.finding import Outcome
    from kmcompile.evidence.folder import PAGE
    from kmcompile.evidence.gathering import gather, parts_named
    from kmcompile.evidence.subject import Subject

    asked = parts_named(parts)
    subject = Subject.of_folder(folder)
    path = folder.resolve().with_name(f"{folder.resolve().name}-evidence") if out is None else out
    with Progress(enabled=not quiet) as progress:
        findings = gather([subject], asked, path, progress)
    listed = [one.to_json() for one in findings]
    console.tell(listed, _print_evidence, findings, path / PAGE, as_json=as_json, quiet=quiet)
    refuted = [one for one in findings if one.outcome is Outcome.REFUTED]
    if refuted:
        raise VerificationError("\n".join(f"{one.claim}: {one.figure}" for one in refuted))


def proved(folder: Path, tell: Callable[[str], None]) -> list[Finding]:
    """Let Frama-C look for run-time errors of the model in an output folder."""
    from kmcompile.evidence.run_time_errors.part import prove
    from kmcompile.evidence.subject import Subject

    return prove(Subject.of_folder(folder), tell)


def refuse_unexplained(findings: Sequence[Finding]) -> None:
    """Raise VerificationError if an alarm has no reason."""
    from kmcompile.evidence.run_time_errors.part import unexplained

    alarms = unexplained(findings)
    if alarms:
        more = f"\nand {len(alarms) - 1} more: use --json" if len(alarms) > 1 else ""
        raise VerificationError(f"{alarms[0]}{more}")


def _print_evidence(findings: Sequence[Finding], page: Path) -> None:
    print_findings(findings)
    click.echo(f"written: {printable(str(page))}")


def print_findings(findings: Sequence[Finding]) -> None:
    """Print a line for each finding."""
    for one in findings:
        click.echo(printable(f"{one.outcome.value:8} {one.claim}: {one.figure}"))
