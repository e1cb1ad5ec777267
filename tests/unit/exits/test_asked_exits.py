"""Early exits that the user asks for are built, in order, or refused with the reason."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import readers
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.program import choose_program
from kmcompile.errors import InputError, UsageError
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.model.reference import evaluate
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import Status, classify
from kmcompile.request.asked_stages import AskedStages

SAMPLES = Path("samples.npy")


@cache
def moons() -> tuple[SVC, np.ndarray]:
    """Return a machine of 2 features, and inputs that it has not seen."""
    X, y = make_moons(1800, noise=0.25, random_state=3)
    X = X.astype(np.float32)
    return SVC(C=10, gamma=2.0).fit(X[:300], y[:300]), X[300:]


@cache
def digits(kernel: str) -> tuple[SVC, np.ndarray]:
    """Return a machine of 64 features, and inputs that it has not seen."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return SVC(kernel=kernel, C=10, gamma=0.1).fit(X[:500], y[:500] > 4), X[500:]


def chosen(of: tuple[SVC, np.ndarray], **options: Any) -> ChosenProgram:
    """Return the program of a machine, with samples unless the mode is certified."""
    model, X = of
    machine = readers.load_model(model)
    if options.get("mode") == "certified":
        plan = plan_for(machine, **options)
    else:
        np.save(SAMPLES, X)
        plan = plan_for(machine, data=SAMPLES, risk="auto", **options)
    return choose_program(machine, plan, lambda text: None)


def names(made: ChosenProgram) -> list[str]:
    return [stage.template for stage in made.program.early_exits]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


THREE = "linear_filter,nearest_vectors,bound_sequence"


@pytest.mark.exhaustive
@pytest.mark.parametrize("listed", [THREE, "bound_sequence,nearest_vectors,linear_filter"])
def test_the_three_named_stages_stand_in_one_program_in_the_order_of_the_list(listed: str) -> None:
    """A proved answer is certified, and nothing certified is wrong."""
    made = chosen(moons(), stages=listed)
    assert names(made) == listed.split(",")
    model, X = moons()
    results, _ = classify(made.program, X)
    proved = results["certified"]
    reference = evaluate(readers.load_model(model), X).labels
    assert proved.any() and (results["status"] == Status.OK).all()
    assert np.array_equal(results["label"][proved], reference[proved])
    promise = made.exits.promise
    assert promise is not None and promise.upper_bound is not None


def test_inputs_out_of_range_are_still_proved() -> None:
    """Shorter inputs than all samples are asked of the map, and not of the filter."""
    made = chosen(moons(), stages="linear_filter,sign_map")
    results, _ = classify(made.program, moons()[1][:200] * np.float32(0.001))
    outside = ~results["in_range"]
    assert (results["certified"] & outside & (results["stage"] == 1)).any()
    assert not (outside & (results["stage"] == 0)).any()


@pytest.mark.exhaustive
def test_what_is_required_is_there_whatever_it_costs() -> None:
    usual = chosen(moons(), mode="certified")
    must = chosen(moons(), mode="certified", require="bound_sequence")
    assert "bound_sequence" not in names(usual) and "bound_sequence" in names(must)
    assert worst_operations(must.program) > worst_operations(usual.program)


@pytest.mark.exhaustive
def test_what_is_excluded_is_not_there() -> None:
    usual = names(chosen(moons(), mode="certified"))
    assert usual
    without = names(chosen(moons(), mode="certified", exclude=usual))
    assert not {*usual} & {*without}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "options",
    [
        {"stages": "bound_sequence", "mode": "certified"},
        {"require": "bound_sequence", "mode": "certified"},
        {"stages": "linear_filter"},
        {"require": "linear_filter"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_asked_exits_are_compared_with_the_sum_alone(options: dict[str, str]) -> None:
    """Formats are compared by what the exits save in each."""
    made = chosen(moons(), **options)
    report = made.exits.calibration or made.exits.choice
    assert report is not None
    (alone,) = (c for c in report.candidates if c.stages == ("exact_sum",))
    assert not alone.chosen
    (taken,) = (c for c in report.candidates if c.chosen)
    assert made.exits.speedup == alone.mean_operations / taken.mean_operations != 1.0


def test_an_empty_list_of_exits_sums_every_query() -> None:
    assert names(chosen(moons(), mode="certified", stages="exact_sum")) == []


@pytest.mark.exhaustive
def test_mode_statistical_takes_proofs_where_they_cost_less() -> None:
    """Nothing is promised where nothing is risked."""
    made = chosen(moons())
    assert made.program.mode == "statistical"
    assert names(made) and not any(stage.is_calibrated for stage in made.program.early_exits)
    assert made.exits.promise is None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "options",
    [
        {"stages": "linear_filter,bound_sequence,interval_ratio"},
        {"stages": "bound_sequence,interval_ratio,local_expansion"},
        {"require": "interval_ratio", "exclude": "sign_map"},
    ],
    ids=str,
)
def test_the_ratio_of_an_interval_is_tested_behind_a_certified_exit(
    options: dict[str, Any],
) -> None:
    """Its answers are not certified."""
    made = chosen(moons(), **options)
    listed = names(made)
    assert "interval_ratio" in listed
    if "stages" in options:
        assert listed == options["stages"].split(",")
    place = listed.index("interval_ratio")
    assert any(stage.exit == "certified" for stage in made.program.early_exits[:place])
    results, _ = classify(made.program, moons()[1])
    own = results[results["stage"] == place]
    assert len(own) and not own["certified"].any()
    assert made.exits.promise is not None and made.exits.promise.upper_bound is not None


@pytest.mark.parametrize(
    ("of", "options", "message"),
    [
        (moons, {"require": "subspace_certificate"}, "its bounds are of polynomials"),
        (lambda: digits("sigmoid"), {"stages": "bound_sequence"}, "not positive definite"),
        (lambda: digits("rbf"), {"require": "sign_map"}, "at most 3 features, the model has 64"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_reason(
    of: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        chosen(of(), mode="certified", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stages": "linear"}, "linear is no early exit; there are class_scores, linear_filter, "),
        ({"require": "linear_filter", "mode": "certified"}, "linear_filter is a statistical exit"),
        (
            {"stages": "interval_ratio,bound_sequence"},
            "interval_ratio tests the intervals of certified exits, and none is listed before it",
        ),
        (
            {"thresholds": "simple", "stages": "bound_sequence"},
            "the paper's scheme is linear_filter and nearest_vectors, asked for is bound_sequence",
        ),
    ],
)
def test_what_is_unknown_or_of_another_mode_is_refused(
    options: dict[str, Any], message: str
) -> None:
    if "thresholds" in options:
        model, X = moons()
        np.save(SAMPLES, X)
        machine = readers.load_model(model)
        plan = plan_for(machine, data=SAMPLES, **options)
        with pytest.raises(UsageError, match=message):
            choose_program(machine, plan, lambda text: None)
        return
    with pytest.raises(UsageError, match=message):
        chosen(moons(), **options)


@pytest.mark.exhaustive
def test_without_any_proof_a_ratio_that_must_be_there_is_refused() -> None:
    proving = [fit.kind.template for fit in certified_fits()]
    with pytest.raises(InputError, match="no program can have interval_ratio: no certified exit"):
        chosen(digits("sigmoid"), require="interval_ratio", exclude=proving)


def test_the_comparison_with_mode_certified_keeps_only_what_is_excluded() -> None:
    np.save(SAMPLES, moons()[1])
    machine = readers.load_model(moons()[0])
    plan = plan_for(machine, data=SAMPLES, stages=THREE)
    assert plan.in_mode_certified().stages == AskedStages()
