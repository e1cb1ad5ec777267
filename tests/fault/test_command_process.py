"""The command as a process: interrupted, or with an output that takes nothing more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import kmcompile
from kit.tools import HANGS_S

KMCOMPILE = [sys.executable, "-m", "kmcompile"]
# A checkout that is not installed is found from any folder.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(kmcompile.__file__).parents[1])}


def test_ctrl_c_ends_a_running_compilation_with_130(model: str) -> None:
    code = """
import signal, sys, time, types, kmcompile
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from kmcompile import cli
def compile_model(*arguments):
    print("started", flush=True)
    time.sleep(3600)
kmcompile.pipeline = types.ModuleType("kmcompile.pipeline")
kmcompile.pipeline.compile_model = compile_model
sys.modules["kmcompile.pipeline"] = kmcompile.pipeline
sys.exit(cli.run(["m.pkl"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert err == "kmcompile: interrupted\n"


@pytest.mark.parametrize("words", [["targets"], ["--help"]])
def test_reader_that_goes_away_is_no_noise(words: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [*KMCOMPILE, *words],
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=HANGS_S,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (6, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_standard_output_exits_6() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*KMCOMPILE, "targets"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=HANGS_S,
            check=False,
        )
    assert done.returncode == 6
    assert b"standard output cannot be written: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_file_name_that_is_no_text_is_still_told() -> None:
    done = subprocess.run(
        [*(word.encode() for word in KMCOMPILE), b"\xff\xfe.pkl"],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.isascii() or done.stderr.decode()
    assert b"Traceback" not in done.stderr
