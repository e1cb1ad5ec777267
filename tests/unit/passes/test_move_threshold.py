"""A threshold is taken off the intercept; the label is that of the trained decision against it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from kmcompile.errors import InputError, UsageError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.move_threshold import move_asked_threshold, move_threshold
from kmcompile.readers import load_model

X, Y = load_breast_cancer(return_X_y=True)
MACHINE = load_model(SVC(gamma=1e-4).fit(X, Y))


def test_the_label_is_the_second_class_from_the_threshold_up():
    trained = evaluate(MACHINE, X)
    threshold = float(np.quantile(trained.decisions, 0.3))
    moved = evaluate(move_threshold(MACHINE, threshold), X)
    expected = (trained.decisions[:, 0] >= threshold).astype(int)
    clear = np.abs(trained.decisions[:, 0] - threshold) > (trained.error + moved.error)[:, 0]
    np.testing.assert_array_equal(moved.labels[clear], expected[clear])
    assert clear.sum() >= len(X) - 2
    assert (moved.labels != trained.labels).any()


def test_an_outlier_is_what_lies_below_the_threshold():
    machine = load_model(OneClassSVM(gamma=1e-4, nu=0.3).fit(X))
    trained = evaluate(machine, X)
    threshold = float(np.quantile(trained.decisions, 0.1))
    moved = evaluate(move_asked_threshold(machine, threshold), X)
    clear = np.abs(moved.decisions) > moved.error + trained.error
    expected = (trained.decisions >= threshold).astype(int)
    np.testing.assert_array_equal(moved.labels[clear[:, 0]], expected[clear])
    assert (moved.labels != trained.labels).any()


def test_another_threshold_takes_the_place_of_the_first():
    once = move_threshold(MACHINE, 0.5)
    twice = move_threshold(move_threshold(MACHINE, -0.25), 0.5)
    assert twice.intercept[0] == pytest.approx(once.intercept[0], rel=0, abs=4 * 2**-53)
    assert once.threshold == twice.threshold == 0.5


@pytest.mark.parametrize("equal_is_positive", [False, True])
def test_a_decision_that_equals_the_threshold(equal_is_positive):
    machine = load_model(LinearSVC(random_state=0).fit([[-1.0], [1.0]], [0, 1]))
    threshold = float(machine.intercept[0])  # f(0)
    moved = move_threshold(machine, threshold, equal_is_positive)
    assert evaluate(moved, np.zeros((1, 1))).labels[0] == equal_is_positive


def test_only_a_threshold_other_than_0_enters_the_hash():
    assert replace(MACHINE, threshold=0.0).sha256 == MACHINE.sha256
    assert move_threshold(MACHINE, 0.5).sha256 != MACHINE.sha256


def test_of_a_calibrated_machine_a_probability_is_asked_for():
    calibrated = replace(MACHINE, log_odds=True)
    assert move_asked_threshold(calibrated, 0.2).threshold == pytest.approx(
        math.log(0.25), rel=4 * 2**-53
    )
    assert move_asked_threshold(calibrated, 0.5).threshold == 0.0
    for outside in (0.0, 1.0, -0.5, 2.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            move_asked_threshold(calibrated, outside)


def test_the_note_of_a_calibrated_machine_tells_the_probability():
    notes = move_asked_threshold(replace(MACHINE, log_odds=True), 0.2).notes
    assert "(probability 0.2)" in notes[-1]
    assert "(probability 0)" in move_threshold(replace(MACHINE, log_odds=True), -1e4).notes[-1]


def test_many_classes_have_no_threshold():
    three = load_model(SVC().fit(*load_iris(return_X_y=True)))
    assert three.task is Task.ONE_VS_ONE
    with pytest.raises(UsageError, match="one-vs-one machine has no single decision"):
        move_asked_threshold(three, 0.5)
    with pytest.raises(InputError, match="one-vs-one machine has a threshold"):
        replace(three, threshold=0.5)
    with pytest.raises(InputError, match="threshold is nan"):
        replace(MACHINE, threshold=math.nan)
