"""The number formats that were compared: in report.json, in the terminal and in report.html."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from sample_report import make_report
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.choice.formats import choose_format
from kmcompile.report import html, json_report, terminal
from kmcompile.report.formats import formats_section
from kmcompile.target import load_target


def reported(estimator: Any) -> dict[str, Any]:
    """Return the sample report with the formats of an estimator for cortex-m7."""
    machine = readers.load_model(estimator)
    _, compared = choose_format(machine, load_target("cortex-m7"), "model", None)
    return json_report.to_dict(make_report(formats=formats_section(compared)))


@pytest.fixture(scope="module")
def lossless() -> dict[str, Any]:
    return reported(SVC().fit(*load_iris(return_X_y=True)))


@pytest.fixture(scope="module")
def without_integers() -> dict[str, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return reported(make_pipeline(StandardScaler(), PCA(5), SVC()).fit(X, y))


def printed(report: dict[str, Any]) -> str:
    """Return what the terminal shows, its white space as single blanks."""
    stream = io.StringIO()
    terminal.print_report(report, Console(file=stream, width=120))
    return " ".join(stream.getvalue().split())


def test_every_format_has_figures_and_a_reason(lossless):
    float32, int16, int8 = lossless["formats"]
    assert [f["format"] for f in (float32, int16, int8)] == ["float32", "int16", "int8"]
    assert (int8["lossless"], int8["width"], int8["chosen"]) == (True, "uint8_t", True)
    assert float32["flash_tables_bytes"] > int8["flash_tables_bytes"] > 0
    assert float32["instructions_estimated"] > int8["instructions_estimated"] > 0
    assert lossless["not_available"]["formats.float32.lossless"] == "float32 has no codes"


def test_a_format_that_the_machine_does_not_have_is_null_with_its_reason(without_integers):
    for compared in without_integers["formats"][1:]:
        assert compared["width"] is None and not compared["chosen"]
        assert compared["reason"].startswith("not for this machine: ")
        assert f"formats.{compared['format']}.width" in without_integers["not_available"]


def test_without_a_choice_the_section_is_null_with_its_reason(report):
    assert report["formats"] is None
    assert "--format auto" in report["not_available"]["formats"]
    assert "number formats" not in printed(report)
    assert b"Number formats" not in html.render(report)


def test_the_terminal_says_what_was_taken_and_why(lossless):
    text = printed(lossless)
    assert "number formats, of ordinary inputs" in text
    assert "int8 (uint8_t, without loss) taken" in text
    assert all(compared["reason"] in text for compared in lossless["formats"])


def test_the_terminal_says_why_a_format_is_not_there(without_integers):
    text = printed(without_integers)
    assert without_integers["formats"][1]["reason"] in text
    assert "formats.int16" not in text


def test_the_page_has_a_row_for_every_format(lossless, without_integers):
    for report in (lossless, without_integers):
        page = html.render(report).decode()
        assert "Number formats" in page
        assert all(compared["format"] in page for compared in report["formats"])
    assert "uint8_t, without loss" in html.render(lossless).decode()
