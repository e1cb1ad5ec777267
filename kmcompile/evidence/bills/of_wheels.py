"""The bill of a folder of wheels: kmcompile and everything that it needs.

Usage: python -m kmcompile.evidence.bills.of_wheels FOLDER
"""

from __future__ import annotations

import email.parser
import hashlib
import re
import sys
import zipfile
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Final

from kmcompile.evidence.bills.bill import Bill, Part, Role
from kmcompile.evidence.bills.cyclonedx_document import cyclonedx_json
from kmcompile.evidence.bills.spdx_document import spdx_json

_MAIN: Final = "kmcompile"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OF_EXTRA: Final = re.compile(r";.*\bextra\b")


@dataclass(frozen=True, slots=True)
class _Wheel:
    path: Path
    metadata: Message
    generator: str

    @classmethod
    def read(cls, path: Path) -> _Wheel:
        with zipfile.ZipFile(path) as archive:
            parsed = {
                kind: email.parser.BytesParser().parsebytes(archive.read(found), headersonly=True)
                for kind in ("METADATA", "WHEEL")
                for found in archive.namelist()
                if re.fullmatch(rf"[^/]+\.dist-info/{kind}", found)
            }
        return cls(path, parsed["METADATA"], str(parsed["WHEEL"]["Generator"]))

    @property
    def name(self) -> str:
        return _normalised(str(self.metadata["Name"]))

    def part(self, there: frozenset[str]) -> Part:
        """Return the part of a bill; it needs those of its requirements that are there."""
        asked = [str(line) for line in self.metadata.get_all("Requires-Dist", [])]
        found = [_NAME.match(line) for line in asked if not _OF_EXTRA.search(line)]
        needs = {_normalised(name.group()) for name in found if name is not None}
        version = str(self.metadata["Version"])
        licence = self.metadata["License-Expression"]
        return Part(
            name=self.name,
            version=version,
            role=Role.DEPENDENCY,
            licence=None if licence is None else str(licence),
            sha256=hashlib.sha256(self.path.read_bytes()).hexdigest(),
            file=self.path.name,
            purl=f"pkg:pypi/{self.name}@{version}",
            needs=tuple(sorted(needs & there)),
        )


def bill_of_wheels(folder: Path) -> Bill:
    """Return the bill of the wheels in a folder, one of which is kmcompile's.

    A wheel's licence is the `License-Expression` of its metadata; older metadata has none that a
    program can read. A requirement whose wheel is not there is one of another system or Python.
    """
    wheels = [_Wheel.read(path) for path in sorted(folder.glob("*.whl"))]
    there = frozenset(wheel.name for wheel in wheels)
    parts = {wheel.name: wheel.part(there) for wheel in wheels}
    (own,) = (wheel for wheel in wheels if wheel.name == _MAIN)
    builder, _, version = own.generator.partition(" ")
    main = parts.pop(_MAIN)
    tool = Part(builder, version or None, Role.COMPILER, comment="It has built the wheel.")
    command = f"python -m {builder} build -t wheel"
    return Bill(main, (*parts.values(), tool), steps=(("build", command),))


def write_bills(folder: Path) -> tuple[Path, Path]:
    """Write both bills of a folder of wheels into it; return their paths."""
    bill = bill_of_wheels(folder)
    stem = f"{bill.main.name}-{bill.main.version}"
    spdx, cyclonedx = folder / f"{stem}.spdx.json", folder / f"{stem}.cdx.json"
    spdx.write_bytes(spdx_json(bill))
    cyclonedx.write_bytes(cyclonedx_json(bill))
    return spdx, cyclonedx


def _normalised(name: str) -> str:
    """Return a distribution's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    write_bills(Path(sys.argv[1]))
