"""Fixtures of the tests of wrong commands."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(b"")
    Path("d.npz").write_bytes(b"")
    return "m.pkl"
