"""The table of times of the example."""

from __future__ import annotations

import table_3


def test_header_says_which_l1_is_the_papers() -> None:
    for method in table_3.METHODS:
        assert {method, f"{method} / pursuit"} <= set(table_3.HEADER)
    assert "l1 alone:   each penalty by itself, as in the paper" in table_3.LEGEND
    assert "l1 warm:    each penalty from the weights of the one before" in table_3.LEGEND


def test_methods_run_in_turn() -> None:
    calls: list[str] = []
    runs = {name: lambda name=name: calls.append(name) for name in ("a", "b")}
    seconds = table_3.least_times(runs, 3)
    assert calls == ["a", "b"] * 3
    assert all(0 <= seconds[name] < 1 for name in runs)
