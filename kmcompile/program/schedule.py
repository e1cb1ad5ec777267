"""The schedule of `--step N`: which pieces of a query each call of `<name>_step` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kmcompile.errors import OverBudgetError
from kmcompile.program.piece import Piece
from kmcompile.program.pieces import check_operations, pieces
from kmcompile.program.program import Program, Step
from kmcompile.program.stages import PairSum
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a piece's turns in one step.

    Parameters
    ----------
    piece : Piece
    count : int
        The turns in one step; of pairs the kernels that it computes at most.
    until : int
        The turns that are done when the last of the place's steps is over.
    """

    piece: Piece
    count: int
    until: int

    @property
    def operations(self) -> int:
        """Multiply-adds in the worst case."""
        if self.piece.per_kernel:
            return self.piece.operations + (self.count - 1) * self.piece.per_kernel
        return self.count * self.piece.operations


@dataclass(frozen=True, slots=True)
class Place:
    """The steps that do the same; a job is at one place, and the number of a place is from 1.

    Parameters
    ----------
    number : int
    parts : tuple of Part
    repeats : int
        Steps at this place, one after the other; more than 1 only where there is one part. Of
        pairs the most steps.
    check : int
        Multiply-adds with which each step looks at what the job has kept.
    """

    number: int
    parts: tuple[Part, ...]
    repeats: int = 1
    check: int = 0

    @property
    def operations(self) -> int:
        """Multiply-adds of one step in the worst case."""
        return self.check + sum(part.operations for part in self.parts)

    @property
    def most_kernels(self) -> int:
        """Of a pair sum: the kernels that one step computes at most; otherwise 0."""
        return self.parts[0].count if self.parts[0].piece.per_kernel else 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The places of a program's steps in order.

    Every path passes the places in this order. So how many steps a query takes depends only on the
    stage that answers it, and in a pair sum on the pairs that settle the label.
    """

    most_operations: int
    places: tuple[Place, ...]

    @property
    def most_steps(self) -> int:
        """Steps of the longest path."""
        return sum(place.repeats for place in self.places)

    @property
    def operations(self) -> int:
        """Multiply-adds of the longest step in the worst case."""
        return max(place.operations for place in self.places)

    @property
    def pair_place(self) -> Place | None:
        """The place at which a pair sum sums its pairs; None of other sums."""
        return next((place for place in self.places if place.most_kernels), None)

    def steps_through(self, last: Piece) -> int:
        """Return the most steps of a query that a piece answers."""
        steps = 0
        for place in self.places:
            steps += place.repeats
            if any(part.piece == last and part.until == last.count for part in place.parts):
                return steps
        raise ValueError(f"{last.name} is no piece of this program")


def smallest_step(program: Program) -> Piece:
    """Return the largest piece, with what a step does before it: no step can be smaller."""
    largest = max(pieces(program), key=lambda piece: piece.operations)
    return replace(largest, operations=largest.operations + check_operations(program))


def schedule(program: Program) -> Schedule:
    """Return the schedule of a program that `--step` was given for.

    Every step takes as many pieces in a row as its operations allow.

    Raises
    ------
    OverBudgetError
        If a piece alone has more operations; the text names the largest.
    """
    assert program.step is not None
    most, largest = program.step.operations, smallest_step(program)
    if largest.operations > most:
        counted = _counted(program.step, largest)
        raise OverBudgetError(
            f"--step {most}: {largest.name} has {largest.operations:,} operations{counted}, "
            f"and is not parted\ngive --step {largest.operations} or more{_remedy(largest)}",
            "step",
            largest.operations,
            most,
        )
    places: list[Place] = []
    check = check_operations(program)
    for parts, repeats in _steps(program, most - check):
        last = places[-1] if places else None
        if last is not None and _goes_on(last.parts, parts):
            places[-1] = replace(last, parts=parts, repeats=last.repeats + repeats)
        else:
            places.append(Place(len(places) + 1, parts, repeats, check))
    return Schedule(most, tuple(places))


def weighted_step(program: Program, target: Target, operations: int) -> Step:
    """Return the step of so many operations at most, with the target's weights of the replay's."""
    cost, own = target.cost, program.number_format
    in_integers = program.replay is not None and program.replay.in_integers
    integers_weight = cost.replay_weight(own, in_integers=True) if in_integers else None
    return Step(operations, cost.replay_weight(own), integers_weight)


def _counted(step: Step, piece: Piece) -> str:
    """Return how an operation of a replay's piece is counted; "" if as any other."""
    weight, said = step.replay_weight if "replay" in piece.kind else 1, "in double"
    if step.integers_weight is not None and piece.kind in ("replay_block", "replay_pair"):
        weight, said = step.integers_weight, "of the replay"
    return f", one {said} counted as {weight}" if weight > 1 else ""


def _remedy(piece: Piece) -> str:
    """Return what else than more operations helps against a piece."""
    if piece.kind == "exit":
        return f", or leave it out with --exclude {piece.name}"
    return ", or --replay none" if "replay" in piece.kind else ""


def _goes_on(before: tuple[Part, ...], parts: tuple[Part, ...]) -> bool:
    """Return whether a step does as many turns of one piece as the step before it did."""
    if len(before) != 1 or len(parts) != 1:
        return False
    return before[0].piece == parts[0].piece and before[0].count == parts[0].count


def _steps(program: Program, most: int) -> Iterator[tuple[tuple[Part, ...], int]]:
    """Yield the parts of each step on the longest path, and how many steps have them."""
    parts: list[Part] = []
    left = most
    for piece in pieces(program):
        if piece.per_kernel:
            # How many steps the pairs take depends on the input: they share none with others.
            yield tuple(parts), 1
            exact = program.ends.exact
            assert isinstance(exact, PairSum)
            fits = 1 + (most - piece.operations) // piece.per_kernel
            kernels = min(fits, exact.longest_pair)
            more = 0 if kernels == exact.longest_pair else exact.n_vectors // kernels
            yield (Part(piece, kernels, piece.count),), more + piece.count
            parts, left = [], most
            continue
        done = 0
        while done < piece.count:
            fits = piece.count - done
            if piece.operations:
                fits = min(fits, left // piece.operations)
            if fits == 0:
                yield tuple(parts), 1
                parts, left = [], most
                continue
            done += fits
            left -= fits * piece.operations
            parts.append(Part(piece, fits, done))
    yield tuple(parts), 1
