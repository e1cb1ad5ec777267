"""Number formats that a machine does not have: one clear error, exit 3, nothing written."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kmcompile import cli, compile_model, readers
from kmcompile.lower.formats import lower_in_format
from kmcompile.target import load_target

X, Y = load_breast_cancer(return_X_y=True)
REAL = StandardScaler().fit_transform(X)
TWO = StandardScaler().fit_transform(
    X[:, :2] + np.random.default_rng(0).standard_normal((len(X), 2)) / 1000
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of one's own."""
    monkeypatch.chdir(tmp_path)


def store(estimator: Any) -> None:
    """Write the model."""
    Path("m.pkl").write_bytes(pickle.dumps(estimator))


def fail(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Compile, which must fail without a trace; return exit code and message."""
    before = sorted(os.listdir())
    code = cli.run(["m.pkl", *words])
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 3
    assert sorted(os.listdir()) == before
    return code, err


NOT_FOR = {
    "LinearSVC": (
        lambda: LinearSVC().fit(REAL, Y),
        "nothing tells how large the inputs of this linear machine are, which has no scaler\n"
        "  give samples in --data, or ",
    ),
    "poly of real numbers": (
        lambda: SVC(kernel="poly").fit(REAL, Y),
        "the support vectors are no integers",
    ),
    "sigmoid of real numbers": (
        lambda: SVC(kernel="sigmoid").fit(REAL, Y),
        "the support vectors are no integers",
    ),
    "PCA": (
        lambda: make_pipeline(PCA(5), SVC()).fit(REAL, Y),
        "whose preprocessing is a scaler at most",
    ),
    "Normalizer": (
        lambda: make_pipeline(Normalizer(), SVC()).fit(REAL, Y),
        "whose preprocessing is a scaler at most",
    ),
}


@pytest.mark.parametrize("number_format", ["int16", "int8"])
@pytest.mark.parametrize("kind", NOT_FOR)
def test_machine_without_an_integer_form_exits_3_and_says_why(
    kind: str, number_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, text = NOT_FOR[kind]
    store(make())
    code, message = fail(capsys, "--format", number_format)
    assert code == 3
    assert message.startswith(f"kmcompile: --format {number_format}: ")
    assert text in message
    last = message.splitlines()[-1].strip()
    assert last.removeprefix("give samples in --data, or ") == "use --format float32"


@pytest.mark.parametrize("gamma", [1e-30, 1e30])
def test_gamma_that_no_integer_holds_exits_3(
    gamma: float, capsys: pytest.CaptureFixture[str]
) -> None:
    store(SVC(gamma=gamma).fit(REAL, Y))
    code, message = fail(capsys, "--format", "int16")
    assert code == 3
    assert message.startswith("kmcompile: --format int16: ")
    assert "gamma" in message


def warnings_of(*words: str) -> list[str]:
    """Compile, which must succeed, and return the warnings."""
    with pytest.warns(UserWarning) as caught:
        compile_model("m.pkl", verify="none", **dict(zip(words[::2], words[1::2], strict=True)))
    return [str(one.message) for one in caught]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("replay", "rest"),
    [("none", "another label may not be the model's"), ("float64", "the replay sums the others")],
)
def test_8_bits_that_certify_too_little_are_there_where_asked_for_with_a_warning(
    replay: str, rest: str
) -> None:
    store(SVC(C=1e4, gamma=5.0).fit(TWO, Y))
    (warning,) = warnings_of("format", "int8", "replay", replay)
    assert warning.startswith("--format int8: 8 bits certify")
    assert "% of ordinary inputs; " in warning
    assert rest in warning


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["exact", "certified", "statistical"])
def test_the_share_is_that_of_the_samples_where_there_are_any(mode: str) -> None:
    store(SVC(C=1e4, gamma=5.0).fit(TWO, Y))
    np.savez("samples.npz", X=TWO)
    (warning,) = warnings_of("format", "int8", "data", "samples.npz", "mode", mode)
    assert "% of the samples in --data; " in warning


def test_auto_takes_no_8_bits_that_certify_too_little_for_the_flash(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rounded to 8 bits these vectors would fit."""
    store(SVC(C=1e4, gamma=5.0).fit(np.hstack([TWO] * 20), Y))
    target = load_target("cortex-m4")
    in_bytes = lower_in_format(readers.load_model(Path("m.pkl")), target, "m", "int8")
    budget = str(in_bytes.program.table_bytes + 4000)
    words = ("--target", "cortex-m4", "--mode", "exact", "--verify", "none")
    code, message = fail(capsys, *words, "--max-flash", budget)
    assert code == 4
    assert "bytes of flash" in message


@pytest.mark.parametrize("number_format", ["auto", "int8"])
def test_samples_that_do_not_fit_the_model_exit_3(
    number_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store(SVC().fit(*load_iris(return_X_y=True)))
    np.savez("samples.npz", X=TWO)
    words = ("--format", number_format, "--data", "samples.npz", "--mode", "certified")
    code, message = fail(capsys, *words)
    assert code == 3
    assert "X has shape" in message


def test_a_format_that_is_none_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    store(SVC().fit(REAL, Y))
    code, message = fail(capsys, "--format", "int4")
    assert code == 2
    assert "int4" in message


def test_the_smallest_format_is_named_where_none_fits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store(SVC().fit(*load_iris(return_X_y=True)))
    words = ("--format", "auto", "--target", "cortex-m7", "--max-flash", "100")
    code, message = fail(capsys, *words)
    assert code == 4
    assert "cortex-m7 may use 100" in message
