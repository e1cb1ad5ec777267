"""Samples and printed lines of the example's scripts that compile."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import board
import numpy as np
import pytest
import sizes


@pytest.fixture
def numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a set in the place of all: sample i is (i, -i), its label is i modulo 10."""
    i = np.arange(140)
    X, y = np.column_stack([i, -i]), i % 10
    parts = {"X_train": X[:100], "y_train": y[:100], "X_test": X[100:], "y_test": y[100:]}
    np.savez(tmp_path / "numbers.npz", **parts)
    for module in (sizes, board):
        monkeypatch.setattr(module, "DATA", tmp_path)


@pytest.mark.usefixtures("numbered")
def test_samples_to_train_to_reduce_and_to_test_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_TESTED", 25)
    X, y, fresh, test = sizes.sets_of("numbers")
    assert [len(part) for part in (X, y, fresh, test)] == [60, 60, 40, 25]
    assert np.array_equal(X[:, 0] % 10, y)
    assert set(X[:, 0]) | set(fresh[:, 0]) == set(range(100))
    assert test[:, 0].min() >= 100 and len(set(test[:, 0])) == 25
    assert X.dtype == fresh.dtype == test.dtype == np.float32


@pytest.mark.usefixtures("numbered")
def test_large_sets_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_TRAINED", 30)
    assert [len(part) for part in sizes.sets_of("numbers")] == [30, 30, 30, 40]


@pytest.mark.usefixtures("numbered")
def test_two_digits_are_taken_out_of_all() -> None:
    X, y, test = board._stored("numbers", (3, 8))
    assert y.tolist() == [3, 8] * 10
    assert X[:, 0].tolist() == list(range(3, 100, 5))
    assert test[:, 0].tolist() == list(range(103, 140, 5))
    assert [len(part) for part in board._stored("numbers")] == [100, 100, 40]


def made(reduction: dict[str, Any] | None, certified: dict[str, Any] | None) -> Any:
    """Return a compiled machine as far as its lines look at it."""
    report = {
        "reduction": reduction,
        "verification": {"certified": certified},
        "model": {"n_support_vectors": 1234},
        "memory": {"flash_bytes": 45_678},
        "target": {"instructions": {"worst": 987_654, "mean": 876_543.2}},
    }
    return SimpleNamespace(report=report, program=SimpleNamespace(number_format="int8"))


REDUCED = {"vectors_after": 123, "method": "imitation", "limit": 0.0123}


def test_line_of_a_whole_machine_has_no_limit() -> None:
    words = sizes.row("letter", None, made(None, None), 0.0).split()
    assert words == ["letter", "all", "1,234", "45,678", "987,654", "0.00", "-", "-", "-"]


def test_line_of_a_reduced_machine_has_shares_in_percent() -> None:
    words = sizes.row("letter", 0.1, made(REDUCED, {"certified_share": 0.5}), 0.0456).split()
    assert words[:5] == ["letter", "10%", "123", "45,678", "987,654"]
    assert words[5:] == ["4.56", "1.23", "50.0", "imitation"]


def test_a_share_of_nothing_certified_is_no_number() -> None:
    assert sizes._percent(None) == "-"
    assert sizes._percent({"certified_share": 0.98765}) == "98.8"


def test_board_says_what_is_promised(capsys: pytest.CaptureFixture[str]) -> None:
    board.show("mnist", made(REDUCED, None), 7, 1984)
    line = capsys.readouterr().out
    for text in (" 123 vectors", "int8", "45,678 bytes", "987,654 instructions", "876,543 in the"):
        assert text in line
    assert line.endswith("7 of 1,984 test labels differ, promised at most 1.2 %\n")


def test_board_promises_nothing_of_a_whole_machine(capsys: pytest.CaptureFixture[str]) -> None:
    board.show("mnist", made(None, None), 0, 1984)
    line = capsys.readouterr().out
    assert "1,234 vectors" in line and line.endswith("0 of 1,984 test labels differ\n")
