"""The content of report.html."""

from __future__ import annotations

from types import SimpleNamespace

from kmcompile.report import checks, facts, summary
from kmcompile.report.cascade import Cascade
from kmcompile.report.repeat import repeats
from kmcompile.report.sections import sections
from kmcompile.report.summary import Report
from kmcompile.report.told import Facts
from kmcompile.report.trajectories import Trajectories
from kmcompile.verify.evidence import Evidence


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
    return SimpleNamespace(
        title=summary.title(report),
        description=summary.description(report),
        version=f"{report['tool']['name']} {report['tool']['version']}",
        verdict=verdict,
        verdict_level=checks.level(status),
        tiles=facts.tiles(report),
        identity=Facts(facts.identity(report)),
        repeats=repeats(report),
        sections=sections(report, evidence, cascade, trajectories).values(),
    )
