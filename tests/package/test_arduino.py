"""`--package arduino`: the library and its example build, for AVR with its float operations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.packages import CXX, C, packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "arduino"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of a model of four features."""
    return packaged("arduino", tmp_path_factory.mktemp("packages") / "o")


def test_the_library_and_its_example_compile(package: Path, tmp_path: Path) -> None:
    need("gcc", "g++")
    library = package / "iris"
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
    includes = [f"-I{sketch}", f"-I{library / 'src'}", f"-I{STUBS}"]
    parts = ["-include", "Arduino.h", tmp_path / "main.cpp", tmp_path / "iris.o"]
    succeed([*CXX, *includes, *parts, "-o", tmp_path / "sketch"])
    out = succeed([tmp_path / "sketch"])
    assert out.split(",")[0].strip() in {"0", "1", "2"}


def test_it_brings_the_float_arithmetic_that_avr_needs(tmp_path: Path) -> None:
    library = packaged("arduino", tmp_path / "o", "codes", target="avr") / "iris"
    beside = (tmp_path / "o" / "iris_arithmetic.c").read_bytes()
    assert (library / "src" / "iris_arithmetic.c").read_bytes() == beside


@pytest.mark.target
def test_avr_gcc_takes_the_c_with_its_float_operations(tmp_path: Path) -> None:
    need("avr-gcc")
    library = packaged("arduino", tmp_path / "o", target="avr") / "iris"
    sources = sorted((library / "src").glob("*.c"))
    assert [path.name for path in sources] == ["iris.c", "iris_arithmetic.c"]
    for source in sources:
        flags = ["-mmcu=atmega2560", "-std=gnu11", "-Os", "-Wall", "-c"]
        succeed(["avr-gcc", *flags, source, "-o", tmp_path / f"{source.stem}.o"])
