"""The sections on options for flight: as the schema has them, and told where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sample_report import SCHEMA, fields_in_order
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile.report.flight import SECTIONS, told_of

X, y = load_breast_cancer(return_X_y=True)
IN_CODE = {"telemetry": True, "redundancy": 2, "step": 20_000, "monitor": 0.05}


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    """Return the reports of a program with tables in the code, and of one in an image."""
    model = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[::4], y[::4])
    samples = np.delete(X, np.s_[::4], axis=0)
    given = {"name": "flown", "mode": "certified", "verify": "none"}
    return [
        kmcompile.compile_model(model, data=samples, **given, **IN_CODE).report,
        kmcompile.compile_model(model, tables="image", **given).report,
    ]


def test_every_section_has_the_schemas_fields_in_the_schemas_order(
    reports: list[dict[str, Any]],
) -> None:
    for section in SECTIONS:
        (found,) = (one[section.name] for one in reports if one[section.name] is not None)
        fields_in_order(SCHEMA["properties"][section.name], found)


def test_a_section_that_is_not_there_says_why_and_is_not_told(
    reports: list[dict[str, Any]],
) -> None:
    for report in reports:
        told = {one.name for one in told_of(report)}
        for section in SECTIONS:
            absent = report[section.name] is None
            assert (report["not_available"].get(section.name) == section.absent) == absent
            assert (section.name in told) == (section.told is not None and not absent)
