"""What a notebook shows of a compiled model."""

from __future__ import annotations

from typing import Any

from sample_report import make_report
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kmcompile.report.html import notebook
from kmcompile.report.json_report import to_dict

CHOICE = {"worst_estimated": 900.0, "flash_estimated": 2000.0, "proved_share": 1.0}
TAKEN: dict[str, Any] = {**CHOICE, "program": "<all>", "mean_estimated": 90.0, "options": ""}
OTHER: dict[str, Any] = {**CHOICE, "program": "other", "mean_estimated": 80.0, "options": "--x"}


def test_choices_are_shown_with_a_plot() -> None:
    report = to_dict(make_report())
    report["choices"] = [{**OTHER, "chosen": False}, {**TAKEN, "chosen": True}]
    text = notebook(report)
    assert "<td>&lt;all&gt;</td>" in text and "<td>taken</td>" in text and "<td>--x</td>" in text
    assert text.count("<svg") == 1 and "<script" not in text
    alone = notebook({**report, "choices": report["choices"][:1]})
    assert "<svg" not in alone and "<td>" not in alone


def test_a_compiled_model_shows_itself() -> None:
    X, y = load_iris(return_X_y=True)
    compiled = kmcompile.compile_model(SVC().fit(X, y), mode="exact", verify="none", name="iris")
    shown = compiled._repr_html_()
    assert "SVC" in shown and "not verified" in shown
    assert "<dt>flash</dt>" in shown
