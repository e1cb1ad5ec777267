"""Writes an output folder in a process of its own, with a fault at a chosen system call.

Called by test_output_folder_faults.py: `output_writer.py FAULT FOLDER`. It forks a child for
the first, second, ... call, prints a line for each and stops when a child gets to its end.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kit.output_folders import write_folder
from kmcompile.errors import OutputError
from kmcompile.output import folder as output_folder

CALLS = ("open", "mkdir", "write", "fsync", "rename", "unlink", "rmdir", "close")


def files(text: str) -> dict[str, bytes]:
    recipe = {"name": "iris", "sources": ["iris.c"], "sha256": {"iris.h": "0"}, "text": text}
    names = ("iris.c", "iris.h", "report.json")
    return {name: text.encode() * 9 for name in names} | {
        "recipe.json": json.dumps(recipe).encode()
    }


def state(folder: Path) -> str:
    """Return "none", "old", "new" or "mixture"."""
    if not folder.exists():
        return "none"
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return next((text for text in ("old", "new") if found == files(text)), "mixture")


def kill(name: str, arguments: tuple[Any, ...], real: Callable[..., Any]) -> None:
    if name == "write":  # half of it gets there
        real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt(name: str, arguments: tuple[Any, ...], real: Callable[..., Any]) -> None:
    raise KeyboardInterrupt


def disk_full(name: str, arguments: tuple[Any, ...], real: Callable[..., Any]) -> None:
    if name not in ("close", "unlink", "rmdir"):  # these need no space
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FAULTS = {"kill": kill, "interrupt": interrupt, "disk_full": disk_full}


def inject(fault: Callable[..., None], at: int) -> list[int]:
    """Let the call number `at` meet the fault; return the list whose first item counts calls."""
    count = [0]

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            count[0] += 1
            if count[0] == at:
                fault(name, arguments, real)
            return real(*arguments, **named)

        return call

    for name in CALLS:
        setattr(os, name, wrap(name, getattr(os, name)))
    if output_folder._exchange is not refuse_exchange:
        output_folder._exchange = wrap("rename", output_folder._exchange)  # type: ignore[assignment]
    return count


def refuse_exchange(fresh: Path, path: Path) -> None:
    raise OSError(errno.ENOSYS, "Function not implemented")


def run_child(folder: Path, fault: Callable[..., None], at: int) -> str:
    """Write "new" in a child with the fault; return how the child ended."""
    child = os.fork()
    if child == 0:
        count = inject(fault, at)
        code = 0
        try:
            write_folder(folder, files("new"))
        except OutputError:
            code = 6
        except KeyboardInterrupt:
            code = 130
        os._exit(code if count[0] >= at else 77)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {77: "finished", 0: "survived", 6: "refused"}.get(code, str(code))


def main() -> None:
    os.fsync = lambda descriptor: None  # a killed process loses nothing; this is not about power
    fault, folder, start = FAULTS[sys.argv[1]], Path(sys.argv[2]), sys.argv[3]
    if "no-exchange" in sys.argv:
        output_folder._exchange = refuse_exchange
    for at in range(1, 500):
        if start == "old":
            write_folder(folder, files("old"))
        end = run_child(folder, fault, at)
        left = state(folder)
        # The next run gets over whatever was left.
        with output_folder.reserve(folder):
            recovered = state(folder)
        write_folder(folder, files("new"))
        beside = sorted(os.listdir(folder.parent))
        print(at, end, left, recovered, state(folder), ",".join(beside))
        if end == "finished":
            return
        if start == "none":
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


if __name__ == "__main__":
    main()
