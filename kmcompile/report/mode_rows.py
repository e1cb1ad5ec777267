"""Mode statistical against mode certified, as rows of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcompile.report.summary import Report, candidate_text, reason, sample_text
from kmcompile.report.told import Part, Rows, Text
from kmcompile.text.figures import MISSING, bytes_text, count_text, share_text

STAGES = "stages that decide"
_MODES = ("statistical", "certified")
_HEADS = ("A query", "Mode statistical, as compiled", "Mode certified")

_ROWS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("operations, mean", "mean_ops", count_text),
    ("operations of the replay in float64, mean", "replay_ops_mean", count_text),
    ("operations, the most that any input can take", "worst_ops", count_text),
    ("operations of the replay, where there is one", "replay_ops_worst", count_text),
    ("answers that are proved", "certified_share", share_text),
    ("tables", "table_bytes", bytes_text),
    (STAGES, "stages", candidate_text),
)


def modes_parts(report: Report) -> list[Part]:
    """Return the advice on which mode to use, and both modes; nothing without a comparison."""
    found = report["modes"]
    if found is None:
        return []
    rows = []
    for label, field, text in _ROWS:
        values = [found[mode][field] for mode in _MODES]
        if values != [None, None]:
            rows.append((label, *(MISSING if one is None else text(one) for one in values)))
    return [
        Text(str(found["advice"] or reason(report, "modes.advice")), "note"),
        Rows(_HEADS, rows),
        Text(
            f"Of {modes_source(report)}. Mode certified chooses its exits by all samples in "
            "--data. Nothing of the program above depends on this comparison."
        ),
    ]


def modes_source(report: Report) -> str:
    """Return a text on the queries of the comparison."""
    return "" if report["modes"] is None else sample_text(report["modes"])
