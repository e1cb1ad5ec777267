"""The verification as lines of text: each check, its queries, its result, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kmcompile.report.summary import (
    Report,
    has_no_labels,
    lost_and_gained,
    reason,
    value_at,
)
from kmcompile.report.told import Cell, Rows
from kmcompile.text.figures import count_text, share_text, small_text


class Status(StrEnum):
    """The result of a check; a check that did not run has not passed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the verification."""

    what: str
    where: str
    result: str
    status: Status


def level(status: Status) -> str:
    """Return the class of the style sheet."""
    return {Status.PASSED: "good", Status.FAILED: "bad", Status.NOT_RUN: "open"}[status]


def checks_table(report: Report) -> Rows:
    """Return the lines of the verification as a table."""
    rows = [
        (
            *(Cell(one.what, names_row=True), one.where, one.result),
            Cell(one.status, badge=level(one.status)),
        )
        for one in checks(report)
    ]
    return Rows(("Check", "Against, on", "Result", "Status"), rows, kind="checks")


def checks(report: Report) -> list[Check]:
    """Return the lines of the verification, also of checks that did not run."""
    exact = [_exact_check(report, "host", "host")]
    name, emulator = report["target"]["name"], report["target"]["emulator"]
    if emulator is not None:  # otherwise the host is the target
        exact.append(_exact_check(report, "target", f"{name} ({emulator})"))
    labels = [] if has_no_labels(report) else [_certified_check(report)]
    own = [_bounded_check(report), *labels, *_box_checks(report), *_probability_checks(report)]
    return [*exact, *own, *_risk_checks(report)]


def _exact_check(report: Report, place: str, where: str) -> Check:
    what = "The C equals the interpreter bit for bit"
    path = f"verification.exact.{place}"
    run = value_at(report, path)
    if run is None:
        return Check(what, where, reason(report, path), Status.NOT_RUN)
    text = f"{count_text(run['queries'])} queries, {count_text(run['mismatches'])} mismatches"
    return Check(what, where, text, _status(run["mismatches"]))


def _bounded_check(report: Report) -> Check:
    what, where = "The error is within the computed bound", "float64 model"
    run = value_at(report, "verification.bounded")
    if run is None:
        return Check(what, where, reason(report, "verification.bounded"), Status.NOT_RUN)
    text = (
        f"{count_text(run['queries'])} queries, largest error {small_text(run['max_error'])}, "
        f"largest bound {small_text(run['max_bound'])}"
    )
    signs = run["sign_disagreements"]
    if signs is None:  # of a regression; an error above its bound ends the compilation
        return Check(what, where, text, Status.PASSED)
    return Check(
        what, where, f"{text}, {count_text(signs)} wrong signs above the bound", _status(signs)
    )


def _certified_check(report: Report) -> Check:
    what, where = "Certified labels are the model's", "float64 model"
    run = value_at(report, "verification.certified")
    if run is None:
        return Check(what, where, reason(report, "verification.certified"), Status.NOT_RUN)
    text = (
        f"{count_text(run['queries'])} queries, {share_text(run['certified_share'])} certified, "
        f"{count_text(run['wrong'])} wrong"
    )
    return Check(what, where, text, _status(run["wrong"]))


def _box_checks(report: Report) -> list[Check]:
    """Return the check within the input tolerance; none without one."""
    run = value_at(report, "verification.input_tolerance")
    if run is None:
        return []
    if run["mean_half_width"] is None:
        said = (
            f"{share_text(run['certified_share'])} certified within the tolerance, "
            f"{share_text(run['certified_alone_share'])} without; "
            f"{share_text(run['changed_share'])} have another label somewhere within it"
        )
    else:
        said = (
            f"values within {small_text(run['mean_half_width'])} on the mean, "
            f"{small_text(run['mean_reached'])} were found"
        )
    text = (
        f"{count_text(run['queries'])} queries, {said}; "
        f"{count_text(run['points'])} points tried, {count_text(run['wrong'])} wrong"
    )
    what = "Answers hold within the input tolerance"
    return [Check(what, "float64 model", text, _status(run["wrong"]))]


def _probability_checks(report: Report) -> list[Check]:
    """Return the check of the probabilities; none where the model has none."""
    run = value_at(report, "verification.probabilities")
    if run is None:
        return []
    text = (
        f"{count_text(run['queries'])} queries, largest error {small_text(run['max_error'])}, "
        f"largest bound {small_text(run['max_bound'])}"
    )
    return [Check("Probabilities are within their bound", "float64 model", text, Status.PASSED)]


def _risk_checks(report: Report) -> list[Check]:
    """Return the check of a guaranteed risk, which fails only if test samples refute the risk."""
    risk = report.get("risk")
    if risk is None or risk["guarantee"] != "guaranteed":  # a single program refutes no expectation
        return []
    of = risk["of"]
    what, where = f"Test samples do not refute the {of}'s bound", "float64 model"
    measured, bound = risk["measured"], risk["upper_bound"]
    if measured is None:
        return [Check(what, where, reason(report, "risk.measured"), Status.NOT_RUN)]
    text = (
        f"{measured_text(measured, of == 'loss')}: a {of} of at least "
        f"{small_text(measured['lower_limit'])}, the bound is {small_text(bound)}"
    )
    return [Check(what, where, text, _status(measured["lower_limit"] > bound))]


def measured_text(measured: dict[str, Any], of_loss: bool = False) -> str:
    """Return a text on how many test samples got another label than the model's, or lost one."""
    if of_loss:
        return f"{lost_and_gained(measured)} of {count_text(measured['queries'])} test samples"
    return (
        f"{count_text(measured['disagreements'])} of {count_text(measured['queries'])} test "
        "samples with another label than the model's"
    )


def _status(failures: int) -> Status:
    return Status.FAILED if failures else Status.PASSED


def verdict(report: Report) -> tuple[Status, str]:
    """Return the whole verification as one status and one phrase."""
    if any(check.status is Status.FAILED for check in checks(report)):
        return Status.FAILED, "verification failed"
    name = report["target"]["name"]
    host, target = (value_at(report, f"verification.exact.{one}") for one in ("host", "target"))
    if host and target:
        return Status.PASSED, f"verified on the host and on {name}"
    if host and report["target"]["emulator"] is None:
        return Status.PASSED, "verified on the host"
    if host or target:
        return Status.PASSED, f"verified on {'the host' if host else name} only"
    return Status.NOT_RUN, "not verified"
