"""The order in which vectors of both signs are touched."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.program.stages.early_exits.tug_of_war import tug_of_war

NONE = np.zeros((2, 0), dtype=np.intp)
SOME = np.array([[0, 1, 2], [2, 0, 1]], dtype=np.intp)


@pytest.mark.parametrize("sides", [(SOME, NONE), (NONE, SOME)], ids=["positive", "negative"])
def test_where_all_vectors_have_one_sign_their_order_is_taken(sides):
    """So it is in a one-class machine."""
    beta = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    assert (tug_of_war(*sides, beta, 3) == SOME).all()
