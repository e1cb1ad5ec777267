"""Free vectors: gains with their gradients, and what vectors leave of the normals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kit.span_cases import (
    DATA,
    KERNELS,
    case,
    central_difference,
    random_machine,
    residuals,
    span_of,
)
from kmcompile.exits.certified.vectors.free import box, free_vectors, gain
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.kernels import Kernel
from kmcompile.model.normals import Normals

SEARCHES = {
    "greedy": greedy_vectors,
    "free": lambda normals, n: free_vectors(normals, n, 0),
}


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gain_of_a_free_vector_matches_differences(kernel: Kernel) -> None:
    normals = Normals.of(random_machine(kernel))
    rng = np.random.default_rng(2)
    relative, z = 1 / normals.squares, rng.normal(size=3)
    for span in (Span.empty(normals), span_of(normals, rng.normal(size=(2, 3)))):
        value, slope = gain(span, relative, z)
        difference = central_difference(lambda z, s=span: gain(s, relative, z)[0], z)
        assert_allclose(slope, difference, atol=1e-5 * max(value, np.abs(slope).max()))


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_gain_is_what_the_residual_loses(kernel: Kernel) -> None:
    normals = Normals.of(random_machine(kernel))
    rng = np.random.default_rng(3)
    span, z = span_of(normals, rng.normal(size=(3, 3))), rng.normal(size=3)
    before, after = residuals(span)[-1], residuals(span.extended(z))[-1]
    # Differences of shares of 1, through triangles of at most 4 / LEAST_PIVOT.
    value, _ = gain(span, 1 / normals.squares, z)
    assert_allclose(before.sum() - after.sum(), value, atol=2.0**-53 * 1e3 / LEAST_PIVOT)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("search", SEARCHES)
def test_chosen_vectors_narrow_the_residual_step_by_step(name: str, search: str) -> None:
    normals = Normals.of(case(name).machine)
    Z = SEARCHES[search](normals, 12)
    assert len(Z) == 12
    span = span_of(normals, Z)
    assert len(span) == len(Z)  # none of them nearly in the span of the others
    left = residuals(span)
    assert (np.diff(left, axis=0) <= 0).all()
    assert (left[-1] < 1).all()


@pytest.mark.parametrize("search", SEARCHES)
def test_vectors_end_where_the_span_is_full(search: str) -> None:
    normals = Normals.of(random_machine(KERNELS[3]))  # linear in three features
    assert len(SEARCHES[search](normals, 10)) <= 3


def test_free_vectors_are_the_same_every_time() -> None:
    normals = Normals.of(case("moons").machine)
    first, again = (free_vectors(normals, 6, 3) for _ in range(2))
    assert np.array_equal(first, again)


def test_free_vectors_keep_those_to_begin_with() -> None:
    normals = Normals.of(case("moons").machine)
    first = greedy_vectors(normals, 3)
    doubled = np.concatenate([first, first[:1]])
    Z = free_vectors(normals, 6, 0, doubled)
    assert np.array_equal(Z[:3], first)  # the doubled vector is left out
    assert len(Z) == 6


def test_free_vectors_lie_in_the_widened_box() -> None:
    normals = Normals.of(case("digits_3_8").machine)
    least, most = np.array(box(normals)).T
    Z = free_vectors(normals, 4, 0)
    assert (least <= Z).all() and (most >= Z).all()
