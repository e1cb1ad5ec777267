"""Texts for both the terminal and report.html: rows, verdicts, reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report.told import Fact
from kmcompile.text.figures import bytes_text, count_text, counted, share_text

Report = dict[str, Any]
Cells = tuple[str, ...]
"""A row of a table."""

_GENERATED = "generated vectors, perturbations, mixtures, corners"
_NEIGHBOURS = ", bisected neighbours"


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes used of a budget; `share` is None without one."""

    label: str
    used: str
    budget: str
    share: float | None
    note: str = ""


def reason(report: Report, path: str) -> str:
    """Return the reason why a field is null, or else why its section is null."""
    while path:
        if path in report["not_available"]:
            return str(report["not_available"][path])
        path = path.rpartition(".")[0]
    return "not available"


def value_at(report: Report, path: str) -> Any:
    """Return the field at `path`; None if it or a section around it is null."""
    value: Any = report
    for key in path.split("."):
        value = None if value is None else value[key]
    return value


def fact(report: Report, label: str, path: str, text: Callable[[Any], str]) -> Fact:
    """Return the field at `path` as a Fact."""
    value = value_at(report, path)
    if value is None:
        return Fact(label, reason(report, path), missing=True)
    return Fact(label, text(value))


def title(report: Report) -> str:
    """Return model and target."""
    model = report["model"]
    return f"{model['file'] or model['kind']} \N{RIGHTWARDS ARROW} {report['target']['name']}"


def description(report: Report) -> str:
    """Return the model in one line."""
    model = report["model"]
    parameters = ", ".join(f"{k} {v:.6g}" for k, v in model["parameters"].items())
    kernel = f"{model['kernel']} ({parameters})" if parameters else model["kernel"]
    return (
        f"{model['kind']}, {kernel}, {count_text(model['n_support_vectors'])} support vectors, "
        f"{count_text(model['n_features'])} features, {_answers_text(model)}"
    )


def is_regression(report: Report) -> bool:
    """Return whether the model gives values, not labels."""
    return report["model"]["classes"] is None


def is_reduced(report: Report) -> bool:
    """Return whether the program is of fewer vectors than the trained machine."""
    section = report["reduction"]
    return section is not None and section["vectors_after"] != section["vectors_before"]


def proves_no_label(report: Report) -> bool:
    """Return whether no label is certified because the machine has fewer vectors."""
    checked = report["verification"] or {"bounded": None}
    labels = is_reduced(report) and not is_regression(report)
    return labels and checked["bounded"] is not None and checked["certified"] is None


def certified_labels(report: Report) -> Fact:
    """Return the share of certified labels, or of a reduced machine how many differ."""
    path, label = "verification.certified", "certified labels"
    if proves_no_label(report):
        return Fact(label, reason(report, path))
    return fact(report, label, f"{path}.certified_share", share_text)


def _answers_text(model: dict[str, Any]) -> str:
    n_classes = model["n_classes"]
    return "regression" if n_classes is None else f"{count_text(n_classes)} classes"


def usages(report: Report) -> list[Usage]:
    """Return flash, RAM, stack and workspace against their budgets."""
    flash_note = "tables only: a lower limit" * report["memory"]["flash_is_lower_limit"]
    return [
        _usage(report, "flash", "flash_bytes", "flash", flash_note),
        _usage(report, "RAM", "ram_bytes", "ram"),
        _usage(report, "stack, worst case", "stack_bytes", "ram"),
        _usage(report, "workspace", "workspace_bytes", "ram"),
    ]


def _usage(report: Report, label: str, field: str, kind: str, note: str = "") -> Usage:
    memory = report["memory"]
    used, budget, part = memory[field], memory[f"{kind}_budget_bytes"], memory[f"part_{kind}_bytes"]
    if used is None:
        return Usage(label, "-", "", None, reason(report, f"memory.{field}"))
    if budget is None:
        return Usage(label, bytes_text(used), "no budget", None, note)
    if report["options"].get(f"max_{kind}") and label in ("flash", "RAM"):
        note = "; ".join(filter(None, [note, f"--max-{kind} is {budget:,} bytes"]))
    if part is not None and budget > part:
        note = "; ".join(filter(None, [note, f"the part itself has {bytes_text(part)}"]))
    return Usage(label, bytes_text(used), bytes_text(budget), used / budget, note)


def has_no_labels(report: Report) -> bool:
    """Return whether the verified answers are values, not labels."""
    return "verification.bounded.sign_disagreements" in report["not_available"]


def promise_title(report: Report) -> str:
    """Return what a program may get wrong where something is promised."""
    if of_loss(report):
        return "loss of right labels against the model"
    return "risk of another label than the model's"


def of_loss(report: Report) -> bool:
    """Return whether a loss is promised, not a risk."""
    return report["risk"] is not None and report["risk"]["of"] == "loss"


def lost_and_gained(counts: Report) -> str:
    """Return how many right labels are lost and gained."""
    lost = counted(counts["disagreements"], "right label lost", "right labels lost")
    return f"{lost}, {count_text(counts['gained'])} gained"


def promised(risk: dict[str, Any]) -> float:
    """Return the requested risk, or with `--risk auto` the least that the data support."""
    asked, supported = risk["requested"], risk["upper_bound"]
    return float(supported if asked is None else asked)


def queries_source(report: Report) -> str:
    """Return a phrase for the source of the queries."""
    source = (report["verification"] or {}).get("queries_source")
    if source is None:
        return reason(report, "verification.queries_source")
    generated = _GENERATED if has_no_labels(report) else _GENERATED + _NEIGHBOURS
    return {
        "test-data": f"the test samples, and {generated}",
        "calibration": f"samples that the early exits were chosen with, and {generated}",
        "held-out": f"calibration samples that were held out, and {generated}",
        "generated": generated,
    }[source]


def has_early_exits(report: Report) -> bool:
    """Return whether a stage before the exact sum, or a replay after it, may decide a query."""
    return sum(stage["exit"] is not None for stage in report["stages"]) > 1


def not_certified(report: Report) -> float:
    """Return the share of the queries whose label no stage certifies."""
    shares = (stage["certified"] or 0.0 for stage in report["stages"])
    return max(0.0, round(1.0 - float(sum(shares)), 12))  # less is rounding


def statistics_source(report: Report) -> str:
    """Return a phrase for the queries over which means, percentiles and shares are taken."""
    return sample_text(report["cost"])


def sample_text(section: Report) -> str:
    """Return a phrase for the queries over which a section takes its figures."""
    kind = {
        "test-data": "test samples",
        "calibration": "samples that the early exits were chosen with",
        "held-out": "held-out calibration samples",
        "generated": "generated queries",
    }[section["queries_source"]]
    return f"{count_text(section['queries'])} {kind}"


def candidate_text(stages: Sequence[str]) -> str:
    """Return a sequence of stages in one line."""
    return " \N{RIGHTWARDS ARROW} ".join(stages)
