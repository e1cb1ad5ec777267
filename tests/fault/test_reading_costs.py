"""reliability 3, 45: what a file of n bytes may cost to read, and what then still is read."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from hostile_files import DATA, MODELS, archive, npy, npy_of, npz_model
from hostile_pickles import EMPTY_ARRAY, dtype, integer, text
from model_files import SMALL, refused, write
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from kit.libsvm_files import libsvm_text
from kmcompile.errors import InputError
from kmcompile.readers import byte_budget, load_model
from kmcompile.readers.samples.file import read_samples

PROMISED_BYTES, PROMISED_PER_BYTE = 500_000_000, 50
PROMISED_ADDITIONS = 200_000_000
"""In a loop of Python: 10 seconds of an ordinary machine."""

# What each run of the tests measures: one of every kind. The others are measured by `test-all`.
MEASURED = {
    "a text that is encoded",
    "arrays of the other byte order",
    "buffers",
    "scalars of one text",
    "int8 vectors in xz",
    "skops: scalars of one text",
    "npz of int8",
    "OpenCV: short numbers",
}


def _costs(files):
    """Return what reading each file costs: of a model its path, of samples with n_features."""
    script = Path(__file__).parent / "reading_costs.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, str(script), *files],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def _measure(names, folder):
    """Write the files of these names, read each in a process of its own, and compare the costs."""
    files, sizes = [], []
    for number, name in enumerate(names):
        make, n_features = DATA[name] if name in DATA else (MODELS[name], None)
        path = folder / str(number)
        path.write_bytes(make())
        sizes.append(path.stat().st_size)
        files.append(str(path) if n_features is None else f"{path}:{n_features}")
    for name, size, cost in zip(names, sizes, _costs(files), strict=True):
        assert cost["outcome"].startswith(("3: ", "read")), (name, cost)
        assert cost["bytes"] <= PROMISED_BYTES + PROMISED_PER_BYTE * size, (name, size, cost)
        assert cost["additions"] <= PROMISED_ADDITIONS, (name, size, cost)


@pytest.mark.exhaustive
def test_hostile_files_cost_what_is_promised(tmp_path):
    """reliability 45: 500 MB and 50 bytes a byte, and 10 seconds."""
    _measure(sorted(MEASURED), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted({*MODELS, *DATA} - MEASURED))
def test_a_hostile_file_costs_what_is_promised(name, tmp_path):
    """reliability 45: the others."""
    _measure([name], tmp_path)


_SLOW_TO_MAKE = ("zeros", "halves", "LIBSVM", "ONNX", "skops: ", "indices", "narrow")
_OF_BUDGET = ("memory and work in all", "refused as unsafe", "at most 4095", "must be at most")


@pytest.mark.few
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.exhaustive if n.startswith(_SLOW_TO_MAKE) else ())
        for n in MODELS
        if not n.startswith(("a long name", "4096 classes", "4096 pipelines"))
    ],
)
def test_a_hostile_model_is_refused_by_its_budget(name, tmp_path, monkeypatch):
    """reliability 45: a twentieth of the budget is spent in a twentieth of the time."""
    monkeypatch.setattr(byte_budget, "BASE_BYTES", 20_000_000)
    message = refused(write(tmp_path, MODELS[name]()))
    assert any(words in message for words in _OF_BUDGET), message


@pytest.mark.parametrize("name", ["svmlight of empty lines", "csv of a long label"])
def test_hostile_samples_are_refused_by_their_budget(name, tmp_path, monkeypatch):
    """reliability 45: a line of two bytes is a row of all features."""
    monkeypatch.setattr(byte_budget, "BASE_BYTES", 20_000_000)
    make, n_features = DATA[name]
    with pytest.raises(InputError, match="memory and work in all") as caught:
        read_samples(write(tmp_path, make()), n_features)
    assert len(str(caught.value).splitlines()) <= 3


SHAPES = {
    "numpy's largest": "(0, 9223372036854775807)",
    "beyond 64 bits": "(0, 99999999999999999999)",
    "long and empty": "(1099511627776, 0)",
    "long both ways": "(0, 1099511627775, 1099511627775)",
    "negative": "(-1, 0)",
    "many dimensions": "(" + "1, " * 100 + ")",
    "five dimensions": "(1, 1, 1, 1, 1)",
    "of booleans": "(True, True)",
}
TYPES = ("'<f8'", "'|i1'", "'>f2'", "'<U99999999'", "'<c16'", "'|V8'", "[('a', '<f8')]")


@pytest.mark.parametrize("order", ["False", "True"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_impossible_shape_is_refused_in_every_reader(shape, order, tmp_path):
    """reliability 3: numpy counts the bytes of an empty array, too."""
    for kind in TYPES:
        header = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}"
        member = npy_of(header, b"\0" * 8)
        refused(write(tmp_path, npz_model(support_vectors=member)))
        for content in (member, npy_of(header), archive({"X.npy": member})):
            with pytest.raises(InputError) as caught:
                read_samples(write(tmp_path, content), 4)
            assert len(str(caught.value).splitlines()) <= 3


@pytest.mark.parametrize("shape", [(0, 2**63 - 1), (2**40, 0), (-1, 0), (1,) * 70, (0, 2**62, 2)])
def test_an_impossible_shape_is_refused_in_a_pickle(shape, tmp_path):
    """reliability 3: in the state of an array, and in joblib's."""
    numbers = b"(" + b"".join(map(integer, shape)) + b"t"
    state = b"(K\x01" + numbers + dtype(b"f8") + b"\x89C\0tb"
    refused(write(tmp_path, b"\x80\x04" + EMPTY_ARRAY + state + b"."), "shape")
    wrapper = b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}(" + text(b"shape") + numbers
    wrapper += text(b"order") + text(b"F") + text(b"dtype") + dtype(b"f8") + b"ub."
    refused(write(tmp_path, b"\x80\x04" + wrapper), "shape")


def test_a_model_of_no_features_is_refused(tmp_path):
    """reliability 10, 12: the default gamma is one divided by their number."""
    model = KernelRidge(kernel="rbf").fit([[0.0], [1.0]], [0, 1])
    model.X_fit_, model.n_features_in_ = np.zeros((2, 0)), 0
    refused(write(tmp_path, pickle.dumps(model)), "X_fit_ has no features")


def _large_model(n_sv, n_features, n_classes):
    """Return an SVC that was not trained: real numbers as a trained one has them."""
    model = SVC(gamma=0.01).fit(np.eye(n_classes), range(n_classes))
    rng = np.random.default_rng(0)
    model.support_vectors_ = rng.integers(0, 256, (n_sv, n_features)) / 255
    model.dual_coef_ = model._dual_coef_ = rng.normal(size=(n_classes - 1, n_sv))
    model.support_ = np.arange(n_sv, dtype=np.int32)
    model._n_support = np.bincount(np.arange(n_sv) % n_classes).astype(np.int32)
    model.shape_fit_, model.n_features_in_ = (n_sv, n_features), n_features
    return model


def _forms(model):
    yield pickle.dumps(model)
    for compress in (0, ("zlib", 3), ("xz", 1)):
        joblib.dump(model, content := io.BytesIO(), compress=compress)
        yield content.getvalue()
    lines = libsvm_text(model, "%.17g")
    yield lines
    yield gzip.compress(lines, 3)


@pytest.mark.exhaustive
def test_large_models_are_read(tmp_path, monkeypatch):
    """A tenth of 5,000 vectors of 784 features in a tenth of the budget: 26 classes, dense."""
    monkeypatch.setattr(byte_budget, "BASE_BYTES", byte_budget.BASE_BYTES // 10)
    model = _large_model(500, 784, 26)
    expected = load_model(model).support_vectors
    for content in _forms(model):
        machine = load_model(write(tmp_path, content))
        np.testing.assert_array_equal(machine.support_vectors, expected)


@pytest.mark.exhaustive
def test_a_model_of_31_mb_is_read(tmp_path):
    """5,000 vectors of 784 features, in every form."""
    for content in _forms(_large_model(5000, 784, 26)):
        assert load_model(write(tmp_path, content)).n_support_vectors == 5000


def test_large_samples_are_read(tmp_path, monkeypatch):
    """60,000 images as compressed float64, a hundredth of them in a hundredth of the budget."""
    monkeypatch.setattr(byte_budget, "BASE_BYTES", byte_budget.BASE_BYTES // 100)
    X = np.zeros((600, 784))
    X[:, ::5] = np.random.default_rng(0).integers(0, 256, (600, 157))
    for content in (archive({"X.npy": npy(X)}), archive({"X.npy": npy(X.astype(np.uint8))})):
        assert len(read_samples(write(tmp_path, content), 784)) == 600


def test_a_budget_ends_with_its_file(tmp_path):
    """What one file has spent is not missing to the next, and an estimator has no file."""
    path = write(tmp_path, pickle.dumps(SMALL))
    for _ in range(3):
        load_model(path)
    byte_budget.current_budget().spend(10**18, "anything")
