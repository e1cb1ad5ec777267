"""The progress line: a line on stderr that names the current step of a long run."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_DELAY_S = 1.0
_NOTEBOOK = "ipykernel.iostream"  # where the stderr of a notebook is from
_LINE = 60


class Progress:
    """Show the current step and how long the run has been going, from one second on.

    Only on a terminal or in a notebook: a log or a pipe gets nothing. A notebook shows the step
    alone, in place of the one before.
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr is not None and sys.stderr.isatty()
        self._in_notebook = enabled and type(sys.stderr).__module__ == _NOTEBOOK
        self._text = "working"
        self._bar: Bar | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(_DELAY_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, text: str) -> None:
        """Name the step that begins now."""
        if self._in_notebook:
            self._replace(text)
        with self._lock:
            self._text = text
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._in_notebook:
            self._replace("")
        with self._lock:
            self._enabled = False
            if self._bar is not None:
                self._bar.stop()

    def _replace(self, text: str) -> None:
        """Write over the line of the step before."""
        line = text.ljust(_LINE)[:_LINE]
        print(f"\r{line}\r", end="", file=sys.stderr, flush=True)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._enabled:
                self._bar = Bar(
                    SpinnerColumn(),
                    TextColumn("{task.description}", markup=False),
                    TimeElapsedColumn(),
                    console=Console(stderr=True),
                    transient=True,
                )
                task = self._bar.add_task(self._text)
                self._bar.tasks[task].start_time = self._bar.get_time() - _DELAY_S
                self._bar.start()
