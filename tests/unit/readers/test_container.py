"""The model in a dict, list or tuple of objects."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, LabelEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kmcompile.errors import InputError
from kmcompile.readers import Reading, load_model

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 3)) * [1, 9, 0.1]
Y = (X[:, 1] > 0).astype(int)
WHOLE = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
SCALER, MACHINE = WHOLE
ALONE = load_model(MACHINE).sha256
SEARCH = GridSearchCV(WHOLE, {"svc__C": [1.0]}).fit(X, Y)
TOGETHER = load_model(WHOLE).sha256


def read(value, tmp_path, *entry, **other):
    path = tmp_path / "m.pkl"
    joblib.dump(value, path)
    return load_model(path, Reading(entry=entry, **other))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"svc": MACHINE, "scaler": SCALER, "size": 64, "bins": [9, 8]}, TOGETHER),
        ({"svc": MACHINE, "names": ["a", "b"], "score": 0.9, "means": X}, ALONE),
        ((MACHINE, SCALER), TOGETHER),
        ([SCALER, MACHINE, None], TOGETHER),
        ({"model": WHOLE}, TOGETHER),
        ({3: SEARCH}, TOGETHER),
        ({"model": {"svc": MACHINE, "scaler": SCALER}, "date": "today"}, TOGETHER),
        ({"model": {"svc": MACHINE, "size": 64}, "scaler": SCALER}, TOGETHER),
        ([{"svc": MACHINE}, SCALER], TOGETHER),
        ({"model": WHOLE, "best_params": {"svc": SVC(), "scaler": SCALER}}, TOGETHER),
    ],
    ids=[
        *("dict", "no scaler", "tuple", "list", "pipeline", "search"),
        *("inner", "inner machine", "inner of a list", "machine beside"),
    ],
)
def test_the_only_machine_is_read_behind_the_only_transformer(value, expected, tmp_path):
    machine = read(value, tmp_path)
    assert machine.sha256 == expected
    (note,) = [note for note in machine.notes if note.startswith("the file holds ")]
    assert "; the model is " in note
    assert read(value, tmp_path, trust_pickle=True).sha256 == expected


def test_a_scaler_in_a_dict_beside_the_machine_is_not_passed_over(tmp_path):
    value = {"model": MACHINE, "prep": {"scaler": SCALER}}
    with pytest.raises(InputError, match=r"model \(SVC\), prep.scaler .*not clear"):
        read(value, tmp_path)
    assert read(value, tmp_path, "prep.scaler", "model").sha256 == TOGETHER
    assert read({"model": MACHINE, "params": {"s": StandardScaler()}}, tmp_path).sha256 == ALONE


def test_a_name_of_two_objects_is_refused(tmp_path):
    value = {"a.b": MACHINE, "a": {"b": LinearSVC().fit(X, Y)}}
    assert read(value, tmp_path).sha256 == ALONE
    with pytest.raises(InputError, match=r"--entry a.b: two objects of the file have this name"):
        read(value, tmp_path, "a.b")


def test_a_kernel_centerer_beside_the_machine_is_refused(tmp_path):
    centerer = KernelCenterer().fit(X @ X.T)
    with pytest.raises(InputError, match="give the pipeline to precomputed_machine"):
        read({"k": centerer, "m": MACHINE}, tmp_path)


def test_a_label_encoder_names_the_classes(tmp_path):
    encoder = LabelEncoder().fit(["no", "yes"])
    machine = read({"le": encoder, "svc": MACHINE, "scaler": SCALER}, tmp_path)
    assert machine.classes == ("no", "yes")
    asked = read({"le": encoder, "svc": MACHINE}, tmp_path, "svc")
    assert asked.classes == (0, 1)


def test_entries_are_used_in_their_order(tmp_path):
    pca = PCA(2).fit(SCALER.transform(X))
    last = SVC().fit(pca.transform(SCALER.transform(X)), Y)
    value = {"pca": pca, "svc": last, "scaler": SCALER, "other": LinearSVC().fit(X, Y)}
    machine = read(value, tmp_path, "scaler", "pca", "svc")
    assert machine.sha256 == load_model(make_pipeline(SCALER, pca, last)).sha256
    assert read([MACHINE, SCALER], tmp_path, "0").sha256 == ALONE
    inner = {"a": {"svc": MACHINE, "scaler": SCALER}, "svc": last}
    assert read(inner, tmp_path, "a.scaler", "a.svc").sha256 == TOGETHER


@pytest.mark.parametrize(
    ("value", "entry", "says"),
    [
        ({"a": MACHINE, "b": MACHINE}, (), r"a \(SVC\), b \(SVC\), and it is not clear"),
        ([MACHINE, SCALER, SCALER], (), "1 .StandardScaler., 2 .StandardScaler., and it is not"),
        ({"a": WHOLE, "b": SCALER}, (), r"a \(Pipeline\), b \(StandardScaler\), and it is not"),
        ({"a": SEARCH, "b": SCALER}, (), r"a \(GridSearchCV\), b \(StandardScaler\), and it is"),
        ([MACHINE], ("0",) * 101, "must have at most 100"),
        ({"b": SCALER, "n": 3}, (), r"no machine among them: b \(StandardScaler\)"),
        ({"n": 3}, (), "no machine among them: none that is supported"),
        ({"a": {"b": {"c": MACHINE}}}, (), "no machine among them: none that is supported"),
        (
            {"a": {"b": MACHINE}, "c": {"d": MACHINE}},
            (),
            r"a.b \(SVC\), c.d \(SVC\), and it is not",
        ),
        (
            {"a": {"b": MACHINE, "s": SCALER}, "s": SCALER},
            (),
            r"s .*, a.b .*, a.s .*it is not clear",
        ),
        ({"a": {"b": MACHINE}}, ("b",), r"--entry b: the file holds a.b \(SVC\); give"),
        ([], (), "no machine among them"),
        ({"a": MACHINE}, ("c",), r"--entry c: the file holds a \(SVC\)"),
        ({"a": MACHINE, "b": SCALER}, ("a", "b"), "the last one must be a machine"),
        ({"a": MACHINE, "b": MACHINE}, ("a", "b"), "the last one must be a machine"),
    ],
)
def test_what_is_not_clear_lists_the_entries(value, entry, says, tmp_path):
    with pytest.raises(InputError, match=f"^m.pkl: .*{says}"):
        read(value, tmp_path, *entry)


def test_a_discriminant_goes_before_a_machine(tmp_path):
    first = LinearDiscriminantAnalysis().fit(X, Y)
    last = SVC().fit(first.transform(X), Y)
    machine = read({"lda": first, "svm": last}, tmp_path, "lda", "svm")
    assert machine.sha256 == load_model(make_pipeline(first, last)).sha256
    with pytest.raises(InputError, match="it is not clear which are the model"):
        read({"lda": first, "svm": last}, tmp_path)


def test_names_of_entries_are_short_in_messages(tmp_path):
    with pytest.raises(InputError) as told:
        read({"a" * 5000: MACHINE, "b": MACHINE}, tmp_path)
    assert len(str(told.value)) < 400


def test_other_formats_have_no_entries(tmp_path):
    (tmp_path / "m").write_text("svm_type c_svc\nkernel_type linear\nnr_class 2\n")
    with pytest.raises(InputError):
        load_model(tmp_path / "m", Reading(entry=("a",)))
