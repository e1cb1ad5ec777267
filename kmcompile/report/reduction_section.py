"""The section of the report on a reduced machine."""

from __future__ import annotations

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.reduction.curve import Point, Reduction
from kmcompile.report import reduced
from kmcompile.report.section import Section

_NOT_ASKED = "no machine of fewer vectors was asked for: --reduce makes one"
_NO_RISK = "a number of vectors was asked for: --reduce auto keeps a risk"
_TRAINED = "this is the trained machine"
_IN_THE_PROMISE = "the promise of the whole program counts disagreements"
_NOT_COUNTED = "disagreements were not counted: that takes --data, in a regression --tolerance, too"


def reduction_section(reduction: Reduction | None) -> Section[reduced.Reduction | None]:
    """Return the section on `--reduce`; its content is None without a reduction."""
    if reduction is None:
        return Section(None, {"reduction": _NOT_ASKED})
    chosen, trained = reduction.chosen, reduction.points[0]
    reasons = {} if reduction.risk is not None else {"reduction.risk": _NO_RISK}
    places = [("reduction", chosen)]
    places += [(f"reduction.points.{number}", p) for number, p in enumerate(reduction.points)]
    for path, point in places:
        counted = _NOT_COUNTED if point.n_samples == 0 else _IN_THE_PROMISE
        reasons |= _missing(path, point, _TRAINED if point is trained else counted)
    content = reduced.Reduction(
        asked=reduction.asked,
        of=reduction.of,
        risk=reduction.risk,
        vectors_before=reduction.n_before,
        vectors_after=chosen.n_vectors,
        method=chosen.method,
        disagreements=chosen.disagreements,
        gained=chosen.gained or 0,
        samples=chosen.n_samples,
        limit=chosen.limit,
        confidence=CONFIDENCE,
        distance=chosen.distance,
        points=[_point(point, point == chosen) for point in reduction.points],
        notes=reduction.notes,
    )
    return Section(content, reasons)


def _point(point: Point, is_chosen: bool) -> reduced.ReductionPoint:
    return reduced.ReductionPoint(
        n_vectors=point.n_vectors,
        method=point.method,
        disagreements=point.disagreements,
        gained=point.gained or 0,
        samples=point.n_samples,
        limit=point.limit,
        table_bytes=point.table_bytes,
        operations=point.operations,
        distance=point.distance,
        chosen=is_chosen,
    )


def _missing(path: str, point: Point, reason: str) -> dict[str, str]:
    """Return the reasons of a point's fields that are None."""
    fields = {"disagreements": point.disagreements, "limit": point.limit}
    return {f"{path}.{name}": reason for name, value in fields.items() if value is None}
