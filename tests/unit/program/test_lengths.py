"""reliability 44: a table that is too short for the C, which would read behind it, is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from test_indices import CASES, program

from kit.catalogue import CORE
from kit.coded import Coded, smooth
from kit.every_target import GROUPS

OPEN = {
    "LeafExpansion.basis": "with no row the curved test is left out",
    "Monitor.weight": "fewer features are read",
    "NearestVectors.residuals": "with none there is no part outside of the dimensions",
    "Project.blocks": "fewer lanes have fewer rows that fill up a block",
    "RangeGate.usual": "the C has numbers in its place",
}
"""Arrays that may be shorter, and what the C does then."""

Build = Callable[[Any], Any]


def arrays(of: Any, build: Build) -> Iterator[tuple[str, np.ndarray, Build]]:
    """Yield arrays by class and field, with what makes a whole program of another such array."""
    for field in fields(of):
        value = getattr(of, field.name)

        def rebuilt(new: Any, name: str = field.name) -> Any:
            return build(replace(of, **{name: new}))

        if isinstance(value, np.ndarray) and value.size:
            yield f"{type(of).__name__}.{field.name}", value, rebuilt
        elif is_dataclass(value):
            yield from arrays(value, rebuilt)
        elif isinstance(value, tuple):
            for n, one in enumerate(value):
                if is_dataclass(one):

                    def in_place(new: Any, n: int = n, value: Any = value, to: Build = rebuilt):
                        return to((*value[:n], new, *value[n + 1 :]))

                    yield from arrays(one, in_place)


@pytest.mark.parametrize(
    "case",
    [*CASES, CORE[1], Coded(smooth, "int8", low_parts=True), *GROUPS["exits"][::2]],
    ids=str,
)
def test_a_table_that_is_too_short_is_refused(case):
    accepted = set()
    for name, values, build in arrays(program(case), lambda made: made):
        for axis in range(values.ndim):
            try:
                build(np.delete(values, -1, axis))
            except (ValueError, IndexError, ZeroDivisionError):
                continue
            accepted.add(name)
    assert accepted <= set(OPEN)
