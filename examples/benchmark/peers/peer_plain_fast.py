"""The plain float32 loop as a compiler makes it that may do anything to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peer_plain
from peer import NotGeneratedError, Place, Written


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write the loop, for -O3 -march=x86-64-v3 -ffast-math; of the boards -O2 says enough."""
    if place.target != "host":
        raise NotGeneratedError("a row of the host only")
    written = peer_plain.write(svc, folder, place)
    return Written(written.files, ("-O3", "-march=x86-64-v3", "-ffast-math"))
