"""The code of README.md and of the manual does what the text beside it says."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import CHECKOUT, DOCUMENTS, PAGES, README, RECIPES, blocks, commands, name_of
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.svm import SVC

from kit.tools import need, succeed
from kmcompile import cli
from kmcompile.commands import VERBS, compile_command
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.report import html

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed kmcompile has no README")

WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]

ALL_C = [code for document in DOCUMENTS for code in blocks(document, "c")]
ALL_PYTHON = [
    code
    for document in DOCUMENTS
    if document not in RECIPES  # test_recipes.py runs those
    for code in blocks(document, "python")
]

# A word of each block of Python code.
PYTHON = (*("compile_model", "precomputed_machine", "chosen.reduced", "FaLKSVC", "load_wine"),)

# What the code's headers are made from: options of the compilation by the prefix.
OPTIONS = {
    "breast_cancer": ["--mode", "exact"],
    "model": ["--mode", "exact"],
    "moons": [],
    "digits": ["--mode", "exact", "--format", "int8"],
    "iris": ["--mode", "exact", "--telemetry"],
    "bearing": ["--mode", "exact", "--step", "2000"],
    "orbit": ["--mode", "exact", "--tables", "image"],
}


def estimator(name: str) -> SVC:
    """Return a small estimator for a header of the pages."""
    if name == "moons":
        X, y = make_moons(60, noise=0.25, random_state=0)
        return SVC(gamma=2.0).fit(X, y)
    X, y = load_digits(return_X_y=True) if name == "digits" else load_breast_cancer(return_X_y=True)
    return SVC().fit(X[:100], y[:100])


@pytest.fixture(scope="module", autouse=True)
def without_plots() -> Iterator[None]:
    """Leave out the plots of report.html: they take half of the time, and no page is about them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "render", lambda *_arguments, **_options: b"")
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return an output folder for each header that the pages include."""
    need("gcc")
    top = tmp_path_factory.mktemp("manual")
    for name, options in OPTIONS.items():
        model = top / f"{name}.pkl"
        model.write_bytes(pickle.dumps(estimator(name)))
        words = [str(model), "--out", str(top / name), "--verify", "none", "--quiet", *options]
        assert cli.run(words) == 0
    return {name: top / name for name in OPTIONS}


def run_python(word: str) -> dict[str, Any]:
    """Run the one block of Python code that has a word in it; return its names."""
    (code,) = (code for code in ALL_PYTHON if word in code)
    names: dict[str, Any] = {}
    exec(compile(code, "manual", "exec"), names)
    return names


def test_every_python_block_is_run_by_a_test_here() -> None:
    for code in ALL_PYTHON:
        assert sum(word in code for word in PYTHON) == 1, code


def test_python_interface_gives_the_labels_of_predict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("gcc")
    monkeypatch.chdir(tmp_path)
    names = run_python("compile_model")
    assert names["answers"].tolist() == names["model"].predict(names["X"]).tolist()
    assert names["again"].tolist() == names["answers"].tolist()


def test_the_first_board_has_a_model_with_its_scaler_and_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_python("load_wine")
    machine = load_model("build/wine.pkl")
    answers = np.array(machine.classes)[evaluate(machine, names["X_test"]).labels]
    assert answers.tolist() == names["model"].predict(names["X_test"]).tolist()
    assert np.load("build/test.npz")["y"].tolist() == names["y_test"].tolist()


def test_machine_of_a_precomputed_kernel_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("build").mkdir()
    names = run_python("precomputed_machine")
    saved = load_model("build/iris.npz")
    assert saved.sha256 == names["machine"].sha256
    decided = evaluate(saved, names["X"]).labels
    assert [saved.classes[i] for i in decided] == names["model"].predict(names["gram"]).tolist()


def test_machines_reduced_in_python_agree_nearly_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_python("chosen.reduced")
    machine, X = names["machine"], names["X"][900:]
    assert load_model("fewer.npz").n_support_vectors == 40
    assert (evaluate(names["fewer"], X).labels == evaluate(machine, X).labels).mean() > 0.95


def test_local_machines_are_saved_as_a_pickle_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_python("FaLKSVC")
    machine, X = load_model("cells.pkl"), names["X"]
    labels = names["cells"].predict(X)
    assert [machine.classes[i] for i in evaluate(machine, X).labels] == labels.tolist()


@pytest.mark.few
@pytest.mark.parametrize("number", range(len(ALL_C)))
def test_c_compiles_without_a_warning(
    number: int, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header = re.search(r'#include "(\w+?)(?:_patch)?\.h"', ALL_C[number])
    assert header
    Path("main.c").write_text(ALL_C[number])
    succeed(["gcc", *WARNINGS, "-I", str(folders[header[1]]), "-c", "main.c"])


def test_cmake_builds_the_output_folder(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("cmake", "make")
    monkeypatch.chdir(tmp_path)
    (code,) = (code for document in DOCUMENTS for code in blocks(document, "cmake"))
    head = "cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
    Path("firmware.c").write_text(
        '#include "breast_cancer.h"\nint main(void) { return (int)breast_cancer_self_test(); }\n'
    )
    add_firmware = "add_executable(firmware firmware.c)\n"
    code = code.replace("path/to/breast_cancer-cortex-m7", str(folders["breast_cancer"]))
    Path("CMakeLists.txt").write_text(head + add_firmware + code)
    succeed(["cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "build"])
    succeed(["cmake", "--build", "build"])
    succeed(["build/firmware"])


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_have_options_and_scripts_that_are_there(document: Path) -> None:
    for command in commands(document):
        words = command.split()
        options = {word.split("=")[0] for word in words if word.startswith("--")}
        if Path(words[0]).name == "kmcompile":
            verb = VERBS.get(words[1], compile_command)
            assert options <= {name for param in verb.params for name in param.opts}, command
        scripts = [CHECKOUT / word for word in words if word.startswith(("examples/", "tests/"))]
        for path in (Path(str(script).split("::")[0]) for script in scripts):
            assert path.exists(), command
            if path.parent.parent.name == "examples":
                code = "".join(file.read_text("utf-8") for file in path.parent.glob("*.py"))
                assert all(f'"{option}"' in code for option in options), command


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_is_not_wrapped_on_a_terminal_of_80_columns(page: Path) -> None:
    for language in ("console", "c", "python", "cmake"):
        for line in "".join(blocks(page, language)).splitlines():
            assert len(line) <= 78, line
