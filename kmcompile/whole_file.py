"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kmcompile.errors import OutputError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it.

    Raises
    ------
    OutputError
        The file cannot be written. What was in its place is still there.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            unfinished = Path(file.name)
        try:
            unfinished.write_bytes(content)
            unfinished.chmod(0o644)
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise OutputError(f"{path}: cannot be written: {reason}; check the path") from None
