"""Queries and answers over an emulated serial port, which is the emulator's input and output."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kmcompile.build import toolchain
from kmcompile.build.image import EXIT_MAGIC
from kmcompile.errors import ToolError

_Order = Literal["little", "big"]

_EXIT_BYTES = 8
_LARGEST_CODE = 255
_CHUNK = 1 << 16
_STOP_TIMEOUT_S = 10.0


def exchange(
    arguments: Sequence[str],
    folder: Path,
    timeout_s: float,
    what: str,
    queries: bytes,
    n_bytes: int,
    byte_order: str,
) -> tuple[int, str, bytes]:
    """Send the queries, take the answers, and end the emulator, which many boards cannot do.

    The board is sent the number of words and then the words (`templates/boot/serial.c.j2`); it
    ends with the magic number of an exit and its exit code.

    Parameters
    ----------
    arguments : sequence of str
        The emulator, with the board's serial port on its standard input and output.
    n_bytes : int
        Of the whole answer, without the exit.
    byte_order : str
        "little" or "big".

    Returns
    -------
    tuple of (int, str, bytes)
        The exit code, of the board or of an emulator that ended by itself; what the emulator
        printed; the answer.

    Raises
    ------
    ToolError
        If it cannot be started or takes longer than the timeout.
    """
    order: _Order = "little" if byte_order == "little" else "big"
    count = (len(queries) // 4).to_bytes(4, order)
    (folder / "queries.bin").write_bytes(count + queries)
    with (folder / "queries.bin").open("rb") as stdin, (folder / "log.txt").open("w+b") as log:
        process = toolchain.start(arguments, folder, what, stdin, log)
        try:
            answer = _answer(process, time.monotonic() + timeout_s, n_bytes, order)
            if answer is None:
                raise ToolError(
                    f"{what}: {Path(arguments[0]).name} did not end within {timeout_s:.0f} s, "
                    "was stopped"
                )
            _stop(process)
        finally:
            toolchain.end_group(process)
        log.seek(0)
        output = log.read().decode(errors="replace")
    code = _exit_code(answer, n_bytes, order)
    if code is None:
        return process.returncode or 1, output, b""
    return code, output, answer[:-_EXIT_BYTES]


def _answer(
    process: subprocess.Popen[bytes], deadline: float, n_bytes: int, order: _Order
) -> bytes | None:
    """Return what came until the exit or the emulator's end, or None at the deadline."""
    assert process.stdout is not None
    answer = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(answer) < n_bytes + _EXIT_BYTES and not _exit_code(answer, n_bytes, order):
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not selector.select(left_s):
                return None
            chunk = os.read(process.stdout.fileno(), _CHUNK)
            if not chunk:
                break
            answer += chunk
    return bytes(answer)


def _exit_code(answer: bytes | bytearray, n_bytes: int, order: _Order) -> int | None:
    """Return the code of the exit that ends a whole answer, or one that a failure cut short."""
    magic = int.from_bytes(answer[-_EXIT_BYTES:-4], order)
    code = int.from_bytes(answer[-4:], order)
    whole = len(answer) == n_bytes + _EXIT_BYTES
    if magic != EXIT_MAGIC or not (whole or 0 < code <= _LARGEST_CODE):
        return None
    return code


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the emulator to end, so that a plugin's files are whole."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return  # the caller ends it
