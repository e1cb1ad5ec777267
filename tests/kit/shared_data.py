"""Larger data sets for tests on real data. No clone has them, and tests skip without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))


def data_file(name: str) -> Path:
    """Return the .npz file of a data set; skip the test if it is not here."""
    path = DATA / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in $KMCOMPILE_DATA or ../shared/data")
    return path
