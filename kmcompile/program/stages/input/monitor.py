"""The monitor, which tells inputs that are unlike the samples that its threshold was set by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.stage import Always

MOST_PART = (1 << 30) - 1
"""Largest magnitude of a sum of integers along a direction: any eight squares fit into 63 bits."""

MOST_DIRECTIONS = 8

MONITOR_CONFIDENCE = 0.99
"""Confidence with which no more than `Monitor.share` of usual inputs are found unlike."""


@dataclass(frozen=True, slots=True, eq=False)
class Monitor(Always):
    """x is like the samples if its score is at most `limit` and each feature within its limits.

    The score is sum_i (start_i + sum_k weight_ik x_(first + k step))^2: along each direction of
    weights, the samples vary little and inputs from elsewhere much. Either part may be missing:
    there are no directions, or no limits of the features.

    The input is the one that the entry received. In an integer format these are its codes, and all
    sums are of integers. What the monitor finds is `in_range` of the result, and nothing else
    depends on it. Calibrated exits look at their own range as they do without a monitor: what lies
    out of it gets no statistical answer, whatever `in_range` says.

    Parameters
    ----------
    share : float
        The largest share of inputs like the samples that is found unlike them; 0 < share < 1.
    n_features : int
    first, step : int
        The features that the directions read: `first`, `first` + `step`, and so on.
    weight : ndarray of shape (n_read, n_directions), float32 or int16
    start : ndarray of shape (n_directions,), float32 or int32
        Minus the value of the sum at the centre of the samples.
    limit : float32, or int below 2^63
    least, largest : ndarray of shape (n_features,) or (0,), float32, or the integers of codes
    per_unit : float32, optional
        The codes in one unit, in an integer format.
    most_code : int
        The largest magnitude of a code; 0 in float32.

    References
    ----------
    The directions are generalised eigenvectors, as Fisher's discriminant is. How the limits are set
    is in `kmcompile.monitor.order`.
    """

    share: float
    n_features: int
    first: int
    step: int
    weight: Annotated[
        np.ndarray, Layout("Weights: [feature read][direction]", where="n_directions")
    ]
    start: Annotated[
        np.ndarray, Layout("Minus the samples' centre: [direction]", where="n_directions")
    ]
    limit: np.float32 | int
    least: Annotated[np.ndarray, Layout("Least usual values: [feature]", where="n_limits")]
    largest: Annotated[np.ndarray, Layout("Largest usual values: [feature]", where="n_limits")]
    per_unit: Bound | None = None
    most_code: int = 0

    template: ClassVar[str] = "monitor"
    place: ClassVar[Place] = Place.MONITOR
    prefix: ClassVar[str] = "monitor"

    def __post_init__(self) -> None:
        for name in ("weight", "start", "least", "largest"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array, array.dtype))
        self._check_shapes()
        kinds = {array.dtype.kind for array in (self.weight, self.start, self.least, self.largest)}
        if kinds != ({"f"} if self.per_unit is None else {"i"}):
            raise ValueError("monitor: its tables must be of the input's numbers, codes or floats")
        if self.per_unit is not None:
            self._check_sums()
        elif not all(np.isfinite(a).all() for a in (self.weight, self.start, self.limit)):
            raise ValueError("monitor: weights, starts and limit must be finite")

    def _check_shapes(self) -> None:
        n_read, n = self.weight.shape
        if self.start.shape != (n,) or n > MOST_DIRECTIONS:
            raise ValueError(f"monitor: {n} directions, must have a start each and be at most 8")
        last = self.first + self.step * (n_read - 1)
        if n and not (0 <= self.first <= last < self.n_features and self.step >= 1):
            raise ValueError(f"monitor: it would read feature {last} of {self.n_features}")
        if not self.n_limits + n or self.n_limits not in (0, self.n_features):
            raise ValueError("monitor: it needs directions, or limits of every feature")
        if self.least.shape != self.largest.shape:
            raise ValueError("monitor: a feature needs a least and a largest value")

    def _check_sums(self) -> None:
        if self.weight.dtype != np.int16 or self.start.dtype != np.int32:
            raise ValueError("monitor: weights must be int16 and starts int32")
        if self.weight.size and self.largest_part() > MOST_PART:
            raise ValueError("monitor: a sum along a direction may overflow")

    def largest_part(self) -> int:
        """Return the largest magnitude of a sum of integers along a direction, for any codes."""
        weights = np.abs(self.weight.astype(np.int64)).sum(axis=0)
        return int((weights * self.most_code + np.abs(self.start.astype(np.int64))).max())

    @property
    def in_integers(self) -> bool:
        """Whether the monitor computes in integers: in an integer format it does."""
        return self.per_unit is not None

    @property
    def n_directions(self) -> int:
        """Number of directions; 0 if the score is not computed."""
        return len(self.start)

    @property
    def n_read(self) -> int:
        """Number of features that the directions read."""
        return len(self.weight)

    @property
    def n_limits(self) -> int:
        """Number of features with limits: all or none."""
        return len(self.least)

    def run(self, batch: Batch) -> Batch:
        """Return the batch as it is: no later stage reads what the monitor finds."""
        return batch

    def finds_usual(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which prepared queries are like the samples, shape (n_queries,)."""
        if self.per_unit is None:
            return self.passes(batch.raw)
        return self.passes((batch.x * self.per_unit).astype(np.int64))

    def passes(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which inputs are like the samples, shape (n_queries,).

        Parameters
        ----------
        values : ndarray of shape (n_queries, n_features), float32 or int64
        """
        usual = np.ones(len(values), dtype=bool)
        if self.n_directions:
            usual &= self.score(values) <= self.limit
        if self.n_limits:
            usual &= ((values >= self.least) & (values <= self.largest)).all(axis=1)
        return usual

    def score(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the score of inputs, shape (n_queries,): a plain sum in the order of the C."""
        kind: Any = np.float32 if self.per_unit is None else np.int64
        score: NDArray[Any] = np.zeros(len(values), dtype=kind)
        read = values[:, self.first :: self.step]
        with np.errstate(over="ignore", invalid="ignore"):  # such an input is not like the samples
            for i, start in enumerate(self.start.astype(kind)):
                part: NDArray[Any] = np.full(len(values), start, dtype=kind)
                for k, factor in enumerate(self.weight[:, i].astype(kind)):
                    part += read[:, k] * factor
                score += part * part
        return score

    def shared(self) -> Shared:
        """Return the number of features."""
        codes = () if self.per_unit is None else (("codes in one unit", float(self.per_unit)),)
        return (("N_FEATURES", self.n_features), *codes)

    def operations(self) -> int:
        """Return the multiply-adds of the score, and two comparisons for each feature's limits."""
        return self.n_directions * (self.n_read + 1) + 2 * self.n_limits

    def constants(self) -> tuple[Constant, ...]:
        """Return the private sizes of the C."""
        if not self.n_directions:
            return ()
        return (
            Constant("MONITOR_DIRECTIONS", self.n_directions, "directions of the monitor's score"),
            Constant("MONITOR_READ", self.n_read, "features that each direction reads"),
        )
