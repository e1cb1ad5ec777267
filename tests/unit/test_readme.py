"""What README.md says is so: its code runs, its tables are complete."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.svm import SVC
from tools import need, succeed

import kmcompile
from kmcompile import cli, errors
from kmcompile.frontend import load_model
from kmcompile.target import list_targets
from kmcompile.verify.reference import evaluate

README = Path(kmcompile.__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8") if README.is_file() else ""

pytestmark = pytest.mark.skipif(not TEXT, reason="an installed kmcompile has no README")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    section = TEXT.split(f"# {heading}\n", 1)[1]
    lines = re.search(r"^\|.*?(?=^[^|])", section, re.DOTALL | re.MULTILINE)
    assert lines
    rows = lines[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


@pytest.fixture
def breast_cancer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder that holds breast_cancer.pkl, as after `make demo`."""
    need("gcc")
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True)
    Path("breast_cancer.pkl").write_bytes(pickle.dumps(SVC().fit(X[:200], y[:200])))
    return tmp_path


def test_python_runs_and_gives_the_labels_of_predict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("gcc")
    monkeypatch.chdir(tmp_path)
    (code,) = (code for code in blocks("python") if "compile_model" in code)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["answers"].tolist() == names["model"].predict(names["X"]).tolist()
    assert names["again"].tolist() == names["answers"].tolist()


def test_machine_of_a_precomputed_kernel_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("build").mkdir()
    (code,) = (code for code in blocks("python") if "precomputed_machine" in code)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    saved = load_model("build/iris.npz")
    assert saved.sha256 == names["machine"].sha256
    decided = evaluate(saved, names["X"]).labels
    assert [saved.classes[i] for i in decided] == names["model"].predict(names["gram"]).tolist()


@pytest.mark.parametrize(
    ("name", "options"), [("breast_cancer", []), ("moons", []), ("digits", ["--format", "int8"])]
)
def test_c_compiles_without_a_warning(name: str, options: list[str], breast_cancer: Path) -> None:
    X, y = make_moons(400, noise=0.25, random_state=0)
    Path("moons.pkl").write_bytes(pickle.dumps(SVC(gamma=2.0).fit(X, y)))
    X, y = load_digits(return_X_y=True)
    Path("digits.pkl").write_bytes(pickle.dumps(SVC().fit(X[:300], y[:300])))
    words = [f"{name}.pkl", "--out", "c", "--verify", "none", "--quiet", *options]
    assert cli.run(words) == 0
    (code,) = (code for code in blocks("c") if f'#include "{name}.h"' in code)
    Path("main.c").write_text(code)
    succeed(
        ["gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", "c", "-c", "main.c"]
    )


def test_cmake_builds_the_output_folder(breast_cancer: Path) -> None:
    need("cmake", "make")
    assert cli.run(["breast_cancer.pkl", "--out", "c", "--verify", "none", "--quiet"]) == 0
    (code,) = blocks("cmake")
    head = "cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
    Path("firmware.c").write_text(
        '#include "breast_cancer.h"\nint main(void) { return (int)breast_cancer_self_test(); }\n'
    )
    add_firmware = "add_executable(firmware firmware.c)\n"
    code = code.replace("path/to/breast_cancer-cortex-m7", "c")
    Path("CMakeLists.txt").write_text(head + add_firmware + code)
    succeed(["cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "build"])
    succeed(["cmake", "--build", "build"])
    succeed(["build/firmware"])


def test_targets_are_those_that_ship() -> None:
    assert [row[0] for row in table("Targets")] == [target.name for target in list_targets()]


def test_exit_codes_are_those_of_the_errors() -> None:
    codes = {int(row[0]) for row in table("Exit codes")}
    kinds = [errors.KmcompileError, *errors.KmcompileError.__subclasses__()]
    assert codes == {0, 130, *(kind.exit_code for kind in kinds)}


def test_commands_are_those_of_the_command_line() -> None:
    named = " ".join(row[0] for row in table("Commands"))
    assert set(re.findall(r"kmcompile ([a-z]+)", named)) == set(cli._VERBS)


def test_every_file_that_is_linked_is_there() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (README.parent / link).exists(), link
