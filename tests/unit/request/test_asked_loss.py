"""`--loss`: what it needs, what it does not go with, and the labels that it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR, OneClassSVM

from kit.plans import plan_for
from kmcompile import readers
from kmcompile.errors import InputError, UsageError
from kmcompile.readers.samples.file import Samples
from kmcompile.request.option_values import check_options, without_defaults
from kmcompile.request.options import Options

X, Y = load_iris(return_X_y=True)
DATA = Path("a.npz")


def samples(folder: Path, **labels: np.ndarray) -> Path:
    np.savez(folder / "a.npz", X=X, **labels)
    return folder / "a.npz"


def test_labels_are_read_as_classes_of_the_model(tmp_path: Path) -> None:
    names = np.array(["a", "b", "c"])[Y]
    machine = readers.load_model(SVC().fit(X, names))
    plan = plan_for(machine, data=samples(tmp_path, y=names), loss="0.02")
    assert (plan.promise.what, plan.promise.risk, plan.promise.risk_is) == ("loss", 0.02, "given")
    assert np.array_equal(plan.truth, Y)
    assert plan.command.endswith("--loss 0.02")
    some = plan.with_samples(np.array([3, 140]))
    assert some.truth.tolist() == [0, 2] and np.array_equal(some.samples, plan.samples[[3, 140]])
    assert plan_for(machine, data=samples(tmp_path, y=names)).truth is None


@pytest.mark.parametrize("given", [np.array([1.0, -1.0]), np.array([1, -1]), np.array(["1", "-1"])])
def test_numbers_are_the_same_class_however_they_are_written(given: np.ndarray) -> None:
    read = Samples(np.zeros((2, 1), np.float32), given)
    assert read.class_numbers((-1, 1), "a").tolist() == [1, 0]
    with pytest.raises(InputError, match=r"y\[0\] is 1.*must be one of the model's classes: 0, 2"):
        read.class_numbers((0, 2), "a")


def test_without_labels_there_is_no_loss(tmp_path: Path) -> None:
    machine = readers.load_model(SVC().fit(X, Y))
    with pytest.raises(InputError, match="--data has no labels y"):
        plan_for(machine, data=samples(tmp_path), loss="auto")


@pytest.mark.parametrize("model", [SVR().fit(X, Y), OneClassSVM().fit(X)])
def test_models_without_right_labels_are_refused(model: object, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--loss 0\.01: a loss is of right labels"):
        plan_for(readers.load_model(model), data=samples(tmp_path, y=Y), loss=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"loss": 0.01, "risk": 0.01},
            "--risk 0.01, --loss 0.01: a program keeps a risk or a loss",
        ),
        ({"loss": 1.5}, "--loss 1.5: must be a number between 0 and 1"),
        ({"loss": 0.01, "mode": "certified"}, "has no use for --loss 0.01"),
        ({"loss": 0.01, "thresholds": "simple"}, "does not go with --loss 0.01"),
        ({"loss": "auto", "reduce": "auto"}, "keeps a loss that is a number"),
        ({"loss": 0.01, "data": None}, "calibration samples are needed for --loss 0.01"),
    ],
)
def test_what_does_not_go_with_a_loss_is_refused(given: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        check_options(without_defaults(Options(**{"data": DATA, **given})))


def test_a_reduced_machine_without_exits_keeps_a_loss() -> None:
    check_options(Options(data=DATA, loss=0.01, reduce="auto", mode="exact"))
