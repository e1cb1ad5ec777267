"""The figures of each check, which are parts of report.json."""

from __future__ import annotations

from dataclasses import dataclass

NO_LABELS = "a regression gives values: there is no label to certify"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRun:
    """C against the interpreter, bit for bit, on one machine."""

    queries: int
    mismatches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """The interpreter against the float64 model.

    Attributes
    ----------
    sign_disagreements : int or None
        Number of queries with another sign and abs(f) above the bound; None in a regression.
    """

    queries: int
    sign_disagreements: int | None
    max_error: float
    max_bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """The certified labels against the model's."""

    queries: int
    certified_share: float
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """The probabilities of a calibrated machine against the float64 model's."""

    queries: int
    max_error: float
    max_bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinTolerance:
    """Labels and intervals against the float64 model at points within the input tolerance.

    Attributes
    ----------
    smallest, largest : float
        Tolerances of the raw features.
    queries : int
        Number of queries of which the shares are taken.
    certified_share : float or None
        Share of labels that are certified for every input within the tolerance; None, as the next
        two, in a regression.
    certified_alone_share : float or None
        Share of labels that the sums certify for the received input alone.
    changed_share : float or None
        Share of queries for which a point within the tolerance with another label was found. No
        more than 1 - changed_share can be certified.
    mean_half_width : float or None
        Of a regression: mean of half the width of the intervals.
    mean_reached : float or None
        Of a regression: mean of the largest distance from its value that was found for a query.
    points : int
        Number of points of all queries that were tried.
    """

    smallest: float
    largest: float
    queries: int
    certified_share: float | None
    certified_alone_share: float | None
    changed_share: float | None
    mean_half_width: float | None
    mean_reached: float | None
    points: int
    wrong: int
