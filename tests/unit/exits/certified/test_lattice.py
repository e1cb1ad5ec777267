"""Boxes of raw inputs: where float32 puts an input, against exact rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kmcompile.exits.certified.lattice import interleaved, lattice, separated
from kmcompile.program.stages.early_exits.sign_map import SignMap

CASES = {
    "plain": ([-1.3, 0.2], [2.9, 4.1], [1.0, 1.0]),
    "far": ([999.9, -5000.3], [1000.1, -5000.1], [1.0, 1.0]),
    "uneven": ([-0.7, -700.0], [0.3, 900.0], [1.0, 1e-4]),
    "one": ([-3.3], [7.7], [2.0]),
    "wide": ([-1e-3, -1e-3, 0.1], [1e3, 1e-3, 0.2], [1.0, 1.0, 1.0]),
}


def made(name):
    low, high, scale = (np.array(v) for v in CASES[name])
    rng = np.random.default_rng(0)
    points = rng.uniform(low, high, size=(2000, len(low)))
    found = lattice(points, scale)
    assert found is not None
    return found


def map_of(boxes, level, depth) -> SignMap:
    """Return a map whose grid is a level's, with places `depth` levels deeper."""
    across = boxes.across(level)
    size = boxes.width * 2.0**-level
    one = np.float32(1.0)
    return SignMap.of(np.zeros(1, dtype=np.uint8), boxes.low, size, across, depth, (one, one))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CASES)
def test_an_input_lies_in_its_box_with_what_is_added_to_it(name):
    """In exact numbers, with differences that are rounded; and they are: some lie outside."""
    rng = np.random.default_rng(1)
    boxes = made(name)
    outside = 0.0
    for level in (0, 2):
        stage = map_of(boxes, level, boxes.last_level - level)
        n = stage.across.astype(np.int64) << stage.depth
        edges = boxes.low + rng.integers(0, n, size=(3000, boxes.n_features)) / stage.scale
        near = np.nextafter(edges.astype(np.float32), np.float32(-np.inf))
        X = np.concatenate([near, edges.astype(np.float32)])
        place, inside = stage.places(X)
        allowed = Fraction(boxes.inflation(boxes.last_level)) / 2  # half-widths are half a place
        for x, at in zip(X[inside], place[inside], strict=True):
            for v, low, scale, k in zip(x, boxes.low, stage.scale, at.tolist(), strict=True):
                exact = (Fraction(float(v)) - Fraction(float(low))) * Fraction(float(scale))
                distance = max(k - exact, exact - (k + 1), Fraction(0))
                assert distance <= allowed
                outside = max(outside, float(distance / allowed))
    if name in ("plain", "one"):
        assert outside > 1 / 16


@pytest.mark.parametrize("name", CASES)
def test_the_inflation_is_what_the_polynomials_are_proved_for(name):
    boxes = made(name)
    assert boxes.inflation(boxes.last_level) <= 2.0**-8
    levels = range(boxes.last_level + 1)
    assert all(boxes.across(level).max() <= 1 << 13 for level in levels)


@pytest.mark.parametrize("name", CASES)
def test_keys_name_the_boxes_that_hold_their_inputs(name):
    boxes = made(name)
    rng = np.random.default_rng(2)
    X = rng.uniform(boxes.low, boxes.high, size=(200, boxes.n_features))
    for level in range(boxes.last_level + 1):
        keys = boxes.keys(X) >> (boxes.n_features * (boxes.last_level - level))
        distance = np.abs(X - boxes.centres(keys, level))
        assert (distance <= boxes.half_widths(level) * (1 + 1e-9)).all()


def test_boxes_are_about_as_long_along_each_feature_in_the_kernel_s_eyes():
    boxes = made("uneven")
    sizes = boxes.width * np.array(CASES["uneven"][2])
    assert sizes.max() < 2 * sizes.min()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_keys_can_be_taken_apart(n):
    place = np.random.default_rng(3).integers(0, 1 << 12, size=(100, n))
    np.testing.assert_array_equal(separated(interleaved(place, 12), n, 12), place)


@pytest.mark.parametrize(
    ("points", "scale"),
    [
        (np.zeros((5, 2)), [1.0, 1.0]),
        (np.eye(2), [1.0, 0.0]),
        (np.eye(2) * 1e30, [1.0, 1.0]),
        (np.eye(2) * 1e-30, [1.0, 1.0]),
    ],
)
def test_no_boxes_where_there_is_nothing_to_halve_or_no_room_in_float32(points, scale):
    assert lattice(points, np.array(scale)) is None
