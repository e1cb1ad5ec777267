"""The paper's cascade agrees with the model on the samples that its thresholds come from."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
import pytest
from calibration_cases import Case, digits, mnist_pair, scaled_case
from sklearn.svm import SVC

from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.paper import band_of, max_smoothed
from kmcompile.exits.statistical.paper_cascade import _WINDOWS, add_paper_cascade
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import LinearFilter, NearestVectors, Nonzeros
from kmcompile.program.storage import save
from kmcompile.request.asked_promise import AskedPromise

Thresholds = Literal["simple", "maxsmoothed"]
WITH_STEPS = ["rbf", "poly"]


def pair(kernel: str = "rbf") -> Case:
    return mnist_pair(kernel, 400, 500)


def cascade_of(case: Case, thresholds: Thresholds, **sizes: int) -> tuple[Program, Calibration]:
    quiet = lambda text: None  # noqa: E731
    asked = AskedPromise(thresholds, 1e-3, "default", "guaranteed", **sizes)
    return add_paper_cascade(case.program, case.samples, case.relevant, asked, quiet)


@cache
def mnist(kernel: str, thresholds: Thresholds) -> tuple[Program, Calibration]:
    """Return the cascade with the paper's sizes."""
    window = {"window": 10} if thresholds == "maxsmoothed" else {}
    return cascade_of(pair(kernel), thresholds, dimensions=20, **window)


def nearest_of(program: Program) -> NearestVectors:
    return next(stage for stage in program.stages if isinstance(stage, NearestVectors))


def unlike(program: Program, case: Case) -> np.ndarray:
    """Return the stages that decide samples unlike the model."""
    results, _ = classify(program, case.X)
    return results["stage"][results["label"] != case.samples.labels]


def assert_on_edge(program: Program, case: Case) -> None:
    """Assert that what the steps decide unlike the model is on the edge, where rounding decides.

    Three deviations of the filter may be less than the extreme; the steps' thresholds are extremes,
    and the sample that gave one lies on the edge.
    """
    results, _ = classify(program, case.X)
    wrong = (results["label"] != case.samples.labels) & (results["stage"] == 1)
    edge = np.minimum(np.abs(results["lower"]), np.abs(results["upper"]))
    assert (edge[wrong] <= 4 * case.errors[wrong, 0]).all()


@pytest.mark.parametrize("kernel", WITH_STEPS)
def test_partial_sums_with_simple_thresholds_disagree_on_no_sample(kernel: str) -> None:
    case = pair(kernel)
    program, calibration = mnist(kernel, "simple")
    assert len(unlike(program, case)) == calibration.promise.disagreements
    results, _ = classify(program, case.X)
    assert results["stage"].max() >= 1
    assert_on_edge(program, case)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "thresholds", [pytest.param("simple", marks=pytest.mark.exhaustive), "maxsmoothed"]
)
def test_each_pair_of_many_classes_has_its_own_thresholds(thresholds: Thresholds) -> None:
    """No pair of a sample's own class is wrong, but for the filter's deviations and rounding."""
    case = digits("rbf", 10)
    program, calibration = cascade_of(case, thresholds, dimensions=10)
    stage = nearest_of(program)
    assert stage.half_width.shape == (case.exact.n_vectors, 45)
    assert not stage.tug_of_war
    assert len(unlike(program, case)) == calibration.promise.disagreements
    results, _ = classify(program, case.X)
    assert (results["stage"] <= 1).mean() > 0.5
    seen = estimates_of(stage, program.ends, case.x).values.astype(np.float64)
    wrong = (seen * case.samples.decisions < 0) & case.relevant
    outside = np.abs(seen - stage.offset[:, None]) - stage.half_width[:, None]
    slack = 4 * case.errors + 2.0**-22 * np.abs(seen)
    assert (outside[wrong] <= slack[wrong]).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_only_the_filters_deviations_disagree_on_digits(kernel: str) -> None:
    case = digits(kernel, 2)
    program, calibration = cascade_of(case, "simple")
    on_edge = (unlike(program, case) == 1).sum()
    assert_on_edge(program, case)
    stage = next(s for s in program.stages if isinstance(s, LinearFilter))
    value = stage.estimate(case.x)[:, 0]
    wrong = value * case.samples.decisions[:, 0] < 0
    beyond = np.abs(value) > stage.half_width[0]
    assert calibration.promise.disagreements == (wrong & beyond).sum() + on_edge


@pytest.mark.parametrize("kernel", WITH_STEPS)
def test_max_smoothed_bands_hold_the_simple_ones(kernel: str) -> None:
    simple, smooth = (nearest_of(mnist(kernel, t)[0]) for t in ("simple", "maxsmoothed"))
    for side in (-1.0, 1.0):
        inner = simple.offset.astype(np.float64) + side * simple.half_width
        outer = smooth.offset.astype(np.float64) + side * smooth.half_width
        # Bands are told by middle and half-width, each rounded to float32.
        slack = 2.0**-22 * (np.abs(outer) + smooth.half_width)
        assert (side * inner <= side * outer + slack).all()
    assert np.array_equal(simple.steps, smooth.steps)


@pytest.mark.parametrize("kernel", WITH_STEPS)
def test_every_step_has_a_test_and_a_note_tells_the_worst_case(kernel: str) -> None:
    program, calibration = mnist(kernel, "maxsmoothed")
    case = pair(kernel)
    steps = nearest_of(program).steps
    assert np.array_equal(steps, np.arange(1, case.exact.n_vectors + 1))
    worst = f"{worst_operations(program):,} operations"
    assert any(worst in note for note in calibration.notes)


def test_small_machines_have_the_whole_scheme() -> None:
    program, _ = cascade_of(digits("rbf", 2), "maxsmoothed")
    assert [type(stage) for stage in program.early_exits] == [LinearFilter, NearestVectors]


def test_window_and_dimensions_are_the_given_ones() -> None:
    case = digits("rbf", 2)
    program, calibration = cascade_of(case, "maxsmoothed", window=3, dimensions=7)
    assert nearest_of(program).n_out == 7
    assert any("PCA(7) (given), window 3 (given)" in note for note in calibration.notes)
    simple, _ = cascade_of(case, "simple", dimensions=7)
    low, high = (
        nearest_of(simple).offset[:, 0].astype(np.float64)
        + side * nearest_of(simple).half_width[:, 0]
        for side in (-1, 1)
    )
    smoothed = band_of(*max_smoothed(low, high, 3))
    # Bands are told by middle and half-width, each rounded to float32.
    slack = 2.0**-22 * np.maximum(np.abs(low), np.abs(high)).max()
    assert (np.abs(nearest_of(program).offset[:, 0] - smoothed[0]) <= slack).all()


def test_the_window_of_cross_validation_is_one_that_was_tried() -> None:
    _, calibration = cascade_of(digits("rbf", 2), "maxsmoothed", dimensions=7)
    (note,) = (note for note in calibration.notes if note.startswith("nearest_vectors: "))
    assert int(note.split("window ")[1].split()[0]) in _WINDOWS
    assert "chosen by cross-validation" in note


def test_vectors_without_weight_are_no_steps() -> None:
    """One coefficient is 0, so one vector is never touched, and there is one test less."""
    case = digits("rbf", 2)
    coefficients = case.exact.coefficients.copy()
    coefficients[0, 0, 0] = 0.0
    program = replace(case.program, sum=replace(case.exact, coefficients=coefficients))
    asked = AskedPromise("maxsmoothed", 1e-3, "default", "guaranteed", dimensions=7)
    made, _ = add_paper_cascade(program, case.samples, case.relevant, asked, lambda text: None)
    assert len(nearest_of(made).steps) == case.exact.n_vectors - 1


def test_nothing_is_promised() -> None:
    _, calibration = mnist("rbf", "simple")
    promise = calibration.promise
    assert (promise.control, promise.upper_bound, promise.confidence) == ("none", None, None)
    assert promise.n_samples == len(pair().X)
    assert (calibration.n_choice, calibration.n_control) == (0, 0)


@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed"])
def test_same_samples_give_the_same_bytes(thresholds: Thresholds) -> None:
    case = scaled_case("phoneme", 800)
    assert save(cascade_of(case, thresholds)[0]) == save(cascade_of(case, thresholds)[0])


@pytest.mark.exhaustive
def test_squares_are_summed_where_samples_have_no_zeros() -> None:
    X = np.random.default_rng(8).normal(size=(560, 1500)).astype(np.float32)
    X[:, :5] *= 12
    model = SVC(C=10, gamma=3e-4).fit(X[:500], np.sin(X[:500, 0] / 6) > 0)
    case = Case(model, X[500:], X[500:])
    program, calibration = cascade_of(case, "simple")
    assert nearest_of(program)
    assert [type(stage) for stage in program.stages[1:3]] == [Nonzeros, LinearFilter]
    assert len(unlike(program, case)) == calibration.promise.disagreements
