"""report.html: one file without scripts or links to elsewhere, light and dark, made to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from kmcompile.report import summary
from kmcompile.report.cascade import Cascade
from kmcompile.report.evidence import Evidence
from kmcompile.report.figures import bytes_text, count_text, ratio_text, share_text, small_text
from kmcompile.report.html_environment import html_environment
from kmcompile.report.summary import Check, Fact, Report, Status, Usage

if TYPE_CHECKING:
    from kmcompile.report.drawing import Plot

_NEARLY_FULL = 0.9


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar against a budget; `width` is CSS, `level` a class of the style sheet."""

    usage: Usage
    of_budget: str
    width: str
    level: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; its cells are text."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check with the class of its badge."""

    check: Check
    level: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot whose SVG is markup of our own making."""

    plot: Plot
    svg: Markup


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template reads."""

    title: str
    description: str
    version: str
    verdict: str
    verdict_level: str
    tiles: tuple[Fact, ...]
    checks: tuple[CheckRow, ...]
    queries_source: str
    commands: tuple[str, ...]
    is_regression: bool
    values: str
    figures: tuple[Figure, ...]
    no_figures: str
    bars: tuple[Bar, ...]
    tables: tuple[Row, ...]
    formats: tuple[Row, ...]
    formats_source: str
    stages: tuple[Row, ...]
    statistics_source: str
    stage_figures: tuple[Figure, ...]
    costs: tuple[Fact, ...]
    risk: tuple[Fact, ...]
    calibration: tuple[Fact, ...]
    choice: tuple[Fact, ...]
    candidates: tuple[Row, ...]
    exit_notes: tuple[str, ...]
    model: tuple[Fact, ...]
    target: tuple[Fact, ...]
    not_shown: tuple[str, ...]
    notes: tuple[str, ...]
    options: tuple[Fact, ...]
    files: tuple[Row, ...]
    missing: tuple[Fact, ...]


def render(
    report: Report, evidence: Evidence | None = None, cascade: Cascade | None = None
) -> bytes:
    """Return report.html.

    Parameters
    ----------
    report : dict
        report.json, checked by `json_report`.
    evidence : Evidence, optional
        The values behind the plots; without them the page says that there are none.
    cascade : Cascade, optional
        Where each query left; None without early exits.
    """
    template = html_environment().get_template("report/report.html.j2")
    return template.render(page=_page(report, evidence, cascade)).encode("utf-8")


def _page(report: Report, evidence: Evidence | None, cascade: Cascade | None) -> Page:
    status, verdict = summary.verdict(report)
    values = summary.is_regression(report)
    figures = _figures(_plots(evidence, values) if evidence is not None else [])
    made = report["calibration"] or report["choice"] or {"candidates": (), "notes": ()}
    return Page(
        title=summary.title(report),
        description=summary.description(report),
        version=f"{report['tool']['name']} {report['tool']['version']}",
        verdict=verdict,
        verdict_level=_level(status),
        tiles=_tiles(report),
        checks=tuple(CheckRow(check, _level(check.status)) for check in summary.checks(report)),
        queries_source=summary.queries_source(report),
        commands=tuple((report["verification"] or {"commands": ()})["commands"]),
        is_regression=values,
        values="Values" if values else "Decision values",
        figures=figures,
        no_figures="" if figures else "There are no decision values to plot.",
        bars=tuple(_bar(usage) for usage in summary.usages(report)),
        tables=_tables(report),
        formats=_formats(report),
        formats_source=summary.formats_source(report),
        stages=_stages(report),
        statistics_source=summary.statistics_source(report),
        stage_figures=_figures(_cascade_plots(cascade, values) if cascade is not None else []),
        costs=tuple(summary.costs(report)),
        risk=tuple(summary.risk_facts(report)),
        calibration=tuple(summary.calibration_facts(report)),
        choice=tuple(summary.choice_facts(report)),
        candidates=_candidates(report, made["candidates"]),
        exit_notes=tuple(made["notes"]),
        model=_model(report),
        target=_target(report),
        not_shown=tuple(report["target"]["not_shown"]),
        notes=tuple(report["notes"]),
        options=_options(report),
        files=tuple(Row(item) for item in report["files"].items()),
        missing=tuple(Fact(path, why) for path, why in report["not_available"].items()),
    )


def _plots(evidence: Evidence, of_regression: bool) -> list[Plot]:
    # matplotlib takes half a second to import, which only a page with plots needs to pay.
    from kmcompile.report.plots import plots

    return plots(evidence, of_regression)


def _cascade_plots(cascade: Cascade, of_regression: bool) -> list[Plot]:
    from kmcompile.report.cascade_plots import cascade_plots

    return cascade_plots(cascade, of_regression)


def _figures(plots: Sequence[Plot]) -> tuple[Figure, ...]:
    return tuple(Figure(plot, Markup(plot.svg)) for plot in plots)


def _level(status: Status) -> str:
    return {Status.PASSED: "good", Status.FAILED: "bad", Status.NOT_RUN: "open"}[status]


def _tiles(report: Report) -> tuple[Fact, ...]:
    tiles = [
        summary.fact(report, "flash", "memory.flash_bytes", bytes_text),
        summary.fact(report, "stack, worst case", "memory.stack_bytes", bytes_text),
        summary.fact(report, "instructions a query", "target.instructions.mean", count_text),
        summary.fact(
            report, "mismatches on the target", "verification.exact.target.mismatches", count_text
        ),
        summary.fact(report, "largest bound", "verification.bounded.max_bound", small_text)
        if summary.is_regression(report)
        else summary.fact(
            report, "certified labels", "verification.certified.certified_share", share_text
        ),
    ]
    if summary.has_early_exits(report):
        tiles.append(summary.fact(report, "speed-up in operations", "cost.speedup_ops", ratio_text))
    if report["risk"] is not None:
        tiles.append(summary.fact(report, "risk, at most", "risk.upper_bound", small_text))
    return tuple(tile if not tile.missing else Fact(tile.label, "-", True) for tile in tiles)


def _bar(usage: Usage) -> Bar:
    if usage.share is None:
        return Bar(usage, usage.budget, "0%", "none")
    level = "over" if usage.share > 1 else "near" if usage.share > _NEARLY_FULL else "fits"
    of_budget = f"{share_text(usage.share)} of {usage.budget}"
    return Bar(usage, of_budget, f"{min(100.0, 100 * usage.share):.2f}%", level)


def _tables(report: Report) -> tuple[Row, ...]:
    tables = sorted(report["memory"]["tables"], key=lambda table: -table["bytes"])
    return tuple(Row((table["name"], count_text(table["bytes"]))) for table in tables)


def _formats(report: Report) -> tuple[Row, ...]:
    """Return the number formats that were compared; a dash where there is no such program."""
    return tuple(
        Row(
            (
                row.name,
                row.tables or "-",
                row.operations or "-",
                row.instructions or "-",
                row.certified or "-",
                "taken" if row.chosen else "-",
                row.reason,
            )
        )
        for row in summary.format_rows(report)
    )


def _stages(report: Report) -> tuple[Row, ...]:
    rows = []
    for stage in report["stages"]:
        exit_text = "hands on" if stage["exit"] is None else stage["exit"]
        shares = [
            "-" if stage[key] is None else share_text(stage[key])
            for key in ("decided", "certified")
        ]
        counts = [
            "-" if stage[key] is None else count_text(stage[key])
            for key in ("kernel_evals_mean", "ops_mean", "ops_mean_decided", "table_bytes")
        ]
        rows.append(Row((stage["name"], exit_text, *shares, *counts)))
    if not summary.is_regression(report):
        left_open = share_text(summary.not_certified(report))
        rows.append(Row(("not certified", "", "", left_open, "", "", "", "")))
    return tuple(rows)


def _candidates(report: Report, candidates: Sequence[Any]) -> tuple[Row, ...]:
    exact = report["cost"]["exact_ops"]
    return tuple(
        Row(
            (
                summary.candidate_text(candidate["stages"]),
                count_text(candidate["mean_ops"]),
                ratio_text(exact / candidate["mean_ops"]),
                "taken" if candidate["chosen"] else "-",
            )
        )
        for candidate in candidates
    )


def _model(report: Report) -> tuple[Fact, ...]:
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


def _target(report: Report) -> tuple[Fact, ...]:
    return (
        Fact("name", report["target"]["name"]),
        Fact("description", report["target"]["description"]),
        summary.fact(report, "emulator", "target.emulator", str),
    )


def _options(report: Report) -> tuple[Fact, ...]:
    """Return the options in effect; those not given stay out."""
    given = {name: value for name, value in report["options"].items() if value is not None}
    return tuple(Fact(f"--{name.replace('_', '-')}", str(value)) for name, value in given.items())


def _joined(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items)) or "none"
