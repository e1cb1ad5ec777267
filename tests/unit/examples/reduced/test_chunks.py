"""Methods in chunks: one chunk is the method itself, and no chunk makes the objective larger."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from chunks import in_chunks, pursuit_of
from numpy.testing import assert_allclose
from one_norm import one_norm
from problem import Method, Problem, problem_of
from zero_norm import zero_norm

from kit.reductions import left_of, small_machine
from kmcompile.errors import UsageError
from kmcompile.kernels import Poly
from kmcompile.model.kernel_machine import Task
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pools import joint_pools
from kmcompile.passes.reduction.pursuit import pursue

METHODS = {
    "one_norm": one_norm(0.3),
    "zero_norm": zero_norm(0.001),
    "pursuit": pursuit_of(5),
}


def problem(task: Task = Task.ONE_VS_REST, **options) -> Problem:
    machine = small_machine(task, n=options.pop("n", 24), **options)
    return problem_of(joint_pools(machine)[0], Normals.of(machine))[0]


@pytest.mark.parametrize("name", METHODS)
def test_one_chunk_of_everything_is_the_method_itself(name: str) -> None:
    of = problem()
    method: Method = METHODS[name]
    assert_allclose(in_chunks(method, 24)(of), method(of), atol=1e-12)


@pytest.mark.parametrize("task", [Task.BINARY, Task.ONE_VS_REST])
def test_rounds_of_l1_go_down_to_the_optimum_of_the_whole(task: Task) -> None:
    of = problem(task)
    penalty = 0.3

    def objective(weights: np.ndarray) -> float:
        return of.loss(weights) + penalty * np.sqrt((weights**2).sum(axis=1)).sum()

    values = [objective(of.start)]
    values += [objective(in_chunks(one_norm(penalty), 7, r)(of)) for r in (1, 2, 4, 60)]
    assert all(later <= earlier + 1e-5 for earlier, later in pairwise(values))
    assert_allclose(values[-1], objective(one_norm(penalty)(of)), rtol=1e-3)


@pytest.mark.parametrize("task", [Task.BINARY, Task.ONE_VS_REST])
def test_lossless_chunks_stay_lossless_and_keep_the_rank_of_each(task: Task) -> None:
    of = problem(task, kernel=Poly(0.5, 1.0, 2), n=48, n_features=2)
    weights = in_chunks(zero_norm(), 16)(of)
    assert of.loss(weights) < 1e-9
    assert np.any(weights != 0, axis=1).sum() <= 3 * 6


def test_chunks_of_pursuit_never_lose_more_with_more_vectors() -> None:
    of = problem(n=30)
    losses = [of.loss(in_chunks(pursuit_of(n), 10)(of)) for n in range(11)]
    assert losses[10] < 1e-12 < losses[1]
    assert losses[0] == pytest.approx(of.products.shape[1])


def test_pursuit_as_a_method_chooses_what_pursuit_chooses() -> None:
    machine = small_machine(Task.ONE_VS_REST, n=24)
    of = problem()
    weights = pursuit_of(6)(of)
    selection = pursue(machine, 6)
    assert set(np.flatnonzero(weights.any(axis=1))) == set(selection.order)
    assert of.loss(weights) == pytest.approx((left_of(selection, 6) / selection.squares).sum())


def test_chunks_need_a_size() -> None:
    with pytest.raises(UsageError, match="must be 1 or more"):
        in_chunks(one_norm(0.1), 0)
