"""The section of the report on the monitor."""

from __future__ import annotations

from kmcompile.monitor.monitored import Monitored, Shown
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE
from kmcompile.report import watched
from kmcompile.report.section import Section

_NOT_ASKED = "no monitor was asked for: --monitor P makes one"


def monitor_section(made: Monitored | None) -> Section[watched.Monitor | None]:
    """Return the section on `--monitor`; its content is None without a monitor."""
    if made is None:
        return Section(None, {"monitor": _NOT_ASKED})
    monitor = made.monitor
    tested = () if made.tested is None else (_found("test samples", made.tested),)
    content = watched.Monitor(
        share=monitor.share,
        confidence=MONITOR_CONFIDENCE,
        parts=made.parts,
        directions=monitor.n_directions,
        features_read=monitor.n_read,
        fit_samples=made.n_fit,
        limit_samples=made.n_limit,
        shown_samples=made.n_shown,
        place=made.place,
        scores_compared=made.n_compared,
        ops=float(monitor.operations()),
        ops_without=made.mean_operations,
        ops_more=made.more,
        quantiles=[
            watched.MonitorQuantile(share=share, score=score)
            for share, score in made.quantiles.items()
        ],
        usual=[_found("samples", made.usual), *tested],
        strange=[_found(kind, shown) for kind, shown in made.strange.items()],
        notes=made.notes,
    )
    return Section(content, {})


def _found(kind: str, shown: Shown) -> watched.MonitorFound:
    return watched.MonitorFound(kind=kind, queries=shown.queries, found=shown.found)
