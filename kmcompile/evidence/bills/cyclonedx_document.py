"""A bill as CycloneDX 1.6 in JSON.

Source: CycloneDX v1.6 JSON reference (ECMA-424).
"""

from __future__ import annotations

from typing import Any, Final

from kmcompile.evidence.bills.bill import Bill, FileEntry, Part, Role, to_bytes

SPECIFICATION: Final = "1.6"
_TYPES: Final = {
    Role.DEPENDENCY: "library",
    Role.MODEL: "machine-learning-model",
    Role.GENERATOR: "application",
    Role.COMPILER: "application",
}


def cyclonedx_json(bill: Bill) -> bytes:
    """Return the bytes of a bill as a CycloneDX document; equal bills give the same bytes."""
    parts = [_component(part, _TYPES[part.role]) for part in bill.of_role(Role.DEPENDENCY)]
    files = [_file(one, bill.main.licence) for one in bill.files]
    document: dict[str, Any] = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "serialNumber": f"urn:uuid:{bill.identifier()}",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": _component(bill.main, "library", dict(bill.texts)),
        },
        "components": [*files, *parts],
        "dependencies": _dependencies(bill),
    }
    made_with = [part for part in bill.parts if part.role is not Role.DEPENDENCY]
    if made_with:
        document["formulation"] = [
            {
                "components": [_component(part, _TYPES[part.role]) for part in made_with],
                "workflows": [_workflow(bill)],
            }
        ]
    return to_bytes(document)


def _component(part: Part, kind: str, texts: dict[str, str] | None = None) -> dict[str, Any]:
    component: dict[str, Any] = {"type": kind, "bom-ref": part.name, "name": part.name}
    if part.version is not None:
        component["version"] = part.version
    if part.comment:
        component["description"] = part.comment
    if part.sha256 is not None:
        component["hashes"] = [{"alg": "SHA-256", "content": part.sha256}]
    if part.licence is not None:
        text = (texts or {}).get(part.licence)
        component["licenses"] = [
            {"expression": part.licence}
            if text is None
            else {"license": {"name": part.licence, "text": {"content": text}}}
        ]
    if part.purl is not None:
        component["purl"] = part.purl
    if part.file is not None:
        component["properties"] = [{"name": "kmcompile:file", "value": part.file}]
    return component


def _file(entry: FileEntry, licence: str | None) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "file",
        "bom-ref": f"file:{entry.path}",
        "name": entry.path,
        "hashes": [{"alg": "SHA-256", "content": entry.sha256}],
    }
    if licence is not None:
        component["licenses"] = [{"expression": licence}]
    return component


def _dependencies(bill: Bill) -> list[dict[str, Any]]:
    return [
        {"ref": part.name, "dependsOn": sorted(part.needs)}
        for part in (bill.main, *bill.of_role(Role.DEPENDENCY))
    ]


def _workflow(bill: Bill) -> dict[str, Any]:
    return {
        "bom-ref": "workflow",
        "uid": str(bill.identifier()),
        "taskTypes": ["build"],
        "steps": [
            {"name": name, "commands": [{"executed": command}]} for name, command in bill.steps
        ],
    }
