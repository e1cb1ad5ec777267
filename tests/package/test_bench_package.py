"""`--package bench`, and the benches of other packages: they ask, count and print one line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import test_esp_idf
import test_zephyr
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kit.packages import CXX, C, packaged
from kit.tools import need, succeed
from kmcompile.emit.packages.bench_view import Bench
from kmcompile.target import list_targets, load_target

LONG = "a_name_of_20_letters"
STRICT = [*C, "-O2", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef"]
MAIN = """#include <stdio.h>
#include "NAME_bench.h"
static NAME_bench_t result;
static char text[UPPER_BENCH_TEXT_BYTES];
int main(void) { FILL NAME_bench_text(&result, text); puts(text); return 0; }
"""
ALL_ASKED = "NAME_bench(&result);"


def shown(folder: Path, name: str, fill: str = ALL_ASKED) -> str:
    """Build the bench with a main program of the host; return what it prints."""
    need("gcc")
    main = MAIN.replace("FILL", fill).replace("NAME", name).replace("UPPER", name.upper())
    (folder / "main.c").write_text(main)
    parts = [folder / f"{name}.c", folder / f"{name}_bench.c", folder / "main.c"]
    succeed([*STRICT, *parts, "-o", folder / "run"])
    return succeed([folder / "run"])


def fields_of(text: str) -> dict[str, str]:
    (line,) = text.splitlines()
    begin, version, *fields = line.split(" ")
    assert (begin, version) == ("kmcompile-bench", "1")
    return dict(field.split("=") for field in fields)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("model", "name"), [("iris", LONG), ("regression", "m_2"), ("codes", "iris")]
)
def test_it_asks_all_queries_and_finds_the_verified_answers(
    model: str, name: str, tmp_path: Path
) -> None:
    folder = packaged("bench", tmp_path / "o", model, name=name) / f"{name}_bench"
    found = fields_of(shown(folder, name))
    assert [found[key] for key in ("name", "target", "wrong", "lost")] == [name, "host", "0", "0"]
    digest = kmcompile.load(tmp_path / "o").report["files"][f"{name}.c"]
    assert digest.startswith(found["program"]) and len(found["program"]) == 12
    assert (found["queries"], found["unit"], found["hz"]) == ("16", "ticks", "1000000000")
    assert int(found["min"]) <= int(found["median"]) <= int(found["max"])


@pytest.mark.parametrize(("model", "field"), [("iris", "labels"), ("regression", "bounds")])
def test_another_answer_is_counted(model: str, field: str, tmp_path: Path) -> None:
    folder = packaged("bench", tmp_path / "o", model, name="m") / "m_bench"
    source = folder / "m_bench.c"
    head, tail = source.read_text().split(f"{field}[N_QUERIES]", 1)
    wrong = "{ 1e30f, 2e30f }" if field == "bounds" else "7"
    found = r"\{ [-0-9a-fx.p+]+, [-0-9a-fx.p+]+ \}" if field == "bounds" else r"\d(?=,)"
    source.write_text(f"{head}{field}[N_QUERIES]" + re.sub(found, wrong, tail, count=1))
    assert fields_of(shown(folder, "m"))["wrong"] == "1"


def test_the_longest_line_has_room(tmp_path: Path) -> None:
    folder = packaged("bench", tmp_path / "o", name=LONG) / f"{LONG}_bench"
    numbers = ", ".join(["UINT32_MAX"] * 6)
    text = shown(folder, LONG, f"result = (NAME_bench_t){{ {numbers} }};")
    assert fields_of(text)["max"] == str(2**32 - 1)
    header = (folder / f"{LONG}_bench.h").read_text()
    room = int(re.search(r"TEXT_BYTES (\d+)U", header)[1])
    # The numbers that are not the longest, and the name of the counter.
    assert len(text) <= room <= len(text) + 30


def test_lines_are_short_enough_for_a_reviewer(tmp_path: Path) -> None:
    for kind in ("bench", "arduino", "zephyr", "esp-idf"):
        folder = packaged(kind, tmp_path / kind, name=LONG)
        files = [
            path for path in folder.rglob("*") if "bench" in str(path.relative_to(folder)).lower()
        ]
        texts = [path for path in files if path.is_file() and path.stem != LONG]
        assert len(texts) >= 4
        for path in texts:
            assert max(map(len, path.read_text().splitlines())) <= 100, path


def test_test_samples_are_asked_from_all_parts_of_the_file() -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    program = kmcompile.compile_model(model, mode="exact", verify="none", name="iris").program
    samples = X.astype(np.float32)
    samples[::2] = np.inf  # which the C refuses
    made = Bench.of(program, load_target("host"), [("Test samples", samples)], "")
    assert made.source == "Test samples" and len(made.queries) == 16
    assert {query.label for query in made.queries} == {0, 1, 2}
    assert all(np.isfinite(query.x).all() for query in made.queries)
    without = Bench.of(program, load_target("host"), [("Test samples", samples[::2])], "")
    assert without.source == "Inputs of the self-test"


def test_samples_of_many_features_are_few(tmp_path: Path) -> None:
    make = np.random.default_rng(0)
    X = make.normal(size=(40, 1000))
    made = kmcompile.compile_model(
        SVC().fit(X, X[:, 0] > 0), mode="exact", verify="none", name="wide"
    )
    bench = Bench.of(made.program, load_target("host"), [("Test samples", X.astype("f4"))], "")
    assert len(bench.queries) == 4  # of 4,000 bytes each, 16 KB in all


def test_the_sample_of_zephyr_prints_the_line(tmp_path: Path) -> None:
    module = packaged("zephyr", tmp_path / "o") / "iris"
    sample = module / "samples" / "bench" / "src"
    text = '#include "main.c"\n#include "iris_bench.c"\n'
    (sample / "both.c").write_text(text)
    built = test_zephyr.built(tmp_path, {"run": sample / "both.c"}, {"KMCOMPILE_IRIS": "y"}, module)
    found = fields_of(succeed([built / "run"]))
    assert (found["counter"], found["unit"], found["hz"]) == ("k_cycle_get_32", "ticks", "64000000")
    assert (found["wrong"], found["lost"], found["overhead"], found["max"]) == ("0", "0", "10", "0")
    assert "src/iris_bench.c" in (sample.parent / "CMakeLists.txt").read_text()


def test_the_example_of_esp_idf_prints_the_line(tmp_path: Path) -> None:
    component = packaged("esp-idf", tmp_path / "o") / "kmcompile_iris"
    found = fields_of(test_esp_idf.built(component / "examples" / "bench", tmp_path / "b"))
    assert (found["counter"], found["unit"], found["hz"]) == ("esp_cpu", "cycles", "240000000")
    assert (found["wrong"], found["lost"]) == ("0", "0")


def test_the_sketch_of_arduino_prints_the_line(tmp_path: Path) -> None:
    need("gcc", "g++")
    library = packaged("arduino", tmp_path / "o") / "iris"
    sketch, stubs = library / "examples" / "Bench", Path(__file__).parent / "stubs" / "arduino"
    objects = [tmp_path / "model.o", tmp_path / "bench.o"]
    sources = [library / "src" / "iris.c", sketch / "iris_bench.c"]
    for source, made in zip(sources, objects, strict=True):
        succeed([*C, "-I", library / "src", "-I", stubs, "-c", source, "-o", made])
    main = '#include "Bench.ino"\nint main() { setup(); loop(); return 0; }\n'
    (tmp_path / "main.cpp").write_text(main)
    parts = ["-I", sketch, "-I", library / "src", "-I", stubs, "-include", "Arduino.h"]
    succeed([*CXX, *parts, tmp_path / "main.cpp", *objects, "-o", tmp_path / "run"])
    found = fields_of(succeed([tmp_path / "run"]))
    assert (found["counter"], found["unit"], found["hz"]) == ("micros", "ticks", "1000000")
    assert (found["wrong"], found["lost"]) == ("0", "0")


@pytest.mark.target
def test_the_sketch_of_arduino_builds_for_an_avr(tmp_path: Path) -> None:
    need("avr-gcc")
    library = packaged("arduino", tmp_path / "o", target="avr") / "iris"
    flags = ["-mmcu=atmega328p", "-DF_CPU=16000000L", "-Os", "-std=gnu11", "-Wall", "-Wextra"]
    source = library / "examples" / "Bench" / "iris_bench.c"
    parts = ["-I", library / "src", "-c", source, "-o", tmp_path / "bench.o"]
    succeed(["avr-gcc", *flags, "-Werror", *parts])


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("name", [one.name for one in list_targets() if one.boot])
def test_it_compiles_for_each_board_without_a_warning(name: str, tmp_path: Path) -> None:
    compiler = load_target(name).compiler
    need(compiler.command)
    source = packaged("bench", tmp_path / "o", name=LONG, target=name) / f"{LONG}_bench"
    own = [f"-D{LONG.upper()}_BENCH_OWN_COUNTER"] if name == "leon3" else []
    # The registers of a part, not of an architecture; its C library has headers of its own.
    board = ["-mmcu=atmega2560"] if name == "avr" else ["-ffreestanding"]
    kept = [flag for flag in compiler.flags if not flag.startswith("-mmcu")]
    flags = [*STRICT[1:], *kept, *board, *own]
    succeed([compiler.command, *flags, "-c", source / f"{LONG}_bench.c", "-o", tmp_path / "o.o"])
