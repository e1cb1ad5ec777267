"""Labelled values of a report, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kmcompile.report import summary
from kmcompile.report.checks import measured_text
from kmcompile.report.measured import measured_facts
from kmcompile.report.reduction_text import method_text
from kmcompile.report.summary import Report, fact, reason
from kmcompile.report.time_section import time_facts
from kmcompile.report.told import Fact, Rows
from kmcompile.text.figures import (
    bytes_text,
    confidence_text,
    count_text,
    ratio_text,
    share_text,
    small_text,
)

_GUARANTEES = {
    "guaranteed": "the bound holds with the confidence",
    "expected": "the bound holds in the mean over calibration sets",
    "none": "none: nothing is promised",
}


_WITHOUT_REPLAY = "target.instructions.worst_without_replay"
_BESIDE_EXITS = {
    *("cost.exact_ops", "cost.worst_ops", "cost.exact_worst_ops", "target.instructions.exact")
}
_COSTS: tuple[tuple[str, str, Callable[[Any], str], bool], ...] = (
    ("operations, exact sum alone, mean", "cost.exact_ops", count_text, True),
    ("operations, mean", "cost.mean_ops", count_text, True),
    ("operations, 99th percentile", "cost.p99_ops", count_text, False),
    ("operations, largest", "cost.max_ops", count_text, False),
    ("operations of the replay in float64, mean", "cost.replay_ops_mean", count_text, True),
    ("operations, largest with replay", "cost.max_ops_with_replay", count_text, False),
    ("operations, the most that any input can take", "cost.worst_ops", count_text, True),
    ("the same of the exact sum alone", "cost.exact_worst_ops", count_text, True),
    ("speed-up in operations", "cost.speedup_ops", ratio_text, True),
    ("kernel evaluations, mean", "cost.kernel_evals_mean", count_text, True),
    ("kernel evaluations, median", "cost.kernel_evals_median", count_text, False),
    ("kernel evaluations, 99th percentile", "cost.kernel_evals_p99", count_text, False),
    ("pairs of classes, mean", "cost.pairs_mean", count_text, True),
    ("pairs of classes, largest", "cost.pairs_max", count_text, False),
    ("speed-up in kernel evaluations", "cost.speedup_kernels", ratio_text, False),
    ("instructions, exact sum alone", "target.instructions.exact", count_text, True),
    ("instructions, mean", "target.instructions.mean", count_text, True),
    ("instructions, 99th percentile", "target.instructions.p99", count_text, False),
    ("instructions, largest", "target.instructions.max", count_text, True),
    ("instructions, static worst case", "target.instructions.worst", count_text, True),
    ("instructions, static worst case without replay", _WITHOUT_REPLAY, count_text, True),
    ("queries of the instruction count", "target.instructions.queries", count_text, False),
)
"""Labels, fields, their texts, and whether they are told in short, too."""


def costs(report: Report, in_short: bool = False) -> list[Fact]:
    """Return the counted operations and instructions of one query.

    In short, what every query takes is not told again of the exact sum alone and of the worst case.
    """
    left_out = set() if summary.has_early_exits(report) else _BESIDE_EXITS
    counted = report["target"]["instructions"] or {}
    if counted.get("worst") == counted.get("worst_without_replay"):
        left_out = left_out | {_WITHOUT_REPLAY}
    return [
        fact(report, label, path, text)
        for label, path, text, also_in_short in _COSTS
        if not in_short or (also_in_short and path not in left_out)
    ]


def times(report: Report) -> list[Fact]:
    """Return the modelled time of a query beside the measured one, or why there is none."""
    return [*time_facts(report), *measured_facts(report)]


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


def identity(report: Report) -> tuple[Fact, ...]:
    """Return the facts that a signature covers: the model, the C and the tool."""
    tool, model = report["tool"], report["model"]
    source = report["files"].get(f"{report['options'].get('name')}.c")
    written = [Fact("SHA-256 of the C", source)] if source else []
    return (
        Fact("command", tool["command"]),
        Fact("tool", f"{tool['name']} {tool['version']}"),
        Fact("SHA-256 of the model", model["sha256"]),
        *written,
    )


def tiles(report: Report) -> tuple[Fact, ...]:
    """Return the figures at the top."""
    tiles = [
        fact(report, "flash", "memory.flash_bytes", bytes_text),
        fact(report, "stack, worst case", "memory.stack_bytes", bytes_text),
        fact(report, "instructions, mean", "target.instructions.mean", count_text),
        fact(
            *(report, "instructions, worst case", "target.instructions.worst"),
            partial(_of_budget, report["options"].get("max_instructions")),
        ),
        fact(
            report, "mismatches on the target", "verification.exact.target.mismatches", count_text
        ),
        fact(report, "largest bound", "verification.bounded.max_bound", small_text)
        if summary.is_regression(report)
        else summary.certified_labels(report),
    ]
    if summary.has_early_exits(report):
        tiles.append(fact(report, "speed-up in operations", "cost.speedup_ops", ratio_text))
    tested = (report["accuracy"] or {}).get("test")
    if tested:
        right, n = (sum(one[key] for one in tested) for key in ("program", "samples"))
        tiles.append(Fact("right labels", share_text(right / n)))
    if report["risk"] is not None:
        tiles.append(
            fact(report, f"{report['risk']['of']}, at most", "risk.upper_bound", small_text)
        )
    return tuple(tile if not tile.missing else Fact(tile.label, "-", True) for tile in tiles)


def _of_budget(budget: int | None, count: int) -> str:
    return count_text(count) if budget is None else f"{count_text(count)} of {count_text(budget)}"


def candidates(report: Report, candidates: Sequence[Report]) -> Rows:
    """Return the sequences of stages that were compared."""
    exact = report["cost"]["exact_ops"]
    rows = [
        (
            summary.candidate_text(candidate["stages"]),
            count_text(candidate["mean_ops"]),
            ratio_text(exact / candidate["mean_ops"]),
            "taken" if candidate["chosen"] else "-",
        )
        for candidate in candidates
    ]
    heads = ("Stages", "Operations, mean", "Against the exact sum", "Choice")
    return Rows(heads, rows, "What was compared")


def reduction_points(report: Report) -> Rows:
    """Return the machines that `--reduce` compared, in decreasing size."""
    rows = [
        (
            count_text(point["n_vectors"]),
            method_text(point["method"]),
            _disagreements(point),
            "-" if point["limit"] is None else share_text(point["limit"]),
            bytes_text(point["table_bytes"]),
            count_text(point["operations"]),
            small_text(point["distance"]),
            "taken" if point["chosen"] else "-",
        )
        for point in report["reduction"]["points"]
    ]
    heads = (
        *("Vectors", "Method", "Disagreements", "At most", "Tables", "Operations, worst case"),
        *("Distance", "Choice"),
    )
    return Rows(heads, rows, "What was compared")


def _disagreements(point: Report) -> str:
    if point["disagreements"] is None:
        return "-"
    gained = f", {count_text(point['gained'])} gained" if point["gained"] else ""
    return f"{count_text(point['disagreements'])} of {count_text(point['samples'])}{gained}"


def model(report: Report) -> tuple[Fact, ...]:
    """Return the facts of the model."""
    model = report["model"]
    parameters = ", ".join(f"{key} = {value!r}" for key, value in model["parameters"].items())
    return (
        fact(report, "file", "model.file", str),
        Fact("estimator", model["kind"]),
        Fact("kernel", f"{model['kernel']}: {parameters}" if parameters else model["kernel"]),
        Fact("preprocessing", _joined(model["preprocessing"])),
        Fact("features", count_text(model["n_features"])),
        Fact("support vectors", count_text(model["n_support_vectors"])),
        _classes(report),
        fact(report, "threshold", "model.threshold", repr),
        Fact("SHA-256", model["sha256"]),
    )


def _classes(report: Report) -> Fact:
    if summary.is_regression(report):
        return Fact("classes", reason(report, "model.classes"), missing=True)
    classes = report["model"]["classes"]
    return Fact("classes", f"{count_text(len(classes))}: {_joined(classes)}")


def target(report: Report) -> tuple[Fact, ...]:
    """Return the facts of the target."""
    return (
        Fact("name", report["target"]["name"]),
        Fact("description", report["target"]["description"]),
        Fact("stands for", report["target"]["stands_for"]),
        fact(report, "part", "target.part", str),
        fact(report, "emulator", "target.emulator", str),
    )


def options(report: Report) -> tuple[Fact, ...]:
    """Return the options in effect, without options that were not given."""
    given = {name: value for name, value in report["options"].items() if value is not None}
    return tuple(Fact(f"--{name.replace('_', '-')}", str(value)) for name, value in given.items())


def _joined(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items)) or "none"
