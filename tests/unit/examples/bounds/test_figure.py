"""The example that repeats Figure 2 of the paper runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kmcompile
from kit.tools import HANGS_S

CHECKOUT = Path(kmcompile.__file__).resolve().parents[1]


@pytest.mark.exhaustive
def test_quick_form_of_figure_2_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, CHECKOUT / "examples" / "bounds" / "figure.py", "--quick", "--out", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "MPLBACKEND": "Agg"},
        capture_output=True,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "D  Z, beta by width" in done.stdout.decode()
    assert (tmp_path / "figure_2.svg").is_file()
