"""`--package arduino`: the library and its example build, for AVR with its float operations."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kit.packages import CXX, C, packaged
from kit.tools import need, succeed
from kmcompile.emit.packages.arduino import library_name

STUBS = Path(__file__).parent / "stubs" / "arduino"
LONG = "a_name_of_20_letters"
# platform.txt of ArduinoCore-avr 1.8.8: the flags of C and of the link, with all warnings.
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
MCU = ["-mmcu=atmega2560", "-DF_CPU=16000000L", "-DARDUINO_ARCH_AVR"]
C_FLAGS = ["-c", "-g", "-Os", *WARNINGS, "-std=gnu11", "-ffunction-sections", "-fdata-sections"]
C_FLAGS += ["-MMD", "-flto", "-fno-fat-lto-objects", *MCU]
LINK_FLAGS = [*WARNINGS, "-Os", "-g", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections", *MCU]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of a model of four features."""
    return packaged("arduino", tmp_path_factory.mktemp("packages") / "o")


def properties_of(library: Path) -> dict[str, str]:
    lines = (library / "library.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def example_output(library: Path, tmp_path: Path) -> str:
    """Build the library and its example with the stand-in, ask one query, return what it prints."""
    need("gcc", "g++")
    (tmp_path / "main.cpp").write_text(
        '#include "OneQuery.ino"\nint main() { setup(); loop(); return 0; }\n'
    )
    sketch = library / "examples" / "OneQuery"
    model = next(path for path in (library / "src").glob("*.c") if "arithmetic" not in path.name)
    succeed([*C, "-c", model, "-o", tmp_path / "model.o"])
    includes = [f"-I{sketch}", f"-I{library / 'src'}", f"-I{STUBS}"]
    parts = ["-include", "Arduino.h", tmp_path / "main.cpp", tmp_path / "model.o"]
    succeed([*CXX, *includes, *parts, "-o", tmp_path / "sketch"])
    return succeed([tmp_path / "sketch"])


def test_the_library_and_its_example_compile(package: Path, tmp_path: Path) -> None:
    out = example_output(package / "iris", tmp_path)
    sketch = (package / "iris" / "examples" / "OneQuery" / "OneQuery.ino").read_text()
    assert f"// Of the x above: {out.strip()}.\n" in sketch


def test_the_example_of_a_regression_prints_the_whole_float(tmp_path: Path) -> None:
    library = packaged("arduino", tmp_path / "o", "regression", name="m") / "m"
    printed = np.float32(example_output(library, tmp_path))
    compiled = kmcompile.load(tmp_path / "o")
    asked = compiled.program.known_answers.inputs[:1]
    assert printed == np.float32(compiled.predict(asked)[0])


@pytest.mark.parametrize("name", ["a", "iris", LONG])
def test_arduino_lint_finds_what_it_asks_for(name: str, tmp_path: Path) -> None:
    """The rules of arduino-lint 1.3.0 for a library, by their numbers."""
    library = packaged("arduino", tmp_path / "o", name=name) / name
    properties = properties_of(library)
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    assert {*needed, "url", "architectures"} <= properties.keys()
    assert all(properties.values())  # LP008, LP024, LP044, LP056
    assert re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9 ._-]{0,15}", properties["name"])  # LP010, LP011
    assert properties["url"].startswith("https://")  # LP041
    assert (library / "src" / f"{properties['name']}.h").is_file()  # LS008
    assert (library / "src" / properties["includes"]).is_file()  # LP052
    assert (library / "README.md").is_file() and (library / "LICENSE").is_file()  # LD001, LD002
    assert (library / "examples" / "OneQuery" / "OneQuery.ino").is_file()  # LD004, SS001


def test_long_names_stay_different() -> None:
    names = [f"a_long_name_of_one_{last}" for last in "abcdefghij"]
    assert len({library_name(name) for name in names}) == len(names)


def test_platformio_is_told_the_flag_and_the_example(package: Path) -> None:
    facts = json.loads((package / "iris" / "library.json").read_text())
    assert facts["build"]["flags"] == "-ffp-contract=off"
    assert facts["platforms"] == "*"
    example = facts["examples"][0]
    assert (package / "iris" / example["base"] / example["files"][0]).is_file()
    assert {"license", "repository", "keywords", "authors"} <= facts.keys()


def test_keywords_are_names_of_the_header_behind_tabs(package: Path) -> None:
    header = (package / "iris" / "src" / "iris.h").read_text()
    lines = (package / "iris" / "keywords.txt").read_text().splitlines()[1:]
    assert lines
    for line in lines:
        name, kind = line.split("\t")
        assert name in header and kind in {"KEYWORD1", "KEYWORD2", "LITERAL1"}


def test_it_brings_the_float_arithmetic_that_avr_needs(tmp_path: Path) -> None:
    library = packaged("arduino", tmp_path / "o", "codes", target="avr") / "iris"
    beside = (tmp_path / "o" / "iris_arithmetic.c").read_bytes()
    assert (library / "src" / "iris_arithmetic.c").read_bytes() == beside
    assert properties_of(library)["architectures"] == "avr"
    assert json.loads((library / "library.json").read_text())["platforms"] == "atmelavr"


@pytest.mark.exhaustive
@pytest.mark.target
def test_two_models_link_with_the_flags_of_the_avr_core(tmp_path: Path) -> None:
    need("avr-gcc", "avr-nm")
    folders = [
        packaged("arduino", tmp_path / "a", target="avr") / "iris",
        packaged("arduino", tmp_path / "b", "regression", name="m_2", target="avr") / "m_2",
    ]
    (tmp_path / "main.c").write_text(
        '#include "iris.h"\n#include "m_2.h"\n'
        "int main(void) { return (int)iris_self_test() + (int)m_2_self_test(); }\n"
    )
    includes = [f"-I{folder / 'src'}" for folder in folders]
    objects = []
    for source in [tmp_path / "main.c", *(p for f in folders for p in (f / "src").glob("*.c"))]:
        objects.append(tmp_path / f"{source.stem}.o")
        succeed(["avr-gcc", *C_FLAGS, *includes, source, "-o", objects[-1]])
    assert len(objects) == 5
    succeed(["avr-gcc", *LINK_FLAGS, "-o", tmp_path / "image.elf", *objects, "-lm"])
    assert succeed(["avr-nm", tmp_path / "image.elf"]).count("__mulsf3\n") == 1
