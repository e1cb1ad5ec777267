"""Whether the stages of a program can stand together: in this order, with the same constants."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # both import this module
    from kmcompile.ir.program import Program
    from kmcompile.stages.stage import Stage


class Place(IntEnum):
    """Where a stage stands in a program."""

    PREPARE = 0
    LIST = 1
    GATE = 2
    EXIT = 3
    SUM = 4
    LABEL = 5
    REPLAY = 6


_ALWAYS_THERE = (Place.PREPARE, Place.SUM, Place.LABEL)

Shared = tuple[tuple[str, float], ...]
"""Constants by their names in the C, or by what they are where the C has them as literals."""


def sizes(table: np.ndarray, *names: str) -> Shared:
    """Return what the shape of a table says of the constants that its axes are laid out for.

    Examples
    --------
    >>> sizes(np.zeros((3, 8)), "N_BLOCKS", "LANES")
    (('N_BLOCKS', 3), ('LANES', 8))
    """
    return tuple(zip(names, table.shape, strict=True))


def check_agreement(program: Program) -> None:
    """Check that every stage of a program is laid out for what the other ones are.

    The C has one constant for all stages that share it, and a stage reads what another one has
    written: so no program can be made whose stages take different things for granted.

    Parameters
    ----------
    program : Program

    Raises
    ------
    ValueError
        If the stages are not in their order, two have one name, or one of them needs another
        constant or sum than the program has.
    """
    _check_order(program.stages)
    exact, label = program.stages[-2:]
    for stage in program.stages[1:-2]:
        if not stage.stands_before(exact):
            raise ValueError(f"{stage.name} cannot stand before this {exact.name}")
    if not exact.stands_before(label):
        raise ValueError(f"{exact.name} cannot stand before this {label.name}")
    if program.is_regression and any(stage.is_calibrated for stage in program.early_exits):
        raise ValueError("a calibrated early exit gives labels, the program values")
    _check_made(program.stages)
    known: dict[str, tuple[str, float]] = {}
    for who, shared in _statements(program):
        for name, value in shared:
            owner, expected = known.setdefault(name, (who, value))
            if value != expected:
                raise ValueError(
                    f"{who} is laid out for {name} = {value:g}, {owner} for {expected:g}"
                )
    if program.replay is not None:
        program.replay.check_tables(exact)


def _check_order(stages: tuple[Stage, ...]) -> None:
    places = [stage.place for stage in stages]
    if sorted(places) != places:
        order = ", ".join(stage.name for stage in stages)
        raise ValueError(f"the stages stand in a wrong order: {order}")
    for place in Place:
        count = places.count(place)
        if place in _ALWAYS_THERE and count != 1:
            raise ValueError(f"{count} stages are of the kind {place.name}, must be 1")
        if count > 1 and place is not Place.EXIT:
            raise ValueError(f"{count} stages are of the kind {place.name}, must be at most 1")
    names = [stage.name for stage in stages]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{names.count(name)} stages have the name {name}")


def _check_made(stages: tuple[Stage, ...]) -> None:
    """Check that what a stage reads of an input has been made by a stage before it."""
    made: set[str] = set()
    for stage in stages:
        missing = stage.needs() - made
        if missing:
            raise ValueError(f"{stage.name} needs {min(missing)}, which no stage before it makes")
        made |= stage.makes()


def _statements(program: Program) -> Iterator[tuple[str, Shared]]:
    """Yield who takes which constants for granted, beginning with those that say what they are."""
    yield "the program", program.shared()
    for stage in sorted(program.stages, key=lambda stage: stage.place is Place.EXIT):
        yield stage.name, stage.shared()
    if program.replay is not None:
        yield program.replay.name, program.replay.shared()
