"""`kmcompile show` prints the program that compiling makes, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile import cli, pipeline
from kmcompile.request.options import Options
from kmcompile.unbuilt import program_of

ASKED = (
    "--target cortex-m7 --mode exact --format int16 --name cancer",
    "--target cortex-m7 --max-flash 8000 --threshold 0.1",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small model."""
    made = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    model = make_pipeline(StandardScaler(), SVC(gamma=0.3)).fit(X, X[:, 0] * X[:, 1] > 0)
    joblib.dump(model, made / "m.pkl")
    return made


@pytest.mark.exhaustive
@pytest.mark.parametrize("asked", ASKED)
def test_the_program_of_a_model_is_the_one_it_is_compiled_to(
    asked: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    assert cli.run(["show", "m.pkl", *asked.split()]) == 0
    shown = capsys.readouterr().out
    assert sorted(folder.rglob("*")) == before
    out = folder / f"out-{ASKED.index(asked)}"
    assert cli.run(["m.pkl", *asked.split(), "--verify", "none", "--out", str(out)]) == 0
    capsys.readouterr()
    assert cli.run(["show", str(out)]) == 0
    assert capsys.readouterr().out == shown == f"{pipeline.load(out).program}\n"


def test_a_program_that_is_too_large_is_shown(folder: Path) -> None:
    options = Options(mode="exact", max_flash=100)
    assert program_of(folder / "m.pkl", options, lambda text: None).table_bytes > 100


def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["show", str(tmp_path)]) == 3
    assert "compile the model again" in capsys.readouterr().err


def test_a_folder_takes_no_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["show", str(tmp_path), "--mode", "exact", "--max-ram", "9"]) == 2
    assert "so it takes no --mode, --max-ram" in capsys.readouterr().err
