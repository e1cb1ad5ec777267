"""Models as releases of scikit-learn before 1.0 and Python 2 saved them."""

from __future__ import annotations

import pickle
import struct
from io import BytesIO
from pickle import _Pickler as Pickler  # its functions in Python may be replaced
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MaxAbsScaler, MinMaxScaler, RobustScaler
from sklearn.preprocessing import StandardScaler as Standard
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

from kmcompile.errors import InputError
from kmcompile.readers import Reading, load_model

RNG = np.random.default_rng(11)
X = RNG.normal(size=(70, 3)) * [1, 20, 0.1] + [0, 50, 1]
Y = (X[:, 1] > 50).astype(int) + (X[:, 0] > 0.5)


class Python2(Pickler):
    """Writes texts and bytes as Python 2 wrote its texts, and any name of a class."""

    dispatch: ClassVar = dict(Pickler.dispatch)

    def save_text(self, value: Any) -> None:
        raw = value if isinstance(value, bytes) else value.encode("latin1")
        if self.proto == 0:
            self.write(b"S" + repr(raw)[1:].encode("ascii") + b"\n")
        elif len(raw) < 256:
            self.write(b"U" + bytes([len(raw)]) + raw)
        else:
            self.write(b"T" + struct.pack("<i", len(raw)) + raw)
        self.memoize(value)

    def save_class(self, value: Any, name: str | None = None) -> None:
        module = {"numpy._core.multiarray": "numpy.core.multiarray", "builtins": "__builtin__"}
        own = module.get(value.__module__, value.__module__)
        self.write(f"c{own}\n{name or value.__name__}\n".encode("ascii"))
        self.memoize(value)

    save_global = save_class
    dispatch[str] = dispatch[bytes] = save_text
    dispatch[type] = save_class
    dispatch[type(len)] = save_class


def as_old(value: Any, version: str | None, changed: dict[str, Any]) -> Any:
    """Return an object as a release of scikit-learn before 1.0 had it, to be pickled.

    `changed` has attributes by class and name: their older name, a value, or None to leave it out.
    """
    if isinstance(value, list | tuple):
        return type(value)(as_old(one, version, changed) for one in value)
    if not type(value).__module__.startswith("sklearn."):
        return value
    module = type(value).__module__.replace("._", ".")
    made = type(type(value).__name__, (), {"__module__": changed.get("module", module)})()
    attributes = {
        name: as_old(own, version, changed)
        for name, own in value.__dict__.items()
        if name not in ("n_features_in_", "feature_names_in_")
    }
    for name, other in changed.get(type(value).__name__, {}).items():
        own = attributes.pop(name, None)
        if isinstance(other, str):
            attributes[other] = own
        elif other is not None:
            attributes[name] = other[0]
    if version is not None:
        attributes["_sklearn_version"] = version
    made.__dict__.update(attributes)
    return made


def pickled(value: Any, protocol: int) -> bytes:
    file = BytesIO()
    Python2(file, protocol).dump(value)
    return file.getvalue()


SVC_OF = {
    "0.22.1": {"_n_support": "n_support_"},
    "0.19.0": {"_n_support": "n_support_", "break_ties": None},
    None: {"_n_support": "n_support_", "break_ties": None, "decision_function_shape": [None]},
}
CHANGED: dict[str | None, dict[str, Any]] = {
    version: {
        "SVC": own,
        "NuSVC": own,
        "OneClassSVM": {"offset_": None},
        "StandardScaler": {} if version else {"scale_": "std_"},
        "MinMaxScaler": {"clip": None},
    }
    for version, own in SVC_OF.items()
}
MODELS = {
    "SVC": lambda: SVC(C=3.0).fit(X, Y),
    "binary": lambda: SVC(kernel="poly").fit(X, Y > 0),
    "NuSVC": lambda: NuSVC(nu=0.2).fit(X, Y > 1),
    "OneClassSVM": lambda: OneClassSVM(nu=0.3).fit(X),
    "SVR": lambda: SVR().fit(X, X[:, 1]),
    "LinearSVC": lambda: LinearSVC().fit(X, Y),
    "standard": lambda: make_pipeline(Standard(), SVC()).fit(X, Y),
    "minmax": lambda: make_pipeline(MinMaxScaler(), SVC()).fit(X, Y),
    "robust": lambda: make_pipeline(RobustScaler(), MaxAbsScaler(), PCA(2), SVC()).fit(X, Y),
    "search": lambda: GridSearchCV(SVC(), {"C": [1.0]}).fit(X, Y).best_estimator_,
    "rest": lambda: OneVsRestClassifier(SVC()).fit(X, Y),
}


@pytest.mark.parametrize("protocol", [0, 2])
@pytest.mark.parametrize("version", SVC_OF)
@pytest.mark.parametrize("name", MODELS)
def test_older_files_give_the_same_machine(name, version, protocol, tmp_path):
    model = MODELS[name]()
    path = tmp_path / "m.pkl"
    path.write_bytes(pickled(as_old(model, version, CHANGED[version]), protocol))
    with pytest.raises((AttributeError, ModuleNotFoundError, ImportError, UnicodeDecodeError)):
        pickle.loads(path.read_bytes())  # scikit-learn itself reads none of them
    machine, today = load_model(path), load_model(model)
    assert np.array_equal(machine.support_vectors, today.support_vectors)
    assert np.array_equal(machine.dual_coef, today.dual_coef)
    assert np.array_equal(machine.intercept, today.intercept)
    assert machine.classes == today.classes and machine.n_features == today.n_features
    assert len(machine.preprocessing) == len(today.preprocessing)
    assert np.array_equal(machine.prepare(X), today.prepare(X))
    said = f"saved by scikit-learn {version}" if version else "before 0.18, or altered"
    assert [note for note in machine.notes if said in note]


def test_dual_coefficients_of_the_oldest_releases_have_the_sign_of_libsvm(tmp_path):
    model = SVC().fit(X, Y > 0)
    today = load_model(model)
    old = as_old(model, None, CHANGED[None])
    del old._dual_coef_
    old.dual_coef_ = -old.dual_coef_
    (tmp_path / "m").write_bytes(pickled(old, 2))
    assert np.array_equal(load_model(tmp_path / "m").dual_coef, today.dual_coef)


@pytest.mark.parametrize("value", [True, "a", np.array([None])])
def test_a_damaged_intercept_of_an_old_release_is_refused(value, tmp_path):
    old = as_old(OneClassSVM().fit(X), "0.19.0", CHANGED["0.19.0"])
    old.intercept_ = value
    (tmp_path / "m").write_bytes(pickled(old, 2))
    with pytest.raises(InputError, match=r"intercept_|offset_|array|malformed"):
        load_model(tmp_path / "m")


def test_older_files_beside_the_model_are_read(tmp_path):
    whole = make_pipeline(Standard(), SVC()).fit(X, Y)
    encoder = LabelEncoder().fit(["high", "low", "mid"])
    files = {"model": whole[-1], "scaler": whole[0], "encoder": encoder}
    for name, value in files.items():
        (tmp_path / name).write_bytes(pickled(as_old(value, "0.19.0", CHANGED["0.19.0"]), 2))
    reading = Reading(before=(tmp_path / "scaler",), labels=tmp_path / "encoder")
    machine = load_model(tmp_path / "model", reading)
    assert machine.classes == ("high", "low", "mid")
    assert np.array_equal(machine.prepare(X), load_model(whole).prepare(X))


def test_a_file_that_tells_a_newer_release_is_not_mended(tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(pickled(as_old(SVC().fit(X, Y), "1.2.0", CHANGED["0.22.1"]), 2))
    with pytest.raises(InputError, match=r"_n_support is missing|n_features_in_ is missing"):
        load_model(path)


@pytest.mark.parametrize(
    "text", [b"S'a\n.", b"Sa'\n.", b"S\n.", b"S'\\x\n.", b"S'a", b"S'\xff'\n.", b"U\x05a."]
)
def test_damaged_texts_of_python_2_are_refused(text, tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(text)
    with pytest.raises(InputError, match=r"^m.pkl: "):
        load_model(path)
