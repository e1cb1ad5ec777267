"""A bill as SPDX 2.3 in JSON.

Source: The Software Package Data Exchange Specification, version 2.3 (ISO/IEC 5962:2021 is 2.2.1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from kmcompile.evidence.bills.bill import Bill, FileEntry, Part, Role, to_bytes
from kmcompile.version import VERSION

# The format asks for a time. Any other one would make the bytes differ from run to run.
_NO_TIME: Final = "1970-01-01T00:00:00Z"
_UNKNOWN: Final = "NOASSERTION"
_PURPOSES: Final = {
    Role.DEPENDENCY: "LIBRARY",
    Role.MODEL: "OTHER",
    Role.GENERATOR: "APPLICATION",
    Role.COMPILER: "APPLICATION",
}
_BINARY: Final = {".npz": "ARCHIVE", ".whl": "ARCHIVE", ".bin": "BINARY"}
_SOURCES: Final = (".c", ".h", ".cpp", ".hpp", ".rs", ".py", ".ino", ".cmake", ".fpp", ".mk")


def spdx_json(bill: Bill) -> bytes:
    """Return the bytes of a bill as an SPDX document; equal bills give the same bytes."""
    main = _package(bill.main, "SOURCE" if bill.files else "LIBRARY")
    if bill.files:
        main |= _of_files(bill.files)
    document: dict[str, Any] = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": bill.main.name,
        "documentNamespace": f"urn:uuid:{bill.identifier()}",
        "creationInfo": {
            "created": _NO_TIME,
            "creators": [f"Tool: kmcompile-{VERSION}"],
            "comment": "The time is not that of the run: equal content has equal bytes.",
        },
        "packages": [main, *(_package(part, _PURPOSES[part.role]) for part in bill.parts)],
    }
    if bill.files:
        document["files"] = [
            _file(n, one, bill.main.licence) for n, one in enumerate(bill.files, start=1)
        ]
    if bill.texts:
        document["hasExtractedLicensingInfos"] = [
            {"licenseId": name, "extractedText": text, "name": name}
            for name, text in sorted(bill.texts.items())
        ]
    document["relationships"] = _relationships(bill)
    return to_bytes(document)


def _reference(name: str) -> str:
    """Return the identifier of a package; SPDX allows letters, digits, `.` and `-`."""
    return f"SPDXRef-Package-{re.sub(r'[^A-Za-z0-9.-]', '-', name)}"


def _package(part: Part, purpose: str) -> dict[str, Any]:
    package: dict[str, Any] = {"SPDXID": _reference(part.name), "name": part.name}
    if part.version is not None:
        package["versionInfo"] = part.version
    if part.file is not None:
        package["packageFileName"] = part.file
    if part.sha256 is not None:
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": part.sha256}]
    package |= {
        "supplier": _UNKNOWN,
        "downloadLocation": _UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": part.licence or _UNKNOWN,
        "licenseDeclared": part.licence or _UNKNOWN,
        "copyrightText": _UNKNOWN,
        "primaryPackagePurpose": purpose,
    }
    if part.purl is not None:
        package["externalRefs"] = [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": part.purl,
            }
        ]
    if part.comment:
        package["comment"] = part.comment
    return package


def _of_files(files: Sequence[FileEntry]) -> dict[str, Any]:
    """Return what a package says of its files; the code is that of SPDX 2.3, clause 7.9."""
    digest = hashlib.sha1(usedforsecurity=False)
    for sha1 in sorted(one.sha1 for one in files):
        digest.update(sha1.encode("ascii"))
    return {
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": digest.hexdigest()},
        "licenseInfoFromFiles": sorted({one.named_licence or "NONE" for one in files}),
    }


def _file(number: int, entry: FileEntry, licence: str | None) -> dict[str, Any]:
    suffix = PurePosixPath(entry.path).suffix
    return {
        "SPDXID": _file_reference(number),
        "fileName": f"./{entry.path}",
        "fileTypes": [_BINARY.get(suffix, "SOURCE" if suffix in _SOURCES else "TEXT")],
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": entry.sha1},
            {"algorithm": "SHA256", "checksumValue": entry.sha256},
        ],
        "licenseConcluded": licence or _UNKNOWN,
        "licenseInfoInFiles": [entry.named_licence or "NONE"],
        "copyrightText": _UNKNOWN,
    }


def _file_reference(number: int) -> str:
    return f"SPDXRef-File-{number}"


def _relationships(bill: Bill) -> list[dict[str, str]]:
    main = _reference(bill.main.name)
    triples = [("SPDXRef-DOCUMENT", "DESCRIBES", main)]
    triples += [(main, "CONTAINS", _file_reference(n)) for n, _ in enumerate(bill.files, start=1)]
    for part in bill.parts:
        own = _reference(part.name)
        if part.role is Role.MODEL:
            triples.append((main, "GENERATED_FROM", own))
        elif part.role is Role.GENERATOR:
            triples.append((own, "GENERATES", main))
        elif part.role is Role.COMPILER:
            triples.append((own, "BUILD_TOOL_OF", main))
    for part in (bill.main, *bill.parts):
        triples += [(_reference(part.name), "DEPENDS_ON", _reference(name)) for name in part.needs]
    return [
        {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
        for one, kind, other in triples
    ]
