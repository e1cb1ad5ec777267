"""The reduced machine in report.json: what it stands for, and the curve."""

from __future__ import annotations

import pytest
from sample_reduction import REDUCTION, UNCOUNTED, reduced_report
from sample_report import make_report

from kmcompile.report.json_report import to_dict, validate
from kmcompile.report.reduction_section import reduction_section


def test_without_reduce_the_section_is_null_with_its_reason():
    report = to_dict(make_report(reduction=reduction_section(None)))
    assert report["reduction"] is None
    assert "--reduce" in report["not_available"]["reduction"]


def test_section_has_the_chosen_machine_and_the_curve():
    section = to_dict(reduced_report())["reduction"]
    assert (section["asked"], section["risk"]) == ("auto", 0.025)
    assert (section["vectors_before"], section["vectors_after"]) == (5_355, 1_400)
    assert (section["disagreements"], section["samples"]) == (31, 2_000)
    assert (section["limit"], section["confidence"]) == (0.0238, 0.99)
    assert (section["method"], section["distance"]) == ("construction", 0.21)
    assert [point["n_vectors"] for point in section["points"]] == [5_355, 2_700, 1_400, 500]
    assert [point["chosen"] for point in section["points"]] == [False, False, True, False]
    assert section["points"][1]["table_bytes"] == 451_000
    assert section["points"][1]["operations"] == 102_600
    assert section["notes"] == list(REDUCTION.notes)


def test_without_samples_the_limits_are_null_with_their_reasons():
    report = to_dict(reduced_report(UNCOUNTED))
    section, reasons = report["reduction"], report["not_available"]
    assert section["risk"] is section["disagreements"] is section["limit"] is None
    assert "--reduce auto" in reasons["reduction.risk"]
    for path in ("reduction.limit", "reduction.points.1.disagreements"):
        assert "--data" in reasons[path]
    assert reasons["reduction.points.0.limit"] == "this is the trained machine"


@pytest.mark.parametrize(
    ("field", "value"), [("vectors_after", 0), ("limit", 1.5), ("points", []), ("confidence", 1)]
)
def test_schema_refuses_a_value_that_cannot_be(field, value):
    report = to_dict(reduced_report())
    report["reduction"][field] = value
    with pytest.raises(ValueError, match="reduction"):
        validate(report)
