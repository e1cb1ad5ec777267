"""`--package micropython`: the modules build with a stand-in for MicroPython, and answer."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from kit.packages import answer_text, packaged, queries, query_text
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "micropython"


def firmware(modules: Path, build: Path, flags: str = "") -> str:
    """Build the modules of a folder into a firmware; return what make printed."""
    names = {"HERE": STUBS, "USER_C_MODULES": modules, "BUILD": build, "CFLAGS_EXTRA": flags}
    defined = [f"{name}={value}" for name, value in names.items()]
    return succeed(["make", "-f", STUBS / "py.mk", *defined])


def asked(board: Path, text: str) -> list[str]:
    """Return the lines that a firmware answers."""
    done = subprocess.run([board], input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two modules, beside the output folders that they are from."""
    folder = tmp_path_factory.mktemp("micropython")
    for name, model in {"iris": "iris", "m_2": "regression"}.items():
        package = packaged("micropython", folder / name, model, name)
        shutil.copytree(package / name, folder / "modules" / name)
    return folder / "modules"


def as_module_prints(line: str, has_label: bool) -> str:
    """Return an answer in the order of the module's tuple, whose first part is the label."""
    parts = line.split()
    if has_label:
        label, low, up, evals, stage, certified, in_range = parts
        return f"{label} {label} {low} {up} {certified} {in_range} {evals} {stage} "
    value, low, up, evals, stage, in_range = parts
    return f"{value} {low} {up} {in_range} {evals} {stage} "


def test_two_modules_answer_as_the_c_does_whatever_holds_the_features(
    modules: Path, tmp_path: Path
) -> None:
    need("make", "gcc")
    printed = firmware(modules, tmp_path / "build")
    for name in ("iris", "m_2"):
        (line,) = [line for line in printed.splitlines() if line.endswith(f"/{name}.c")]
        assert "-ffp-contract=off" in line
    for name, model in {"iris": "iris", "m_2": "regression"}.items():
        X = queries(model)
        expected = answer_text(modules.parent / name, X).splitlines()
        wanted = [as_module_prints(line, name == "iris") for line in expected for _ in range(3)]
        assert asked(tmp_path / "build" / "board", query_text(X)) == wanted
        assert len(wanted) == 900


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("40a00000 40a00000 40a00000", "ValueError: wrong number of features"),
        ("40a00000 40a00000 40a00000 7f800000", "ValueError: feature not finite"),
        ("40a00000 40a00000 40a00000 7e967699", "ValueError: feature out of range"),
    ],
)
def test_a_query_that_is_refused_raises(
    query: str, answer: str, modules: Path, tmp_path: Path
) -> None:
    need("make", "gcc")
    firmware(modules, tmp_path / "build")
    done = subprocess.run(
        [tmp_path / "build" / "board"], input=query + "\n", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (3, answer + "\n")


def test_bounds_hold_without_the_two_lowest_bits_of_floats(modules: Path, tmp_path: Path) -> None:
    need("make", "gcc")
    flags = "-DMICROPY_OBJ_REPR=MICROPY_OBJ_REPR_C -DMICROPY_PY_ATTRTUPLE=0"
    firmware(modules, tmp_path / "plain")
    firmware(modules, tmp_path / "build", flags)
    text = query_text(queries("iris"))
    signs = set()
    for exact, widened in zip(
        asked(tmp_path / "plain" / "board", text),
        asked(tmp_path / "build" / "board", text),
        strict=True,
    ):
        for part, outward in ((2, -1), (3, 1)):
            bits, moved = int(exact.split()[part], 16), int(widened.split()[part], 16)
            sign = -1 if bits >> 31 else 1
            assert moved & 3 == 0
            assert 0 <= (moved - bits) * sign * outward <= 3
            signs.add(sign)
    assert signs == {-1, 1}


@pytest.mark.parametrize(
    ("name", "module"), [("k", "k"), ("def", "def_model"), ("machine", "machine_model")]
)
def test_every_name_can_be_imported(name: str, module: str, tmp_path: Path) -> None:
    package = packaged("micropython", tmp_path / "o", name=name) / module
    imported = [
        alias.name
        for node in ast.walk(ast.parse((package / "example.py").read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    assert imported == [module]
    assert f"MP_REGISTER_MODULE(MP_QSTR_{module}, " in (package / f"mod_{name}.c").read_text()


def test_cmake_takes_the_module_without_contraction(tmp_path: Path) -> None:
    need("cmake", "gcc")
    package = packaged("micropython", tmp_path / "o", "codes", "a_name_of_20_letters")
    module = package / "a_name_of_20_letters"
    (tmp_path / "genhdr").mkdir()
    names = (module / "mod_a_name_of_20_letters.c").read_text().split("MP_QSTR_")[1:]
    quoted = sorted({"MP_QSTR_" + name.split(",")[0].split(")")[0] for name in names})
    header = f"enum {{ MP_QSTRnull, {', '.join(quoted)} }};\n"
    (tmp_path / "genhdr" / "qstrdefs.generated.h").write_text(header)
    (tmp_path / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.13)
project(stand_in LANGUAGES C)
add_library(usermod INTERFACE)
include({module}/micropython.cmake)
add_library(firmware STATIC)
target_include_directories(firmware PRIVATE {STUBS} ${{CMAKE_SOURCE_DIR}})
target_compile_options(firmware PRIVATE -Wall -Werror)
target_link_libraries(firmware PRIVATE usermod)
"""
    )
    succeed(["cmake", "-G", "Unix Makefiles", "-S", tmp_path, "-B", tmp_path / "build"])
    printed = succeed(["cmake", "--build", tmp_path / "build", "--verbose"])
    lines = [line for line in printed.splitlines() if "-ffp-contract=off" in line]
    assert len(lines) == 1
    assert lines[0].endswith("/a_name_of_20_letters.c")
    written = [*module.glob("mod_*.c"), *module.glob("micropython.*"), module / "example.py"]
    texts = [line for path in written for line in path.read_text().splitlines()[1:]]
    assert max(map(len, texts)) <= 100
