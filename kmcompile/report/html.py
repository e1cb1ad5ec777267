"""report.html: one file without scripts or links to elsewhere, light and dark, made to print."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from kmcompile.errors import InputError
from kmcompile.report import checks, facts, summary
from kmcompile.report.cascade import Cascade
from kmcompile.report.choices import choices_parts
from kmcompile.report.html_environment import html_environment
from kmcompile.report.repeat import repeats
from kmcompile.report.sections import sections
from kmcompile.report.summary import Report
from kmcompile.report.told import Facts
from kmcompile.report.trajectories import Trajectories
from kmcompile.verify.evidence import Evidence

_SECTION_END = "</section>"


def render(
    report: Report,
    evidence: Evidence | None = None,
    cascade: Cascade | None = None,
    trajectories: Trajectories | None = None,
) -> bytes:
    """Return report.html.

    Parameters
    ----------
    report : dict
        report.json, checked by `json_report`.
    evidence : Evidence, optional
        Data of the plots of decision values; without it the page says that there are no plots.
    cascade : Cascade, optional
        Data of the plots of early exits; None without early exits.
    trajectories : Trajectories, optional
        The tests of some queries; None without early exits.
    """
    status, verdict = checks.verdict(report)
    page = SimpleNamespace(
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
    template = html_environment().get_template("report/report.html.j2")
    return template.render(page=page).encode("utf-8")


def told_again(page: bytes, report: Report, names: Sequence[str]) -> bytes:
    """Return the page of a report with some sections as another report of the program has them.

    Their content follows from report.json alone. All other sections stay as they are.

    Raises
    ------
    InputError
        If the page lacks one of the sections: another release wrote it.
    """
    text, fresh = page.decode("utf-8", "replace"), sections(report)
    macros = html_environment().get_template("report/parts.html.j2").module
    for name in names:
        begin = text.find(f'<section id="{name}">')
        end = text.find(_SECTION_END, begin)
        if begin < 0 or end < 0:
            raise InputError(f"report.html has no section {name!r}; compile the model again")
        told = str(macros.sections([fresh[name]])).strip()  # type: ignore[attr-defined]
        text = text[:begin] + told + text[end + len(_SECTION_END) :]
    return text.encode("utf-8")


def notebook(report: Report) -> str:
    """Return what a notebook shows of a compiled model: its figures, and the choices with a plot.

    Parameters
    ----------
    report : dict
        report.json.
    """
    template = html_environment().get_template("report/notebook.html.j2")
    return template.render(
        title=summary.title(report),
        verdict=checks.verdict(report)[1],
        parts=[Facts(facts.tiles(report)), *choices_parts(report)],
    )
