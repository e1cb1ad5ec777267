"""Machines that give one answer only are told of: on the terminal, and in the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

import kmcompile
from kit.lowered import lowered
from kmcompile import cli, readers
from kmcompile.report.one_answer import depends_on_input, one_answer_warnings

SAME = "the model gives every input the same answer"


def _data(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0, "high", "low")


def test_machine_whose_weights_are_0_is_told_of_everywhere(tmp_path, capsys):
    machine = readers.load_model(LinearSVC(random_state=0).fit(*_data()))
    zero = replace(machine, support_vectors=np.zeros_like(machine.support_vectors))
    kmcompile.save_model(tmp_path / "zero.npz", zero)
    out = tmp_path / "out"
    line = [str(tmp_path / "zero.npz"), "--out", str(out), "--verify", "none"]
    assert cli.run(line) == 0
    assert f"kmcompile: warning: {SAME}" in capsys.readouterr().err
    assert any(SAME in note for note in json.loads((out / "report.json").read_text())["notes"])
    assert SAME in Path(out / "report.html").read_text()


@pytest.mark.parametrize(
    ("model", "zero"),
    [
        (SVC(), "dual_coef"),
        (SVC(kernel="poly"), "support_vectors"),
        (SVC(kernel="linear"), "dual_coef"),
        (make_pipeline(StandardScaler(), SVC()), "steps"),
    ],
    ids=str,
)
def test_what_is_0_makes_an_answer_constant(model, zero):
    machine = readers.load_model(model.fit(*_data()))
    assert depends_on_input(machine)
    if zero == "steps":
        step = machine.preprocessing[0]
        dropped = replace(step, factor=np.zeros_like(step.factor))
        assert not depends_on_input(replace(machine, preprocessing=(dropped,)))
    else:
        zeros = np.zeros_like(getattr(machine, zero))
        assert not depends_on_input(replace(machine, **{zero: zeros}))


def test_linear_machine_of_vectors_that_cancel_each_other_is_constant():
    X = np.full((20, 2), 0.1)
    assert not depends_on_input(readers.load_model(SVC(kernel="linear").fit(X, [0, 1] * 10)))


def test_one_label_for_all_samples_is_told_of_with_their_number():
    X, y = _data()
    model = SVC().fit(X, y)
    one = X[model.predict(X) == "high"][:20]
    with pytest.warns(UserWarning, match="all 40 samples get the label high") as told:
        found = kmcompile.compile_model(
            model, verify="none", name="m", mode="exact", data=one, test_data=one
        )
    assert str(told[0].message) in found.report["notes"]


@pytest.mark.parametrize("label", [1, -1])
def test_only_outliers_of_a_one_class_machine_are_told_of(label):
    X, _ = _data(200)
    model = OneClassSVM(nu=0.3).fit(X)
    assert len(_told(lowered(model), X[model.predict(X) == label])) == (label == -1)


def test_samples_of_more_labels_or_of_one_row_are_not_told_of():
    X, y = _data(600)
    low = lowered(SVC().fit(X, y))
    assert not _told(low, X[np.argsort(y)])
    assert not _told(low, X[:1])


def test_regression_has_no_label_to_tell_of():
    X, _ = _data()
    assert not _told(lowered(SVR().fit(X, X[:, 0])), X[:2])


def _told(low, X):
    return one_answer_warnings(low.machine, low.program, [X.astype(np.float32)])
