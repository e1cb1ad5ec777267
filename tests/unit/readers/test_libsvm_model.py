"""LIBSVM's text files: every svm_type and kernel, with svm-predict's and scikit-learn's answers."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from float64_decisions import decisions_and_bounds
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from kit.libsvm_files import libsvm_text
from kmcompile.kernels import Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import Task
from kmcompile.readers import load_model
from kmcompile.readers.libsvm.model import read_libsvm
from kmcompile.verify.probabilities import probabilities_of

STORED = Path(__file__).parents[2] / "fault" / "stored_models" / "libsvm-3.37"
"""Written by LIBSVM 3.37's Python package; svm_predict.json has what it then answers."""
X, Y = load_iris(return_X_y=True)
DIABETES, TARGET = load_diabetes(return_X_y=True)
SOME = np.r_[40:52, 90:112]
QUERIES = {
    "c_svc-rbf": X[SOME][::4] / 3,
    "c_svc-polynomial": X[SOME][::4] / 3,
    "c_svc-probability": X[50:150:12] / 3,
    "one_class-rbf": X[::4] / 3,
    "epsilon_svr-sigmoid": DIABETES[:20:4] * 7,
    "nu_svr-rbf": DIABETES[:20:4] * 7,
}
MODEL = OneClassSVM(kernel="linear").fit(X[::10])
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.5},
    {"kernel": "rbf"},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": -0.1},
]


def test_every_svm_type_is_scikit_learns_class():
    kinds = {path.stem: load_model(path) for path in STORED.glob("*.model")}
    assert {name: (m.kind, m.task) for name, m in kinds.items()} == {
        "c_svc-rbf": ("SVC", Task.BINARY),
        "c_svc-polynomial": ("SVC", Task.ONE_VS_ONE),
        "c_svc-probability": ("SVC", Task.BINARY),
        "nu_svc-linear": ("NuSVC", Task.ONE_VS_ONE),
        "one_class-rbf": ("OneClassSVM", Task.ONE_CLASS),
        "epsilon_svr-sigmoid": ("SVR", Task.REGRESSION),
        "nu_svr-rbf": ("NuSVR", Task.REGRESSION),
    }
    kernels = {name: m.kernel for name, m in kinds.items()}
    assert kernels["c_svc-polynomial"] == Poly(0.25, 1.0, 2)
    assert kernels["nu_svc-linear"] == Linear()
    assert kernels["epsilon_svr-sigmoid"] == Sigmoid(0.1, -0.2)
    assert kernels["c_svc-rbf"] == Rbf(0.3)


@pytest.mark.parametrize("name", QUERIES)
def test_decisions_are_svm_predicts(name):
    machine = load_model(STORED / f"{name}.model")
    decisions, bounds = decisions_and_bounds(machine, QUERIES[name])
    answers = json.loads((STORED / "svm_predict.json").read_text())[name]
    expected = np.array([[float.fromhex(v) for v in row] for row in answers["decisions"]])
    sign = -1 if machine.task is Task.BINARY else 1
    assert np.all(np.abs(sign * decisions - expected) <= bounds)
    if machine.task is Task.BINARY:
        second = decisions[:, 0] >= 0
        assert np.array_equal(np.array(machine.classes)[second.astype(int)], answers["labels"])


def test_probabilities_of_two_classes_are_svm_predicts():
    name = "c_svc-probability"
    machine = load_model(STORED / f"{name}.model")
    answers = json.loads((STORED / "svm_predict.json").read_text())[name]
    expected = np.array([[float.fromhex(v) for v in row] for row in answers["probabilities"]])
    decisions, bounds = decisions_and_bounds(machine, QUERIES[name])
    slope, offset = machine.platt
    told = probabilities_of(machine, decisions)
    rounded = abs(slope) * bounds.max() / 4 + (8 + abs(offset)) * 2.0**-53
    assert np.abs(told - expected).max() <= rounded


def test_labels_keep_the_order_of_the_file():
    assert load_model(STORED / "c_svc-rbf.model").classes == (7, -3)


@pytest.mark.parametrize("options", KERNELS, ids=lambda o: o["kernel"])
@pytest.mark.parametrize("make", [SVC, NuSVC, OneClassSVM, SVR, NuSVR])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_machines_are_those_of_the_estimators(make, options, n_classes, tmp_path):
    kept = np.isin(Y, range(n_classes))
    model = make(**options).fit(X[kept], Y[kept])
    path = tmp_path / "x.model"
    path.write_bytes(libsvm_text(model))
    assert load_model(path).canonical_bytes() == load_model(model).canonical_bytes()


@pytest.mark.parametrize("make", [OneClassSVM, SVR])
def test_zeros_for_labels_of_a_regression_say_nothing(make):
    """As e1071 1.7 of R writes them."""
    text = libsvm_text(make().fit(X, Y))
    written = text.replace(b"SV\n", b"label 0 0\nnr_sv 0 0\nSV\n", 1)
    assert read_libsvm(written).canonical_bytes() == read_libsvm(text).canonical_bytes()


@pytest.mark.parametrize("ends", [b"\r\n", b" \n", b"\t \n"])
def test_line_ends_of_windows_and_blanks_change_nothing(ends, tmp_path):
    text = libsvm_text(SVC().fit(X, Y))
    plain, other = tmp_path / "a", tmp_path / "b.gz"
    plain.write_bytes(text)
    other.write_bytes(gzip.compress(text.replace(b"\n", ends)))
    assert load_model(other).sha256 == load_model(plain).sha256


def test_thundersvms_order_of_keys_is_read(tmp_path):
    model = SVC().fit(X, Y)
    header, vectors = libsvm_text(model).split(b"SV\n")
    lines = header.decode().splitlines()
    lines += ["probA 1 1 1 ", "probB 0 0 0 "]  # behind nr_sv, LIBSVM writes them before
    path = tmp_path / "x.model"
    path.write_bytes("".join(f"{line} \n" for line in lines).encode() + b"SV \n" + vectors)
    assert load_model(path).sha256 == load_model(model).sha256


def test_an_empty_vector_is_the_origin(tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(
        b"svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nSV\n"
        b"1 \n0.5 3:2 \n"
    )
    machine = load_model(path)
    assert machine.support_vectors.tolist() == [[0, 0, 0], [0, 0, 2]]
    assert machine.intercept.tolist() == [-0.5]


def test_features_that_count_from_0_are_those_that_count_from_1(tmp_path):
    """LIBSVM's C, Java and Python interfaces write such files, and svm-predict answers them."""
    text = libsvm_text(SVC(kernel="poly").fit(X, Y))
    shifted = re.sub(rb" ([0-9]+):", lambda m: b" %d:" % (int(m[1]) - 1), text)
    one, zero = tmp_path / "one", tmp_path / "zero"
    one.write_bytes(text)
    zero.write_bytes(shifted)
    assert load_model(zero).sha256 == load_model(one).sha256
    notes = load_model(zero).notes
    assert "3 is the largest index" in notes[0]
    assert "count from 0: the C takes 4" in notes[1]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float64_is_read_back_as_it_was_written(value):
    written = re.sub(rb"rho \S+", b"rho %.17g" % value, libsvm_text(MODEL))
    assert read_libsvm(written).intercept[0] == -value


def _notes(content, tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(content)
    return load_model(path).notes


def test_the_number_of_features_is_noted_as_the_largest_index(tmp_path):
    (note,) = _notes(libsvm_text(SVC().fit(X, Y)), tmp_path)
    assert "4 is the largest index" in note and "adds later ones to the distances" in note
    (note,) = _notes(libsvm_text(SVC(kernel="linear").fit(X, Y)), tmp_path)
    assert "ignores later ones" in note


def test_probabilities_are_noted():
    """reliability 13: the label is svm-predict's without -b 1."""
    for name in ("c_svc-polynomial", "one_class-rbf"):
        assert any("without -b 1" in note for note in load_model(STORED / f"{name}.model").notes)


def test_rounding_when_it_was_saved_is_noted(tmp_path):
    model = SVC(gamma=1 / 13).fit(X / 3, Y)
    old = _notes(libsvm_text(model, "%.8g", "%.6g"), tmp_path)
    assert "support vectors 8, coefficients 6, rho and kernel parameters 6" in old[-1]
    older = _notes(libsvm_text(model, "%.8g", "%.16g"), tmp_path)
    assert "support vectors 8, coefficients 16" in older[-1]
    assert all("digits" not in note for note in _notes(libsvm_text(model), tmp_path))
    assert "support vectors 8" in load_model(STORED / "nu_svr-rbf.model").notes[-1]


def test_short_decimals_are_not_called_rounded(tmp_path):
    text = libsvm_text(SVC(gamma=0.5).fit(X, Y), "%.8g")  # iris has one digit behind the point
    assert all("digits" not in note for note in _notes(text, tmp_path))
