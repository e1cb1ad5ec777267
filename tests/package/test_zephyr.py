"""`--package zephyr`: the module builds with a stand-in for Zephyr; its sample and tests run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kit.packages import packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "zephyr"
LONG = "a_name_of_20_letters"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the module of a model of four features."""
    return packaged("zephyr", tmp_path_factory.mktemp("packages") / "o") / "iris"


def built(tmp_path: Path, mains: dict[str, Path], values: dict[str, str], *modules: Path) -> Path:
    """Build modules and programs, all programs with all modules; return the build folder."""
    need("cmake", "gcc")
    autoconf = tmp_path / "autoconf.h"
    lines = [
        f"#define CONFIG_{name} {1 if value == 'y' else value}" for name, value in values.items()
    ]
    autoconf.write_text("\n".join([*lines, ""]))
    text = ["cmake_minimum_required(VERSION 3.20)", "project(stand_in LANGUAGES C)"]
    text += ["add_compile_options(-Wall -Wextra -Werror)", f"set(AUTOCONF {autoconf})"]
    text += [f"set(CONFIG_{name} {value})" for name, value in values.items()]
    text += [f"include({STUBS}/zephyr.cmake)"]
    text += [f"add_subdirectory({module} {module.name})" for module in modules]
    libraries = " ".join(f"kmcompile_{module.name}" for module in modules)
    for name, main in mains.items():
        text += [
            f"add_executable({name} {main})",
            f"target_include_directories({name} PRIVATE {STUBS})",
        ]
        text += [f"target_link_libraries({name} {libraries})"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join([*text, ""]))
    succeed(["cmake", "-G", "Unix Makefiles", "-S", tmp_path, "-B", tmp_path / "build"])
    succeed(["cmake", "--build", tmp_path / "build"])
    return tmp_path / "build"


def test_the_module_its_sample_and_its_tests_build(package: Path, tmp_path: Path) -> None:
    values = {"KMCOMPILE_IRIS": "y", "KMCOMPILE_IRIS_TABLE_SECTION": '".slow"'}
    mains = {
        "sample": package / "samples" / "one_query" / "src" / "main.c",
        "known": package / "tests" / "known_answers" / "src" / "main.c",
    }
    build = built(tmp_path, mains, values, package)
    printed = succeed([build / "sample"])
    regex = re.search('regex:\n *- "(.*)"', (package / "samples/one_query/sample.yaml").read_text())
    assert regex is not None and re.match(regex[1], printed)
    assert succeed([build / "known"]) == "PASS test_tables\nPASS test_known_answers\n"
    assert ".slow" in succeed(["objdump", "-h", build / "sample"])


def test_the_linker_snippet_places_the_section(package: Path, tmp_path: Path) -> None:
    values = {"KMCOMPILE_IRIS": "y", "KMCOMPILE_IRIS_TABLE_SECTION": '".slow"'}
    values["KMCOMPILE_IRIS_PLACES_SECTION"] = "y"
    main = package / "samples" / "one_query" / "src" / "main.c"
    build = built(tmp_path, {"sample": main}, values, package)
    sections = succeed(["objdump", "-h", build / "sample"])
    assert ".snippets_rodata" in sections and ".slow" not in sections
    assert succeed([build / "sample"]).startswith("iris: answer")


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["regression", "codes"])
def test_two_modules_build_into_one_image(model: str, package: Path, tmp_path: Path) -> None:
    other = packaged("zephyr", tmp_path / "o", model, name=LONG) / LONG
    values = {"KMCOMPILE_IRIS": "y", f"KMCOMPILE_{LONG.upper()}": "y"}
    mains = {
        "sample": other / "samples" / "one_query" / "src" / "main.c",
        "known": other / "tests" / "known_answers" / "src" / "main.c",
    }
    build = built(tmp_path, mains, values, package, other)
    assert succeed([build / "sample"]).startswith(f"{LONG}: answer")
    assert "PASS test_known_answers" in succeed([build / "known"])


@pytest.mark.parametrize("folder", ["samples/one_query", "tests/known_answers"])
def test_the_stack_is_what_the_report_says_beside_the_default(folder: str, package: Path) -> None:
    """Zephyr 3.4 and main: MAIN_STACK_SIZE and ZTEST_STACK_SIZE are 1,024 by default."""
    report = json.loads((package.parents[1] / "report.json").read_text())
    size = re.search("(?:MAIN|ZTEST)_STACK_SIZE=(.*)", (package / folder / "prj.conf").read_text())
    assert size is not None
    assert 0 <= int(size[1]) - 1024 - report["memory"]["stack_bytes"] < 256


def test_no_option_and_no_library_has_a_name_without_prefix(tmp_path: Path) -> None:
    """A model called sensor: CONFIG_SENSOR is Zephyr's own, and modules have names like cmsis."""
    module = packaged("zephyr", tmp_path / "o", name="sensor") / "sensor"
    for path in module.rglob("*"):
        if path.is_file() and path.suffix not in {".c", ".h"}:
            assert "CONFIG_SENSOR" not in path.read_text()
    assert re.findall("config (.*)", (module / "Kconfig").read_text()) == [
        "KMCOMPILE_SENSOR",
        "KMCOMPILE_SENSOR_TABLE_SECTION",
        "KMCOMPILE_SENSOR_PLACES_SECTION",
    ]
    assert "name: kmcompile_sensor\n" in (module / "zephyr" / "module.yml").read_text()


def test_twister_finds_a_sample_and_a_test(package: Path) -> None:
    """The keys of Zephyr's scripts/zephyr_module.py and of twister's schema."""
    text = (package / "zephyr" / "module.yml").read_text()
    assert "samples:\n  - samples\n" in text and "tests:\n  - tests\n" in text
    assert "sample.kmcompile.iris:" in (package / "samples/one_query/sample.yaml").read_text()
    assert (
        "kmcompile.iris.known_answers:"
        in (package / "tests/known_answers/testcase.yaml").read_text()
    )
    assert "imply FPU if CPU_HAS_FPU" in (package / "Kconfig").read_text()
