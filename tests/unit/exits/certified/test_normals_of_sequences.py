"""The normals of a bound sequence are summed over a decision's own vectors, each product once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kmcompile.exits.certified import sequence_normals
from kmcompile.exits.certified.bound_sequence import _usable
from kmcompile.exits.certified.sequence_normals import Normals, Squares
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.decision_sums import DecisionSums
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers import load_model


@pytest.fixture(scope="module")
def machine() -> KernelMachine:
    X, y = load_digits(n_class=4, return_X_y=True)
    return load_model(SVC(C=10).fit(X[:300] / 16, y[:300]))


def test_products_of_classes_are_products_with_all_coefficients(machine: KernelMachine) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(-9, 9, size=(5, machine.n_support_vectors)).astype(float)
    weights = rng.integers(-9, 9, size=(5, machine.n_decisions)).astype(float)
    beta = decision_coefficients(machine)
    sums = DecisionSums.of_machine(machine)
    bound = 2.0**-50 * (np.abs(values) @ np.abs(beta).T).max() * machine.n_support_vectors
    assert np.abs(sums.of(values) - values @ beta.T).max() <= bound
    bound = 2.0**-50 * (np.abs(weights) @ np.abs(beta)).max() * machine.n_decisions
    assert np.abs(sums.back(weights) - weights @ beta).max() <= bound


@pytest.mark.parametrize("many", [1, 10**9])
def test_normals_are_those_of_the_whole_matrix(
    machine: KernelMachine, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequence_normals, "_MANY", many)
    monkeypatch.setattr(sequence_normals, "_ROWS", 37)
    z = machine.support_vectors[:7]
    found = Normals.of(machine, z, Squares.of(machine))
    beta = decision_coefficients(machine).astype(np.longdouble)
    K = machine.kernel.values(machine.support_vectors, machine.support_vectors)
    square = np.einsum("pi,ij,pj->p", beta, K.astype(np.longdouble), beta)
    assert (np.abs(found.square - square) <= found.error * found.size**2).all()
    with_z = beta @ machine.kernel.values(z, machine.support_vectors).astype(np.longdouble)
    assert (np.abs(found.with_z - with_z) <= found.error * found.size[:, None]).all()


def test_usable_vectors_are_those_that_a_search_one_by_one_finds() -> None:
    rng = np.random.default_rng(1)
    for n_close in range(5):
        rows = rng.normal(size=(9, 12))
        rows[9 - n_close :] = rows[:n_close] + 1e-7 * rng.normal(size=(n_close, 12))
        gram = rows @ rows.T
        usable = 0
        for n in range(len(gram), 0, -1):
            values = np.linalg.eigvalsh(gram[:n, :n])
            if values[0] * 1e8 >= values[-1] > 0:
                usable = n
                break
        assert _usable(gram) == usable
