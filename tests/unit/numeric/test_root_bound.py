"""The upper bound on a square root: never below it, and close where that matters."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.scalar.root_bound import root_bound

CLOSE = 2.0**-19
"""2^-21 on top of 4.5 % squared and halved twice, and what rounds: below four times 2^-21."""


def test_it_is_never_below_and_close_for_every_exponent():
    bits = np.arange(0, int(np.float32(2.0**126).view(np.uint32)), 997, dtype=np.uint32)
    v = bits.view(np.float32)
    exact = np.sqrt(v.astype(np.float64))
    bound = root_bound(v).astype(np.float64)
    assert (bound >= exact).all()
    large = v >= 2.0**-80
    assert (bound[large] <= exact[large] * (1 + CLOSE)).all()
    assert (bound[~large] <= 2.0**-40 * (1 + CLOSE) + 2.0**-49).all()


def test_it_is_never_below_in_two_octaves():
    v = np.arange(np.float32(1).view(np.uint32), np.float32(4).view(np.uint32), 3, dtype=np.uint32)
    v = v.view(np.float32)
    assert (root_bound(v).astype(np.float64) >= np.sqrt(v.astype(np.float64))).all()
