"""The section of the report on a reduced machine."""

from __future__ import annotations

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.reduction.curve import Point, Reduction
from kmcompile.report.missing import Content, Missing, known

_NOT_ASKED = Missing("no machine of fewer vectors was asked for: --reduce makes one")
_NO_RISK = "a number of vectors was asked for: --reduce auto keeps a risk"
_TRAINED = "this is the trained machine"
_IN_THE_PROMISE = "the promise of the whole program counts disagreements"
_NOT_COUNTED = "disagreements were not counted: that takes --data, in a regression --tolerance, too"


def reduction_section(reduction: Reduction | None) -> Content | Missing:
    """Return the section on `--reduce`: the machine that was taken, and all that were compared.

    `asked` is the value of --reduce; without it, of a routed machine that --max-instructions
    reduces, all vectors. `gained` is 0 where no loss is promised.
    """
    if reduction is None:
        return _NOT_ASKED
    chosen, trained = reduction.chosen, reduction.points[0]
    return dict(
        asked=reduction.asked,
        of=reduction.of,
        risk=known(reduction.risk, _NO_RISK),
        vectors_before=reduction.n_before,
        vectors_after=chosen.n_vectors,
        method=chosen.method,
        **_counted(chosen, trained),
        confidence=CONFIDENCE,
        distance=chosen.distance,
        points=[
            dict(
                n_vectors=point.n_vectors,
                method=point.method,
                **_counted(point, trained),
                table_bytes=point.table_bytes,
                operations=point.operations,
                distance=point.distance,
                chosen=point == chosen,
            )
            for point in reduction.points
        ],
        notes=reduction.notes,
    )


def _counted(point: Point, trained: Point) -> Content:
    """Return the samples that a machine answers otherwise than the trained one."""
    why = _NOT_COUNTED if point.n_samples == 0 else _IN_THE_PROMISE
    if point is trained:
        why = _TRAINED
    return dict(
        disagreements=known(point.disagreements, why),
        gained=point.gained or 0,
        samples=point.n_samples,
        limit=known(point.limit, why),
    )
