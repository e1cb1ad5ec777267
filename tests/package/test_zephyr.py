"""`--package zephyr`: the module builds with a stand-in for Zephyr, and its sample runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.packages import packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "zephyr"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of a model of four features."""
    return packaged("zephyr", tmp_path_factory.mktemp("packages") / "o")


def test_the_module_and_its_sample_build(package: Path, tmp_path: Path) -> None:
    need("cmake", "gcc")
    module = package / "iris"
    assert "kconfig: Kconfig" in (module / "zephyr" / "module.yml").read_text()
    (tmp_path / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.20)
project(stand_in LANGUAGES C)
set(CONFIG_IRIS y)
set(CONFIG_IRIS_TABLE_SECTION ".slow")
include({STUBS}/zephyr.cmake)
add_subdirectory({module} iris)
add_executable(sample {module}/samples/one_query/src/main.c)
target_include_directories(sample PRIVATE {STUBS})
target_link_libraries(sample iris)
"""
    )
    succeed(["cmake", "-G", "Unix Makefiles", "-S", tmp_path, "-B", tmp_path / "build"])
    succeed(["cmake", "--build", tmp_path / "build"])
    assert succeed([tmp_path / "build" / "sample"]).startswith("iris: ")
    sections = succeed(["objdump", "-h", tmp_path / "build" / "iris" / "libiris.a"])
    assert ".slow" in sections
