"""The report says what mode certified would have given in the place of mode statistical."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cascade_report import reported
from rich.console import Console
from sample_report import make_report

from kit.digits_cascade import digits_cascade
from kmcompile.program.interpreter import interpret
from kmcompile.report import html, terminal
from kmcompile.report.json_report import to_dict
from kmcompile.report.missing import Missing
from kmcompile.report.modes import ModeCost, Modes, advice, compared_modes
from kmcompile.verify.queries import Source

NONE = Missing("the program has no replay")
STATISTICAL = ModeCost(("linear_filter", "exact_sum"), 1373.0, NONE, 12770.0, NONE, 0.08, 8400)
CERTIFIED = ModeCost(("sign_map", "exact_sum", "replay"), 99.5, 0.5, 12226.0, 11670.0, 1.0, 20400)


def compared(n: int, source: Source, certified: ModeCost) -> Modes:
    """Return the comparison of `STATISTICAL` with mode certified."""
    return Modes(n, source, STATISTICAL, certified, advice(STATISTICAL, certified))


def plain(modes: Modes | Missing) -> dict[str, Any]:
    """Return a report with the comparison, checked against the schema."""
    options = {**make_report()["options"], "mode": "statistical"}
    return to_dict(make_report(modes=modes, options=options))


def printed(report: dict[str, Any]) -> str:
    out = io.StringIO()
    terminal.print_report(report, Console(file=out, width=200))
    return out.getvalue()


def test_a_cheaper_mode_certified_is_recommended_with_both_figures():
    report = plain(compared(1768, "test-data", CERTIFIED))
    told = (
        "--mode certified takes fewer operations here (100 against 1,373 in the mean) and proves "
        "every answer"
    )
    assert report["modes"]["advice"] == told
    shown = printed(report)
    assert "mode certified instead, on 1,768 test samples" in shown
    assert told in shown
    for text in ("12,770", "12,226", "8 %", "100 %", "20.4 KB"):
        assert text in shown
    page = html.render(report).decode()
    assert "<h2>Mode certified instead</h2>" in page
    assert told in page
    assert "sign_map" in page


def test_what_is_not_proved_is_not_called_proved():
    half = replace(CERTIFIED, certified_share=0.5)
    report = plain(compared(500, "held-out", half))
    assert report["modes"]["advice"].endswith("and proves 50 % of the answers")
    assert "on 500 held-out calibration samples" in printed(report)


def test_a_dearer_mode_certified_is_shown_and_not_recommended():
    dear = replace(CERTIFIED, mean_ops=1372.6)  # 1,373.1 with the replay's
    report = plain(compared(500, "test-data", dear))
    assert report["modes"]["advice"] is None
    assert "fewer operations" in report["not_available"]["modes.advice"]
    assert "mode statistical takes fewer operations on these queries" in printed(report)


@pytest.mark.parametrize("share", [0.08, 0.9])
def test_of_equal_costs_the_one_that_proves_more_is_recommended(share):
    equal = replace(STATISTICAL, certified_share=share)
    report = plain(compared(500, "test-data", equal))
    assert (report["modes"]["advice"] is not None) == (share > STATISTICAL.certified_share)


def test_where_nothing_was_compared_the_report_says_why():
    report = plain(Missing("mode certified: needs 9 KB of flash"))
    assert report["modes"] is None
    assert report["not_available"]["modes"] == "mode certified: needs 9 KB of flash"
    assert "needs 9 KB of flash" in printed(report)
    assert "Mode certified instead" not in html.render(report).decode()


def test_other_modes_do_not_print_that_they_were_not_compared(report):
    assert "could replace" not in printed(report)


def test_both_are_counted_on_the_queries_of_the_means():
    digits, made = digits_cascade("rbf", 2), reported()
    found = compared_modes(digits.program, made.answers, digits.exact, made.queries)
    cost = made.report["cost"]
    assert (found.queries, found.queries_source) == (cost["queries"], cost["queries_source"])
    assert found.statistical.mean_ops == cost["mean_ops"]
    assert found.statistical.worst_ops == cost["worst_ops"]
    assert found.certified.mean_ops == cost["exact_ops"]
    own = interpret(digits.exact, made.queries.X[: made.queries.n_given])
    assert found.certified.certified_share == np.mean(own.results["certified"])
