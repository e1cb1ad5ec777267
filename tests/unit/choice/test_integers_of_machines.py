"""Which integers a machine has, and why another one has none."""

from __future__ import annotations

import numpy as np
import pytest
from format_machines import TARGET, cancer_machine, cancer_samples, chosen, digits_machine
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.lower.formats import grid_text, lower_in_format
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.interpreter import interpret


def test_duplicates_and_features_without_values_are_told():
    X = np.array([[0, 1, 0], [0, 3, 0], [0, 1, 0], [0, 9, 0]], dtype=float)
    machine = readers.load_model(SVC(gamma=0.1).fit(X, [0, 1, 0, 1]))
    lowered = lower_in_format(machine, TARGET, "model", "int8")
    assert "2 features are 0 in all of them" in lowered.notes[0]
    assert "1 duplicate support vectors merged" in lowered.machine.notes


def test_an_input_outside_the_scale_is_not_certified():
    machine = cancer_machine()
    far = 1e4 * cancer_samples()[:50]
    lowered = lower_in_format(machine, TARGET, "model", "int16", np.vstack([far, cancer_samples()]))
    results = interpret(lowered.program, np.vstack([far, cancer_samples()])).results
    assert lowered.measured.certified_share == results["certified"].mean()
    assert (results["status"][:50] != 0).all()


def test_the_integers_of_a_machine_are_told_with_their_steps():
    X, y = load_digits(return_X_y=True)
    pixels = readers.load_model(SVC().fit(X[:300] / 16, y[:300]))
    assert grid_text(pixels) == "uint8 codes from 0 to 255 in steps of 0.0625, without loss"
    assert grid_text(cancer_machine()).startswith("none: the support vectors are real numbers")
    linear = readers.load_model(SVC(kernel="linear").fit(X[:300], y[:300]))
    assert grid_text(linear).startswith("none: codes of support vectors are for sums")


def columns_machine(columns: list[int]) -> KernelMachine:
    """Return a machine of digits behind a selection of columns."""
    X, y = load_digits(return_X_y=True)
    taken = ColumnTransformer([("taken", "passthrough", columns)])
    return readers.load_model(make_pipeline(taken, SVC(gamma=0.001)).fit(X[:400], y[:400] == 8))


def test_permuted_columns_have_the_codes_of_the_others():
    order = np.random.default_rng(3).permutation(64)
    machine, plain = columns_machine(order.tolist()), digits_machine()
    assert grid_text(machine) == grid_text(plain)
    X = load_digits().data[400:700].astype(np.float32)
    ones = [lower_in_format(m, TARGET, "m", "int8") for m in (machine, plain)]
    answers = [interpret(one.program, X).results for one in ones]
    np.testing.assert_array_equal(answers[0]["label"], answers[1]["label"])
    assert [str(step) for step in ones[0].machine.preprocessing] == ["scale"]


def test_integers_of_some_columns_only_are_refused():
    with pytest.raises(InputError, match="preprocessing is a scaler at most"):
        lower_in_format(columns_machine([3, 5, 20, 36]), TARGET, "m", "int16")


def test_a_sampler_has_no_integers_and_auto_takes_float32():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(RBFSampler(n_components=9, random_state=0), LinearSVC(random_state=0))
    machine = readers.load_model(model.fit(X, y))
    kernels = "rbf, poly, sigmoid and intersection kernels"
    reason = f"integer formats are for the {kernels}, this machine's is fourier"
    with pytest.raises(InputError, match=f"--format int16: {reason}"):
        lower_in_format(machine, TARGET, "m", "int16")
    lowered, candidates = chosen(machine)
    assert lowered.program.number_format == "float32"
    assert reason in candidates["int8"].reason
