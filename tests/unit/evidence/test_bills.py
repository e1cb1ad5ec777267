"""Bills of materials of output folders: valid, complete, and the same bytes for the same files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kit.catalogue import CORE
from kit.packages import packaged
from kmcompile.evidence import supply_chain
from kmcompile.evidence.bills import check
from kmcompile.evidence.bills.cyclonedx_document import cyclonedx_json
from kmcompile.evidence.bills.of_folder import bill_of
from kmcompile.evidence.bills.spdx_document import spdx_json
from kmcompile.evidence.finding import Outcome
from kmcompile.evidence.subject import Subject

pytest.importorskip("spdx_tools", reason="the test extra brings it")
pytest.importorskip("cyclonedx", reason="the test extra brings it")


def subject_of(target: str = "cortex-m7") -> Subject:
    emitted = CORE[0].emit(target)
    return Subject("a model", emitted.program, emitted.target, emitted.files, {})


@pytest.mark.parametrize("kind", ["zephyr", "fprime", "rust"])
def test_bills_of_a_compiled_model_are_valid_and_name_every_file(kind: str, tmp_path: Path) -> None:
    packaged(kind, tmp_path / "o")
    subject = Subject.of_folder(tmp_path / "o")
    bill = bill_of(subject)
    assert check.faults_of_spdx(spdx_json(bill)) == []
    assert check.faults_of_cyclonedx(cyclonedx_json(bill)) == []
    found = check.faults_of_digests(spdx_json(bill), cyclonedx_json(bill), tmp_path / "o")
    assert found == (len(subject.files), [])


def test_bills_name_model_generator_licence_and_compiler() -> None:
    subject = subject_of()
    bill = bill_of(subject)
    spdx = json.loads(spdx_json(bill))
    packages = {one["name"]: one for one in spdx["packages"]}
    main = f"{subject.program.name}-c"
    assert packages[main]["licenseConcluded"] == "LicenseRef-Owner"
    (model,) = (one for name, one in packages.items() if name.endswith("-model"))
    assert model["checksums"][0]["checksumValue"] == subject.program.model_sha256
    flags = subject.target.compiler.flags
    assert " ".join(flags) in packages[subject.target.compiler.command]["comment"]
    kinds = {one["relationshipType"] for one in spdx["relationships"]}
    assert kinds == {"DESCRIBES", "CONTAINS", "GENERATED_FROM", "GENERATES", "BUILD_TOOL_OF"}
    (made,) = json.loads(cyclonedx_json(bill))["formulation"]
    types = {one["type"] for one in made["components"]}
    assert types == {"machine-learning-model", "application"}
    steps = {one["name"]: one["commands"][0]["executed"] for one in made["workflows"][0]["steps"]}
    assert steps["emit"].startswith("kmcompile ") and " ".join(flags) in steps["compile"]


def test_same_files_give_the_same_bytes_and_other_files_another_identifier() -> None:
    one, again = bill_of(subject_of()), bill_of(replace(subject_of(), name="elsewhere"))
    assert spdx_json(one) == spdx_json(again)
    assert cyclonedx_json(one) == cyclonedx_json(again)
    subject = subject_of()
    changed = dict(subject.files)
    changed[f"{subject.program.name}.h"] += b"\n"
    assert bill_of(replace(subject, files=changed)).identifier() != one.identifier()


def test_part_writes_what_its_command_checks(tmp_path: Path) -> None:
    subject = replace(subject_of(), name="small")
    findings = supply_chain.run(subject, tmp_path / "supply_chain")
    assert [one.outcome for one in findings] == [Outcome.SHOWN, Outcome.SHOWN]
    for name in findings[0].files:
        assert (tmp_path / name).is_file()
    bills = [
        (tmp_path / "supply_chain" / f"small.{kind}.json").read_bytes() for kind in ("spdx", "cdx")
    ]
    assert bills == [spdx_json(bill_of(subject)), cyclonedx_json(bill_of(subject))]


def test_a_changed_file_and_a_broken_bill_are_refuted(tmp_path: Path) -> None:
    bill = bill_of(subject_of())
    spdx, cyclonedx = spdx_json(bill), cyclonedx_json(bill)
    folder = subject_of().write(tmp_path / "o")
    name = f"{subject_of().program.name}.c"
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    (folder / "recipe.json").unlink()
    _, faults = check.faults_of_digests(spdx, cyclonedx, folder)
    assert len(faults) == 2 and "recipe.json: missing" in "".join(faults)
    document = json.loads(spdx)
    del document["dataLicense"]
    assert check.faults_of_spdx(json.dumps(document).encode())
    document = json.loads(cyclonedx)
    document["serialNumber"] = "one"
    assert check.faults_of_cyclonedx(json.dumps(document).encode())


def test_a_source_without_a_licence_is_refuted(tmp_path: Path) -> None:
    subject = subject_of()
    name = f"{subject.program.name}.c"
    files = dict(subject.files)
    files[name] = files[name].replace(b"LicenseRef-Owner */", b"*/", 1)
    finding = supply_chain.run(replace(subject, files=files), tmp_path / "supply_chain")[1]
    assert finding.outcome is Outcome.REFUTED
    assert finding.listed == (f"{name}: names no licence",)


def test_without_the_libraries_the_bills_are_written_and_the_finding_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "tools", lambda: None)
    (finding, _) = supply_chain.run(replace(subject_of(), name="m"), tmp_path / "supply_chain")
    assert finding.outcome is Outcome.NOT_RUN and "pip install" in finding.figure
    assert (tmp_path / "supply_chain" / "m.cdx.json").is_file()
