"""The Python interface: predict, decision_function and classify from the compiled C."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import kmcompile
from kit.covering import some
from kit.tools import need
from kmcompile import cli
from kmcompile.errors import InputError, UsageError, VerificationError
from kmcompile.pipeline import verify_folder
from kmcompile.program.interpreter import interpret
from kmcompile.report import html
from kmcompile.request.options import Options

RNG = np.random.default_rng(9)
X = RNG.normal(size=(80, 4))
NAMES = np.array(["low", "mid", "top"])
THREE = NAMES[np.argmax(X[:, :3], axis=1)]
TWO = np.where(X[:, 0] > X[:, 1], 7, -3)
QUERIES = np.concatenate([X, RNG.normal(size=(300, 4)) * 2])

MODELS = {
    "binary": make_pipeline(StandardScaler(), SVC()).fit(X, TWO),
    "ovr_shape": make_pipeline(StandardScaler(), SVC()).fit(X, THREE),
    "ovo_shape": SVC(decision_function_shape="ovo").fit(X, THREE),
    "break_ties": SVC(break_ties=True).fit(X, THREE),
    "linear_svc": LinearSVC(random_state=0).fit(X, THREE),
    "linear_svc_binary": LinearSVC(random_state=0).fit(X, TWO),
    "booleans": SVC(kernel="poly").fit(X, TWO > 0),
}


@pytest.fixture(scope="module", params=some(list(MODELS), ("break_ties", "linear_svc_binary")))
def case(request, tmp_path_factory):
    """Return estimator, compiled model and its output folder."""
    need("gcc")
    root = tmp_path_factory.mktemp("compiled")
    model = MODELS[request.param]
    (root / "model.pkl").write_bytes(pickle.dumps(model))
    out = root / "out"
    compiled = kmcompile.compile_model(
        root / "model.pkl", target="host", name="model", out=out, verify="host"
    )
    return model, compiled, out


@pytest.mark.exhaustive
def test_pages_of_the_report_are_made_for_a_folder_only(case, monkeypatch):
    _, _, out = case
    assert (out / "report.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert (out / "report.json").read_text().endswith("}\n")
    made = []
    monkeypatch.setattr(html, "render", lambda *args: made.append(args))
    kmcompile.compile_model(MODELS["binary"], name="model", mode="exact", verify="none")
    assert made == []


def bounds_of(compiled) -> np.ndarray:
    return interpret(compiled.program, QUERIES.astype(np.float32)).bounds.astype(np.float64)


def test_predict_is_scikit_learns_where_it_is_certified(case):
    model, compiled, _ = case
    inputs = QUERIES.astype(np.float32)  # what the C receives
    certified = compiled.classify(QUERIES)["certified"]
    predicted = compiled.predict(QUERIES)
    assert predicted.dtype == model.classes_.dtype
    np.testing.assert_array_equal(predicted[certified], model.predict(inputs)[certified])
    assert certified.any()
    np.testing.assert_array_equal(compiled.classes_, model.classes_)


def test_decision_function_has_the_models_shape_and_its_values(case):
    model, compiled, _ = case
    own = compiled.decision_function(QUERIES)
    theirs = model.decision_function(QUERIES.astype(np.float32).astype(np.float64))
    assert own.shape == theirs.shape
    bounds = bounds_of(compiled)
    if own.ndim == 1 or own.shape[1] != 3 or compiled.program.decision_function_shape == "ovo":
        slack = bounds[:, 0] if own.ndim == 1 else bounds
    elif isinstance(model, LinearSVC):
        slack = bounds
    else:
        # Votes differ only where a pair is not sure; the squashed confidences move by no more
        # than a third of their sums, whose bounds are those of the class's pairs.
        raw = interpret(compiled.program, QUERIES.astype(np.float32)).decisions
        sure = (np.abs(raw) > bounds).all(axis=1)
        own, theirs, bounds = own[sure], theirs[sure], bounds[sure]
        of_class = np.zeros_like(bounds)  # three pairs, three classes
        for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            of_class[:, [i, j]] += bounds[:, pair, None]
        slack = of_class / 3
    # float64 rounds on both sides, far below a float32's own half unit.
    float64 = np.abs(theirs) * np.finfo(np.float32).eps / 2
    assert (np.abs(own - theirs) <= slack + float64).all()


def test_classify_gives_the_interpreters_answers(case):
    _, compiled, _ = case
    expected = interpret(compiled.program, QUERIES.astype(np.float32)).results
    assert compiled.classify(QUERIES).tobytes() == expected.tobytes()


def test_a_loaded_folder_answers_with_the_same_bits(case):
    _, compiled, out = case
    loaded = kmcompile.load(out)
    assert loaded.classify(QUERIES).tobytes() == compiled.classify(QUERIES).tobytes()
    assert loaded.predict(QUERIES).tolist() == compiled.predict(QUERIES).tolist()
    assert loaded.report == compiled.report
    assert loaded.folder == out


def test_the_report_says_that_everything_agreed(case):
    _, compiled, _ = case
    verification = compiled.report["verification"]
    assert verification["exact"]["host"]["mismatches"] == 0
    assert verification["exact"]["host"]["queries"] >= 1000
    assert verification["bounded"]["sign_disagreements"] == 0
    assert verification["bounded"]["max_error"] <= verification["bounded"]["max_bound"]
    assert verification["certified"]["wrong"] == 0


def test_what_the_c_refuses_is_an_error_in_python(case):
    _, compiled, _ = case
    for value, status in ((np.nan, "NOT_FINITE"), (1e300, "NOT_FINITE"), (1e30, "RANGE")):
        rows = QUERIES[:3].copy()
        rows[1, 2] = value
        for method in (compiled.predict, compiled.decision_function):
            with pytest.raises(InputError, match=rf"X\[1\] is refused with ERROR_{status}"):
                method(rows)
        refused = compiled.classify(rows)
        assert refused["status"].tolist()[::2] == [0, 0]
        assert refused["status"][1] != 0


@pytest.mark.parametrize("shape", [(4,), (3, 5), (0,), (2, 2, 4)])
def test_other_shapes_are_refused(case, shape):
    with pytest.raises(InputError, match=r"must be \(n_samples, 4\)"):
        case[1].predict(np.zeros(shape))


def test_no_rows_give_no_answers(case):
    assert len(case[1].predict(np.zeros((0, 4)))) == 0


@pytest.mark.exhaustive
def test_the_same_model_gives_the_same_files(case, tmp_path):
    """reliability 24: identical bytes, from another folder too."""
    model, _, out = case
    again = tmp_path / "elsewhere"
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    kmcompile.compile_model(path, target="host", name="model", out=again, verify="host")
    names = sorted(file.name for file in out.iterdir())
    assert names == sorted(file.name for file in again.iterdir())
    for name in names:
        assert (again / name).read_bytes() == (out / name).read_bytes(), name


def test_a_folder_verifies_with_its_model_and_not_with_another(case, tmp_path):
    _, _, out = case
    path = out.parent / "model.pkl"
    facts = verify_folder(out, path, None)
    assert facts["files"] > 0
    other = pickle.loads(path.read_bytes())
    classifier = other[-1] if hasattr(other, "steps") else other
    for name in ("intercept_", "_intercept_"):
        if hasattr(classifier, name):
            # One unit in the last place.
            setattr(classifier, name, np.nextafter(getattr(classifier, name), np.inf))
    if hasattr(classifier, "_intercept_") and len(classifier.classes_) == 2:
        classifier._intercept_ = -classifier.intercept_
    wrong = tmp_path / "wrong.pkl"
    wrong.write_bytes(pickle.dumps(other))
    with pytest.raises(VerificationError, match="is not the model of this program"):
        verify_folder(out, wrong, None)


def test_every_changed_file_is_found(case, tmp_path):
    _, compiled, out = case
    for name in compiled.report["files"]:
        folder = tmp_path / name
        folder.mkdir()
        for file in out.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(bytes(content))
        with pytest.raises((VerificationError, InputError), match=name.replace(".", r"\.")):
            verify_folder(folder, None, None)


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        kmcompile.load(tmp_path / "nowhere")


def test_the_signature_has_every_option_with_its_default():
    parameters = inspect.signature(kmcompile.compile_model).parameters
    assert list(parameters)[1:] == [field.name for field in fields(Options)]
    assert parameters["target"].default == "host"


@pytest.mark.exhaustive
def test_the_summary_is_what_the_command_line_prints(tmp_path, capsys):
    model = SVC().fit([[0.0], [1.0], [4.0]], [0, 0, 1])
    (tmp_path / "level.pkl").write_bytes(pickle.dumps(model))
    words = [str(tmp_path / "level.pkl"), "--verify", "none", "--out", str(tmp_path / "o")]
    assert cli.run(words) == 0
    printed = capsys.readouterr().out
    assert kmcompile.load(tmp_path / "o").summary().rstrip() in printed


def test_an_option_that_does_not_exist_is_named():
    with pytest.raises(UsageError, match="unknown options: speed"):
        kmcompile.compile_model(MODELS["binary"], speed=11)
    assert "speed" not in Options.__dataclass_fields__


@pytest.mark.exhaustive
def test_the_number_of_threads_changes_no_byte_of_a_calibrated_model(tmp_path):
    X, y = load_digits(return_X_y=True)
    model = SVC(gamma=0.002).fit(X[:600], y[:600])
    written = []
    for n in (1, 2):
        out = tmp_path / str(n)
        with threadpool_limits(n):
            kmcompile.compile_model(
                model, data=X[600:], risk="auto", verify="none", out=out, n_jobs=n
            )
        written.append((out / "svc.c").read_bytes())
    assert written[0] == written[1]


@pytest.mark.exhaustive
def test_test_data_that_were_calibrated_with_measure_no_risk(tmp_path):
    need("gcc")
    X, y = load_digits(return_X_y=True)
    model = SVC(gamma=0.002).fit(X[:600], y[:600])
    report = kmcompile.compile_model(
        model, target="host", data=X[600:], test_data=X[1500:], risk="auto", verify="host"
    ).report
    assert report["risk"]["measured"] is None
    assert "calibrated with" in report["not_available"]["risk.measured"]
    assert report["verification"]["queries_source"] == "calibration"
    assert any("--test-data were calibrated with" in note for note in report["notes"])


def test_a_linear_machine_is_compiled_in_mode_exact_and_the_report_says_why():
    X, y = load_digits(return_X_y=True)
    model = LinearSVC(random_state=0).fit(X[:600], y[:600])
    report = kmcompile.compile_model(model, data=X[600:], verify="none").report
    assert report["options"]["mode"] == "exact"
    assert any("mode statistical is not used" in note for note in report["notes"])
    plain = kmcompile.compile_model(model, verify="none").report
    assert not any("mode statistical" in note for note in plain["notes"])
