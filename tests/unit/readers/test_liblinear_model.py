"""LIBLINEAR's files: every kind of solver, with the answers of LIBLINEAR's own predict.

tests/fault/stored_models/make_liblinear.py wrote them with LIBLINEAR 2.50.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.readers.liblinear.model import read_liblinear
from kmcompile.readers.libsvm import text

FOLDER = Path(__file__).parents[2] / "fault" / "stored_models" / "liblinear-2.50"
ANSWERS = json.loads((FOLDER / "predict.json").read_text())
X = np.array(ANSWERS.pop("X"))
TWO = (FOLDER / "svc-two.model").read_bytes()


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_liblinears(name):
    machine = load_model(FOLDER / f"{name}.model")
    reference = evaluate(machine, X)
    expected = np.array(ANSWERS[name]["decisions"])[:, : machine.n_decisions]
    sign = -1 if machine.task is Task.BINARY else 1
    off = np.abs(sign * reference.decisions - expected)
    assert np.all(off <= 2 * reference.error + machine.intercept_error)
    if machine.task is not Task.REGRESSION:
        assert np.array_equal(np.array(machine.classes)[reference.labels], ANSWERS[name]["labels"])


def test_every_solver_is_scikit_learns_class():
    machines = {name: load_model(FOLDER / f"{name}.model") for name in ANSWERS}
    assert {name: (m.kind, m.task.value) for name, m in machines.items()} == {
        "logistic-two": ("LogisticRegression", "binary"),
        "logistic-three": ("LogisticRegression", "one-vs-rest"),
        "svc-two": ("LinearSVC", "binary"),
        "svc-three": ("LinearSVC", "one-vs-rest"),
        "joint-two": ("LinearSVC", "binary"),
        "joint-three": ("LinearSVC", "one-vs-rest"),
        "regression": ("LinearSVR", "regression"),
        "one-class": ("OneClassSVM", "one-class"),
    }
    assert machines["svc-two"].classes == (-8, 3)


@pytest.mark.parametrize("name", ["logistic-two", "logistic-three"])
def test_probabilities_are_liblinears(name, tmp_path):
    compiled = kmcompile.compile_model(
        FOLDER / f"{name}.model", target="host", verify="none", out=tmp_path / "out"
    )
    inputs = X.astype(np.float32)
    reference = evaluate(load_model(FOLDER / f"{name}.model"), X)
    expected = np.array(ANSWERS[name]["probabilities"])
    # A probability moves by at most a quarter of what its decision moves, and the C rounds.
    rounding = np.abs(inputs - X).sum() + 2.0**-18 * (1 + reference.magnitudes.max())
    assert np.abs(compiled.predict_proba(inputs) - expected).max() <= rounding


def test_the_intercept_is_the_exact_product_rounded():
    machine = read_liblinear(TWO)
    weight, bias = float(TWO.split()[-1]), 0.29999999999999999
    exact = -Fraction(weight) * Fraction(bias)
    assert machine.intercept[0] == float(exact)
    assert abs(Fraction(machine.intercept[0]) - exact) <= Fraction(machine.intercept_error)
    assert 0 < machine.intercept_error < 2.0**-52 * abs(machine.intercept[0])
    assert load_model(FOLDER / "joint-three.model").intercept_error == 0


def test_the_second_label_is_given_at_0():
    machine = read_liblinear(TWO)
    assert machine.zero_is_positive


REFUSED = [
    (b"L2R_L2LOSS_SVC", b"L3R", 1, "solver_type is 'L3R', must be"),
    (b"nr_class 2", b"nr_class 1", 2, "must be 2 or more; retrain with two classes"),
    (b"nr_class 2", b"nr_class 9999", 2, "must be an integer from 1 to 4096"),
    (b"label -8 3", b"label 3 3", 3, "a label twice"),
    (b"label -8 3", b"label 3", 3, "has 1 values, must have 2"),
    (b"label -8 3\n", b"", 5, "label is missing"),
    (b"nr_feature 3", b"nr_feature 2", 10, "follows the last line"),
    (b"nr_feature 3", b"nr_feature 4", 11, "must have 1 more lines of weights"),
    (b"nr_feature 3", b"nr_feature 2000000000", 11, "the file ends here"),
    (b"bias 0.29999999999999999", b"bias nan", 5, "must be finite"),
    (b"bias 0.29999999999999999", b"bias 0.3\nrho 1", 6, "only ONECLASS_SVM has it"),
    (b"bias 0.29999999999999999", b"bias 0.3\nprobA 1", 6, "'probA', must be solver_type"),
    (b"w\n", b"w\n1 2\n", 7, "has 2 weights, must have 1"),
    (b"w\n", b"w\ninf\n", 7, "a weight is 'inf', must be finite"),
    (b"w\n", b"w\n0x1\n", 7, "must be a decimal number"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_files_that_lie_are_refused(old, new, line, words):
    assert old in TWO
    with pytest.raises(InputError) as caught:
        read_liblinear(TWO.replace(old, new, 1))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"line {line}: ") or "is missing" in words


def test_a_regression_with_labels_is_refused():
    content = (FOLDER / "regression.model").read_bytes().replace(b"nr_f", b"label 1 2\nnr_f")
    with pytest.raises(InputError, match="only classifiers have it"):
        read_liblinear(content)


def test_truncated_files_are_refused_at_every_byte():
    for length in range(len(TWO)):
        with pytest.raises(InputError):
            read_liblinear(TWO[:length])


def test_an_intercept_beyond_float64_is_refused():
    lines = TWO.replace(b"bias 0.29999999999999999", b"bias 1e200").split(b"\n")
    lines[-2] = b"1e200"
    with pytest.raises(InputError, match="too large for float64"):
        read_liblinear(b"\n".join(lines))


def test_long_files_are_refused(monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT_BYTES", 100)
    with pytest.raises(InputError, match="must be at most 100"):
        read_liblinear(TWO)
