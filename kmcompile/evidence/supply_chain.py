"""What is in an output folder and where it comes from: bills of materials and licence lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kmcompile.evidence.bills import check
from kmcompile.evidence.bills.bill import OWNER, Bill
from kmcompile.evidence.bills.cyclonedx_document import SPECIFICATION, cyclonedx_json
from kmcompile.evidence.bills.of_folder import bill_of
from kmcompile.evidence.bills.spdx_document import spdx_json
from kmcompile.evidence.finding import READ, Finding, Outcome
from kmcompile.evidence.subject import Subject
from kmcompile.version import VERSION

NAME: Final = "supply_chain"
_SOURCES: Final = (".c", ".h", ".cpp", ".hpp", ".rs", ".py", ".ino")


def run(subject: Subject, folder: Path) -> Sequence[Finding]:
    """Write both bills of a compiled model beside its files, and check them."""
    bill = bill_of(subject)
    files = subject.write(folder / subject.name)
    (folder / "check.py").write_bytes(Path(check.__file__).read_bytes())
    stem = folder / f"{subject.name}"
    spdx, cyclonedx = spdx_json(bill), cyclonedx_json(bill)
    stem.with_name(f"{stem.name}.spdx.json").write_bytes(spdx)
    stem.with_name(f"{stem.name}.cdx.json").write_bytes(cyclonedx)
    return [
        _of_bills(subject, folder, files, (spdx, cyclonedx)),
        _of_licences(subject, folder, bill),
    ]


def _of_bills(subject: Subject, folder: Path, files: Path, bills: tuple[bytes, bytes]) -> Finding:
    """Return what the libraries of SPDX and CycloneDX say of the bills."""
    started = time.process_time()
    tool = check.tools()
    n_files, faults = check.faults_of_digests(*bills, files)
    if tool is not None:
        faults += [*check.faults_of_spdx(bills[0]), *check.faults_of_cyclonedx(bills[1])]
    if faults:
        outcome, figure = Outcome.REFUTED, f"{len(faults)} faults"
    elif tool is None:
        outcome, figure = Outcome.NOT_RUN, f"written, not validated: {check.INSTALL}"
    else:
        valid = f"SPDX 2.3 and CycloneDX {SPECIFICATION} are valid"
        outcome, figure = Outcome.SHOWN, f"{valid}, with the SHA-256 of {n_files} files"
    here = f"{folder.name}/{subject.name}"
    return Finding(
        claim="bills-of-materials",
        subject=subject.name,
        outcome=outcome,
        figure=figure,
        command=f"python {folder.name}/check.py {here} {here}",
        tool=tool or "not installed",
        listed=tuple(faults),
        files=(f"{here}.spdx.json", f"{here}.cdx.json", f"{folder.name}/check.py"),
        seconds=time.process_time() - started,
        where=READ,
    )


def _of_licences(subject: Subject, folder: Path, bill: Bill) -> Finding:
    """Return whether each emitted source says whose it is."""
    sources = [one for one in bill.files if one.path.endswith(_SOURCES)]
    without = [one.path for one in sources if one.named_licence != OWNER]
    return Finding(
        claim="licence-lines",
        subject=subject.name,
        outcome=Outcome.REFUTED if without or not sources else Outcome.SHOWN,
        figure=f"{len(sources) - len(without)} of {len(sources)} sources name {OWNER}",
        command=f"grep -rc 'SPDX-License-Identifier: {OWNER}' {folder.name}/{subject.name}",
        tool=f"kmcompile {VERSION}, Python {sys.version.split()[0]}",
        listed=tuple(f"{path}: names no licence" for path in without),
        where=READ,
    )
