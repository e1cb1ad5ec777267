"""A plan has everything resolved, whatever was given and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR

from kit.lowered import lowered
from kit.plans import plan_for
from kmcompile.errors import BudgetError, UsageError
from kmcompile.request.options import Options
from kmcompile.request.plan import Request

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def machine() -> Any:
    return lowered(SVC().fit(*IRIS)).machine


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "samples.npy"
    np.save(path, IRIS[0])
    return path


@pytest.mark.parametrize(
    ("risk", "asked"),
    [(None, (1e-3, "default")), ("auto", (1e-3, "auto")), ("0.02", (0.02, "given"))],
)
def test_risk_is_a_number_and_where_it_comes_from(machine, samples, risk, asked) -> None:
    promise = plan_for(machine, data=samples, risk=risk).promise
    assert (promise.risk, promise.risk_is) == asked
    assert (promise.control, promise.thresholds) == ("guaranteed", "risk")


@pytest.mark.parametrize(
    ("given", "replay", "required"),
    [
        ({}, "where_double_is_float64", False),
        ({"replay": "float64"}, "where_double_is_float64", True),
        ({"mode": "exact"}, "none", False),
        ({"mode": "exact", "replay": "float64"}, "always", True),
        ({"replay": "none"}, "none", False),
    ],
)
def test_the_replay_is_resolved(machine, given, replay, required) -> None:
    plan = plan_for(machine, **given)
    assert (plan.replay, plan.replay_required) == (replay, required)


def test_samples_are_read_once_as_the_c_receives_them(machine, samples) -> None:
    plan = plan_for(machine, data=samples, test_data=samples)
    assert plan.mode == "statistical"
    for read in (plan.samples, plan.test_samples):
        assert read.dtype == np.float32
        assert read.shape == IRIS[0].shape
    assert plan_for(machine).samples.shape == (0, 4)


def test_mode_certified_of_a_statistical_plan_has_its_replay(machine, samples) -> None:
    plan = plan_for(machine, data=samples)
    certified = plan.in_mode_certified()
    assert (plan.replay, certified.replay) == ("none", "where_double_is_float64")
    assert certified.mode == "certified"
    assert not certified.replay_required


def test_a_regression_with_samples_is_certified(samples) -> None:
    machine = lowered(SVR().fit(*IRIS)).machine
    assert plan_for(machine, data=samples, tolerance=0.1).mode == "certified"


def test_usage_is_checked_before_the_model_is_read() -> None:
    with pytest.raises(UsageError, match="--name 'X' cannot"):
        Request.of(Path("no.pkl"), Options(name="X"))
    with pytest.raises(BudgetError, match="--max-flash"):
        Request.of(Path("no.pkl"), Options(target="cortex-m7", max_flash=10**12))


def test_what_repeats_a_default_is_left_out_of_the_command(machine) -> None:
    request = Request.of(Path("my model.pkl"), Options(name="my_model", format="float32"))
    assert request.plan(machine).command == "kmcompile 'my model.pkl' --target host"
    assert (request.name, request.folder) == ("my_model", Path("my model-host"))
    assert Request.of(SVC(), Options()).folder is None


@pytest.mark.parametrize("mode", ["exact", "certified", None])
def test_a_replay_that_is_asked_for_needs_a_double_of_64_bits(mode):
    asked = Options(target="avr", mode=mode, replay="float64")
    with pytest.raises(UsageError, match="has 32 bits, must be 64"):
        Request.of(Path("m.pkl"), asked)
    assert Request.of(Path("m.pkl"), Options(target="avr", mode=mode)).target.name == "avr"
