"""Time limits of external programs by processor time: a busy machine makes none look hung."""

from __future__ import annotations

import subprocess
import time

import psutil

from kmcompile.errors import ToolError

POLL_S = 0.25
"""Seconds between two checks of a running program."""

_SLEEPS_S = 1.0
"""Seconds without processor time after which a program counts as asleep."""


class Patience:
    """The time that is charged to a program and its children: processor time and sleep.

    A program that computes is charged its processor time. A program that takes no processor time
    for a second is charged the second as sleep. Waiting for a processor of a busy machine is not
    charged.

    Parameters
    ----------
    process : Popen
    limit_s : float
        Largest charge in seconds.
    step : str
        The step's name in error messages, such as "compiling iris.c".
    since_start : bool
        Whether the program is charged from its start, which saves a look at all processes.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        limit_s: float,
        step: str,
        since_start: bool = False,
    ) -> None:
        self._process = process
        self._limit_s, self._step = limit_s, step
        self._taken_s = 0.0
        self._computed_s = 0.0 if since_start else _processor_seconds(process.pid)
        self._looked = self._computed_at = time.monotonic()

    def check(self) -> None:
        """Charge the program for the time since the last check, at most once in POLL_S seconds.

        Raises
        ------
        ToolError
            If the charge exceeds the limit.
        """
        now = time.monotonic()
        if now - self._looked < min(POLL_S, self._limit_s):
            return
        self._looked = now
        computed_s = _processor_seconds(self._process.pid)
        if computed_s > self._computed_s:
            self._taken_s += computed_s - self._computed_s
            self._computed_s, self._computed_at = computed_s, now
        elif now - self._computed_at >= min(_SLEEPS_S, self._limit_s):
            self._taken_s += now - self._computed_at
            self._computed_at = now
        if self._taken_s >= self._limit_s:
            raise ToolError(f"{self._step}: did not end within {self._limit_s:.0f} s, was stopped")


def _processor_seconds(pid: int) -> float:
    """Return the processor time of a process and its children so far, ended ones included."""
    total = 0.0
    try:
        leader = psutil.Process(pid)
        family = [leader, *leader.children(recursive=True)]
    except psutil.NoSuchProcess:
        return total
    for process in family:
        try:
            times = process.cpu_times()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
