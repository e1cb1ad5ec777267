"""What holds for the message of every command that fails."""

from __future__ import annotations

import pytest


def error_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the error's lines, after checking what holds for every error."""
    out, err = capsys.readouterr()
    lines: list[str] = err.splitlines()
    assert out == ""
    assert 1 <= len(lines) <= 3
    assert lines[0].startswith("kmcompile: ")
    assert "Traceback" not in err
    return lines
