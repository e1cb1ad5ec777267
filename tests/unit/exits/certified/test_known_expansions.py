"""Trees about the same samples share their parts and the rows of their expansions."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.certified.expansion import Vectors, expand
from kmcompile.exits.certified.known_expansions import Known

RNG = np.random.default_rng(0)
OF = Vectors(0.3, RNG.normal(size=(30, 4)), RNG.normal(size=(5, 30)))
CENTRE = np.full(4, 0.25)


def test_rows_keep_the_bits_that_they_were_made_with():
    known = Known()
    made = {}
    for decisions, new in (
        ([1, 3], [1, 3]),
        ([0, 1, 3], [0]),
        ([3], []),
        ([0, 1, 2, 3, 4], [2, 4]),
    ):
        if new:
            made |= {p: (row, expand(OF, np.array(new), CENTRE, 1.0)) for row, p in enumerate(new)}
        e = known.expansion(0, OF, np.array(decisions), CENTRE, 1.0)
        for name in ("constant", "linear", "quadratic", "ends", "norms", "tail", "error"):
            expected = [getattr(of, name)[row] for row, of in map(made.get, decisions)]
            np.testing.assert_array_equal(getattr(e, name), expected)


def test_expansions_are_made_once_until_their_level_is_forgotten():
    known = Known()
    first = known.expansion(1, OF, np.array([0, 2]), CENTRE, 1.0)
    assert known.expansion(1, OF, np.array([0, 2]), CENTRE, 1.0) is first
    known.keep(1)
    assert known.expansion(1, OF, np.array([0, 2]), CENTRE, 1.0) is not first


def test_parts_of_a_cell_are_made_once():
    known, made = Known(), []
    for branches in (4, 4, 8):
        known.parts(np.arange(9), branches, lambda: made.append(0) or [])
    assert len(made) == 2
