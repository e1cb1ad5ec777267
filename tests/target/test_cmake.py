"""CMakeLists.txt of the output builds with a bare toolchain file of every compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit import catalogue
from kit.tools import need, need_tools, succeed
from kmcompile.target import Target, list_targets

pytestmark = pytest.mark.target

BOARDS = {target.compiler.command: target for target in list_targets() if target.boot}
"""One target a compiler."""
CASE = catalogue.Case("SVC", "rbf", "binary", "standard")

TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR {name})
set(CMAKE_C_COMPILER {command})
set(CMAKE_C_FLAGS_INIT "{flags} -O2 -ffreestanding")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
"""


@pytest.mark.few
@pytest.mark.parametrize("target", BOARDS.values(), ids=lambda target: target.name)
def test_cmake_builds_the_output_with_a_bare_toolchain_file(target: Target, tmp_path: Path) -> None:
    need("cmake", "make")
    need_tools(target)
    folder = catalogue.emitted(CASE, target.name).write(tmp_path / "output")
    compiler = target.compiler
    file = tmp_path / "bare.cmake"
    flags = " ".join(compiler.flags)
    file.write_text(TOOLCHAIN.format(name=target.name, command=compiler.command, flags=flags))
    settings = ["-G", "Unix Makefiles", f"-DCMAKE_TOOLCHAIN_FILE={file}"]
    succeed(["cmake", *settings, "-S", folder, "-B", tmp_path / "build"])
    succeed(["cmake", "--build", tmp_path / "build"])
    nm = compiler.command.removesuffix("gcc") + "nm"
    symbols = succeed([nm, tmp_path / "build" / "libiris.a"])
    assert "iris_classify" in symbols
