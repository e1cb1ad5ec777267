"""Exact simplification keeps as many vectors as the Gram matrix has ranks, and the decisions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from simplification import simplify
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.reductions import TASKS, small_machine
from kit.shared_data import data_file
from kmcompile.kernels import Linear, Poly
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.pools import joint_pools
from kmcompile.readers import load_model


@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 3), (Poly(0.5, 1.0, 2), 10), (Poly(0.5, 0.0, 2), 6)]
)
@pytest.mark.parametrize("task", TASKS)
def test_every_pool_keeps_its_rank_and_all_decisions(task: Task, kernel, rank: int) -> None:
    machine = small_machine(task, kernel, n=60, n_features=3)
    selection = simplify(machine)
    for pool, basis in zip(joint_pools(machine), selection.bases, strict=True):
        vectors = machine.support_vectors[pool.vectors]
        assert len(basis.places) == np.linalg.matrix_rank(kernel.values(vectors, vectors)) == rank
    if task is not Task.ONE_VS_ONE:
        assert len(selection) == rank
    X = np.random.default_rng(1).normal(size=(30, 3))
    was, now = evaluate(machine, X), evaluate(selection.reduced(len(selection)), X)
    assert_allclose(now.decisions, was.decisions, atol=1e-11 * was.magnitudes.max())


def test_a_machine_of_full_rank_keeps_all_vectors() -> None:
    machine = small_machine(Task.BINARY)
    assert sorted(simplify(machine).order) == list(range(9))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "n_train", "degree", "before", "after"),
    [("phoneme", 1200, 3, 510, 56), ("diabetes", 468, 2, 238, 45), ("german", 700, 2, 372, 265)],
)
def test_polynomials_on_real_data_keep_the_rank(
    name: str, n_train: int, degree: int, before: int, after: int
) -> None:
    with np.load(data_file(name)) as data:
        X, y, X_test = (data[key] for key in ("X_train", "y_train", "X_test"))
    X, y = X[:n_train].astype(float), y[:n_train]
    scaler = StandardScaler().fit(X)
    model = SVC(kernel="poly", degree=degree, coef0=1.0).fit(scaler.transform(X), y)
    machine = load_model(model)
    selection = simplify(machine)
    X_test = scaler.transform(X_test.astype(float))
    was, now = evaluate(machine, X_test), evaluate(selection.reduced(len(selection)), X_test)
    assert (machine.n_support_vectors, len(selection)) == (before, after)
    assert (now.labels == was.labels).all()
