"""Write a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from kmcompile.errors import OutputError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it; it keeps the permissions of an older one.

    What a link leads to is replaced, and what is no file, such as a pipe, is written into.

    Raises
    ------
    OutputError
        The file cannot be written. An older file in its place is still there.
    """
    try:
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file():
            place.write_bytes(content)
            return
        unfinished = place.with_name(f".{place.name}.{os.getpid()}.new")
        try:
            with unfinished.open("xb") as file:
                file.write(content)
            if place.exists():
                unfinished.chmod(place.stat().st_mode)
            os.replace(unfinished, place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise OutputError(f"{path}: cannot be written: {reason}; check the path") from None
