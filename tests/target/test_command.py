"""`kmcompile MODEL --target NAME` as a user has it: command line, output folder, Python."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.covering import some
from kit.tools import HANGS_S, need, need_tools
from kmcompile import cli, resources
from kmcompile.exits.asked_replay import SETTLED
from kmcompile.target import load_target

FILES = {
    "{name}.h",
    "{name}.c",
    "{name}.ffx",
    "{name}_harness.c",
    "{name}.mld.json",
    "{name}.mld.bin",
    "{name}.mld.md",
    "{name}_misra.txt",
    "program.npz",
    "queries.npz",
    "CMakeLists.txt",
    "recipe.json",
    "report.json",
    "report.html",
}
DATA_SETS = {"breast_cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}


def train(name: str) -> tuple[Any, np.ndarray]:
    """Return a fitted Pipeline with text labels, and samples that it has not seen."""
    data = DATA_SETS[name]()
    labels = data.target_names[data.target].astype(str)
    model = make_pipeline(StandardScaler(), SVC())
    return model.fit(data.data[::2], labels[::2]), data.data[1::2].astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def wine(folder: Path) -> tuple[Any, np.ndarray]:
    need("gcc")
    model, X = train("wine")
    Path("wine.pkl").write_bytes(pickle.dumps(model))
    np.savez("samples.npz", X=X)
    return model, X


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.target
@pytest.mark.parametrize("name", some(list(DATA_SETS), ("wine",)))
def test_bundled_data_set_is_verified_on_host_and_cortex_m7(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tools(load_target("cortex-m7"))
    model, X = train(name)
    Path("m.pkl").write_bytes(pickle.dumps(model))
    np.savez("test.npz", X=X)
    assert cli.run(["m.pkl", "--target", "cortex-m7", "--test-data", "test.npz", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report = json.loads(out)
    assert json.loads(Path("m-cortex-m7/report.json").read_bytes()) == report
    assert set(os.listdir("m-cortex-m7")) == {file.format(name="m") for file in FILES}

    verification = report["verification"]
    assert verification["queries_source"] == "test-data"
    for place in ("host", "target"):
        assert verification["exact"][place]["queries"] >= 1000 + len(X)
        assert verification["exact"][place]["mismatches"] == 0
    assert verification["bounded"]["sign_disagreements"] == 0
    assert verification["bounded"]["max_error"] <= verification["bounded"]["max_bound"]
    certified = verification["certified"]
    assert (certified["queries"], certified["wrong"]) == (len(X), 0)
    # Without a replay at least this share is settled by the sum alone; with one, all are.
    assert certified["certified_share"] >= SETTLED
    assert report["target"]["instructions"]["mean"] > report["model"]["n_support_vectors"]
    assert 0 < report["memory"]["flash_bytes"] < report["memory"]["flash_budget_bytes"]
    assert report["memory"]["ram_bytes"] == 0
    assert report["memory"]["stack_bytes"] > 0
    assert kmcompile.load("m-cortex-m7").predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.target
def test_verify_repeats_both_checks_from_the_folder(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    need_tools(load_target("cortex-m7"))
    compiling = "wine.pkl --target cortex-m7 --data samples.npz --mode exact --out o --json"
    assert cli.run(compiling.split()) == 0
    first = json.loads(capsys.readouterr().out)["verification"]
    assert cli.run(["verify", "o", "--model", "wine.pkl", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["verification"] == {key: first[key] for key in again["verification"]}
    assert again["not_available"] == {
        "verification.probabilities": "the model has no probabilities",
        "verification.input_tolerance": "there is no input tolerance",
        "accuracy": "there are no test samples with labels: give --test-data with y",
    }


@pytest.mark.exhaustive
def test_verify_without_the_model_says_what_it_left_out(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["wine.pkl", "--out", "o", "--quiet"]) == 0
    assert cli.run(["verify", "o"]) == 0
    out = capsys.readouterr().out
    assert "verified on the host\n" in out
    assert "give --model to check against it" in out


def test_data_are_held_out_queries_of_exact_mode(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["wine.pkl", "--data", "samples.npz", "--mode", "exact", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["verification"]["queries_source"] == "held-out"


@pytest.mark.exhaustive
@pytest.mark.target
def test_target_of_ones_own_is_one_toml_and_needs_no_more_to_be_verified_again(
    wine: tuple[Any, np.ndarray], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tools(load_target("cortex-m4"))
    shipped = (resources.targets_dir() / "cortex-m4.toml").read_text()
    Path("boards").mkdir()
    Path("boards/mine.toml").write_text(shipped.replace('name = "cortex-m4"', 'name = "mine"', 1))
    assert cli.run(["wine.pkl", "--target", "boards/mine.toml", "--quiet"]) == 0
    line_1 = Path("wine-mine/wine.c").read_text().splitlines()[0]
    assert line_1 == "/* kmcompile wine.pkl --target mine.toml */"
    assert b"boards" not in Path("wine-mine/report.json").read_bytes()
    Path("boards/mine.toml").unlink()
    assert cli.run(["verify", "wine-mine"]) == 0
    assert "verified on the host and on mine" in capsys.readouterr().out


@pytest.mark.exhaustive
@pytest.mark.parametrize(("level", "runs_on_host"), [("none", False), ("host", True)])
def test_what_was_not_verified_is_null_with_its_reason(
    level: str,
    runs_on_host: bool,
    wine: tuple[Any, np.ndarray],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["wine.pkl", "--target", "cortex-m7", "--verify", level, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    exact = report["verification"]["exact"]
    assert (exact["host"] is not None) == runs_on_host
    assert (report["verification"]["bounded"] is not None) == runs_on_host
    assert exact["target"] is None
    assert report["not_available"]["verification.exact.target"] == f"--verify {level}"
    assert not report["memory"]["flash_is_lower_limit"]  # measured without being run


@pytest.mark.exhaustive
def test_quiet_prints_nothing(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["wine.pkl", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("wine-host/wine.c").is_file()


@pytest.mark.exhaustive
def test_report_in_the_terminal_names_checks_memory_and_the_folder(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["wine.pkl", "--test-data", "samples.npz"]) == 0
    out = capsys.readouterr().out
    for text in ("verified on the host", "flash", "0 mismatches", "written to wine-host"):
        assert text in out


def test_inspect_tells_what_a_model_is_without_writing(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir())
    assert cli.run(["inspect", "wine.pkl", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "SVC"
    assert facts["kernel"] == "rbf"
    assert facts["classes"] == ["class_0", "class_1", "class_2"]
    assert facts["n_support_vectors"] == len(wine[0][-1].support_)
    assert facts["integers"].startswith("none: ")
    assert sorted(os.listdir()) == before


@pytest.mark.exhaustive
def test_bench_has_a_row_for_each_target(
    wine: tuple[Any, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "wine.pkl", "--targets", "host"]) == 0
    head, row, files = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "target"
    assert row.split()[0] == "host"
    assert files.split()[0] == "written"


@pytest.mark.exhaustive
def test_output_is_the_same_bytes_wherever_and_however_it_is_made(
    wine: tuple[Any, np.ndarray], folder: Path
) -> None:
    """reliability 24: other folder, hash seed, locale, time zone and number of threads."""
    assert cli.run(["wine.pkl", "--test-data", "samples.npz", "--out", "here", "--quiet"]) == 0
    elsewhere = folder / "else where"
    elsewhere.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(kmcompile.__file__).parents[1]),
        "PYTHONHASHSEED": "7",
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
        "OPENBLAS_NUM_THREADS": "2",
        "SOURCE_DATE_EPOCH": "1",
    }
    options = ["--quiet", "--test-data", str(folder / "samples.npz"), "--out", "there"]
    subprocess.run(
        [sys.executable, "-m", "kmcompile", "../wine.pkl", *options],
        cwd=elsewhere,
        env=environment,
        check=True,
        timeout=HANGS_S,
    )
    assert contents("here") == contents(str(elsewhere / "there"))


def test_python_compiles_an_estimator_and_answers_as_it_does(
    wine: tuple[Any, np.ndarray], folder: Path
) -> None:
    model, X = wine
    compiled = kmcompile.compile_model(model, name="wine", data=X, mode="exact", out="build/wine")
    assert compiled.report["verification"]["queries_source"] == "held-out"
    assert compiled.predict(X).tolist() == model.predict(X).tolist()
    bound = compiled.report["verification"]["bounded"]["max_bound"]
    scores = model.decision_function(X.astype(np.float64))
    assert compiled.decision_function(X).shape == scores.shape
    loaded = kmcompile.load(folder / "build" / "wine")
    assert loaded.classify(X).tobytes() == compiled.classify(X).tobytes()
    results = loaded.classify(X)
    assert np.all(results["lower"] <= results["upper"])
    assert np.all(results["upper"] - results["lower"] <= 3 * bound)


@pytest.mark.exhaustive
def test_python_writes_no_folder_for_an_estimator_unless_asked(
    wine: tuple[Any, np.ndarray],
) -> None:
    before = sorted(os.listdir())
    compiled = kmcompile.compile_model(wine[0])
    assert compiled.folder is None
    assert repr(compiled) == "<kmcompile.Compiled pipeline for host>"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"data": [["a", "b"]]}, "data is no array of numbers"),
        ({"test_data": np.zeros((5, 2))}, "test_data.npy: X has shape"),
        ({"targets": "host"}, "unknown options: targets"),
        ({"reduce": "auto"}, "counts disagreements on samples"),
        ({"mode": "certified", "data": np.zeros((5, 13))}, "must have at least"),
    ],
)
def test_python_refuses_what_the_command_line_refuses(
    options: dict[str, Any], text: str, wine: tuple[Any, np.ndarray]
) -> None:
    with pytest.raises(kmcompile.KmcompileError, match=text):
        kmcompile.compile_model(wine[0], **options)
