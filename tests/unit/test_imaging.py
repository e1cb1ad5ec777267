"""`kmcompile image` and `kmcompile patch`: what they write, and what they refuse."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

import kmcompile
from kit.images import estimator
from kit.tools import need
from kmcompile import cli, imaging, pipeline
from kmcompile.errors import BudgetError, InputError, OutputError, UsageError
from kmcompile.report import html


@pytest.fixture(scope="module", autouse=True)
def without_plots():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "render", lambda *_arguments, **_options: b"")
        yield


def saved(fitted: Any, path: Path) -> Path:
    path.write_bytes(pickle.dumps(fitted))
    return path


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    """Return a folder with two models, and in `flying` the code of the first."""
    need("gcc")
    folder = tmp_path_factory.mktemp("imaging")
    for part in (0, 1):
        saved(estimator("iris_rbf", part), folder / f"part{part}.pkl")
    words = ["--tables", "image", "--mode", "exact", "--capacity", "60", "--name", "iris"]
    out = ["--out", str(folder / "flying"), "--telemetry", "--quiet"]
    assert cli.run([str(folder / "part0.pkl"), *words, *out]) == 0
    return folder


def test_image_of_a_retrained_model_is_verified_and_written(top, tmp_path, capsys):
    out = tmp_path / "new.bin"
    before = {path.name: path.read_bytes() for path in (top / "flying").iterdir()}
    words = ["image", str(top / "part1.pkl"), "--for", str(top / "flying")]
    assert cli.run([*words, "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verification"]["exact"]["host"]["mismatches"] == 0
    assert said["verification"]["certified"]["wrong"] == 0
    assert said["image"]["bytes"] == len(out.read_bytes())
    assert said["image"]["most_vectors"] == 60
    flying = kmcompile.load(top / "flying").report["image"]
    assert said["image"]["layout_sha256"] == flying["layout_sha256"]
    assert {path.name: path.read_bytes() for path in (top / "flying").iterdir()} == before


def test_right_labels_of_test_samples_are_told(top, tmp_path, capsys):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "test.npz", X=X[::7], y=y[::7])
    fitted = pickle.loads((top / "part1.pkl").read_bytes())
    right = int((fitted.predict(X[::7]) == y[::7]).sum())
    words = ["image", str(top / "part1.pkl"), "--for", str(top / "flying"), "--verify", "host"]
    words += ["--test-data", str(tmp_path / "test.npz"), "--out", str(tmp_path / "new.bin")]
    assert cli.run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["accuracy"]["test"]
    assert sum(one["samples"] for one in told) == len(X[::7])
    assert sum(one["model"] for one in told) == sum(one["program"] for one in told) == right
    assert cli.run(words) == 0
    assert f"test samples       {len(X[::7])}" in capsys.readouterr().out


def test_a_verified_folder_tells_right_labels(top, tmp_path):
    X, y = load_iris(return_X_y=True)
    fitted = pickle.loads((top / "part0.pkl").read_bytes())
    for labels, known in ((y, True), (y + 10, False)):
        np.savez(tmp_path / "test.npz", X=X, y=labels)
        result = pipeline.verify_folder(top / "flying", top / "part0.pkl", tmp_path / "test.npz")
        assert (result["accuracy"] is not None) == known
        if known:
            right = sum(one["model"] for one in result["accuracy"]["test"])
            assert right == (fitted.predict(X) == y).sum()


def test_image_of_the_first_model_is_that_of_the_folder(top, tmp_path):
    out = tmp_path / "same.bin"
    imaging.make_image(top / "part0.pkl", top / "flying", out, verify="none")
    assert out.read_bytes() == (top / "flying" / "iris.bin").read_bytes()


def test_folder_is_verified_again_and_answers(top):
    assert pipeline.verify_folder(top / "flying", top / "part0.pkl", None)["files"] > 8
    fitted = pickle.loads((top / "part0.pkl").read_bytes())
    X = load_iris().data[:50]
    np.testing.assert_array_equal(kmcompile.load(top / "flying").predict(X), fitted.predict(X))


def test_report_has_the_image(top):
    report = kmcompile.load(top / "flying").report
    assert report["image"]["file"] == "iris.bin" in report["files"]
    assert report["options"]["tables"] == "image"
    assert report["image"]["vectors"] <= report["image"]["most_vectors"] == 60


def refused(top, fitted, tmp_path):
    model = saved(fitted, tmp_path / "model.pkl")
    out = tmp_path / "model.bin"
    with pytest.raises((InputError, BudgetError)) as caught:
        imaging.make_image(model, top / "flying", out, verify="none")
    assert not out.exists()
    return caught.value


def test_model_beyond_the_capacity_says_by_how_much(top, tmp_path):
    X, y = load_iris(return_X_y=True)
    fitted = make_pipeline(StandardScaler(), SVC(C=0.01)).fit(X, y)
    error = refused(top, fitted, tmp_path)
    assert isinstance(error, BudgetError)
    # The two equal flowers are one vector.
    assert "149 support vectors" in str(error) and "takes 60 at most" in str(error)


def test_capacity_is_told_where_a_longer_sum_is_added_in_another_way(tmp_path, capsys):
    X = np.random.default_rng(5).normal(size=(300, 4))
    first = saved(OneClassSVM(gamma=0.1, nu=0.05).fit(X), tmp_path / "first.pkl")
    larger = saved(OneClassSVM(gamma=0.1, nu=0.75).fit(X), tmp_path / "larger.pkl")
    words = ["--tables", "image", "--mode", "exact", "--target", "leon3", "--verify", "none"]
    assert cli.run([str(first), *words, "--quiet", "--out", str(tmp_path / "flying")]) == 0
    assert cli.run(["image", str(larger), "--for", str(tmp_path / "flying")]) == 4
    assert "225 support vectors, the code in" in capsys.readouterr().err


def changed(**changes):
    X, y = load_iris(return_X_y=True)
    return make_pipeline(StandardScaler(), SVC(**{"C": 3, "gamma": 0.3, **changes})).fit(X, y)


def fewer_features():
    X, y = load_iris(return_X_y=True)
    return SVC().fit(X[:, :3], y)


def fewer_classes():
    X, y = load_iris(return_X_y=True)
    return SVC().fit(X[:100], y[:100])


def without_scaler():
    X, y = load_iris(return_X_y=True)
    return SVC(C=3, gamma=0.3).fit(X, y)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: changed(kernel="sigmoid", gamma=0.01), "its kernel is sigmoid, in the code rbf"),
        (lambda: changed(break_ties=True, decision_function_shape="ovr"), "line"),
        (fewer_features, "the features of the model are 3"),
        (fewer_classes, "the classes of the model are"),
        (without_scaler, "its preprocessing is none, in the code scale"),
    ],
)
def test_model_that_needs_other_code_says_what_differs(make, said, top, tmp_path):
    error = refused(top, make(), tmp_path)
    assert isinstance(error, InputError) and said in str(error)
    assert len(str(error).splitlines()) <= 3


def test_code_with_its_own_tables_takes_no_image(top, tmp_path):
    words = [str(top / "part0.pkl"), "--mode", "exact", "--verify", "none", "--quiet"]
    assert cli.run([*words, "--out", str(tmp_path / "code")]) == 0
    with pytest.raises(UsageError, match="--tables image"):
        imaging.make_image(top / "part1.pkl", tmp_path / "code")


def test_changed_folder_gets_no_image(top, tmp_path):
    """The image is verified with the code that flies: changed code is another."""
    import shutil

    folder = shutil.copytree(top / "flying", tmp_path / "changed")
    code = folder / "iris.c"
    code.write_text(code.read_text().replace("+ model->intercept[p]", "- model->intercept[p]"))
    with pytest.raises(kmcompile.errors.VerificationError, match=r"iris\.c"):
        imaging.make_image(top / "part1.pkl", folder, tmp_path / "new.bin")


@pytest.mark.parametrize(
    "words",
    [
        ["--capacity", "60"],
        ["--tables", "image", "--format", "int8", "--mode", "certified"],
        ["--tables", "image", "--stages", "bound_sequence"],
        ["--tables", "image", "--mode", "exact", "--require", "local_expansion"],
        ["--tables", "image", "--reduce", "10"],
        ["--tables", "image", "--package", "cfs"],
        ["--tables", "image", "--redundancy", "2"],
        ["--tables", "image", "--step", "2000"],
        ["--tables", "image", "--input-tolerance", "0.01"],
        ["--tables", "image", "--capacity", "0"],
        ["--tables", "image", "--target", "avr"],
        ["--tables", "flash"],
    ],
)
def test_what_no_image_holds_is_wrong_usage(words, top, tmp_path, capsys):
    model = [str(top / "part0.pkl"), "--out", str(tmp_path / "out"), "--quiet"]
    assert cli.run([*model, *words]) == UsageError.exit_code
    assert capsys.readouterr().err.strip()


def test_all_that_no_image_holds_is_refused_at_once(top, tmp_path, capsys):
    words = "--tables image --monitor 0.01 --step 90 --redundancy 2 --package cfs --telemetry"
    model = [str(top / "part0.pkl"), "--out", str(tmp_path / "out"), "--quiet"]
    given = [*model, *words.split(), "--data", str(top / "part1.pkl")]
    assert cli.run(given) == UsageError.exit_code
    first, second = capsys.readouterr().err.splitlines()
    assert "--tables image does not go with mode statistical (" in first
    assert all(f", {one} (" in first for one in ("--monitor 0.01", "--step 90", "--package cfs"))
    assert ", --redundancy 2 (" in first and "--telemetry" not in first
    assert second.strip().startswith(
        "leave out --tables image, or use --mode certified and leave out --monitor and --package "
        "and --step and --redundancy"
    )
    assert "kmcompile manual flight" in second


def test_machine_that_no_image_holds_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 3))
    fitted = SVC(kernel="rbf").fit(X, np.arange(40) % 2)
    from sklearn.calibration import CalibratedClassifierCV

    calibrated = CalibratedClassifierCV(fitted, ensemble=False).fit(X, np.arange(40) % 2)
    with pytest.raises(InputError, match="no image holds"):
        kmcompile.compile_model(calibrated, tables="image", verify="none")


@pytest.mark.parametrize("in_place", [False, True])
def test_patch_makes_the_new_image(in_place, top, tmp_path, capsys):
    old, new, out = top / "flying" / "iris.bin", tmp_path / "new.bin", tmp_path / "a.patch"
    imaging.make_image(top / "part1.pkl", top / "flying", new, verify="none")
    words = ["patch", str(old), str(new), "--out", str(out), "--json"]
    assert cli.run([*words, *(["--in-place"] if in_place else [])]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["bytes"] == len(out.read_bytes())
    assert said["old"]["model_sha256"] != said["new"]["model_sha256"]


def test_patch_of_a_moved_intercept_is_small(top, tmp_path):
    """A threshold or an intercept that moves is what a patch is for."""
    fitted = estimator("iris_rbf", 0)
    fitted[-1].intercept_ = fitted[-1].intercept_ + 0.125
    fitted[-1]._intercept_ = fitted[-1]._intercept_ + 0.125
    new = tmp_path / "new.bin"
    imaging.make_image(saved(fitted, tmp_path / "m.pkl"), top / "flying", new, verify="none")
    said = imaging.make_patch(top / "flying" / "iris.bin", new, tmp_path / "a.patch", True)
    assert said["bytes"] < said["new"]["bytes"] / 2


def test_patch_needs_images_for_the_same_code(top, tmp_path):
    words = ["--tables", "image", "--mode", "exact", "--capacity", "70", "--name", "iris"]
    model = [str(top / "part0.pkl"), "--verify", "none", "--quiet"]
    assert cli.run([*model, *words, "--out", str(tmp_path / "other")]) == 0
    with pytest.raises(InputError, match="different code"):
        imaging.make_patch(top / "flying" / "iris.bin", tmp_path / "other" / "iris.bin")
    with pytest.raises(InputError, match="no image"):
        imaging.make_patch(top / "part0.pkl", top / "flying" / "iris.bin")


def test_no_file_that_is_read_is_overwritten(top, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = saved(estimator("iris_rbf", 1), tmp_path / "model.bin")
    flying = top / "flying"
    new = imaging.make_image(model, flying, Path("new.img"), verify="none")
    before = {path: path.read_bytes() for path in (model, Path("new.img"), flying / "iris.c")}
    with pytest.raises(UsageError, match=r"model\.bin: would be overwritten"):
        imaging.make_image(model, flying, verify="none")
    for out in ("iris.c", "deep/new.bin"):
        with pytest.raises(UsageError, match="nothing is changed"):
            imaging.make_image(model, flying, flying / out, verify="none")
    for out in (Path("new.img"), flying / "iris.bin"):
        with pytest.raises(UsageError, match="would be overwritten"):
            imaging.make_patch(flying / "iris.bin", Path("new.img"), out)
    assert before == {path: path.read_bytes() for path in before}
    assert new["image"]["file"] == "new.img"


def test_a_file_that_cannot_be_written_is_as_it_was(top, tmp_path, monkeypatch):
    out = tmp_path / "new.bin"
    out.write_bytes(b"older")

    def full(unfinished, place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        imaging.make_image(top / "part0.pkl", top / "flying", out, verify="none")
    assert out.read_bytes() == b"older"
    assert [path.name for path in tmp_path.iterdir()] == ["new.bin"]


def test_an_image_beyond_the_flash_budget_of_the_code_is_refused(top, tmp_path):
    words = ["--tables", "image", "--mode", "exact", "--format", "float32", "--capacity", "150"]
    words += ["--target", "cortex-m7", "--name", "iris", "--verify", "none", "--quiet"]
    model = [str(top / "part0.pkl"), "--out", str(tmp_path / "out"), *words]
    assert cli.run(model) == 0
    memory = kmcompile.load(tmp_path / "out").report["memory"]
    small = tmp_path / "small"
    limited = [*model[:2], str(small), *words, "--max-flash", str(memory["flash_bytes"] + 100)]
    assert cli.run(limited) == 0
    X, y = load_iris(return_X_y=True)
    larger = saved(make_pipeline(StandardScaler(), SVC(C=0.01)).fit(X, y), tmp_path / "more.pkl")
    imaging.make_image(larger, tmp_path / "out", tmp_path / "fits.bin", verify="none")
    with pytest.raises(BudgetError, match="the code was compiled for"):
        imaging.make_image(larger, small, tmp_path / "not.bin", verify="none")
    assert not (tmp_path / "not.bin").exists()
