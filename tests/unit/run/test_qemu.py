"""What the emulator's run says where its files cannot be written."""

from __future__ import annotations

import pytest

from kmcompile.errors import FullError
from kmcompile.run import answers, qemu
from kmcompile.run.runner import Asked
from kmcompile.target import load_target
from kmcompile.tools import toolchain


@pytest.mark.parametrize("code", [2, 4])
def test_answers_for_which_no_space_is_left_end_with_6(tmp_path, monkeypatch, code):
    class Built:
        toolchain = load_target("cortex-m4")

    monkeypatch.setattr(toolchain, "find", lambda *_: "qemu")
    monkeypatch.setattr(toolchain, "run_process", lambda *_: (code, ""))
    runner = qemu.QemuRunner(timeout_s=1.0)
    with pytest.raises(FullError, match="the emulated program could not") as caught:
        runner._emulate(Built(), tmp_path, [], b"", 1, 4)
    assert caught.value.exit_code == 6


def test_counts_that_break_off_are_no_counts(tmp_path):
    (tmp_path / "counts.txt").write_text("0 1234\n0 12", encoding="ascii")
    with pytest.raises(FullError):
        answers.read_counts(tmp_path / "counts.txt", [Asked([0, 0], "classify")])
