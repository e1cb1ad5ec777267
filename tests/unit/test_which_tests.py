"""Which tests a run takes, and that it says which it left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> str:
    """Return what pytest prints of the tests of options; it must not fail."""
    command = [sys.executable, "-m", "pytest", "tests/unit/request/test_options.py", *arguments]
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_what_is_not_begun_in_time_is_skipped_and_counted():
    late = run("--minutes", "0", "-rs", "-v")
    assert "not run: 0 minutes are over" in late
    assert "passed" not in late
    assert "skipped" not in run("--minutes", "60", "-v")
