from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator

from kmcompile.training import DCPredClassifier, DCPredRegressor


@pytest.mark.exhaustive
def test_the_classifier_passes_the_checks_of_scikit_learn():
    check_estimator(DCPredClassifier(2, 3, polish_steps=20), on_skip=None)


@pytest.mark.exhaustive
def test_estimators_that_start_from_one_machine_pass_them_too():
    check_estimator(DCPredClassifier(2, 3, polish_steps=5, start="root"), on_skip=None)
    check_estimator(DCPredRegressor(2, 3, polish_steps=5, start="root"), on_skip=None)


def test_the_regressor_passes_the_checks_of_scikit_learn():
    check_estimator(DCPredRegressor(2, 3, polish_steps=20), on_skip=None)
