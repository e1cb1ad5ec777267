"""Greedy vectors: support vectors, nested, each the best of its turn."""

from __future__ import annotations

import numpy as np
import pytest

from kit.span_cases import DATA, case, random_machine, residuals, span_of
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals


@pytest.mark.parametrize("name", DATA)
def test_greedy_vectors_are_support_vectors_and_nested(name: str) -> None:
    of = case(name)
    normals = Normals.of(of.machine)
    Z = greedy_vectors(normals, 10)
    rows = {row.tobytes() for row in of.machine.support_vectors}
    assert all(z.tobytes() in rows for z in Z)
    fewer = greedy_vectors(normals, 4)
    assert np.array_equal(fewer, Z[:4])


def test_greedy_takes_the_best_vector_each_time() -> None:
    of = case("digits_0_1_2")
    normals = Normals.of(of.machine)
    chosen = greedy_vectors(normals, 3)
    span = Span.empty(normals)
    for z in chosen:
        left = [
            residuals(span.extended(s))[-1].sum()
            for s in normals.vectors
            if span.pivot(s) > LEAST_PIVOT
        ]
        span = span.extended(z)
        # Both sides are sums of at most 3 squares of shares of 1.
        assert residuals(span)[-1].sum() <= min(left) + 2.0**-53 * 1e3 / LEAST_PIVOT


def test_greedy_of_five_thousand_vectors_narrows_the_residual() -> None:
    rng = np.random.default_rng(6)
    small = random_machine(Rbf(1 / 64))
    machine = KernelMachine(
        kind="SVC",
        task=small.task,
        kernel=small.kernel,
        support_vectors=rng.normal(size=(5000, 64)),
        dual_coef=rng.normal(size=(1, 5000)),
        intercept=small.intercept,
        classes=small.classes,
        n_features=64,
    )
    normals = Normals.of(machine)
    Z = greedy_vectors(normals, 64)
    assert Z.shape == (64, 64)
    assert (np.diff(residuals(span_of(normals, Z)), axis=0) <= 0).all()
