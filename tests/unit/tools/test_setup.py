"""`.ci/setup` asks doctor what is missing: of the evidence only where the evidence is the goal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kit.tools import HANGS_S

SETUP = Path(__file__).resolve().parents[3] / ".ci" / "setup"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder whose environment is ready, and in which no package can be installed."""
    if not SETUP.is_file():
        pytest.skip("only a checkout has it")
    (tmp_path / ".ci").mkdir()
    shutil.copy(SETUP, tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text("")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, line in (("python", f'exec {sys.executable} "$@"'), ("apt-get", "exit 1")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
    doctor = f'echo "$@" >> {tmp_path}/asked\nexec {sys.executable} -m kmcompile "$@"'
    (programs / "kmcompile").write_text(f"#!/bin/sh\n{doctor}\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    stamp = "pwd; cksum pyproject.toml .ci/setup"
    ready = subprocess.run(["sh", "-c", stamp], cwd=tmp_path, capture_output=True, check=True)
    for goal in ("demo", "test"):
        (tmp_path / ".venv" / f"ready-for-{goal}").write_bytes(ready.stdout)
    for name in ("bash", "dirname", "cksum", "cmp", "sort", "xargs", "cat", "id", "env", "echo"):
        (programs / name).symlink_to(str(shutil.which(name)))
    return tmp_path


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("goal", "asked"), [("demo", "host"), ("test", "host"), ("evidence", "host,evidence")]
)
def test_the_tools_of_the_evidence_are_installed_for_the_evidence_only(
    goal: str, asked: str, checkout: Path
) -> None:
    programs = str(checkout / ".venv" / "bin")
    environment = {**os.environ, "PATH": programs, "CI": "", "PYTHONPATH": str(SETUP.parents[1])}
    done = subprocess.run(
        [f"{programs}/bash", ".ci/setup", goal, "host"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )
    assert done.returncode == 0, done.stderr
    assert {*(checkout / "asked").read_text().splitlines()} == {f"doctor --targets {asked} --json"}
    assert ("frama-c-base" in done.stderr) == (goal == "evidence")
    assert ("chromium" in done.stderr) == (goal == "test")
