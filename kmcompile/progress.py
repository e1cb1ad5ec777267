"""One line on stderr that says what is being done, while it takes long."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

_DELAY_S = 1.0


class Progress:
    """Show the current step and how long it has been going, from one second on.

    Only on a terminal: a log or a pipe gets nothing.
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr is not None and sys.stderr.isatty()
        self._text = "working"
        self._status: Status | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(_DELAY_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, text: str) -> None:
        """Name the step that begins now."""
        with self._lock:
            self._text = text
            if self._status is not None:
                from rich.markup import escape

                self._status.update(escape(text))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._enabled = False
            if self._status is not None:
                self._status.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.status import Status

        with self._lock:
            if self._enabled:
                self._status = Status(escape(self._text), console=Console(stderr=True))
                self._status.start()
