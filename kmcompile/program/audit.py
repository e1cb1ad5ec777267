"""The audit of early exits in Python: which queries the C's `audit` checks, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.interpreter import Inputs, Status, classify, prepared
from kmcompile.program.program import Program
from kmcompile.program.stages import Nonzeros, RangeGate

_UINT32 = 0xFFFFFFFF
_START, _FACTOR = 0x9E3779B9, 0x9E3779BB


@dataclass(frozen=True, slots=True)
class Audit:
    """The C's `_audit_t`: what the audit is to do, and what it has found.

    Parameters
    ----------
    period : int
        Every query is checked with probability 1 / period; 0: none.
    state : int
        State of the random numbers; any value below 2^32 to begin with.
    queries, checked, differences : int
        Queries that were answered; those that the period drew; those of them whose label differs
        from that of the exact sum. A full counter, 2^32 - 1, stays full.
    unlike_period : int
        Another query that a calibrated exit answered is checked with probability
        min(1, w / unlike_period), w being its `RangeGate.dissimilarity`; 0: none.
    unlike_checked, unlike_differences : int
        Queries that were checked so, and those of them whose label differs.
    """

    period: int = 0
    state: int = 0
    queries: int = 0
    checked: int = 0
    differences: int = 0
    unlike_period: int = 0
    unlike_checked: int = 0
    unlike_differences: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """The queries that an audit checks.

    Parameters
    ----------
    audit : Audit
        After the last query.
    by_period, by_dissimilarity : ndarray of shape (n_queries,), bool
        Whether the query is drawn, and how. The answer is then that of the exact sum.
    """

    audit: Audit
    by_period: NDArray[np.bool_]
    by_dissimilarity: NDArray[np.bool_]


def draw(state: int, period: int) -> tuple[int, int]:
    """Return the next state of the generator xorshift32*, and a number below `period`.

    Parameters
    ----------
    state : int
        From 0 to 2^32 - 1; 0 stands for a state of the generator's own.
    period : int
        From 1 to 2^32 - 1.

    References
    ----------
    G. Marsaglia, *Xorshift RNGs* (2003); S. Vigna, *An experimental exploration of Marsaglia's
    xorshift generators, scrambled* (2016).

    Examples
    --------
    >>> draw(1, 1000)
    (270369, 231)
    """
    state = state or _START
    state ^= (state << 13) & _UINT32
    state ^= state >> 17
    state ^= (state << 5) & _UINT32
    return state, (((state * _FACTOR) & _UINT32) * period) >> 32


def audited(program: Program, X: Inputs, audit: Audit) -> Audited:
    """Return which queries the C's `audit` checks, one after the other, and what it counts.

    Parameters
    ----------
    program : Program
        A program with calibrated exits.
    X : ndarray of shape (n_queries, n_features), float32 or int64
        Any inputs; integers are codes of a program in an integer format.
    audit : Audit
        Before the first query.

    References
    ----------
    D. DeCoste and D. Mazzoni (2003), section 5.2.
    """
    early, _ = classify(program, X)
    sums, _ = classify(_without_exits(program), X)
    differs = early["label"] != sums["label"]
    by_exit = ~early["certified"] & (early["stage"] < len(program.early_exits))
    dissimilarity = _dissimilarity(program, X)
    drawn = np.zeros((2, len(X)), dtype=bool)
    for n in np.flatnonzero(early["status"] == Status.OK):
        audit = replace(audit, queries=_counted(audit.queries))
        if audit.period > 0:
            state, number = draw(audit.state, audit.period)
            audit, drawn[0, n] = replace(audit, state=state), number == 0
        if not drawn[0, n] and audit.unlike_period > 0 and by_exit[n] and dissimilarity[n] > 0:
            state, number = draw(audit.state, audit.unlike_period)
            audit, drawn[1, n] = replace(audit, state=state), number < dissimilarity[n]
        audit, drawn[:, n] = _checked(audit, drawn[:, n], bool(differs[n]))
    return Audited(audit, drawn[0], drawn[1])


def _checked(
    audit: Audit, drawn: NDArray[np.bool_], differs: bool
) -> tuple[Audit, NDArray[np.bool_]]:
    """Return the audit after a query, and how it was checked: a full counter checks no more."""
    checks = drawn & (np.array([audit.checked, audit.unlike_checked]) < _UINT32)
    if checks[0]:
        audit = replace(
            audit,
            checked=_counted(audit.checked),
            differences=_counted(audit.differences, differs),
        )
    if checks[1]:
        audit = replace(
            audit,
            unlike_checked=_counted(audit.unlike_checked),
            unlike_differences=_counted(audit.unlike_differences, differs),
        )
    return audit, checks


def _counted(count: int, more: bool = True) -> int:
    return min(count + more, _UINT32)


def _dissimilarity(program: Program, X: Inputs) -> NDArray[np.int64]:
    """Return the dissimilarity of each query; 0 where the program does not tell any."""
    found = np.zeros(len(X), dtype=np.int64)
    status, batch = prepared(program, X)
    for stage in program.exits:
        if isinstance(stage, RangeGate) and len(stage.usual):
            found[status == Status.OK] = stage.dissimilarity(stage.square(batch.x))
    return found


def _without_exits(program: Program) -> Program:
    """Return the program without early exits, with its list of nonzeros if there is one."""
    lists = tuple(stage for stage in program.exits if isinstance(stage, Nonzeros))
    return replace(program, mode="exact", exits=lists)
