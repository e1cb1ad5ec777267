"""SVM-light's files: a text as write_model writes it is the machine of its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kit.svmlight_files import KERNELS, svmlight_text
from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.readers.libsvm import text
from kmcompile.readers.svmlight.model import read_svmlight

X, Y = load_iris(return_X_y=True)
X, Y = X[50:][::4], np.where(Y[50:][::4] == 1, -1, 1)
MODEL = SVC(gamma=0.25).fit(X, Y)
TEXT = svmlight_text(MODEL)


@pytest.mark.parametrize("kernel", KERNELS)
def test_decisions_are_those_of_the_numbers_in_the_file(kernel, tmp_path):
    model = SVC(kernel=kernel, gamma=0.125, coef0=0.5).fit(X, Y)
    path = tmp_path / "x.model"
    path.write_text(svmlight_text(model))
    machine = load_model(path)
    assert (machine.classes, machine.zero_is_positive) == ((-1, 1), False)
    assert machine.kernel.name == kernel
    vectors = model.support_vectors_.astype(np.float32).astype(np.float64)
    assert np.array_equal(machine.support_vectors, vectors)
    expected = model.dual_coef_ @ machine.kernel.values(vectors, X).T
    expected -= float(f"{-model.intercept_[0]:.8g}")
    found = evaluate(machine, X)
    assert np.all(np.abs(found.decisions[:, 0] - expected[0]) <= 2 * found.error[:, 0])


def test_what_the_file_does_not_tell_is_noted():
    assert "does not tell what was trained" in read_svmlight(TEXT.encode()).notes[0]


def test_features_that_no_vector_has_are_counted():
    """In a distance they matter: svm_classify adds them."""
    text = svmlight_text(MODEL, n_features=7)
    assert read_svmlight(text.encode()).n_features == 7


def test_version_5_without_a_sign_behind_the_vectors_is_read():
    text = svmlight_text(MODEL, version="V5.00").replace(" #\n", "\n")
    assert read_svmlight(text.encode()).sha256 == read_svmlight(TEXT.encode()).sha256


REFUSED = [
    ("2 # kernel type", "4 # kernel type", 2, "must be 0 to 3: a kernel of your own"),
    ("2 # kernel type", "# kernel type", 2, "has 0 values, must be the kernel type"),
    ("3 # kernel parameter -d", "-3 # d", 3, "must be an integer from 0"),
    ("0.25 # kernel parameter -g", "0 # g", 7, "parameter -g is 0.0, must be > 0"),
    ("0.25 # kernel parameter -g", "nan # g", 4, "must be finite"),
    ("4 # highest", "0 # highest", 8, "must be an integer from 1"),
    ("4 # highest", "2000000000 # highest", None, "bytes, must be at most"),
    (f"{len(MODEL.support_vectors_) + 1} # number", "1 # number", 10, "no support vectors"),
    (f"{len(MODEL.support_vectors_) + 1} # number", "3 # number", 14, "follows the last line"),
    (" 1:", " 0:", None, "index 0, must be 1 or more"),
    (" 1:", " qid:", 12, "must be an integer"),
    (" 2:", " 1:", 12, "must be an integer from 2"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_files_that_lie_are_refused(old, new, line, words):
    assert old in TEXT
    with pytest.raises(InputError) as caught:
        read_svmlight(TEXT.replace(old, new, 1).encode())
    assert words in str(caught.value)
    assert line is None or str(caught.value).startswith(f"line {line}: ")


def test_truncated_files_are_refused_at_every_byte():
    for length in range(0, len(TEXT), 3):
        with pytest.raises(InputError):
            read_svmlight(TEXT[:length].encode())


def test_long_files_are_refused(monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT_BYTES", 100)
    with pytest.raises(InputError, match="must be at most 100"):
        read_svmlight(TEXT.encode())
