"""EmbML in Q5.10: its tables need a header of fixed-point numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer import NotGeneratedError, Place, Written


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Say why there is nothing to measure."""
    raise NotGeneratedError("its package has no FixedNum.h, which its C includes")
