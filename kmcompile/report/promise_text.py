"""What is promised, supported and measured, in words."""

from __future__ import annotations

from kmcompile.report import summary
from kmcompile.report.summary import Report
from kmcompile.report.told import Fact
from kmcompile.text.figures import confidence_text, count_text, counted, small_text


def promise_facts(report: Report) -> list[Fact]:
    """Return what is promised, what supports it and what test samples show; none without it."""
    if report["risk"] is None:
        return []
    return [
        Fact("promised", _promised(report)),
        Fact("supported", _supported(report)),
        Fact("measured", _measured(report)),
    ]


def _promised(report: Report) -> str:
    risk = report["risk"]
    if risk["guarantee"] == "none":
        return f"nothing: {summary.reason(report, 'risk.requested')}"
    how = {"guaranteed": ", guaranteed", "expected": " in expectation"}[risk["guarantee"]]
    return f"at most {small_text(summary.promised(risk))}{how}"


def _supported(report: Report) -> str:
    risk = report["risk"]
    found = counted(risk["disagreements"], "disagreement", "disagreements")
    if risk["of"] == "loss":
        found = summary.lost_and_gained(risk)
    found += f" in {count_text(risk['calibration_queries'])} calibration samples"
    if risk["upper_bound"] is None:
        return found if risk["calibration_queries"] else "nothing"
    with_confidence = ""
    if risk["confidence"] is not None:
        with_confidence = f" with {confidence_text(risk['confidence'])} confidence"
    return f"at most {small_text(risk['upper_bound'])}{with_confidence}: {found}"


def _measured(report: Report) -> str:
    measured = report["risk"]["measured"]
    if measured is None:
        return summary.reason(report, "risk.measured")
    found = count_text(measured["disagreements"])
    if report["risk"]["of"] == "loss":
        found = summary.lost_and_gained(measured)
    return (
        f"{found} of {count_text(measured['queries'])} test "
        f"samples: at most {small_text(measured['upper_limit'])} with "
        f"{confidence_text(measured['confidence'])} confidence"
    )
