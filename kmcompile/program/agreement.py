"""Checks that the stages of a program fit each other: their order and the constants they share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kmcompile.program.laid import Laid
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.stage import Stage

_ALWAYS_THERE = (Place.PREPARE, Place.SUM, Place.LABEL)


def check_agreement(
    stages: tuple[Stage, ...],
    own: Shared,
    is_regression: bool,
    replay: Replay | None,
    others: tuple[Laid, ...],
) -> None:
    """Check that the stages of a program stand in order and agree about every shared constant.

    The C has one definition of a constant that several stages use, and a stage reads results of
    earlier stages. A program whose stages disagree is therefore refused.

    Parameters
    ----------
    stages : tuple of Stage
        All stages in order.
    own : Shared
        The constants of the program itself.
    is_regression : bool
    replay : Replay or None
    others : tuple of Laid
        What else the program has tables of.

    Raises
    ------
    ValueError
        If the stages are in the wrong order, if two have one name, if a stage needs another
        constant or another sum than the program has, or if a table has an element that is not
        below what its `Layout` says.
    """
    _check_order(stages)
    exact, label = stages[-2:]
    for stage in stages[1:-2]:
        if not stage.stands_before(exact):
            raise ValueError(f"{stage.name} cannot stand before this {exact.name}")
    if not exact.stands_before(label):
        raise ValueError(f"{exact.name} cannot stand before this {label.name}")
    if is_regression and any(stage.is_calibrated for stage in stages):
        raise ValueError("a calibrated early exit gives labels, the program values")
    _check_made(stages)
    known: dict[str, tuple[str, float]] = {}
    for who, shared in _statements(stages, own, replay):
        for name, value in shared:
            owner, expected = known.setdefault(name, (who, value))
            if value != expected:
                raise ValueError(
                    f"{who} is laid out for {name} = {value:g}, {owner} for {expected:g}"
                )
    constants = {name: value for name, (_, value) in known.items()}
    for one in (*stages, *(() if replay is None else (replay,)), *others):
        one.check_tables(constants)
    for table in stages[0].tables():  # its steps are no stages
        if table.below is not None:
            table.below.check(table.name, table.values, constants)
    if replay is not None:
        _check_replay(replay, exact)
        exits = (stage for stage in stages if isinstance(stage, EarlyExit))
        if replay.at_once and any(stage.touches for stage in exits):
            raise ValueError("a replay at once reuses no kernels of an early exit")


@lru_cache(maxsize=2)
def _check_replay(replay: Replay, exact: Stage) -> None:
    """Check once what is long to compare: programs that are made of another keep both objects."""
    replay.sum.check_reads(exact, replay.low_vectors, replay.low_coefficients)


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
    if (places[0], *places[-2:]) != _ALWAYS_THERE:
        raise ValueError(f"{stages[-1].name} stands where the label must be made")
    names = [stage.name for stage in stages]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{names.count(name)} stages have the name {name}")


def _check_made(stages: tuple[Stage, ...]) -> None:
    """Check that an earlier stage makes each result that a stage reads."""
    made: set[str] = set()
    for stage in stages:
        missing = stage.needs() - made
        if missing:
            raise ValueError(f"{stage.name} needs {min(missing)}, which no stage before it makes")
        made |= stage.makes()


def _statements(
    stages: tuple[Stage, ...], own: Shared, replay: Replay | None
) -> Iterator[tuple[str, Shared]]:
    """Yield each user of shared constants with its values, the definitions first."""
    yield "the program", own
    for stage in sorted(stages, key=lambda stage: stage.place is Place.EXIT):
        yield stage.name, stage.shared()
    if replay is not None:
        yield replay.name, replay.shared()
