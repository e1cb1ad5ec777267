"""The curve of a reduction: vectors against disagreement, flash and worst case."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.calibration import Of


@dataclass(frozen=True, slots=True)
class Point:
    """A machine of one size.

    Parameters
    ----------
    n_vectors : int
    method : str
        How its vectors were found: "matching_pursuit", "construction", "imitation", ...
    disagreements : int or None
        Samples that it answers unlike the trained machine, or, where a loss is promised, whose
        right label it loses; None without samples.
    n_samples : int
        Samples on which the disagreements were counted. No vector was chosen by them.
    limit : float or None
        Upper limit of the probability of a disagreement, or of the loss, at 99 % confidence.
    table_bytes : int
        Flash of the tables.
    operations : int
        Multiply-adds of the worst case.
    distance : float
        The largest relative distance of a decision, |W_p - W^_p| / |W_p|; in a routed machine
        that of the largest values of a leaf.
    gained : int or None
        Samples whose right label it gains; None where no loss is promised.
    accuracy : Accuracy or None
        Right labels of these samples, where a loss is promised.
    """

    n_vectors: int
    method: str
    disagreements: int | None
    n_samples: int
    limit: float | None
    table_bytes: int
    operations: int
    distance: float
    gained: int | None = None
    accuracy: Accuracy | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """What `--reduce` did to a machine.

    Parameters
    ----------
    asked : str
        "auto" or the number of vectors.
    risk : float or None
        The largest probability of a disagreement, or the largest loss, that `auto` allows.
    points : tuple of Point
        The machines that were compared, in decreasing size; the first one is the trained machine.
    chosen : Point
    notes : tuple of str
    """

    asked: str
    risk: float | None
    points: tuple[Point, ...]
    chosen: Point
    notes: tuple[str, ...]

    @property
    def of(self) -> Of:
        """What `auto` keeps, and what the limits are of."""
        return "risk" if all(point.gained is None for point in self.points) else "loss"

    @property
    def n_before(self) -> int:
        """Vectors of the trained machine."""
        return self.points[0].n_vectors
