"""The ends of an interval as float32 stay outside of it."""

from fractions import Fraction

import numpy as np

from kmcompile.numeric.outward import above, below

RNG = np.random.default_rng(0)
VALUES = np.concatenate(
    [
        RNG.normal(size=1000),
        RNG.choice([-1.0, 1.0], 1000) * 2.0 ** RNG.uniform(-200, 120, 1000),
        [0.0, -0.0, 2.0**-126, -(2.0**-126), 5e-324],
    ]
)


def test_the_ends_enclose_the_value():
    low, high = below(VALUES), above(VALUES)
    for value, a, b in zip(VALUES.tolist(), low.tolist(), high.tolist(), strict=True):
        assert Fraction(a) <= Fraction(value) <= Fraction(b)


def test_the_ends_enclose_the_value_where_subnormals_become_0():
    low, high = (np.where(np.abs(v) < 2.0**-126, 0.0, v) for v in (below(VALUES), above(VALUES)))
    assert (low <= VALUES).all()
    assert (high >= VALUES).all()


def test_the_sign_survives():
    clear = VALUES[np.abs(VALUES) >= 2.0**-124]
    assert np.array_equal(np.sign(below(clear)), np.sign(clear))
    assert np.array_equal(np.sign(above(clear)), np.sign(clear))


def test_float32_stays_as_it_is():
    values = VALUES.astype(np.float32)
    assert np.array_equal(below(values), values)
    assert np.array_equal(above(values), values)
