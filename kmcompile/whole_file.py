"""Write a file whole or not at all, and over no file that is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kmcompile.errors import OutputError, UsageError


def check_free(path: Path, inputs: Sequence[Path], folder: Path | None = None) -> None:
    """Refuse a file to write that is read, or that lies in the folder of the code that flies.

    Raises
    ------
    UsageError
    """
    if path.is_dir():
        raise UsageError(f"--out {path}: is a folder; give the name of a file")
    place, *read = (Path(os.path.realpath(one)) for one in (path, *inputs))
    if place in read:
        raise UsageError(f"{path}: would be overwritten, and is read\ngive --out another name")
    if folder is not None and Path(os.path.realpath(folder)) in place.parents:
        raise UsageError(
            f"{path}: lies in the folder of the code that flies, in which nothing is changed\n"
            "give --out another name"
        )


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
