"""The content of report.html: texts, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

from markupsafe import Markup

from kmcompile.report import checks, facts, page_rows, summary
from kmcompile.report.accuracy_section import accuracy_rows, confusions
from kmcompile.report.cascade import Cascade
from kmcompile.report.cascade_table import cascade_table
from kmcompile.report.choices import CAPTION, HEADS, choice_rows, choices_plot
from kmcompile.report.flight import told_of
from kmcompile.report.memory_map import memory_maps
from kmcompile.report.mode_rows import mode_rows, modes_advice, modes_source
from kmcompile.report.reduction_text import reduction_facts
from kmcompile.report.repeat import repeats
from kmcompile.report.summary import Fact, Report
from kmcompile.report.target_table import target_and_host
from kmcompile.report.trajectories import Trajectories
from kmcompile.verify.evidence import Evidence

if TYPE_CHECKING:
    from kmcompile.report.drawing import Plot


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot whose SVG was made by kmcompile and is inserted without escaping."""

    plot: Plot
    svg: Markup


def page_of(
    report: Report,
    evidence: Evidence | None,
    cascade: Cascade | None,
    trajectories: Trajectories | None,
) -> SimpleNamespace:
    """Return what the page's template shows, by name.

    Parameters are those of `kmcompile.report.html.render`. The template refuses a name that is not
    here.
    """
    status, verdict = checks.verdict(report)
    values = summary.is_regression(report)
    figures = _value_figures(evidence, values)
    made = report["calibration"] or report["choice"] or {"candidates": (), "notes": ()}
    alone = "Every query takes the exact sum: there are no early exits."
    return SimpleNamespace(
        title=summary.title(report),
        description=summary.description(report),
        version=f"{report['tool']['name']} {report['tool']['version']}",
        verdict=verdict,
        verdict_level=page_rows.level(status),
        tiles=page_rows.tiles(report),
        identity=page_rows.identity(report),
        checks=page_rows.checks(report),
        queries_source=summary.queries_source(report),
        repeats=repeats(report),
        is_regression=values,
        cascade=cascade_table(report),
        statistics_source=summary.statistics_source(report),
        steps=_step_figures(report, trajectories),
        no_steps="" if trajectories is not None else alone,
        stage_figures=_stage_figures(cascade),
        costs=tuple(fact for fact in facts.costs(report) if not fact.missing),
        cost_figures=_cost_figures(report, cascade),
        no_cost_figures="" if cascade is not None else alone,
        memory=memory_maps(report),
        targets=target_and_host(report),
        values="Values" if values else "Decision values",
        figures=figures,
        no_figures="" if figures else "There are no decision values to plot.",
        modes=tuple(mode_rows(report)),
        modes_source=modes_source(report),
        modes_advice=modes_advice(report),
        choices=tuple(choice_rows(report["choices"])),
        choice_heads=HEADS,
        choice_caption=CAPTION,
        choice_figures=figures_of(choices_plot(report)),
        formats=page_rows.formats(report),
        formats_source=summary.formats_source(report),
        reduction=reduction_facts(report),
        reduction_points=page_rows.reduction_points(report),
        reduction_figures=_reduction_figures(report),
        reduction_notes=tuple((report["reduction"] or {"notes": ()})["notes"]),
        flight=told_of(report),
        risk_title=summary.promise_title(report),
        risk=tuple(facts.risk_facts(report)),
        accuracy=tuple(accuracy_rows(report)),
        confusions=tuple(confusions(report)),
        calibration=tuple(facts.calibration_facts(report)),
        choice=tuple(facts.choice_facts(report)),
        candidates=page_rows.candidates(report, made["candidates"]),
        exit_notes=tuple(made["notes"]),
        model=page_rows.model(report),
        target=page_rows.target(report),
        not_shown=tuple(report["target"]["not_shown"]),
        notes=tuple(report["notes"]),
        options=page_rows.options(report),
        files=tuple(report["files"].items()),
        missing=tuple(Fact(path, why) for path, why in report["not_available"].items()),
    )


# matplotlib takes half a second to import, which only a page with plots needs to pay.


def _value_figures(evidence: Evidence | None, of_regression: bool) -> tuple[Figure, ...]:
    if evidence is None:
        return ()
    from kmcompile.report.plots import plots

    return figures_of(plots(evidence, of_regression))


def _stage_figures(cascade: Cascade | None) -> tuple[Figure, ...]:
    if cascade is None:
        return ()
    from kmcompile.report.cascade_plots import cascade_plots

    return figures_of(cascade_plots(cascade))


def _cost_figures(report: Report, cascade: Cascade | None) -> tuple[Figure, ...]:
    if cascade is None:
        return ()
    from kmcompile.report.cost_plots import cost_plots

    return figures_of(cost_plots(report, cascade.operations, cascade.instructions))


def _step_figures(report: Report, trajectories: Trajectories | None) -> tuple[Figure, ...]:
    if trajectories is None:
        return ()
    from kmcompile.report.trajectory_plots import trajectory_plot

    return figures_of([trajectory_plot(trajectories, summary.is_regression(report))])


def _reduction_figures(report: Report) -> tuple[Figure, ...]:
    if report["reduction"] is None:
        return ()
    from kmcompile.report.reduction_plot import reduction_plot

    return figures_of(reduction_plot(report))


def figures_of(plots: Sequence[Plot]) -> tuple[Figure, ...]:
    """Return plots with their SVG, for the page's templates."""
    return tuple(Figure(plot, Markup(plot.svg)) for plot in plots)
