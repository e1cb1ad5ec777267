"""ONNX models as skl2onnx writes them: labels and values are those that onnxruntime gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from float64_decisions import decisions_and_bounds, labels

from kmcompile.kernels import Linear, Poly
from kmcompile.model.kernel_machine import Task
from kmcompile.readers import load_model
from kmcompile.readers.onnx.messages import parse_model
from kmcompile.readers.onnx.model import ROUNDED
from kmcompile.verify.probabilities import probabilities_of

FOLDER = Path(__file__).parents[2] / "fault" / "stored_models" / "onnx"
NAMES = sorted(path.stem for path in FOLDER.glob("*.onnx"))
FLOAT32_TO_FLOAT64 = 2.0**29
"""The bounds are proportional to the unit roundoff: 2^-24 instead of 2^-53."""


def _read(name):
    machine = load_model(FOLDER / f"{name}.onnx")
    stored = np.load(FOLDER / f"{name}.npz")
    decisions, bounds = decisions_and_bounds(machine, stored["X"])
    return machine, stored, decisions, FLOAT32_TO_FLOAT64 * bounds


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_onnxruntime(name):
    machine, stored, decisions, bounds = _read(name)
    if machine.task is Task.REGRESSION:
        assert np.all(np.abs(decisions[:, 0] - stored["answer"]) <= bounds[:, 0])
    else:
        answers = labels(machine, decisions)
        assert np.array_equal(answers, stored["answer"])
        assert len(set(answers.tolist())) > 1


@pytest.mark.parametrize("name", ["digits", "cancer", "one_class"])
def test_decisions_are_those_of_onnxruntime(name):
    """Of two classes it gives (-f, f) with f > 0 for the first."""
    _, stored, decisions, bounds = _read(name)
    expected = stored["decisions"][:, : decisions.shape[1]]
    assert np.all(np.abs(decisions - expected) <= bounds)


@pytest.mark.parametrize("name", NAMES)
def test_the_rounding_to_float32_is_noted(name):
    machine = load_model(FOLDER / f"{name}.onnx")
    assert machine.notes[-1] == ROUNDED
    assert np.array_equal(machine.support_vectors, machine.support_vectors.astype(np.float32))


def test_kinds_are_named_as_in_scikit_learn():
    kinds = {name: load_model(FOLDER / f"{name}.onnx").kind for name in NAMES}
    assert kinds == {
        "cancer": "SVC",
        "components": "SVC",
        "digits": "SVC",
        "linear": "SVC",
        "linear_binary": "LinearSVC",
        "linear_svc": "LinearSVC",
        "linear_svr": "LinearSVR",
        "logistic": "LogisticRegression",
        "one_class": "OneClassSVM",
        "poly": "SVC",
        "probability": "SVC",
        "sigmoid": "SVC",
        "svr": "SVR",
        "two_probabilities": "SVC",
    }


def test_labels_keep_their_type_and_order():
    assert load_model(FOLDER / "cancer.onnx").classes == ("benign", "malignant")
    assert load_model(FOLDER / "digits.onnx").classes == tuple(range(10))


def test_kernel_parameters_are_gamma_coef0_degree():
    kernel = load_model(FOLDER / "poly.onnx").kernel
    assert isinstance(kernel, Poly)
    assert (kernel.coef0, kernel.degree) == (1.0, 3)
    assert isinstance(load_model(FOLDER / "linear.onnx").kernel, Linear)


def test_labels_are_the_votes_where_probabilities_are_given():
    """reliability 13: onnxruntime's label is not the largest probability either."""
    assert (
        "can differ from the most probable one" in load_model(FOLDER / "probability.onnx").notes[0]
    )


def test_probabilities_of_two_classes_are_those_of_onnxruntime():
    """It iterates as LIBSVM did, up to 0.005 away; its label is that of the decision, too."""
    machine, stored, decisions, bounds = _read("two_probabilities")
    told = probabilities_of(machine, decisions)
    slope, offset = machine.platt
    rounded = abs(slope) * bounds.max() / 4 + (8 + abs(offset)) * 2.0**-24
    assert np.abs(told - stored["probabilities"]).max() <= 0.005 + rounded
    most_probable = np.array(machine.classes)[stored["probabilities"].argmax(axis=1)]
    assert np.any(most_probable != stored["answer"])


def test_one_sign_of_zero_is_noted():
    assert "ONNX's Sign gives 0" in load_model(FOLDER / "one_class.onnx").notes[0]


def test_the_one_class_attribute_is_the_sign(tmp_path):
    model = parse_model((FOLDER / "svr.onnx").read_bytes())
    regressor = next(node for node in model.graph.node if node.op_type == b"SVMRegressor")
    regressor.attribute.add(name=b"one_class", type=2, i=1)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    machine = load_model(tmp_path / "model.onnx")
    assert (machine.task, machine.classes) == (Task.ONE_CLASS, (-1, 1))
    assert not machine.zero_is_positive


def test_one_row_for_two_classes_is_read_as_two_rows_are(tmp_path):
    model = parse_model((FOLDER / "linear_binary.onnx").read_bytes())
    for attribute in model.graph.node[0].attribute:
        if attribute.name in (b"coefficients", b"intercepts"):
            del attribute.floats[: len(attribute.floats) // 2]
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    expected = load_model(FOLDER / "linear_binary.onnx").sha256
    assert load_model(tmp_path / "model.onnx").sha256 == expected


def test_one_value_of_a_scaler_is_for_every_feature(tmp_path):
    model = parse_model((FOLDER / "cancer.onnx").read_bytes())
    scaler = next(node for node in model.graph.node if node.op_type == b"Scaler")
    for attribute in scaler.attribute:
        del attribute.floats[1:]
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    (step,) = load_model(tmp_path / "model.onnx").preprocessing
    assert len(step.offset) == len(step.factor) == 30
    assert len(set(step.factor.tolist())) == len(set(step.offset.tolist())) == 1
