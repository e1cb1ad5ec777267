"""Rows and labelled values of report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report import summary
from kmcompile.report.checks import Check, Status
from kmcompile.report.checks import checks as all_checks
from kmcompile.report.reduction_text import method_text
from kmcompile.report.summary import Cells, Fact, Report
from kmcompile.text.figures import bytes_text, count_text, ratio_text, share_text, small_text


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check with the class of its badge."""

    check: Check
    level: str


def level(status: Status) -> str:
    """Return the class of the style sheet."""
    return {Status.PASSED: "good", Status.FAILED: "bad", Status.NOT_RUN: "open"}[status]


def checks(report: Report) -> tuple[CheckRow, ...]:
    """Return the lines of the verification."""
    return tuple(CheckRow(check, level(check.status)) for check in all_checks(report))


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
        summary.fact(report, "flash", "memory.flash_bytes", bytes_text),
        summary.fact(report, "stack, worst case", "memory.stack_bytes", bytes_text),
        summary.fact(report, "instructions a query", "target.instructions.mean", count_text),
        summary.fact(
            report, "mismatches on the target", "verification.exact.target.mismatches", count_text
        ),
        summary.fact(report, "largest bound", "verification.bounded.max_bound", small_text)
        if summary.is_regression(report)
        else summary.certified_labels(report),
    ]
    if summary.has_early_exits(report):
        tiles.append(summary.fact(report, "speed-up in operations", "cost.speedup_ops", ratio_text))
    if report["risk"] is not None:
        tiles.append(
            summary.fact(report, f"{report['risk']['of']}, at most", "risk.upper_bound", small_text)
        )
    return tuple(tile if not tile.missing else Fact(tile.label, "-", True) for tile in tiles)


def formats(report: Report) -> tuple[Cells, ...]:
    """Return the rows of the compared number formats; a dash for a missing value."""
    return tuple(
        (
            row.name,
            row.tables or "-",
            row.operations or "-",
            row.instructions or "-",
            row.certified or "-",
            "taken" if row.chosen else "-",
            row.reason,
        )
        for row in summary.format_rows(report)
    )


def candidates(report: Report, candidates: Sequence[Any]) -> tuple[Cells, ...]:
    """Return the sequences of stages that were compared."""
    exact = report["cost"]["exact_ops"]
    return tuple(
        (
            summary.candidate_text(candidate["stages"]),
            count_text(candidate["mean_ops"]),
            ratio_text(exact / candidate["mean_ops"]),
            "taken" if candidate["chosen"] else "-",
        )
        for candidate in candidates
    )


def reduction_points(report: Report) -> tuple[Cells, ...]:
    """Return the machines that `--reduce` compared, in decreasing size."""
    section = report["reduction"] or {"points": ()}
    return tuple(
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
        for point in section["points"]
    )


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
        summary.fact(report, "file", "model.file", str),
        Fact("estimator", model["kind"]),
        Fact("kernel", f"{model['kernel']}: {parameters}" if parameters else model["kernel"]),
        Fact("preprocessing", _joined(model["preprocessing"])),
        Fact("features", count_text(model["n_features"])),
        Fact("support vectors", count_text(model["n_support_vectors"])),
        _classes(report),
        summary.fact(report, "threshold", "model.threshold", repr),
        Fact("SHA-256", model["sha256"]),
    )


def _classes(report: Report) -> Fact:
    if summary.is_regression(report):
        return Fact("classes", summary.reason(report, "model.classes"), missing=True)
    classes = report["model"]["classes"]
    return Fact("classes", f"{count_text(len(classes))}: {_joined(classes)}")


def target(report: Report) -> tuple[Fact, ...]:
    """Return the facts of the target."""
    return (
        Fact("name", report["target"]["name"]),
        Fact("description", report["target"]["description"]),
        Fact("stands for", report["target"]["stands_for"]),
        summary.fact(report, "part", "target.part", str),
        summary.fact(report, "emulator", "target.emulator", str),
    )


def options(report: Report) -> tuple[Fact, ...]:
    """Return the options in effect, without options that were not given."""
    given = {name: value for name, value in report["options"].items() if value is not None}
    return tuple(Fact(f"--{name.replace('_', '-')}", str(value)) for name, value in given.items())


def _joined(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items)) or "none"
