"""Queries and answers over an emulated serial port: the emulator's standard input and output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kmcompile.build.image import ANSWER_KIND, EXIT_KIND, REQUEST_KIND
from kmcompile.errors import ToolError
from kmcompile.tools import toolchain
from kmcompile.tools.patience import POLL_S, Patience

_WORD = 4
_CHUNK = 1 << 16
_STOP_TIMEOUT_S = 10.0


def exchange(
    arguments: Sequence[str],
    folder: Path,
    timeout_s: float,
    step: str,
    queries: bytes,
    n_bytes: int,
    byte_order: str,
) -> tuple[int, str, bytes]:
    """Send the board its queries, receive the answers, and end the emulator after the board's exit.

    `templates/boot/serial.c.j2` describes the messages. Queries are sent only when the board asks
    for them, because a port that is closed or full would lose them.

    Parameters
    ----------
    arguments : sequence of str
        The emulator, with the board's serial port on its standard input and output.
    queries : bytes
        Words in the board's byte order.
    n_bytes : int
        Largest number of bytes of all answers.
    byte_order : str
        "little" or "big".

    Returns
    -------
    tuple of (int, str, bytes)
        The exit code of the board, or of an emulator that ended by itself; the text that the
        emulator printed; the bytes of the answers.

    Raises
    ------
    ToolError
        If the emulator cannot be started or takes longer than the timeout, or if the board sends an
        unknown message.
    """
    with (folder / "log.txt").open("w+b") as log:
        process = toolchain.start(
            toolchain.ending_with_this_process(arguments), folder, step, subprocess.PIPE, log
        )
        try:
            port = _Port(process, step, Patience(process, timeout_s, step), byte_order)
            code = port.serve(queries, n_bytes)
            _end(process, signal.SIGTERM if code is not None else None)
        finally:
            toolchain.end_group(process)
        log.seek(0)
        output = log.read().decode(errors="replace")
    return process.returncode or 1 if code is None else code, output, bytes(port.answer)


class _Port:
    """The runner's end of the serial port."""

    def __init__(
        self, process: subprocess.Popen[bytes], step: str, patience: Patience, byte_order: str
    ) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.answer = bytearray()
        self._to_board, self._from_board = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._to_board, False)
        self._step, self._patience = step, patience
        self._order: Literal["little", "big"] = "little" if byte_order == "little" else "big"
        self._received = bytearray()

    def serve(self, queries: bytes, n_bytes: int) -> int | None:
        """Answer the board's messages; return its exit code, or None if the emulator ended."""
        sent = 0
        while (message := self._receive(2 * _WORD)) is not None:
            kind, number = (
                int.from_bytes(word, self._order) for word in (message[:_WORD], message[_WORD:])
            )
            if kind == EXIT_KIND:
                return number
            if kind == REQUEST_KIND:
                words = queries[sent : sent + _WORD * number]
                self._send((len(words) // _WORD).to_bytes(_WORD, self._order) + words)
                sent += len(words)
            elif kind == ANSWER_KIND:
                if len(self.answer) + _WORD * number > n_bytes:
                    raise self._fault(f"sent more than the {n_bytes} bytes of its answers")
                self.answer += self._receive(_WORD * number) or b""
            else:
                raise self._fault(f"sent {kind:#010x}, which begins no message")
        return None

    def _receive(self, n_bytes: int) -> bytes | None:
        """Return the next bytes, or None if the emulator ended before they came."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._from_board, selectors.EVENT_READ)
            while len(self._received) < n_bytes:
                self._patience.check()
                if not selector.select(POLL_S):
                    continue
                chunk = os.read(self._from_board, _CHUNK)
                if not chunk:
                    return None
                self._received += chunk
        taken = bytes(self._received[:n_bytes])
        del self._received[:n_bytes]
        return taken

    def _send(self, words: bytes) -> None:
        """Write words without waiting: the requested words fit the pipe if the board reads them."""
        try:
            written = os.write(self._to_board, words)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            return  # the emulator ended, as the next read tells
        if written < len(words):
            raise self._fault("asks for queries faster than it takes them")

    def _fault(self, did: str) -> ToolError:
        return ToolError(f"{self._step}: the emulated program {did}")


def _end(process: subprocess.Popen[bytes], asked_by: signal.Signals | None) -> None:
    """Wait for the emulator's end, first asking by a signal that lets plugins write their files."""
    if asked_by is not None and process.poll() is None:
        process.send_signal(asked_by)
    patience = Patience(process, _STOP_TIMEOUT_S, "stopping the emulator")
    with contextlib.suppress(ToolError):  # the caller ends one that does not
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_S)
            patience.check()
