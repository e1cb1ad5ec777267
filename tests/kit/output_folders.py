"""An output folder that is written in one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kmcompile.output.folder import reserve


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Lock and write the folder: `reserve` and `OutputFolder.write` in one call."""
    with reserve(path) as folder:
        folder.write(files)
