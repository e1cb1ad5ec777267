"""What the example's figures and tables compute of machines."""

from __future__ import annotations

from pathlib import Path

import figure_4
import figures_2_3
import numpy as np
import predictors
import pytest
import table_2
from numpy.testing import assert_allclose

from kit.reductions import left_of
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.growing import LEAST_PIVOT
from kmcompile.passes.reduction.pursuit import pursue


@pytest.fixture(autouse=True)
def folder(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictors, "DATA", sets)
    monkeypatch.setattr(table_2, "DATA", sets)
    monkeypatch.setitem(predictors.CLASSES, "letter", (60, 0.12, 10.0))


CURVE = np.array([[10, 0.30], [20, 0.10], [40, 0.12], [80, 0.05]])


@pytest.mark.parametrize(("error", "least"), [(0.3, 10), (0.11, 20), (0.1, 20), (0.05, 80)])
def test_least_vectors_are_the_first_that_keep_the_error(error: float, least: int) -> None:
    assert figure_4.least_vectors(CURVE, error) == least


def test_no_vectors_are_enough_for_less_than_the_least_error() -> None:
    assert np.isnan(figure_4.least_vectors(CURVE, 0.04))


def test_factors_are_of_numbers_at_the_same_error() -> None:
    curves = {
        "joint pursuit": CURVE,
        "separate pursuit": CURVE * [3, 1],
        "separate l1": CURVE,
        "construction": np.array([[5, 0.1]]),
    }
    assert figure_4.factors(curves, 0.1) == {"joint pursuit": 3, "construction": 12}
    assert np.isnan(figure_4.factors(curves, 0.05)["construction"])


def test_every_method_of_many_classes_comes_near_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(figure_4.MOVED, "letter", (5, 20, 2, 5))
    predictor = predictors.load("letter")
    curves = figure_4.curves_of(predictor)
    assert len(curves) == 6
    full = predictor.error(predictor.machine)
    for label, points in curves.items():
        assert (points[:, 0] <= predictor.machine.n_support_vectors).all(), label
        assert points[:, 1].min() < full + 0.2, label
    assert curves["construction"][:, 0].tolist() == [5, 20]
    assert curves["imitation"][:, 0].tolist() == [5, 20]


def test_separate_vectors_of_a_class_are_its_own() -> None:
    predictor = predictors.load("letter")
    normals = Normals.of(predictor.machine)
    for spread in figure_4.separate(predictor, normals):
        assert not (spread[normals.coefficients == 0] != 0).any()
    wanted = normals.coefficients @ normals.products
    # A vector that is left out is at most sqrt(LEAST_PIVOT) |phi(s)| from the span of the others.
    outside = np.sqrt(LEAST_PIVOT * predictor.machine.kernel.self_values(normals.vectors))
    bound = np.outer(np.abs(normals.coefficients) @ outside, np.sqrt(normals.squares))
    assert (np.abs(spread @ normals.products - wanted) <= bound).all()


def test_share_that_is_left_is_that_of_the_selection() -> None:
    machine = predictors.load("german").machine
    selection = pursue(machine, 6)
    assert figures_2_3.left(machine, machine) < 1e-12
    share = left_of(selection, 6)[0] / selection.squares[0]
    assert_allclose(figures_2_3.left(machine, selection.reduced(6)), share, rtol=1e-6)


def test_simplified_polynomial_has_the_rank_of_its_gram_matrix() -> None:
    name, degree, before, after, unlike, largest = table_2.simplified("german", 60, 2)
    assert (name, degree, unlike) == ("german", 2, 0)
    # 1, three features, their squares and their products.
    assert before > after == 10
    assert largest < 1e-6
