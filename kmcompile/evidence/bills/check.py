"""Check both bills of a folder by the libraries of SPDX and CycloneDX, and the digests in them.

Usage: python check.py BILLS FOLDER

BILLS is the path of the bills without `.spdx.json` and `.cdx.json`, FOLDER has the files. Needs
spdx-tools and cyclonedx-python-lib[json-validation], and nothing of kmcompile.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("spdx-tools", "cyclonedx-python-lib")
INSTALL = "pip install spdx-tools 'cyclonedx-python-lib[json-validation]'"


def tools() -> str | None:
    """Return names and versions of both libraries, or None if one is not installed."""
    try:
        return ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    except PackageNotFoundError:
        return None


def faults_of_spdx(content: bytes) -> list[str]:
    """Return what the validator of spdx-tools says against an SPDX 2.3 document."""
    from spdx_tools.spdx.parser.error import SPDXParsingError
    from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    try:
        document = JsonLikeDictParser().parse(json.loads(content))
    except SPDXParsingError as error:
        return [str(text) for text in error.get_messages()]
    return [found.validation_message for found in validate_full_spdx_document(document)]


def faults_of_cyclonedx(content: bytes) -> list[str]:
    """Return what the JSON schema of CycloneDX 1.6 says against a document."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    found = validator.validate_str(content.decode("ascii"))
    return [] if found is None else [str(found).splitlines()[0]]


def digests_in_spdx(document: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file and archive that an SPDX document names."""
    things = [
        *((one["fileName"].removeprefix("./"), one) for one in document.get("files", [])),
        *((one.get("packageFileName"), one) for one in document["packages"]),
    ]
    return {
        name: digest["checksumValue"]
        for name, one in things
        if name is not None
        for digest in one.get("checksums", [])
        if digest["algorithm"] == "SHA256"
    }


def digests_in_cyclonedx(document: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file and archive that a CycloneDX document names."""
    found: dict[str, str] = {}
    for one in [document["metadata"]["component"], *document["components"]]:
        archives = [
            item["value"] for item in one.get("properties", []) if item["name"] == "kmcompile:file"
        ]
        names = [one["name"]] if one["type"] == "file" else archives
        found |= {name: item["content"] for name in names for item in one.get("hashes", [])}
    return found


def faults_of_digests(spdx: bytes, cyclonedx: bytes, folder: Path) -> tuple[int, list[str]]:
    """Return the number of files named, and where bills and folder disagree."""
    named = digests_in_spdx(json.loads(spdx))
    other = digests_in_cyclonedx(json.loads(cyclonedx))
    faults = [f"{name}: not in both bills" for name in sorted(named.keys() ^ other.keys())]
    for name in sorted(named.keys() & other.keys()):
        path = folder / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
        if not found == named[name] == other[name]:
            faults.append(f"{name}: {found}, in the bills {named[name]} and {other[name]}")
    return len(named), faults


def main() -> None:
    """Print what was found; exit 1 if a bill is not valid or a file is another one."""
    bills, folder = sys.argv[1:]
    print(tools() or f"not installed; {INSTALL}")
    spdx = Path(f"{bills}.spdx.json").read_bytes()
    cyclonedx = Path(f"{bills}.cdx.json").read_bytes()
    n_files, faults = faults_of_digests(spdx, cyclonedx, Path(folder))
    faults += [*faults_of_spdx(spdx), *faults_of_cyclonedx(cyclonedx)]
    print("\n".join(faults) or f"both bills are valid; {n_files} files have their digests")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
