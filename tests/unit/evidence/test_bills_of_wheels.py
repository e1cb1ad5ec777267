"""The bills of a folder of wheels: versions, hashes, licences and what needs what."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from kmcompile.evidence.bills import check
from kmcompile.evidence.bills.of_wheels import bill_of_wheels, write_bills


def wheel(folder: Path, name: str, version: str, *lines: str) -> None:
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines])
    stem = f"{name.lower().replace('-', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", text)
        archive.writestr(
            f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: hatchling 1.33\n"
        )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    asks = (
        "Scikit.Learn>=1.4",
        "typing-extensions; python_version < '3'",
        "pytest; extra == 'test'",
    )
    wheel(
        tmp_path,
        "kmcompile",
        "0.1",
        "License-Expression: MIT",
        *map("Requires-Dist: {}".format, asks),
    )
    wheel(
        tmp_path, "scikit-learn", "1.9", "License-Expression: BSD-3-Clause", "Requires-Dist: numpy"
    )
    wheel(tmp_path, "numpy", "2.4", "License: as it was written before")
    wheel(tmp_path, "pytest", "9.2")
    return tmp_path


def test_parts_have_version_hash_licence_and_needs(house: Path) -> None:
    bill = bill_of_wheels(house)
    assert (bill.main.name, bill.main.version, bill.main.needs) == (
        "kmcompile",
        "0.1",
        ("scikit-learn",),
    )
    parts = {part.name: part for part in bill.parts}
    learn = parts["scikit-learn"]
    assert (learn.licence, learn.needs, learn.purl) == (
        "BSD-3-Clause",
        ("numpy",),
        "pkg:pypi/scikit-learn@1.9",
    )
    assert parts["numpy"].licence is None
    assert parts["hatchling"].version == "1.33"


def test_bills_are_valid_and_have_the_hashes(house: Path) -> None:
    pytest.importorskip("spdx_tools", reason="the test extra brings it")
    pytest.importorskip("cyclonedx", reason="the test extra brings it")
    spdx, cyclonedx = (path.read_bytes() for path in write_bills(house))
    assert check.faults_of_spdx(spdx) == check.faults_of_cyclonedx(cyclonedx) == []
    assert check.faults_of_digests(spdx, cyclonedx, house) == (4, [])
    depends = [
        (one["spdxElementId"], one["relatedSpdxElement"])
        for one in json.loads(spdx)["relationships"]
        if one["relationshipType"] == "DEPENDS_ON"
    ]
    assert depends == [
        ("SPDXRef-Package-kmcompile", "SPDXRef-Package-scikit-learn"),
        ("SPDXRef-Package-scikit-learn", "SPDXRef-Package-numpy"),
    ]


def test_bills_are_the_same_bytes_each_time(house: Path) -> None:
    first = [path.read_bytes() for path in write_bills(house)]
    assert first == [path.read_bytes() for path in write_bills(house)]
