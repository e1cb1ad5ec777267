"""A reduction as of a run with `--reduce auto`, and a report with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sample_report import make_report

from kmcompile.reduction.curve import Point, Reduction
from kmcompile.report.missing import Content
from kmcompile.report.reduction_section import reduction_section

TRAINED = Point(
    n_vectors=5_355,
    method="trained",
    disagreements=None,
    n_samples=0,
    limit=None,
    table_bytes=895_000,
    operations=203_490,
    distance=0.0,
)
HALF = replace(
    TRAINED,
    n_vectors=2_700,
    method="matching_pursuit",
    disagreements=4,
    n_samples=2_000,
    limit=0.0058,
    table_bytes=451_000,
    operations=102_600,
    distance=0.08,
)
SMALL = replace(
    HALF,
    n_vectors=1_400,
    method="construction",
    disagreements=31,
    limit=0.0238,
    table_bytes=234_000,
    operations=53_200,
    distance=0.21,
)
TINY = replace(
    SMALL, n_vectors=500, disagreements=212, limit=0.1231, table_bytes=84_000, operations=19_000
)
REDUCTION = Reduction(
    asked="auto",
    risk=0.025,
    points=(TRAINED, HALF, SMALL, TINY),
    chosen=SMALL,
    notes=("the vectors were chosen by a made-up method",),
)


def without_samples(point: Point) -> Point:
    return replace(point, disagreements=None, n_samples=0, limit=None)


UNCOUNTED = replace(
    REDUCTION,
    asked="1400",
    risk=None,
    points=(TRAINED, without_samples(SMALL)),
    chosen=without_samples(SMALL),
    notes=(),
)
UNREDUCED = replace(UNCOUNTED, asked="6000", points=(TRAINED,), chosen=TRAINED)


def reduced_report(reduction: Reduction = REDUCTION, **changed: Any) -> Content:
    """Return the sample report with a reduction."""
    return make_report(reduction=reduction_section(reduction), **changed)
