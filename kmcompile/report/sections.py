"""The sections of a report, in the order of the page."""

from __future__ import annotations

from kmcompile.report import facts, summary
from kmcompile.report.accuracy_section import accuracy_table, confusions
from kmcompile.report.cascade import Cascade
from kmcompile.report.cascade_plots import cascade_plots
from kmcompile.report.cascade_table import cascade_table
from kmcompile.report.checks import checks_table
from kmcompile.report.choices import choices_parts
from kmcompile.report.cost_plots import cost_plots
from kmcompile.report.flight import told_of
from kmcompile.report.format_table import formats_table
from kmcompile.report.measured import ABOUT
from kmcompile.report.memory_map import memory_maps
from kmcompile.report.mode_rows import modes_parts
from kmcompile.report.plots import plots
from kmcompile.report.reduction_plot import reduction_plot
from kmcompile.report.reduction_text import reduction_facts
from kmcompile.report.repeat import repeats
from kmcompile.report.summary import Report
from kmcompile.report.target_table import target_and_host
from kmcompile.report.told import (
    Fact,
    Facts,
    Figures,
    Items,
    Part,
    Rows,
    Text,
    Told,
    notes,
    told,
)
from kmcompile.report.trajectories import Trajectories
from kmcompile.report.trajectory_plots import trajectory_plot
from kmcompile.verify.evidence import Evidence

_ALONE = Text("Every query takes the exact sum: there are no early exits.")
_CERTIFIED = "Certified: share that leaves here with a label that is proved to be the model's. "
_HERE = (
    "Kernels and operations here: mean over the queries that come here, and the most that any "
    "input takes; until here: mean of all operations of the queries that leave here. Those of a "
    "replay are in double precision."
)
_COST = (
    "Operations are multiply-adds counted by the cost model, all overhead included; in an integer "
    "format of integers, one in float as several of them. Instructions are counted on the "
    "emulator; they are neither cycles nor time. The speed-up in kernel evaluations is the support "
    "vectors over the mean k, a query without any counted as 1."
)
_REDUCED = (
    "Disagreements: samples that the trained machine answers otherwise; no vector was chosen by "
    "them. At most: limit of the probability of a disagreement. Distance: the largest "
    "|W - W^| / |W| of a decision."
)


def sections(
    report: Report,
    evidence: Evidence | None = None,
    cascade: Cascade | None = None,
    trajectories: Trajectories | None = None,
) -> dict[str, Told]:
    """Return the sections by name; those of what was not asked for are left out.

    Parameters are those of `kmcompile.report.html.render`.
    """
    of_loss = summary.promise_title(report).capitalize()
    of_sample = f"Of {summary.statistics_source(report)}. "
    regression = summary.is_regression(report)
    missing = [Fact(*item) for item in report["not_available"].items()]
    files = list(report["files"].items())
    costs_shown = [fact for fact in facts.costs(report) if not fact.missing]
    by_stage = by_cost = by_step = None
    if cascade is not None:
        by_stage = Figures(cascade_plots(cascade), "two")
        by_cost = Figures(cost_plots(report, cascade), "two")
    if trajectories is not None:
        by_step = Figures(trajectory_plot(trajectories, regression), "one")
    values: Part = Text("There are no decision values to plot.")
    if evidence is not None and len(evidence):
        values = Figures(plots(evidence, regression))
    found = (
        told(
            *("verification", "Verification", checks_table(report)),
            Text(f"Queries: {summary.queries_source(report)}."),
            Facts(repeats(report), "repeats", "Repeat it, in the output folder"),
        ),
        told(
            *("cost", "Cost of one query", by_cost or _ALONE),
            *(Facts(costs_shown, "columns"), Text(of_sample + _COST)),
        ),
        told("time", "Time of one query", Facts(facts.times(report)), ABOUT),
        told("memory", "Memory map", *memory_maps(report)),
        told("targets", "Targets compiled", *target_and_host(report)),
        told(
            *("cascade", "The cascade", cascade_table(report)),
            Text(of_sample + _CERTIFIED * (not regression) + _HERE),
            by_stage,
        ),
        told("steps", "f(x) against steps taken", by_step),
        told("values", "Values" if regression else "Decision values", values),
        told("choices", "Choices", *choices_parts(report)),
        told("formats", "Number formats", *formats_table(report)),
        told("reduction", "Reduced machine", *_reduction(report)),
        *told_of(report),
        told("risk", of_loss, *_risk(report, regression)),
        told("modes", "Mode certified instead", *modes_parts(report)),
        told("exits", "How the early exits were chosen", *_exits(report)),
        told("model", "Model", Facts(facts.model(report)), *notes(report["notes"])),
        told(
            *("target", "Target", Facts(facts.target(report))),
            Items(report["target"]["not_shown"], "What is not shown"),
        ),
        told("missing", "Not available, and why", Facts(missing, "small")),
        told(
            *("files", "Options and files", Facts(facts.options(report))),
            Rows(("File", "SHA-256"), files, kind="hashes"),
        ),
    )
    return {one.name: one for one in found if one.parts}


def _reduction(report: Report) -> list[Part]:
    """Return the reduced machine, and the curve that it was chosen from."""
    if report["reduction"] is None:
        return []
    return [
        Facts(reduction_facts(report)),
        *notes(report["reduction"]["notes"]),
        Figures(reduction_plot(report), "one"),
        facts.reduction_points(report),
        Text(_REDUCED),
    ]


def _risk(report: Report, regression: bool) -> list[Part]:
    """Return what is promised, right and wrong labels, and the calibration."""
    if regression:
        return []
    return [
        Facts(facts.risk_facts(report)),
        accuracy_table(report),
        confusions(report),
        Facts(facts.calibration_facts(report), heading="Calibration"),
    ]


def _exits(report: Report) -> list[Part]:
    """Return how the early exits were chosen."""
    made = report["calibration"] or report["choice"]
    if not made or not made["candidates"]:
        return []
    return [
        Facts(facts.choice_facts(report)),
        *notes(made["notes"]),
        facts.candidates(report, made["candidates"]),
        Text("Operations: mean over the samples for the choice of stages, all overhead included."),
    ]
