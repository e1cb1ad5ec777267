"""reliability.md, items 3, 6, 9, 10, 11 and 12: .npz models that lie or broke."""

from __future__ import annotations

import io
import random
import zipfile

import numpy as np
import pytest
from model_files import refused, write
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers import load_model, zip_members
from kmcompile.readers.npz.layout import REQUIRED
from kmcompile.readers.npz.model import read_npz_model
from kmcompile.readers.npz.writer import npz_model

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.5, 3.0]]), ["a", "b", "b", "c"]
MODEL = make_pipeline(MinMaxScaler(clip=True), PCA(2), Normalizer(), SVC(kernel="poly", coef0=1.0))
CONTENT = npz_model(load_model(MODEL.fit(X, Y)))
ARRAYS = dict(np.load(io.BytesIO(CONTENT)))


def archive(save=np.savez, **changes):
    """Return the model with some arrays changed; None leaves one out."""
    content = io.BytesIO()
    kept = {name: array for name, array in {**ARRAYS, **changes}.items() if array is not None}
    save(content, **kept)
    return content.getvalue()


def test_a_compressed_archive_is_the_same_machine(tmp_path):
    path = write(tmp_path, archive(np.savez_compressed))
    assert load_model(path).canonical_bytes() == read_npz_model(CONTENT).canonical_bytes()


@pytest.mark.parametrize("name", ["classes", "support_vectors", "kind", "step_0_offset"])
def test_arrays_of_objects_are_refused(name, tmp_path):
    """reliability 6: they are pickles, and nothing is unpickled."""
    objects = np.array([print, "b", "c"], dtype=object)
    refused(write(tmp_path, archive(**{name: objects})), name, "Python objects")


@pytest.mark.parametrize("name", REQUIRED)
def test_missing_names_are_refused(name, tmp_path):
    """reliability 10: every array that there must be is named."""
    path = write(tmp_path, archive(**{name: None}))
    if name == "format_version":
        refused(path, "a zip archive")  # by it the layout is told
    else:
        refused(path, f"{name} is missing")


@pytest.mark.parametrize("name", ["extra", "gama", "X", "step_9", "step_0_mean", "step_00"])
def test_unknown_names_are_refused(name, tmp_path):
    """reliability 10: what is not understood is not ignored."""
    refused(write(tmp_path, archive(**{name: np.zeros(2)})), name)


LIES = [
    ({"format_version": 2}, "format_version is 2, must be an integer from 1 to 1"),
    ({"kind": "a b"}, "kind is 'a b', must be a name"),
    ({"kind": 3}, "kind is 3"),
    ({"task": "two-class"}, "task is 'two-class'"),
    ({"task": "regression"}, "classes is there in a regression machine"),
    ({"task": "binary"}, "class_counts is there in a binary machine"),
    ({"kernel": "gauss"}, "kernel is 'gauss', must be linear or poly"),
    ({"kernel": "rbf"}, "coef0 is there"),
    ({"gamma": None}, "gamma is missing"),
    ({"gamma": 0.0}, "gamma is 0.0, must be > 0"),
    ({"gamma": -1.0}, "gamma is -1.0"),
    ({"gamma": np.nan}, "gamma is nan"),
    ({"gamma": [0.5]}, "gamma is an array of shape (1,)"),
    ({"degree": 2.5}, "degree is 2.5"),
    ({"coef0": np.inf}, "coef0 is inf"),
    ({"n_features": 0}, "n_features is 0"),
    ({"n_features": 10**9}, "n_features is 1000000000"),
    ({"n_features": 3}, "step_0_offset has shape (2,), must be of shape (3,)"),
    ({"support_vectors": np.zeros((4, 3))}, "support_vectors has shape (4, 3)"),
    ({"support_vectors": np.zeros((0, 2))}, "dual_coef has shape"),
    ({"support_vectors": np.full((4, 2), np.inf)}, "support_vectors[0, 0] is inf"),
    ({"support_vectors": np.array(["a"])}, "support_vectors is an array of shape (1,)"),
    ({"dual_coef": np.zeros((3, 4))}, "dual_coef has shape (3, 4), expected (2, 4)"),
    ({"intercept": np.zeros(2)}, "intercept has shape (2,), expected (3,)"),
    ({"intercept": [0.0, np.nan, 0.0]}, "intercept[1] is nan"),
    ({"classes": ["a"]}, "classes has 1 class, must be 2 or more"),
    ({"classes": ["a", "a", "b"]}, "a class twice"),
    ({"classes": np.zeros((3, 1))}, "must be an array of one dimension"),
    ({"class_counts": [1, 1, 1]}, "do not add up to 4"),
    ({"class_counts": [-1, 4, 1]}, "class_counts has -1"),
    ({"zero_is_positive": 1}, "zero_is_positive is 1, must be True or False"),
    ({"log_odds": True}, "log_odds is True in a one-vs-one machine"),
    ({"last_of_equal": True}, "last_of_equal is True in a one-vs-one machine"),
    ({"threshold": np.nan}, "threshold is nan"),
    ({"threshold": 0.5}, "a one-vs-one machine has a threshold"),
    ({"decision_function_shape": "ovx"}, "decision_function_shape is 'ovx'"),
    ({"step_0": "Scale"}, "step_0 is 'Scale', must be Affine or"),
    ({"step_0_factor": [0.0, 1.0]}, "step_0_factor has 0, must be nowhere 0"),
    ({"step_0_offset_error": [-1.0, 0.0]}, "is negative"),
    ({"step_1_low": 3.0}, "step_1_low is 3.0, must be at most 1.0"),
    ({"step_1": None}, "must belong to one of at most 100 steps"),
    ({"step_3_matrix": np.zeros((0, 2))}, "step_3_matrix has no rows"),
    ({"step_4_norm": "l3"}, "step_4_norm is 'l3'"),
    ({"step_4": "Selection"}, "step_4_columns is missing"),
]


@pytest.mark.parametrize(("changes", "word"), LIES, ids=lambda v: str(v)[:40])
def test_arrays_that_do_not_fit_are_refused(changes, word, tmp_path):
    """reliability 9, 10, 11, 12: type, shape and value of every field, by its name."""
    refused(write(tmp_path, archive(**changes)), word)


@pytest.mark.parametrize("columns", [[], [-1], [2], [0.5], 1, [[0, 1]]])
def test_selections_of_columns_that_are_not_there_are_refused(columns, tmp_path):
    """reliability 10."""
    changes = {"step_4": "Selection", "step_4_norm": None, "step_4_columns": columns}
    refused(write(tmp_path, archive(**changes)), "step_4_columns")


def test_decompression_bombs_are_refused_before_they_are_decompressed(tmp_path, monkeypatch):
    """reliability 3: sizes are those of the archive's directory."""
    monkeypatch.setattr(zip_members, "MAX_MODEL_BYTES", 100_000)
    content = archive(np.savez_compressed, support_vectors=np.zeros((4, 10_000)))
    assert len(content) < 20_000
    refused(write(tmp_path, content), "must be at most 100000")


def test_headers_that_claim_more_than_there_is_are_refused(tmp_path):
    """reliability 3: nothing is allocated for a claim."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(content, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            if name == "intercept.npy":
                raw = raw.replace(b"(3,)", b"(9999999999,)")[:-10]
            new.writestr(name, raw)
    refused(write(tmp_path, content.getvalue()), "intercept")


def test_truncated_files_are_refused(tmp_path):
    """reliability 3: the directory is at the end."""
    for length in {*range(0, len(CONTENT), 29), *range(len(CONTENT) - 50, len(CONTENT))}:
        refused(write(tmp_path, CONTENT[:length]))


@pytest.mark.parametrize("seed", range(3))
def test_flipped_bits_give_an_input_error_or_a_valid_machine(seed):
    """reliability 10: mostly caught by CRC-32, otherwise by the checks."""
    rng = random.Random(seed)
    for _ in range(300):
        content = bytearray(CONTENT)
        for _ in range(rng.choice((1, 1, 3))):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        try:
            machine = read_npz_model(bytes(content))
        except InputError as error:
            assert len(str(error).splitlines()) <= 3
        else:
            assert isinstance(machine, KernelMachine)
