"""Which tests a run takes, and that it says which it left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*arguments: str, tests: str = "tests/unit/request/test_options.py") -> str:
    """Return what pytest prints of some tests; it must not fail."""
    command = [sys.executable, "-m", "pytest", tests, *arguments]
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_what_is_not_begun_in_time_is_skipped_and_counted():
    late = run("--minutes", "0", "-rs", "-v")
    assert "not run: 0 minutes are over" in late
    assert "passed" not in late
    assert "skipped" not in run("--minutes", "60", "-v")


def test_every_test_has_its_quick_cases_or_its_first_one():
    tests = "tests/unit/exits/certified/test_lattice.py"
    listed = ("--collect-only", "-o", "addopts=", "-q")
    quick = run(*listed, "-m", "not exhaustive", tests=tests).splitlines()
    every = run(*listed, "--every-test", tests=tests).splitlines()
    more = [line for line in every if "::" in line and line not in quick]
    assert len(more) == 1
    assert more[0].startswith(f"{tests}::test_an_input_lies_in_its_box_with_what_is_added_to_it[")
