"""What both the terminal and report.html say of a report: rows of text, verdicts, reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kmcompile.report.figures import (
    bytes_text,
    confidence_text,
    count_text,
    ratio_text,
    share_text,
    small_text,
)

Report = dict[str, Any]

_GENERATED = "generated vectors, perturbations, mixtures, corners"
_NEIGHBOURS = ", bisected neighbours"
_GUARANTEES = {
    "guaranteed": "the bound holds with the confidence",
    "expected": "the bound holds in the mean over calibration sets",
    "none": "none: nothing is promised",
}


class Status(StrEnum):
    """How a check ended; a check that did not run has not passed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value; where it is not available, the reason instead."""

    label: str
    value: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes used of a budget; `share` is None without one."""

    label: str
    used: str
    budget: str
    share: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A number format that was compared; what there is no program for is empty."""

    name: str
    tables: str
    operations: str
    instructions: str
    certified: str
    chosen: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the verification."""

    what: str
    where: str
    result: str
    status: Status


def reason(report: Report, path: str) -> str:
    """Return why a field is null: its own reason, or that of the section it would be in."""
    while path:
        if path in report["not_available"]:
            return str(report["not_available"][path])
        path = path.rpartition(".")[0]
    return "not available"


def fact(report: Report, label: str, path: str, text: Callable[[Any], str]) -> Fact:
    """Return the field at `path` as a Fact."""
    value: Any = report
    for key in path.split("."):
        value = None if value is None else value[key]
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
    if part is not None and budget > part:
        note = "; ".join(filter(None, [note, f"the part itself has {bytes_text(part)}"]))
    return Usage(label, bytes_text(used), bytes_text(budget), used / budget, note)


def formats_source(report: Report) -> str:
    """Return which inputs the formats were compared by."""
    sources = {compared["queries"] for compared in report["formats"] or ()} - {None}
    return ", ".join(sorted(sources))


def format_rows(report: Report) -> list[FormatRow]:
    """Return the number formats that were compared; none where the format was given."""
    return [_format_row(compared) for compared in report["formats"] or ()]


def _format_row(compared: Report) -> FormatRow:
    name, chosen, reason = compared["format"], compared["chosen"], compared["reason"]
    if compared["width"] is None:
        return FormatRow(name, "", "", "", "", chosen, reason)
    kind = {True: ", without loss", False: ", rounded", None: ""}[compared["lossless"]]
    return FormatRow(
        name=f"{name} ({compared['width']}{kind})",
        tables=f"{bytes_text(compared['flash_tables_bytes'])} of tables",
        operations=count_text(round(compared["operations"])),
        instructions=f"about {count_text(round(compared['instructions_estimated']))} instructions"
        + _exits_text(compared["speedup_ops"]),
        certified=f"certifies {share_text(compared['certified_share'])}",
        chosen=chosen,
        reason=reason,
    )


def _exits_text(speedup: float | None) -> str:
    """Return what early exits gain, where there are any."""
    return "" if speedup in (None, 1.0) else f" (early exits: {ratio_text(speedup)} fewer)"


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
        ("queries of the instruction count", "target.instructions.queries", count_text),
    ]
    return [fact(report, *field) for field in fields]


def checks(report: Report) -> list[Check]:
    """Return the lines of the verification, those that did not run included."""
    exact = [_exact_check(report, "host", "host")]
    name, emulator = report["target"]["name"], report["target"]["emulator"]
    if emulator is not None:  # otherwise the host is the target
        exact.append(_exact_check(report, "target", f"{name} ({emulator})"))
    labels = [] if _no_labels(report) else [_certified_check(report)]
    own = [_bounded_check(report), *labels, *_probability_checks(report)]
    return [*exact, *own, *_risk_checks(report)]


def _no_labels(report: Report) -> bool:
    """Return whether the model's answers were found to be values."""
    return "verification.bounded.sign_disagreements" in report["not_available"]


def _section(report: Report, *keys: str) -> Report | None:
    section: Report | None = report["verification"]
    for key in keys:
        section = section and section[key]
    return section


def _exact_check(report: Report, place: str, where: str) -> Check:
    what = "The C equals the interpreter bit for bit"
    run = _section(report, "exact", place)
    if run is None:
        why = reason(report, f"verification.exact.{place}")
        return Check(what, where, why, Status.NOT_RUN)
    text = f"{count_text(run['queries'])} queries, {count_text(run['mismatches'])} mismatches"
    return Check(what, where, text, _status(run["mismatches"]))


def _bounded_check(report: Report) -> Check:
    what, where = "The error is within the computed bound", "float64 model"
    run = _section(report, "bounded")
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
    run = _section(report, "certified")
    if run is None:
        return Check(what, where, reason(report, "verification.certified"), Status.NOT_RUN)
    text = (
        f"{count_text(run['queries'])} queries, {share_text(run['certified_share'])} certified, "
        f"{count_text(run['wrong'])} wrong"
    )
    return Check(what, where, text, _status(run["wrong"]))


def _probability_checks(report: Report) -> list[Check]:
    """Return the check of the probabilities; none where the model has none."""
    run = _section(report, "probabilities")
    if run is None:
        return []
    text = (
        f"{count_text(run['queries'])} queries, largest error {small_text(run['max_error'])}, "
        f"largest bound {small_text(run['max_bound'])}"
    )
    return [Check("Probabilities are within their bound", "float64 model", text, Status.PASSED)]


def _risk_checks(report: Report) -> list[Check]:
    """Return the check of a guaranteed risk; test samples refute it from below only."""
    risk = report.get("risk")
    if risk is None or risk["guarantee"] != "guaranteed":  # one program refutes no expectation
        return []
    what, where = "Test samples do not refute the risk's bound", "float64 model"
    measured, bound = risk["measured"], risk["upper_bound"]
    if measured is None:
        return [Check(what, where, reason(report, "risk.measured"), Status.NOT_RUN)]
    text = (
        f"{measured_text(measured)}: a risk of at least {small_text(measured['lower_limit'])}, "
        f"the bound is {small_text(bound)}"
    )
    return [Check(what, where, text, _status(measured["lower_limit"] > bound))]


def promised(risk: dict[str, Any]) -> float:
    """Return the risk that was asked for, or with `--risk auto` what the data support."""
    asked, supported = risk["requested"], risk["upper_bound"]
    return float(supported if asked is None else asked)


def measured_text(measured: dict[str, Any]) -> str:
    """Return how many test samples got another label than the model's."""
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
    host, target = (_section(report, "exact", place) for place in ("host", "target"))
    if host and target:
        return Status.PASSED, f"verified on the host and on {name}"
    if host and report["target"]["emulator"] is None:
        return Status.PASSED, "verified on the host"
    if host or target:
        return Status.PASSED, f"verified on {'the host' if host else name} only"
    return Status.NOT_RUN, "not verified"


def queries_source(report: Report) -> str:
    """Return where the queries came from, as a phrase."""
    source = (report["verification"] or {}).get("queries_source")
    if source is None:
        return reason(report, "verification.queries_source")
    generated = _GENERATED if _no_labels(report) else _GENERATED + _NEIGHBOURS
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
    return max(0.0, round(1.0 - float(sum(shares)), 12))  # below 1 / 10^12 it is the sum's rounding


def statistics_source(report: Report) -> str:
    """Return which queries the means, percentiles and shares are of."""
    kind = {
        "test-data": "test samples",
        "calibration": "samples that the early exits were chosen with",
        "held-out": "held-out calibration samples",
        "generated": "generated queries",
    }[report["cost"]["queries_source"]]
    return f"{count_text(report['cost']['queries'])} {kind}"


def candidate_text(stages: Sequence[str]) -> str:
    """Return a sequence of stages in one line."""
    return " \N{RIGHTWARDS ARROW} ".join(stages)


def risk_facts(report: Report) -> list[Fact]:
    """Return the promised risk and what supports it."""
    fields: list[tuple[str, str, Callable[[Any], str]]] = [
        ("largest probability of another label, requested", "risk.requested", small_text),
        ("upper bound that the data support", "risk.upper_bound", small_text),
        ("confidence", "risk.confidence", confidence_text),
        ("guarantee", "risk.guarantee", _GUARANTEES.__getitem__),
        ("calibration queries", "risk.calibration_queries", count_text),
        ("disagreements among them", "risk.disagreements", count_text),
        ("measured on test samples", "risk.measured", _measured_limits),
    ]
    if report["risk"] is None:
        return [Fact("risk", reason(report, "risk"), missing=True)]
    return [fact(report, *field) for field in fields]


def _measured_limits(measured: dict[str, Any]) -> str:
    return (
        f"{measured_text(measured)}: a probability between {small_text(measured['lower_limit'])} "
        f"and {small_text(measured['upper_limit'])}, each with "
        f"{confidence_text(measured['confidence'])} confidence"
    )


def calibration_facts(report: Report) -> list[Fact]:
    """Return how the early exits were made; none without calibration."""
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
    """Return what the certified exits were chosen with; none without such a choice."""
    choice = report["choice"]
    if choice is None:
        return []
    source = {"data": "the samples in --data", "generated": "made from the support vectors"}
    return [
        Fact("samples", f"{count_text(choice['queries'])}, {source[choice['queries_source']]}"),
        Fact("what rests on them", "costs only: nothing that is proved"),
    ]
