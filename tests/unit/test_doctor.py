"""kmcompile doctor tells which tools are missing, and how they are installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmcompile import cli


def test_doctor_names_what_is_missing_and_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "qemu-system-arm" in out
    assert "missing" in out
    assert "apt-get install --no-install-recommends" in out.splitlines()[-1]


def test_doctor_names_the_tools_of_the_evidence_unless_targets_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.run(["doctor"]) == 0
    *_, targets, evidence = capsys.readouterr().out.splitlines()
    assert "frama-c" not in targets and "gcc-arm-none-eabi" in targets
    assert evidence.startswith("to install what is missing of the evidence: ")
    packages = {"clang-19", "libclang-rt-19-dev", "llvm-19", "frama-c-base", "gappa", "tcc"}
    assert packages <= {*evidence.split()}
    for asked, n in ("all", 0), ("host", 0), ("evidence", 1), ("host, evidence", 1):
        assert cli.run(["doctor", "--json", "--targets", asked]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [one["target"] for one in told].count("evidence") == n
    assert cli.run(["doctor", "--targets", "evidense"]) == 2
    told = capsys.readouterr().err
    assert "did you mean evidence?" in told and told.rstrip().endswith("stm32f103, evidence")


def test_doctor_as_json_has_the_packages_of_each_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.run(["doctor", "--json"]) == 0
    packages = {d["target"]: d["missing_packages"] for d in json.loads(capsys.readouterr().out)}
    assert "gcc-arm-none-eabi" in packages["cortex-m7"]
