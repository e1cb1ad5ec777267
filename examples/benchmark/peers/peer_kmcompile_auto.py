"""kmcompile without early exits, in the cheapest number format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peer_kmcompile
from peer import Place, Written


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Compile in mode exact and format auto."""
    return peer_kmcompile.write(svc, folder, place, mode="exact", format="auto")
