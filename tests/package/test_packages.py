"""`--package`: each layout is whole, and compiles and runs against stand-ins for its framework.

Zephyr, Arduino, F´ and cFS are no packages that can be installed here. `stubs/` holds the part of
their interfaces that the packages use, written from their documentation. F´'s own fpp-check reads
the .fpp where it is installed.
"""

from __future__ import annotations

import json
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC, SVR

import kmcompile
from kit.tools import need, succeed
from kmcompile import cli
from kmcompile.emit.package import KINDS

STUBS = Path(__file__).parent / "stubs"
C = ["gcc", "-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
CXX = ["g++", "-std=c++14", "-Wall", "-Wextra", "-Werror"]


def fitted(kind: str) -> Any:
    if kind == "iris":
        return SVC(gamma=0.5).fit(*load_iris(return_X_y=True))
    if kind == "codes":
        X, y = load_iris(return_X_y=True)
        return SVC(gamma=0.05).fit(np.round(X * 10.0), y)
    X, y = load_diabetes(return_X_y=True)
    return SVR(C=50.0).fit(X[:100], y[:100])


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an output folder for each kind, of a model of four features."""
    folder = tmp_path_factory.mktemp("packages")
    for kind in KINDS:
        kmcompile.compile_model(
            fitted("iris"),
            name="iris",
            package=kind,
            mode="exact",
            verify="none",
            out=folder / kind,
        )
    return folder


@pytest.fixture(scope="module")
def answer() -> str:
    """Return the label that the model gives the query of the stand-ins."""
    return str(int(fitted("iris").predict([[5.0, 0.0, 0.0, 0.0]])[0]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["regression", "codes"])
def test_a_regression_and_an_integer_format_are_packaged_too(
    model: str, kind: str, tmp_path: Path
) -> None:
    number_format = "int8" if model == "codes" else "float32"
    compiled = kmcompile.compile_model(
        fitted(model),
        name="m_2",
        package=kind,
        format=number_format,
        mode="exact",
        verify="none",
        out=tmp_path / "o",
    )
    text = "".join(
        path.read_text() for path in (tmp_path / "o" / kind).rglob("*") if path.is_file()
    )
    assert ("m_2_predict(&" in text) == (model == "regression")
    assert compiled.report["files"].keys() >= {
        path.relative_to(tmp_path / "o").as_posix()
        for path in (tmp_path / "o" / kind).rglob("*")
        if path.is_file()
    }


def test_zephyr_builds_the_module_and_its_sample(
    packages: Path, tmp_path: Path, answer: str
) -> None:
    need("cmake", "gcc")
    module = packages / "zephyr" / "zephyr" / "iris"
    assert "kconfig: Kconfig" in (module / "zephyr" / "module.yml").read_text()
    (tmp_path / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.20)
project(stand_in LANGUAGES C)
set(CONFIG_IRIS y)
set(CONFIG_IRIS_TABLE_SECTION ".slow")
include({STUBS}/zephyr/zephyr.cmake)
add_subdirectory({module} iris)
add_executable(sample {module}/samples/one_query/src/main.c)
target_include_directories(sample PRIVATE {STUBS}/zephyr)
target_link_libraries(sample iris)
"""
    )
    succeed(["cmake", "-G", "Unix Makefiles", "-S", tmp_path, "-B", tmp_path / "build"])
    succeed(["cmake", "--build", tmp_path / "build"])
    assert succeed([tmp_path / "build" / "sample"]).startswith("iris: ")
    sections = succeed(["objdump", "-h", tmp_path / "build" / "iris" / "libiris.a"])
    assert ".slow" in sections


def test_arduino_compiles_the_library_and_its_example(packages: Path, tmp_path: Path) -> None:
    need("gcc", "g++")
    library = packages / "arduino" / "arduino" / "iris"
    facts = json.loads((library / "library.json").read_text())
    assert facts["build"]["flags"] == "-ffp-contract=off"
    properties = dict(
        line.split("=", 1) for line in (library / "library.properties").read_text().splitlines()
    )
    assert {"name", "version", "author", "sentence", "architectures"} <= properties.keys()
    (tmp_path / "main.cpp").write_text(
        '#include "OneQuery.ino"\nint main() { setup(); loop(); return 0; }\n'
    )
    sketch = library / "examples" / "OneQuery"
    succeed([*C, "-c", library / "src" / "iris.c", "-o", tmp_path / "iris.o"])
    includes = [f"-I{sketch}", f"-I{library / 'src'}", f"-I{STUBS / 'arduino'}"]
    parts = ["-include", "Arduino.h", tmp_path / "main.cpp", tmp_path / "iris.o"]
    succeed([*CXX, *includes, *parts, "-o", tmp_path / "sketch"])
    out = succeed([tmp_path / "sketch"])
    assert out.split(",")[0].strip() in {"0", "1", "2"}


def test_arduino_brings_the_float_arithmetic_that_avr_needs(tmp_path: Path) -> None:
    out = tmp_path / "o"
    kmcompile.compile_model(
        fitted("codes"),
        name="iris",
        target="avr",
        package="arduino",
        mode="exact",
        verify="none",
        out=out,
    )
    beside = (out / "iris_arithmetic.c").read_bytes()
    package = out / "arduino" / "iris" / "src"
    assert (package / "iris_arithmetic.c").read_bytes() == beside


def test_long_names_keep_lines_short_and_fit_into_osal(tmp_path: Path) -> None:
    kmcompile.compile_model(
        fitted("iris"),
        name="a_name_of_20_letters",
        package="cfs",
        mode="exact",
        verify="none",
        out=tmp_path / "o",
    )
    fsw = tmp_path / "o" / "cfs" / "a_name_of_20_letters_app" / "fsw"
    lines = [line for path in fsw.rglob("*.[ch]") for line in path.read_text().splitlines()[1:]]
    assert max(map(len, lines)) <= 100
    assert any(line.endswith(' "A_NAME_OF_20_L_PIPE"') for line in lines)


def test_cfs_runs_the_app_on_its_bus(packages: Path, tmp_path: Path, answer: str) -> None:
    need("gcc")
    fsw = packages / "cfs" / "cfs" / "iris_app" / "fsw"
    sources = [fsw / "src" / "iris_app.c", fsw / "src" / "iris.c", STUBS / "cfs" / "bus.c"]
    includes = [f"-I{fsw / 'inc'}", f"-I{STUBS / 'cfs'}"]
    succeed([*C, *includes, *sources, "-o", tmp_path / "app"])
    lines = succeed([tmp_path / "app"]).splitlines()
    assert "subscribes to 0x18C0" in lines
    assert f"label {answer}, certified 1" in lines
    assert "event 3: iris: refused, status 2" in lines
    assert any(line.startswith("event 2: iris: 1 bytes, must be ") for line in lines)
    assert lines[-2:] == ["event 5: iris: pipe error, ends", "exit 2"]


def test_fprime_runs_the_component(packages: Path, tmp_path: Path, answer: str) -> None:
    need("gcc", "g++")
    component = packages / "fprime" / "fprime" / "Iris"
    succeed([*C, "-c", component / "iris.c", "-o", tmp_path / "iris.o"])
    sources = [component / "Iris.cpp", STUBS / "fprime" / "deployment.cpp", tmp_path / "iris.o"]
    includes = [f"-I{component}", f"-I{STUBS / 'fprime'}"]
    succeed([*CXX, *includes, *sources, "-o", tmp_path / "deployment"])
    assert succeed([tmp_path / "deployment"]).splitlines() == [
        f"status 0, label {answer}, certified 1",
        "status 1",
        "status 0",
    ]


def test_fprime_has_a_model_that_fpp_accepts(packages: Path) -> None:
    checker = Path(sys.executable).with_name("fpp-check")
    if not checker.exists():
        pytest.skip("fpp-check has no wheel for this system")
    fpp = packages / "fprime" / "fprime" / "Iris" / "Iris.fpp"
    succeed([checker, fpp, STUBS / "fprime" / "Svc" / "Svc.fpp"])


def test_a_changed_file_of_the_package_is_noticed(
    packages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(packages / "cfs", tmp_path / "o")
    assert cli.run(["verify", str(tmp_path / "o"), "--quiet"]) == 0
    app = tmp_path / "o" / "cfs" / "iris_app" / "fsw" / "src" / "iris_app.c"
    app.write_text(app.read_text() + "/* changed */\n")
    assert cli.run(["verify", str(tmp_path / "o"), "--quiet"]) == 1
    assert "iris_app.c: SHA-256 differs" in capsys.readouterr().err


def test_a_package_is_replaced_by_the_next_but_nothing_of_anybody_else(
    packages: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("iris.pkl").write_bytes(pickle.dumps(fitted("iris")))
    again = [
        "iris.pkl",
        "--mode",
        "exact",
        "--verify",
        "none",
        "--out",
        "o",
        "--quiet",
        "--package",
    ]
    assert cli.run([*again, "zephyr"]) == 0
    assert cli.run([*again, "arduino"]) == 0
    assert not Path("o/zephyr").exists()
    Path("o/arduino/iris/notes.txt").write_text("mine")
    assert cli.run([*again, "arduino"]) == 6
    assert "arduino/iris/notes.txt" in capsys.readouterr().err
    assert Path("o/arduino/iris/notes.txt").read_text() == "mine"


def test_the_c_is_the_same_with_a_package_and_without(packages: Path) -> None:
    texts = {(packages / kind / "iris.c").read_bytes() for kind in KINDS}
    assert len(texts) == 1


@pytest.mark.target
def test_arduino_takes_the_c_of_an_avr_with_its_float_operations(tmp_path: Path) -> None:
    need("avr-gcc")
    kmcompile.compile_model(
        fitted("iris"),
        target="avr",
        name="iris",
        package="arduino",
        mode="exact",
        verify="none",
        out=tmp_path / "o",
    )
    sources = sorted((tmp_path / "o" / "arduino" / "iris" / "src").glob("*.c"))
    assert [path.name for path in sources] == ["iris.c", "iris_arithmetic.c"]
    for source in sources:
        flags = ["-mmcu=atmega2560", "-std=gnu11", "-Os", "-Wall", "-c"]
        succeed(["avr-gcc", *flags, source, "-o", tmp_path / f"{source.stem}.o"])
