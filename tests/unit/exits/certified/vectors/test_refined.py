"""Lists of refined free vectors: longer and longer, fewer kernels, ended early where none pays."""

from __future__ import annotations

import numpy as np

from kit.span_cases import Case, case
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.refine import NestedCost
from kmcompile.exits.certified.vectors.refined import refined_lists
from kmcompile.model.normals import Normals


def lists_of(
    of: Case, lengths: tuple[int, ...], budget: SearchBudget | None = None
) -> list[np.ndarray]:
    normals = Normals.of(of.machine)
    budget = budget or SearchBudget("free vectors")
    return list(refined_lists(normals, of.machine.intercept, of.X[:80], lengths, budget))


def test_refined_vectors_need_fewer_kernels_than_support_vectors() -> None:
    of = case("breast_cancer")
    normals = Normals.of(of.machine)
    cost = NestedCost(normals, of.X, of.f, of.machine.intercept)
    (free,) = lists_of(of, (12,))
    assert cost(free)[0] < cost(greedy_vectors(normals, 12))[0]


def test_lists_are_longer_and_longer_and_the_same_every_time() -> None:
    of = case("moons")
    first, again = (lists_of(of, (4, 8)) for _ in range(2))
    assert [len(vectors) for vectors in first] == [4, 8]
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one, other)


def test_no_longer_list_is_searched_where_fewer_kernels_are_needed() -> None:
    of = case("breast_cancer")
    found = lists_of(of, (8, 16, 24, 32, 40))
    normals = Normals.of(of.machine)
    kernels = [
        NestedCost(normals, of.X[:80], of.f[:80], of.machine.intercept)(vectors)[0]
        for vectors in found
    ]
    assert len(found) < 5
    assert kernels[-1] <= len(found[-1])
    assert all(k > len(vectors) for k, vectors in zip(kernels[:-1], found[:-1], strict=True))


def test_search_ends_where_no_list_pays() -> None:
    # A narrow kernel: every support vector answers for itself.
    of = case("narrow")
    assert [len(vectors) for vectors in lists_of(of, (8, 16, 32))] == [8, 16]


def test_search_ends_where_its_budget_is_spent() -> None:
    of = case("moons")
    none, some = SearchBudget("free", operations=1.0), SearchBudget("free", operations=1e7)
    assert not lists_of(of, (4, 8), none)
    assert none.notes[0].startswith("free is left out")
    assert [len(vectors) for vectors in lists_of(of, (4, 8), some)] == [4]
    assert some.notes[0].startswith("free was searched only up to 4 vectors")


def test_samples_of_no_clear_sign_give_no_list() -> None:
    of = case("moons")
    normals = Normals.of(of.machine)
    budget = SearchBudget("free")
    assert not list(refined_lists(normals, of.machine.intercept, of.X[:0], (4,), budget))
