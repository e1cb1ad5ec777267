"""Labelled values of a report: costs, risk, calibration and choice of early exits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kmcompile.report import summary
from kmcompile.report.checks import measured_text
from kmcompile.report.summary import Fact, Report, fact, reason
from kmcompile.report.time_section import time_facts
from kmcompile.text.figures import confidence_text, count_text, ratio_text, small_text

_GUARANTEES = {
    "guaranteed": "the bound holds with the confidence",
    "expected": "the bound holds in the mean over calibration sets",
    "none": "none: nothing is promised",
}


def costs(report: Report) -> list[Fact]:
    """Return the counted operations and instructions of one query."""
    fields: list[tuple[str, str, Callable[[Any], str]]] = [
        ("operations, exact sum alone, mean", "cost.exact_ops", count_text),
        ("operations, mean", "cost.mean_ops", count_text),
        ("operations, 99th percentile", "cost.p99_ops", count_text),
        ("operations, largest", "cost.max_ops", count_text),
        ("operations of the replay in float64, mean", "cost.replay_ops_mean", count_text),
        ("operations, largest with replay", "cost.max_ops_with_replay", count_text),
        ("operations, the most that any input can take", "cost.worst_ops", count_text),
        ("the same of the exact sum alone", "cost.exact_worst_ops", count_text),
        ("speed-up in operations", "cost.speedup_ops", ratio_text),
        ("kernel evaluations, mean", "cost.kernel_evals_mean", count_text),
        ("kernel evaluations, median", "cost.kernel_evals_median", count_text),
        ("kernel evaluations, 99th percentile", "cost.kernel_evals_p99", count_text),
        ("pairs of classes, mean", "cost.pairs_mean", count_text),
        ("pairs of classes, largest", "cost.pairs_max", count_text),
        ("speed-up in kernel evaluations", "cost.speedup_kernels", ratio_text),
        ("instructions, exact sum alone", "target.instructions.exact", count_text),
        ("instructions, mean", "target.instructions.mean", count_text),
        ("instructions, 99th percentile", "target.instructions.p99", count_text),
        ("instructions, largest", "target.instructions.max", count_text),
        ("instructions, static worst case", "target.instructions.worst", count_text),
        (
            "instructions, static worst case without replay",
            "target.instructions.worst_without_replay",
            count_text,
        ),
        ("queries of the instruction count", "target.instructions.queries", count_text),
    ]
    return [*(fact(report, *field) for field in fields), *time_facts(report)]


def risk_facts(report: Report) -> list[Fact]:
    """Return the promised risk and its evidence."""
    of_loss = summary.of_loss(report)
    what = "loss of right labels" if of_loss else "probability of another label"
    fields: list[tuple[str, str, Callable[[Any], str]]] = [
        (f"largest {what}, requested", "risk.requested", small_text),
        ("upper bound that the data support", "risk.upper_bound", small_text),
        ("confidence", "risk.confidence", confidence_text),
        ("guarantee", "risk.guarantee", _GUARANTEES.__getitem__),
        ("calibration queries", "risk.calibration_queries", count_text),
        (
            "right labels lost among them" if of_loss else "disagreements among them",
            "risk.disagreements",
            count_text,
        ),
        *([("right labels gained", "risk.gained", count_text)] if of_loss else []),
        ("measured on test samples", "risk.measured", partial(_measured_limits, of_loss)),
    ]
    if report["risk"] is None:
        return [Fact("risk", reason(report, "risk"), missing=True)]
    return [fact(report, *field) for field in fields]


def _measured_limits(of_loss: bool, measured: dict[str, Any]) -> str:
    return (
        f"{measured_text(measured, of_loss)}: a {'loss' if of_loss else 'probability'} between "
        f"{small_text(measured['lower_limit'])} and {small_text(measured['upper_limit'])}, each "
        f"with {confidence_text(measured['confidence'])} confidence"
    )


def calibration_facts(report: Report) -> list[Fact]:
    """Return the facts of the calibration; empty without calibration."""
    if report["calibration"] is None:
        return []
    fields: list[tuple[str, str, Callable[[Any], str]]] = [
        ("thresholds", "calibration.thresholds", str),
        ("one factor on all thresholds", "calibration.scale", small_text),
        ("samples for the stages' shapes", "calibration.shape_queries", count_text),
        ("samples for the choice of stages", "calibration.choice_queries", count_text),
        ("samples for the promise", "calibration.control_queries", count_text),
        ("samples that are support vectors", "calibration.support_vectors_found", count_text),
    ]
    return [fact(report, *field) for field in fields]


def choice_facts(report: Report) -> list[Fact]:
    """Return the facts of the choice of certified exits; empty without such a choice."""
    choice = report["choice"]
    if choice is None:
        return []
    source = {"data": "the samples in --data", "generated": "made from the support vectors"}
    return [
        Fact("samples", f"{count_text(choice['queries'])}, {source[choice['queries_source']]}"),
        Fact("what rests on them", "costs only: nothing that is proved"),
    ]
