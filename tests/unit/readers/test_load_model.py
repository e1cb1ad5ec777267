"""load_model: one function for every file that scikit-learn users have, and for estimators."""

from __future__ import annotations

import gzip
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn
from float64_decisions import decisions_and_bounds
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from kmcompile.errors import InputError, UsageError
from kmcompile.readers import Reading, load_model

X, Y = load_iris(return_X_y=True)
STORED = Path(__file__).parents[2] / "fault" / "stored_models"


def _models():
    names = np.array(["setosa", "versicolor", "virginica"])
    state = np.random.RandomState(np.random.MT19937(3))
    yield SVC().fit(X, Y)
    yield NuSVC(kernel="poly", class_weight={0: 1.0, 1: 2.0, 2: 1.5}).fit(X, Y)
    yield SVC(random_state=np.random.RandomState(0)).fit(scipy.sparse.csr_matrix(X), Y > 1)
    yield LinearSVC(fit_intercept=False).fit(X, names[Y].astype(object))
    yield make_pipeline(
        StandardScaler(), MinMaxScaler(clip=True), PCA(whiten=True, random_state=state), SVC()
    ).fit(np.asfortranarray(X), Y)


MODELS = list(_models())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_pickle_protocol_gives_the_estimators_machine(model, protocol, tmp_path):
    expected = load_model(model).sha256
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model, protocol))
    assert load_model(path).sha256 == expected
    assert load_model(path, Reading(trust_pickle=True)).sha256 == expected
    joblib.dump(model, path, protocol=protocol)
    assert load_model(path).sha256 == expected


@pytest.mark.parametrize("method", ["zlib", "gzip", "bz2", "lzma", "xz"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_joblib_compression_gives_the_estimators_machine(model, method, tmp_path):
    path = tmp_path / "model.anything"
    joblib.dump(model, path, compress=(method, 9))
    assert load_model(str(path)).sha256 == load_model(model).sha256


def test_a_pickle_compressed_by_hand_is_read(tmp_path):
    path = tmp_path / "model.pkl.gz"
    with gzip.open(path, "wb") as file:
        pickle.dump(MODELS[0], file)
    assert load_model(path).sha256 == load_model(MODELS[0]).sha256


def test_feature_names_do_not_matter(tmp_path):
    model = SVC().fit(X, Y)
    expected = load_model(model).sha256
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    joblib.dump(model, tmp_path / "model.joblib")
    assert load_model(tmp_path / "model.joblib").sha256 == expected


DECISIONS = """-0x1.571e512fc2b4cp+4 -0x1.079feeb4bb6c6p+5 -0x1.009fa5aa1704cp+4
-0x1.e9acd2dc9ec99p+3 -0x1.cabf3d5c7f264p+1 -0x1.e859b97a93a32p+2 -0x1.c46a3966e6c64p+1
0x1.917129521b8e7p+3 0x1.30ad9f6340ee7p+3 0x1.5f160d46b0ce7p+3"""


@pytest.mark.parametrize("release", ["1.2.2", "1.4.2"])
def test_files_of_earlier_releases_are_read(release):
    """reliability 19: numpy 1.26 wrote them; SVC(C=1000, kernel="poly", coef0=1.0)."""
    machine = load_model(STORED / f"sparse-{release}.pkl")
    decisions, bounds = decisions_and_bounds(machine, X[::15])
    expected = [float.fromhex(value) for value in DECISIONS.split()]
    assert np.all(np.abs(decisions[:, 0] - expected) <= bounds[:, 0])
    assert machine.notes == ()
    pipeline = load_model(STORED / f"pipeline-{release}.joblib")
    assert pipeline.classes == ("setosa", "versicolor", "virginica")
    assert [type(step).__name__ for step in pipeline.preprocessing] == [
        "Affine",
        "Affine",
        "Clip",
        "Affine",
        "Projection",
    ]


def _with_version(model, release, tmp_path):
    """Write a pickle that says another release saved it."""
    own, other = sklearn.__version__.encode(), release.encode()
    content = pickle.dumps(model, 4)
    path = tmp_path / "model.pkl"
    text = b"\x8c" + bytes([len(own)]) + own
    assert text in content
    path.write_bytes(content.replace(text, b"\x8c" + bytes([len(other)]) + other))
    return path


def test_untested_release_is_noted(tmp_path):
    """reliability 19: the note names the release and the tested ones."""
    machine = load_model(_with_version(MODELS[0], "9.7.1", tmp_path))
    assert machine.notes[0].startswith("saved by scikit-learn 9.7.1")
    assert "tested are 1.1 to 1.9" in machine.notes[0]


def test_a_release_that_is_too_old_is_refused(tmp_path):
    """reliability 19: `older_names` knows the releases since 0.14."""
    with pytest.raises(InputError, match=r"model.pkl: the scikit-learn release .* is '0\.13"):
        load_model(_with_version(MODELS[0], "0.13.1", tmp_path))


def test_trusted_file_of_another_release_is_noted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = load_model(STORED / "sparse-1.2.2.pkl", Reading(trust_pickle=True))
    assert any("1.2.2" in note for note in machine.notes)


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"none\.pkl: cannot be read: No such file"):
        load_model(tmp_path / "none.pkl")
    with pytest.raises(UsageError, match="is a folder, must be a model file"):
        load_model(tmp_path)
    with pytest.raises(UsageError, match="not a regular file"):
        load_model("/dev/zero", Reading(trust_pickle=True))
    with pytest.raises(UsageError, match="not a valid path"):
        load_model("a\0b")


def test_a_class_instead_of_an_instance_is_refused():
    with pytest.raises(InputError, match="is a class, must be a fitted instance"):
        load_model(SVC)
