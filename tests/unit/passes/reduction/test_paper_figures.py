"""What the RSS paper measures, on real data: joint against separate choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kit.shared_data import data_file
from kmcompile.model.normals import Normals
from kmcompile.model.reference import labels_of
from kmcompile.passes.reduction.pools import separate_pools
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.readers import load_model


@pytest.mark.exhaustive
def test_joint_choice_needs_a_third_of_the_vectors_on_optdigits() -> None:
    with np.load(data_file("optdigits")) as data:
        X, y, X_test, y_test = (data[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    X, y, X_test = X[:2000] / 16, y[:2000], X_test / 16
    machine = load_model(OneVsRestClassifier(SVC(C=10, gamma=0.05)).fit(X, y))
    normals = Normals.of(machine)
    values = machine.kernel.values(machine.support_vectors, X_test)

    def error(spread: np.ndarray) -> float:
        return float((labels_of(machine, values @ spread.T + machine.intercept) != y_test).mean())

    wanted = error(normals.coefficients) + 0.01
    together = pursue(machine, 300, normals=normals)
    spread = np.zeros_like(normals.coefficients)
    for n in range(20, 301):
        spread[:, together.order[:n]] = together.coefficients(n)
        if error(spread) <= wanted:
            break
    apart = [pursue(machine, 200, pools=[p], normals=normals) for p in separate_pools(machine)]
    for size in range(1, 201):
        own = np.zeros_like(normals.coefficients)
        for p, selection in enumerate(apart):
            t = min(size, len(selection))
            own[p, selection.order[:t]] = selection.coefficients(t)[p]
        if error(own) <= wanted:
            break
    assert error(spread) <= wanted
    assert error(own) <= wanted
    assert np.any(own != 0, axis=0).sum() >= 3 * n
