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
from kmcompile.report.modes import ModeCost, Modes, compared_modes, modes_section

STATISTICAL = ModeCost(("linear_filter", "exact_sum"), 1373.0, 0.0, 12770, 0, False, 0.08, 8400)
CERTIFIED = ModeCost(("sign_map", "exact_sum", "replay"), 99.5, 0.5, 12226, 11670, True, 1.0, 20400)


def plain(modes: Modes | str) -> dict[str, Any]:
    """Return a report with the comparison, checked against the schema."""
    report, section = make_report(), modes_section(modes)
    kept = {key: why for key, why in report.not_available.items() if key != "modes"}
    options = {**report.options, "mode": "statistical"}
    reasons = {**kept, **section.not_available}
    changed = replace(report, not_available=reasons, modes=section.content, options=options)
    return to_dict(changed)


def printed(report: dict[str, Any]) -> str:
    out = io.StringIO()
    terminal.print_report(report, Console(file=out, width=200))
    return out.getvalue()


def test_a_cheaper_mode_certified_is_recommended_with_both_figures():
    report = plain(Modes("test-data", 1768, STATISTICAL, CERTIFIED))
    advice = (
        "--mode certified takes fewer operations here (100 against 1,373 in the mean) and proves "
        "every answer"
    )
    assert report["modes"]["advice"] == advice
    shown = printed(report)
    assert "mode certified instead, on 1,768 test samples" in shown
    assert advice in shown
    for text in ("12,770", "12,226", "8 %", "100 %", "20.4 KB"):
        assert text in shown
    page = html.render(report).decode()
    assert "<h2>Mode certified instead</h2>" in page
    assert advice in page
    assert "sign_map" in page


def test_what_is_not_proved_is_not_called_proved():
    half = replace(CERTIFIED, certified_share=0.5)
    report = plain(Modes("held-out", 500, STATISTICAL, half))
    assert report["modes"]["advice"].endswith("and proves 50 % of the answers")
    assert "on 500 held-out calibration samples" in printed(report)


def test_a_dearer_mode_certified_is_shown_and_not_recommended():
    dear = replace(CERTIFIED, mean_operations=1372.6)  # 1,373.1 with the replay's
    report = plain(Modes("test-data", 500, STATISTICAL, dear))
    assert report["modes"]["advice"] is None
    assert "fewer operations" in report["not_available"]["modes.advice"]
    assert "mode statistical takes fewer operations on these queries" in printed(report)


@pytest.mark.parametrize("share", [0.08, 0.9])
def test_of_equal_costs_the_one_that_proves_more_is_recommended(share):
    equal = replace(STATISTICAL, certified_share=share)
    report = plain(Modes("test-data", 500, STATISTICAL, equal))
    assert (report["modes"]["advice"] is not None) == (share > STATISTICAL.certified_share)


def test_where_nothing_was_compared_the_report_says_why():
    report = plain("mode certified: needs 9 KB of flash")
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
    assert (found.n_queries, found.source) == (cost["queries"], cost["queries_source"])
    assert found.statistical.mean_operations == cost["mean_ops"]
    assert found.statistical.worst_operations == cost["worst_ops"]
    assert found.certified.mean_operations == cost["exact_ops"]
    own = interpret(digits.exact, made.queries.X[: made.queries.n_given])
    assert found.certified.certified_share == np.mean(own.results["certified"])
