"""`--package esp-idf`: the component, its example and its tests build with a stand-in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kit.packages import packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "esp_idf"
LONG = "a_name_of_20_letters"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the component of a model of four features."""
    return packaged("esp-idf", tmp_path_factory.mktemp("packages") / "o") / "kmcompile_iris"


def built(project: Path, folder: Path, *settings: str) -> str:
    """Build a project of ESP-IDF; return what its program prints."""
    need("cmake", "gcc")
    place = ["-E", "env", f"IDF_PATH={STUBS}", "cmake", "-S", project, "-B", folder]
    succeed(["cmake", *place, "-G", "Unix Makefiles", *(f"-D{setting}" for setting in settings)])
    succeed(["cmake", "--build", folder])
    return succeed([next(folder.glob("*.elf"))])


def passed(folder: Path, *components: Path) -> str:
    """Build and run the test cases of components in one program."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\n"
        f"set(EXTRA_COMPONENT_DIRS {' '.join(map(str, components))})\n"
        f"set(TEST_COMPONENTS {' '.join(component.name for component in components)})\n"
        "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(tests)\n"
    )
    return built(folder, folder / "build")


def test_the_example_asks_a_query(package: Path, tmp_path: Path) -> None:
    assert built(package / "examples" / "one_query", tmp_path / "b").startswith("iris: answer ")


def test_the_tables_take_the_section_of_kconfig(package: Path, tmp_path: Path) -> None:
    setting = "CONFIG_KMCOMPILE_IRIS_TABLE_SECTION=.slow"
    built(package / "examples" / "one_query", tmp_path / "b", setting)
    assert ".slow" in succeed(["objdump", "-h", next((tmp_path / "b").glob("*.elf"))])


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["regression", "codes"])
def test_two_components_pass_their_tests_in_one_image(
    model: str, package: Path, tmp_path: Path
) -> None:
    other = packaged("esp-idf", tmp_path / "o", model, name=LONG) / f"kmcompile_{LONG}"
    printed = passed(tmp_path / "project", package, other)
    for name in ("iris", LONG):
        assert f"[{name}] the tables are whole:PASS" in printed
        assert f"[{name}] known answers:PASS" in printed
    assert built(other / "examples" / "one_query", tmp_path / "b").startswith(f"{LONG}: answer ")


def test_the_stack_is_what_the_report_says_beside_the_default(package: Path) -> None:
    """ESP-IDF 6.2-dev: ESP_MAIN_TASK_STACK_SIZE is 3,584 by default."""
    report = json.loads((package.parents[1] / "report.json").read_text())
    text = (package / "examples" / "one_query" / "sdkconfig.defaults").read_text()
    size = re.search("CONFIG_ESP_MAIN_TASK_STACK_SIZE=(.*)", text)
    assert size is not None
    assert 0 <= int(size[1]) - 3584 - report["memory"]["stack_bytes"] < 256


def test_a_component_takes_the_place_of_none_of_esp_idf(tmp_path: Path) -> None:
    """A model called driver: components of one name replace each other."""
    component = packaged("esp-idf", tmp_path / "o", name="driver") / "kmcompile_driver"
    options = re.findall("(?:config|choice) (.*)", (component / "Kconfig").read_text())
    assert options and all(option.startswith("KMCOMPILE_DRIVER_") for option in options)
    assert "archive: libkmcompile_driver.a\n" in (component / "linker.lf").read_text()
    manifest = (component / "idf_component.yml").read_text()
    assert all(f"\n{key}: " in manifest for key in ("version", "description", "url", "license"))
