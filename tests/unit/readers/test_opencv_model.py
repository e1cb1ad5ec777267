"""OpenCV's files: every type, kernel and syntax, with the answers of OpenCV's own predict.

tests/fault/stored_models/make_opencv.py wrote the files with OpenCV 4.14 and 3.4.18.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kmcompile.errors import InputError
from kmcompile.kernels import Chi2, Intersection, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.readers.libsvm import text

FOLDER = Path(__file__).parents[2] / "fault" / "stored_models" / "opencv"
ANSWERS = json.loads((FOLDER / "predict.json").read_text())
X = np.array(ANSWERS.pop("X"))
FRACTION = "c_svc-poly-fraction.xml"
NAMES = sorted(set(ANSWERS) - {FRACTION})
U32 = 2.0**-24


def opencv_rounding(machine):
    """Return bounds on what float32 does to OpenCV's decisions of the queries.

    It rounds products and sums of inner products (n + 4 times), the argument of exp, tanh or the
    power, the kernel value, and the decision that it returns: of one class more than the decision.
    """
    values = machine.kernel.values(machine.support_vectors, machine.prepare(X))
    sizes = np.abs(X) @ np.abs(machine.support_vectors).T
    if isinstance(machine.kernel, Poly):
        inner = machine.kernel.gamma * sizes + abs(machine.kernel.coef0)
        sizes = machine.kernel.degree * inner**machine.kernel.degree
    roundings = 2 * (X.shape[1] + 4) * U32 * (np.abs(values) + sizes + 1)
    return roundings @ np.abs(decision_coefficients(machine)).T + U32 * 10


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_opencvs(name):
    machine = load_model(FOLDER / name)
    reference = evaluate(machine, X)
    bounds = opencv_rounding(machine)
    labels, raw = (np.array(ANSWERS[name][key]) for key in ("labels", "raw"))
    if machine.task is Task.REGRESSION:
        assert np.all(np.abs(reference.decisions[:, 0] - labels) <= bounds[:, 0])
        return
    if machine.task.has_one_sign:
        sign = -1 if machine.task is Task.BINARY else 1
        assert np.all(np.abs(sign * reference.decisions[:, 0] - raw) <= bounds[:, 0])
    clear = np.all(np.abs(reference.decisions) > bounds, axis=1)
    assert clear.all()
    assert np.array_equal(np.array(machine.classes)[reference.labels], labels)
    assert len(set(labels)) > 1


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("one_class")])
def test_the_program_answers_as_opencv(name, tmp_path):
    compiled = kmcompile.compile_model(
        FOLDER / name, target="host", mode="exact", verify="none", out=tmp_path / "out"
    )
    assert compiled.predict(X).tolist() == ANSWERS[name]["labels"]


def test_every_type_and_kernel_is_read():
    machines = {name: load_model(FOLDER / name) for name in NAMES}
    assert {
        name: (m.kind, m.task.value) for name, m in machines.items() if "three" not in name
    } == {
        "c_svc-chi2.yml": ("SVC", "binary"),
        "c_svc-inter.xml": ("SVC", "binary"),
        "c_svc-linear.yml": ("SVC", "binary"),
        "c_svc-rbf-opencv2.xml": ("SVC", "binary"),
        "c_svc-rbf.json": ("SVC", "binary"),
        "c_svc-rbf.xml": ("SVC", "binary"),
        "c_svc-rbf.yml": ("SVC", "binary"),
        "eps_svr-poly.xml": ("SVR", "regression"),
        "nu_svc-sigmoid.xml": ("NuSVC", "binary"),
        "nu_svr-linear.json": ("NuSVR", "regression"),
        "one_class-rbf.yml": ("OneClassSVM", "one-class"),
    }
    kernels = {name: m.kernel for name, m in machines.items()}
    assert kernels["c_svc-linear.yml"] == Linear()
    assert kernels["c_svc-rbf.json"] == Rbf(0.5)
    assert kernels["c_svc-chi2.yml"] == Chi2(0.5)
    assert kernels["c_svc-inter.xml"] == Intersection()
    assert kernels["eps_svr-poly.xml"] == Poly(0.5, 1.0, 3)
    assert kernels["nu_svc-sigmoid.xml"] == Sigmoid(0.5, -0.5)


def test_one_machine_in_each_syntax_is_one_machine():
    names = [f"c_svc-rbf{end}" for end in (".xml", ".yml", ".json", "-opencv2.xml")]
    assert len({load_model(FOLDER / name).sha256 for name in names}) == 1


@pytest.mark.parametrize("name", ["c_svc-rbf.xml", "c_svc-rbf.yml", "c_svc-rbf.json"])
def test_line_ends_of_windows_and_gzip_change_nothing(name, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(gzip.compress((FOLDER / name).read_bytes().replace(b"\n", b"\r\n")))
    assert load_model(path).sha256 == load_model(FOLDER / name).sha256


def test_vectors_are_float32_as_opencv_reads_them(tmp_path):
    path = tmp_path / "model"
    text = (FOLDER / "c_svc-rbf.yml").read_text()
    number = re.search(r"- \[ (\S+),", text)[1]
    path.write_text(text.replace(number, "0.1", 1))
    assert load_model(path).support_vectors[0, 0] == np.float32(0.1)


def test_a_linear_machine_has_a_vector_a_pair():
    machine = load_model(FOLDER / "c_svc-linear-three.xml")
    assert machine.support_vectors.shape == (3, 3)
    assert machine.class_counts == (2, 1, 0)


def test_labels_of_one_class_are_opencvs_and_stay_so_in_an_npz(tmp_path):
    machine = load_model(FOLDER / "one_class-rbf.yml")
    assert machine.classes == (0, 1)
    kmcompile.save_model(tmp_path / "own.npz", machine)
    assert load_model(tmp_path / "own.npz").sha256 == machine.sha256


def _altered(name, tmp_path, *changes):
    text = (FOLDER / name).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / "model"
    path.write_text(text)
    return path


def test_features_that_opencv_2_was_trained_on_are_selected(tmp_path):
    index = (
        '<var_idx type_id="opencv-matrix"><rows>1</rows><cols>3</cols><dt>i</dt>'
        "<data>4 0 2</data></var_idx>"
    )
    path = _altered(
        "c_svc-rbf-opencv2.xml", tmp_path, ("<var_all>3</var_all>", "<var_all>5</var_all>" + index)
    )
    machine = load_model(path)
    assert machine.n_features == 5
    wide = np.zeros((len(X), 5))
    wide[:, [4, 0, 2]] = X
    plain = evaluate(load_model(FOLDER / "c_svc-rbf.xml"), X)
    assert np.array_equal(evaluate(machine, wide).decisions, plain.decisions)


def test_an_old_sigmoid_is_minus_tanh(tmp_path):
    """OpenCV issue 13621: until 3.4.5 and 4.0 the kernel was -tanh, and coef0 was 0 or more."""
    name = "nu_svc-sigmoid.xml"
    new = load_model(FOLDER / name)
    assert len(new.notes) == 1
    old = load_model(_altered(name, tmp_path, ("svmType", "svm_type"), ("svmType", "svm_type")))
    assert np.array_equal(old.dual_coef, -new.dual_coef)
    assert np.array_equal(old.intercept, new.intercept)
    assert "OpenCV 2" in old.notes[-1]
    either = _altered(name, tmp_path, ("<coef0>-", "<coef0>"))
    assert "does not tell which release" in load_model(either).notes[-1]


def test_a_vector_of_several_classes_stands_in_each(tmp_path):
    """A file could share vectors between pairs as none of OpenCV does."""
    name = "c_svc-linear-three.xml"
    path = _altered(
        name,
        tmp_path,
        ("<index>\n        1</index>", "<index>\n        2</index>"),
        ("<index>\n        2</index></_></decision", "<index>\n        0</index></_></decision"),
    )
    assert path.read_text().count("        2</index>") == 1
    machine = load_model(path)
    weights = load_model(FOLDER / name).support_vectors
    expected = X @ weights[[0, 2, 0]].T + machine.intercept
    found = evaluate(machine, X)
    assert np.all(np.abs(found.decisions - expected) <= 2 * found.error)
    assert machine.n_support_vectors == 3


def test_other_nodes_of_the_file_are_passed_over(tmp_path):
    extra = "other: !!opencv-matrix\n   rows: 1\n   data: [ 1. ]\n"
    extra += 'name: "a: {b"\nlist:\n   - 3\n   - { a:1, b:[ x, y ] }\n'
    path = _altered("c_svc-rbf.yml", tmp_path, ("---\n", "---\n# mine\n" + extra))
    assert load_model(path).sha256 == load_model(FOLDER / "c_svc-rbf.yml").sha256


def test_a_fractional_degree_is_refused():
    with pytest.raises(InputError, match=r"degree is 1.5, must be a whole number.*\n?.*retrain"):
        load_model(FOLDER / FRACTION)


def test_long_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT_BYTES", 1000)
    with pytest.raises(InputError, match="must be at most 1000"):
        load_model(FOLDER / "c_svc-rbf.xml")
