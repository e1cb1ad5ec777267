"""A lock that the kernel releases when its holder dies: flock on a file beside the folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from kmcompile.errors import OutputError


def acquire(name: Path, folder: Path) -> int:
    """Lock `folder` by the lock file `name` without waiting; return the lock's file descriptor.

    Raises
    ------
    OutputError
        If another process holds the lock.
    OSError
        If the lock file cannot be made.
    """
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(descriptor, name):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise OutputError(
                f"{folder} is being written by another run of kmcompile\n"
                "wait for it or choose another --out"
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        # The last holder removed the file after it was opened here: take the next file.
        os.close(descriptor)


def release(descriptor: int, name: Path) -> None:
    """Remove the lock file, then unlock: a process that has opened the file sees it removed."""
    with contextlib.suppress(OSError):
        os.unlink(name)
    os.close(descriptor)


def _is_same_file(descriptor: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(name))
    except FileNotFoundError:
        return False
