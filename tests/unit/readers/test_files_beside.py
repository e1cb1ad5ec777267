"""Transformers and class names in files beside the model give the answers of all together."""

from __future__ import annotations

import pickle
import zlib
from fractions import Fraction
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from kmcompile.errors import InputError, UsageError
from kmcompile.model.reference import evaluate
from kmcompile.readers import Reading, load_model
from kmcompile.readers.samples.file import Samples

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 4)) * [1, 30, 0.01, 5] + [0, 1000, 0.5, -3]
Y = (X[:, 1] - 1000 > 20 * RNG.normal(size=90)).astype(int) + (X[:, 3] > -1)
NAMES = LabelEncoder().fit(["hill", "plain", "water"])

LIBSVM = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 4 2
nr_sv 1 1
SV
1 1:0.5 2:-0.25
-1 1:-1 2:0.75
"""
RANGE = "x\n-1 1\n1 0 10\n2 100 300\n"


def saved(folder: Path, **files: object) -> dict[str, Path]:
    paths = {}
    for name, value in files.items():
        paths[name] = folder / name
        joblib.dump(value, paths[name])
    return paths


def labels(machine, X):
    return np.array(machine.classes)[evaluate(machine, X).labels]


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(),),
        (MinMaxScaler(), PCA(3)),
        (make_pipeline(StandardScaler(), PCA(3)), Normalizer()),
    ],
    ids=["scaler", "two", "pipeline"],
)
def test_transformers_before_the_model_are_those_of_a_pipeline(tmp_path, steps):
    whole = make_pipeline(*steps, SVC()).fit(X, Y)
    files = {f"step{n}": step for n, step in enumerate(whole[:-1])}
    paths = saved(tmp_path, model=whole[-1], **files)
    before = tuple(paths[name] for name in files)
    machine = load_model(paths["model"], Reading(before=before))
    assert machine.sha256 == load_model(whole).sha256
    assert np.array_equal(labels(machine, X), whole.predict(X))


def test_a_feature_map_before_a_linear_machine(tmp_path):
    whole = make_pipeline(StandardScaler(), Nystroem(n_components=9), LinearSVC()).fit(X, Y)
    paths = saved(tmp_path, model=whole[-1], before=whole[:-1])
    assert load_model(paths["model"], Reading(before=(paths["before"],))).sha256 == (
        load_model(whole).sha256
    )


def test_the_range_file_of_svm_scale(tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "range").write_text(RANGE)
    raw = np.array([[5.0, 200.0], [0.0, 250.0], [12.0, 90.0]])
    scaled = -1 + 2 * (raw - [0, 100]) / [10, 200]
    machine = load_model(tmp_path / "m", Reading(before=(tmp_path / "range",)))
    plain = evaluate(load_model(tmp_path / "m"), scaled).decisions
    # The offset and the factor are rounded once each, both relative to numbers of size 1.
    assert np.abs(evaluate(machine, raw).decisions - plain).max() <= 16 * 2.0**-52


def test_features_that_the_range_file_leaves_out_are_not_looked_at(tmp_path):
    (tmp_path / "m").write_text(LIBSVM.replace(" 2:", " 3:"))
    (tmp_path / "range").write_text("x\n0 1\n1 0 10\n3 100 300\n5 0 1\n")
    machine = load_model(tmp_path / "m", Reading(before=(tmp_path / "range",)))
    assert machine.n_features == 5
    raw = np.array([[5.0, 77.0, 200.0, 0.0, 0.5]])
    wide = np.array([[0.5, 0, -0.25, 0, 0], [-1, 0, 0.75, 0, 0]])
    x = np.array([0.5, 0, 0.5, 0, 0.5])
    own = np.exp(-0.5 * ((wide - x) ** 2).sum(axis=1)) @ [1, -1] - 0.25
    # Two exponentials and two sums of five, each of numbers of size 1.
    # LIBSVM's decision is above 0 for the first label, which is the second class here.
    assert abs(evaluate(machine, raw).decisions[0, 0] + own) <= 32 * 2.0**-52


def test_a_range_file_counts_features_as_the_model_does(tmp_path):
    """From 0, where one of the model's has index 0."""
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "m0").write_text(LIBSVM.replace(" 1:", " 0:").replace(" 2:", " 1:"))
    (tmp_path / "range").write_text(RANGE)
    (tmp_path / "range0").write_text("x\n-1 1\n0 0 10\n1 100 300\n")
    (tmp_path / "wide0").write_text("x\n-1 1\n0 0 10\n1 100 300\n3 0 1\n")
    machine = load_model(tmp_path / "m", Reading(before=(tmp_path / "range",)))
    counted = load_model(tmp_path / "m0", Reading(before=(tmp_path / "range0",)))
    assert counted.sha256 == machine.sha256
    assert load_model(tmp_path / "m0", Reading(before=(tmp_path / "wide0",))).n_features == 4
    with pytest.raises(InputError, match="feature 0, must be a new number from 1 up, from which"):
        load_model(tmp_path / "m", Reading(before=(tmp_path / "range0",)))
    with pytest.raises(InputError, match="the range file leaves out feature 0, which the model's"):
        load_model(tmp_path / "m0", Reading(before=(tmp_path / "range",)))


def test_the_scale_file_of_r(tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "scale").write_text("5 2\n200 50\n")
    machine = load_model(tmp_path / "m", Reading(before=(tmp_path / "scale",)))
    raw = np.array([[5.0, 200.0], [7.0, 100.0]])
    plain = evaluate(load_model(tmp_path / "m"), (raw - [5, 200]) / [2, 50]).decisions
    assert np.abs(evaluate(machine, raw).decisions - plain).max() <= 16 * 2.0**-52


@pytest.mark.parametrize(
    ("ends", "low", "high"),
    [("1 3", 1e6 + 0.3, 3e6 + 0.9), ("-1 1", 1e6, 1e6 + 1e-3), ("1 3", 0.3, 0.9)],
)
def test_the_offset_of_a_range_is_within_its_error(ends, low, high, tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    lines = [f"{n} {float(low)!r} {float(high)!r}" for n in (1, 2)]
    (tmp_path / "range").write_text("\n".join(["x", ends, *lines, ""]))
    (step,) = load_model(tmp_path / "m", Reading(before=(tmp_path / "range",))).preprocessing
    lower, upper = map(Fraction, ends.split())
    factor = (upper - lower) / (Fraction(high) - Fraction(low))
    offset = Fraction(low) - lower / factor
    assert abs(Fraction(step.offset[0]) - offset) <= Fraction(step.offset_error[0])
    assert abs(Fraction(step.factor[0]) - factor) <= Fraction(step.factor_error) * factor


def test_a_range_of_many_features_takes_no_more_than_is_listed(tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "range").write_text(f"{RANGE}1000000 0 1\n")
    machine = load_model(tmp_path / "m", Reading(before=(tmp_path / "range",)))
    assert machine.n_features == 1_000_000 and machine.support_vectors.shape == (2, 3)


def test_labels_of_samples_are_the_names_or_those_of_the_training_data(tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "names").write_text("two\nfour\n")
    machine = load_model(tmp_path / "m", Reading(labels=tmp_path / "names"))
    rows = np.zeros((2, 2), np.float32)
    expected = [machine.classes.index("four"), machine.classes.index("two")]
    for y in ([4, 2], [4.0, 2.0], ["4", "2"], ["four", "two"]):
        samples = Samples(rows, np.array(y))
        found = samples.class_numbers(machine.classes, "a", machine.trained_classes)
        assert found.tolist() == expected
    with pytest.raises(InputError, match=r"y\[0\] is 1, must be one of the model's classes"):
        Samples(rows, np.array([1, 2])).class_numbers(machine.classes, "a", machine.trained_classes)


def test_long_lists_of_names_are_refused_before_they_are_read(tmp_path):
    paths = saved(tmp_path, model=SVC().fit(X, Y))
    (tmp_path / "names").write_bytes(zlib.compress(b"a\n" * 30_000_000))
    with pytest.raises(InputError, match="names: it has 30000000 lines"):
        load_model(paths["model"], Reading(labels=tmp_path / "names"))
    (tmp_path / "names").write_text("PKW\nLKW\nBus\n")
    read = load_model(paths["model"], Reading(labels=tmp_path / "names"))
    assert read.classes == ("PKW", "LKW", "Bus")


@pytest.mark.parametrize("space", ["\x1c", "\t", "\x0b"])
def test_a_scale_file_of_blanks_is_refused_by_its_budget(space, tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "scale").write_bytes(zlib.compress(f"x\n{f'1{space}' * 20_000_000}".encode()))
    with pytest.raises(InputError, match="scale: reading its words would take more"):
        load_model(tmp_path / "m", Reading(before=(tmp_path / "scale",)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x\n-1 1\n1 0 5e-324\n2 0 1\n", "scaling overflows"),
        ("1 2\n3 5e-324\n", "scaling overflows"),
        ("x\n", "no lower and upper limit"),
        ("x\n1 -1\n1 0 1\n", "no lower and upper limit"),
        ("x\n-1 1\n", "lists no feature"),
        ("x\n-1 1\n1 0 1\n1 0 1\n", "must be a new number"),
        ("x\n-1 1\n1 1 1\n", "is not below"),
        ("x\n-1 1\n1 0 nan\n", "must be 3 numbers"),
        ("x\n-1 1\n1 0 1\n", "leaves out feature 2"),
        ("y\n0 1\n-5 5\nx\n-1 1\n1 0 1\n", "scales y, too"),
        ("1 2\n", "must have one for each of the model's 2 features"),
        ("1 2\n3 0\n", "a scale is not above 0"),
        ("1 2\n3 x\n", "must be 2 numbers"),
    ],
)
def test_damaged_scale_files_are_refused(tmp_path, text, says):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "scale").write_text(text)
    with pytest.raises(InputError, match=f"^scale: .*{says}"):
        load_model(tmp_path / "m", Reading(before=(tmp_path / "scale",)))


def test_a_label_encoder_and_a_list_name_the_classes(tmp_path):
    model = SVC().fit(X, Y)
    paths = saved(tmp_path, model=model, encoder=NAMES)
    (tmp_path / "names").write_text("hill\nplain\nwater\n")
    for file in (paths["encoder"], tmp_path / "names"):
        machine = load_model(paths["model"], Reading(labels=file))
        assert machine.classes == ("hill", "plain", "water")
        assert any("1 is plain" in note for note in machine.notes)


def test_listed_names_are_of_the_classes_in_ascending_order(tmp_path):
    (tmp_path / "m").write_text(LIBSVM)
    (tmp_path / "names").write_text("two\nfour\n")
    plain = load_model(tmp_path / "m")
    named = load_model(tmp_path / "m", Reading(labels=tmp_path / "names"))
    meant = {2: "two", 4: "four"}
    assert named.classes == tuple(meant[label] for label in plain.classes)


def test_protocol_0_is_no_list_of_names(tmp_path):
    (tmp_path / "encoder").write_bytes(pickle.dumps(NAMES, protocol=0))
    paths = saved(tmp_path, model=SVC().fit(X, Y))
    read = load_model(paths["model"], Reading(labels=tmp_path / "encoder"))
    assert read.classes == ("hill", "plain", "water")


def test_what_does_not_fit_is_refused(tmp_path):
    model = SVC().fit(X, Y)
    paths = saved(
        tmp_path,
        model=model,
        other=StandardScaler().fit(X[:, :3]),
        raw=StandardScaler(),
        pair=(StandardScaler().fit(X), PCA(2).fit(X)),
        few=LabelEncoder().fit(["a", "b"]),
        texts=SVC().fit(X, np.array(["a", "b", "c"])[Y]),
        value=SVR().fit(X, X[:, 0]),
    )
    (tmp_path / "two").write_text("a\nb\n")
    (tmp_path / "equal").write_text("a\na\nb\n")
    for reading, name, says in [
        (Reading(before=(paths["other"],)), "model", "other: SVC is for 4 features"),
        (Reading(before=(paths["raw"],)), "model", "raw: StandardScaler is not fitted"),
        (Reading(before=(paths["pair"],)), "model", "must hold one fitted transformer"),
        (Reading(before=(paths["model"],)), "model", "must be a transformer"),
        (Reading(labels=paths["few"]), "model", "few: LabelEncoder.classes_ has 2 names"),
        (Reading(labels=paths["model"]), "model", "must hold a fitted LabelEncoder"),
        (Reading(labels=paths["few"]), "texts", "few: LabelEncoder.classes_ has 2 names"),
        (Reading(labels=tmp_path / "two"), "model", "two: it has 2 lines, must have 3"),
        (Reading(labels=tmp_path / "equal"), "model", "has the name of another"),
        (Reading(labels=paths["few"]), "value", "regression machine has no classes"),
        (Reading(entry=("0",)), "model", "holds one object"),
    ]:
        with pytest.raises(InputError, match=says):
            load_model(paths[name], reading)
    with pytest.raises(UsageError, match="nowhere"):
        load_model(paths["model"], Reading(before=(tmp_path / "nowhere",)))


def test_trusted_files_beside_the_model_are_unpickled(tmp_path):
    whole = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    paths = saved(tmp_path, model=whole[-1], scaler=whole[0], encoder=NAMES)
    reading = Reading(True, before=(paths["scaler"],), labels=paths["encoder"])
    machine = load_model(paths["model"], reading)
    assert np.array_equal(labels(machine, X), NAMES.classes_[whole.predict(X)])
