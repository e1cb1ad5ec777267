"""Mode statistical against mode certified, as rows of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcompile.report.summary import Report, candidate_text, reason, sample_text
from kmcompile.text.figures import MISSING, bytes_text, count_text, share_text

MODES = ("statistical", "certified")

_ROWS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("operations, mean", "mean_ops", count_text),
    ("operations of the replay in float64, mean", "replay_ops_mean", count_text),
    ("operations, the most that any input can take", "worst_ops", count_text),
    ("operations of the replay, where there is one", "replay_ops_worst", count_text),
    ("answers that are proved", "certified_share", share_text),
    ("tables", "table_bytes", bytes_text),
    ("stages that decide", "stages", candidate_text),
)


def mode_rows(report: Report) -> tuple[tuple[str, str, str], ...]:
    """Return rows of a label and the texts of both modes; empty without a comparison."""
    found = report["modes"]
    if found is None:
        return ()
    rows = []
    for label, field, text in _ROWS:
        values = [found[mode][field] for mode in MODES]
        if values != [None, None]:
            told = [MISSING if value is None else text(value) for value in values]
            rows.append((label, told[0], told[1]))
    return tuple(rows)


def modes_advice(report: Report) -> str:
    """Return a sentence on which mode to use; empty without a comparison."""
    found = report["modes"]
    if found is None:
        return ""
    return str(found["advice"] or reason(report, "modes.advice"))


def modes_source(report: Report) -> str:
    """Return a text on the queries of the comparison."""
    return "" if report["modes"] is None else sample_text(report["modes"])
