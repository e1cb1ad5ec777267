"""The report in the terminal."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console
from sample_reduction import UNCOUNTED, UNREDUCED, reduced_report
from sample_report import make_report

from kmcompile.report import terminal
from kmcompile.report.json_report import to_dict
from kmcompile.report.missing import Missing


def _printed(report: dict[str, Any], *, verbose: bool = False, **console: Any) -> str:
    stream = io.StringIO()
    terminal.print_report(report, Console(file=stream, **console), verbose=verbose)
    return stream.getvalue()


def test_a_pipe_gets_no_escape_sequences(report):
    text = _printed(report, width=100)
    assert "\x1b" not in text
    for word in ("18.7 KB", "2.10 MB", "41,880", "1,171 queries, 0 mismatches", "passed"):
        assert word in text


def test_no_color_is_honoured(report):
    text = _printed(report, force_terminal=True, no_color=True)
    assert "\x1b[3" not in text


def test_why_exits_are_left_out_is_told_on_request(report):
    choice = {"notes": ["sign_map does not pay here"], "candidates": []}
    made = {**report, "choice": choice, "calibration": None}
    short, long = (_printed(made, verbose=verbose, width=100) for verbose in (False, True))
    assert "why early exits are left out: --verbose" in short and "sign_map" not in short
    assert "sign_map does not pay here" in long and "--verbose" not in long


def test_an_ascii_terminal_gets_ascii(report):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    terminal.print_report(report, Console(file=stream, width=100))
    stream.flush()
    assert b"breast_cancer.pkl -> cortex-m7" in stream.buffer.getvalue()


def test_file_names_and_notes_cannot_steer_the_terminal(report):
    report["model"]["file"] = "[red]\x1b[2Jevil[/red].pkl"
    report["notes"] = ["note [/] \x1b]0;title\x07"]
    text = _printed(report, width=100)
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]\\x1b[2Jevil[/red].pkl" in text


def test_a_budget_that_was_given_is_told_in_bytes(report):
    assert "is 65,536 bytes" not in _printed(report)
    report["options"]["max_flash"] = report["memory"]["flash_budget_bytes"] = 65_536
    assert "--max-flash is 65,536 bytes" in _printed(report)


def test_what_did_not_run_is_named_with_its_reason():
    not_verified = make_report(verification=Missing("--verify none"))
    text = _printed(to_dict(not_verified), width=100)
    assert "not verified" in text and "passed" not in text
    assert text.count("not run") == 4
    assert "--verify none" in text


def test_a_narrow_terminal_still_shows_every_number(report):
    text = "".join(_printed(report, width=40).split())
    for word in ("18.7KB", "41,880", "99.91%certified"):
        assert word in text


def test_a_reduced_machine_is_told_with_its_limit_and_what_certified_means():
    text = _printed(to_dict(reduced_report()), width=200)
    assert "reduced machine" in text
    assert "1,400 of 5,355 (construction)" in text
    assert (
        "another label than the trained model's for 31 of 2,000 samples, at most 2.38 % at 99 % "
        "confidence"
    ) in text
    assert "proved to be the trained model's label" in text
    assert "the reduced machine's label, which may differ" in text
    assert "a made-up method" in text


def test_a_reduced_machine_without_samples_has_no_limit():
    text = _printed(to_dict(reduced_report(UNCOUNTED)), width=200)
    assert "not counted: that takes samples (--data)" in text
    assert "reduction." not in text  # told above, not under "not available"


def test_a_machine_that_has_no_more_vectors_is_not_called_another_one():
    text = _printed(to_dict(reduced_report(UNREDUCED)), width=200)
    assert "all 5,355" in text
    assert "may differ" not in text


def test_nothing_is_said_of_a_machine_that_is_not_reduced(report):
    assert "reduced" not in _printed(report, width=200)


def test_a_reduced_regression_is_told_by_its_values():
    report = to_dict(reduced_report())
    report["model"]["classes"] = None
    text = _printed(report, width=200)
    assert "a value further than the tolerance from the trained model's for 31 of 2,000" in text
    assert "enclose the trained model's value" in text
    assert "proved to be the trained model's label" not in text
