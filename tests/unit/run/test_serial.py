"""Both ends of a serial port: the runner's against boards that are scripts, good and broken."""

from __future__ import annotations

import os
import sys

import pytest

from kmcompile.build.image import ANSWER_KIND, EXIT_KIND, REQUEST_KIND
from kmcompile.errors import ToolError
from kmcompile.run import serial

# What the board's template does, as a script: `order` is the byte order.
BOARD = f"""
import os, sys, time
order = sys.argv[1]
def get():
    return int.from_bytes(sys.stdin.buffer.read(4), order)
def put(*words):
    for word in words:
        sys.stdout.buffer.write(word.to_bytes(4, order))
    sys.stdout.buffer.flush()
def read(n):
    put({REQUEST_KIND}, n)
    return [get() for _ in range(get())]
def answer(*words):
    put({ANSWER_KIND}, len(words), *words)
def leave(code):
    put({EXIT_KIND}, code)
    time.sleep(100)
"""
# One word of an answer for each word of the queries, as the images do.
ECHO = """
words = read(128)
while words:
    answer(*(word ^ 0xFFFFFFFF for word in words))
    words = read(128)
leave(0)
"""


def exchange(folder, script, words=(), byte_order="big", timeout_s=20.0, n_words=None):
    """Run a script as the board; return the exit code, what it printed and the words it sent."""
    board = [sys.executable, "-S", "-c", BOARD + script, byte_order]
    queries = b"".join(word.to_bytes(4, byte_order) for word in words)
    n_bytes = 4 * (len(words) if n_words is None else n_words)
    code, output, answer = serial.exchange(
        board, folder, timeout_s, "the test", queries, n_bytes, byte_order
    )
    places = range(0, len(answer), 4)
    return code, output, [int.from_bytes(answer[i : i + 4], byte_order) for i in places]


@pytest.mark.parametrize("byte_order", ["little", "big"])
@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 100_000])
def test_all_words_go_there_and_back(tmp_path, byte_order, n):
    words = [(i * 2654435761) % 2**32 for i in range(n)]
    code, output, answer = exchange(tmp_path, ECHO, words, byte_order)
    assert (code, output) == (0, "")
    assert answer == [word ^ 0xFFFFFFFF for word in words]


def test_an_answer_may_hold_the_words_of_an_exit(tmp_path):
    script = f"answer({EXIT_KIND}, 7, {REQUEST_KIND}); leave(0)"
    assert exchange(tmp_path, script, n_words=3) == (0, "", [EXIT_KIND, 7, REQUEST_KIND])


@pytest.mark.parametrize("code", [2, 3, 99])
def test_the_exit_code_comes_also_after_a_part_of_the_answers(tmp_path, code):
    script = f"answer(*read(1)); leave({code})"
    assert exchange(tmp_path, script, [5, 6]) == (code, "", [5])


def test_a_short_answer_is_given_as_it_is(tmp_path):
    assert exchange(tmp_path, "leave(0)", [1, 2, 3]) == (0, "", [])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("answer(1, 2, 3, 4)", "sent more than the 8 bytes of its answers"),
        (f"put({ANSWER_KIND}, 0xFFFFFFFF)", "sent more than the 8 bytes of its answers"),
        ("answer(1, 2); put(1, 2)", "sent 0x00000001, which begins no message"),
        ("sys.stdout.write('Unhandled trap'); sys.stdout.flush()", "sent 0x556e6861, which begins"),
        (f"for _ in range(10**6): put({REQUEST_KIND}, 2)", "asks for queries faster than it takes"),
    ],
    ids=["long", "endless", "other words", "text", "requests only"],
)
def test_what_is_no_exchange_is_an_error(tmp_path, script, why):
    with pytest.raises(ToolError, match=f"the test: the emulated program {why}") as caught:
        exchange(tmp_path, script + "\ntime.sleep(100)", [1, 2])
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    "script", ["time.sleep(100)", "answer(1)\ntime.sleep(100)", "put(1)\ntime.sleep(100)"]
)
def test_a_board_that_hangs_is_stopped(tmp_path, script):
    """reliability 28: emulator hangs."""
    script = f"open('pid', 'w').write(str(os.getpid()))\n{script}"
    with pytest.raises(ToolError, match=r"did not end within 1 s, was stopped"):
        exchange(tmp_path, script, [1, 2], timeout_s=1.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("sys.stderr.write('no such machine'); sys.exit(3)", 3),
        ("answer(1); sys.stderr.write('no such machine'); sys.exit(0)", 1),
        ("sys.stderr.write('no such machine'); sys.stderr.flush(); os.abort()", -6),
    ],
    ids=["exits", "ends well too early", "aborts"],
)
def test_an_emulator_that_dies_says_how_and_why(tmp_path, script, code):
    assert exchange(tmp_path, script, [1, 2])[:2] == (code, "no such machine")


def test_an_emulator_that_dies_while_it_is_given_queries_says_so(tmp_path):
    script = f"os.close(0); put({REQUEST_KIND}, 2); sys.exit(4)"
    assert exchange(tmp_path, script, [1, 2])[0] == 4


def test_a_board_that_ends_by_a_signal_has_written_its_files(tmp_path):
    script = """
import signal
def end(*_):
    open('counts.txt', 'w').write('whole')
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
leave(0)
"""
    assert exchange(tmp_path, script)[0] == 0
    assert (tmp_path / "counts.txt").read_text() == "whole"


def test_a_board_that_ignores_the_signal_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(serial, "_STOP_TIMEOUT_S", 0.2)
    script = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nleave(0)"
    assert exchange(tmp_path, script)[0] == 0


def test_a_program_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(ToolError, match="the test: cannot start"):
        serial.exchange([str(tmp_path / "none")], tmp_path, 1.0, "the test", b"", 0, "big")
