"""Fields of report.json on the answer in steps (`--step`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlace:
    """The steps that do the same.

    Attributes
    ----------
    does : sequence of str
        The pieces of one step; of blocks of vectors with their number.
    steps : int
        How many steps there are, one after the other.
    operations : int
        Worst-case multiply-adds of one of them.
    """

    does: Sequence[str]
    steps: int
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInstructions:
    """Instructions of one step, neither cycles nor time.

    Attributes
    ----------
    worst : int or None
        The static worst case, which no step of any input exceeds.
    worst_of_begin : int or None
        The static worst case of `begin`.
    max : int
        The largest number that was counted on the emulator.
    all_steps_mean, at_once_mean : float
        Mean instructions of all steps of a query together, and of the same query answered at once.
    queries : int
        Number of the queries whose steps were counted: of every stage that answers some.
    """

    worst: int | None
    worst_of_begin: int | None
    max: int
    all_steps_mean: float
    at_once_mean: float
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepping:
    """The answer in steps. The queries are those of `Cost`.

    Attributes
    ----------
    asked : int
        The most multiply-adds of a step, the value of `--step`, in operations of the exact sum.
    replay_weight : int or None
        What an operation in float64 counts; None without a replay.
    operations : int
        Multiply-adds of the longest step in the worst case.
    smallest : int
        The smallest value of `--step` for this program: the multiply-adds of its largest piece.
    largest_piece : str
    steps_mean, steps_p99, steps_max : float
        Steps of a query.
    steps_worst : int
        Steps that no input exceeds.
    job_bytes : int
        RAM of a job, its workspace included.
    places : sequence of StepPlace
        The steps of the longest path, in order.
    not_in_steps : sequence of str
        What the C only gives at once.
    """

    asked: int
    replay_weight: int | None
    operations: int
    smallest: int
    largest_piece: str
    steps_mean: float
    steps_p99: float
    steps_max: float
    steps_worst: int
    job_bytes: int
    places: Sequence[StepPlace]
    not_in_steps: Sequence[str]
    instructions: StepInstructions | None
