"""Progress is shown on a terminal only, and only where something takes over a second."""

from __future__ import annotations

import io
import sys
import time

import pytest

from kit.tools import HANGS_S
from kmcompile import progress
from kmcompile.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    # No fixture: pytest sets stderr anew between a test's fixtures and its body.
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    return screen


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_DELAY_S", HANGS_S)
    with Progress(enabled=True) as show:
        show("building")
    assert terminal.getvalue() == ""


def test_long_work_shows_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_DELAY_S", 0.0)
    with Progress(enabled=True) as show:
        show("running [cortex-m7]")
        while "running [cortex-m7]" not in terminal.getvalue():
            time.sleep(0.01)
    assert "running [cortex-m7]" in terminal.getvalue()
    assert "0:0" in terminal.getvalue()


def test_pipe_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_DELAY_S", 0.0)
    with Progress(enabled=True) as show:
        show("building")
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_notebook_shows_each_step_in_place_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notebook = io.StringIO()
    monkeypatch.setattr(progress, "_NOTEBOOK", type(notebook).__module__)
    monkeypatch.setattr(sys, "stderr", notebook)
    with Progress(enabled=True) as show:
        show("building")
        show("running")
    shown = [line.rstrip() for line in notebook.getvalue().split("\r") if line]
    assert shown == ["building", "running", ""]
