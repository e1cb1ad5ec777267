"""The examples run, and give the trained model's answers."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kit.shared_data import data_file
from kit.tools import HANGS_S, need

CHECKOUT = Path(kmcompile.__file__).resolve().parents[1]
EXAMPLES = CHECKOUT / "examples"
NAME = "breast_cancer"
# The board's side of examples/board/main.c, on the host: samples from stdin, labels to stdout.
BOARD = """
#include <stdio.h>
#include "breast_cancer.h"
bool board_read_sample(float x[BREAST_CANCER_N_FEATURES])
{
    return fread(x, sizeof(float), BREAST_CANCER_N_FEATURES, stdin) == BREAST_CANCER_N_FEATURES;
}
void board_show(const char *class_name, bool certified) { (void)certified; puts(class_name); }
void board_show_error(breast_cancer_status_t status) { printf("error %d\\n", (int)status); }
void board_feed_watchdog(void) { }
"""

# What style.md asks of emitted C; the example shall be no worse.
FLAGS = [
    "-std=c99",
    "-pedantic",
    "-O1",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wfloat-equal",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wundef",
    "-Werror",
]


def run(*arguments: str | Path, stdin: bytes = b"", cwd: Path) -> bytes:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(
        arguments,
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo's folder: its model, its samples, and the C for the host."""
    need("gcc")
    folder = tmp_path_factory.mktemp("demo")
    run(sys.executable, EXAMPLES / "demo" / "train.py", folder, cwd=folder)
    kmcompile_command = [sys.executable, "-m", "kmcompile", f"{NAME}.pkl", "--out", "c"]
    run(*kmcompile_command, "--test-data", "test.npz", "--verify", "host", cwd=folder)
    return folder


@pytest.mark.exhaustive
def test_demo_model_compiles(demo: Path) -> None:
    assert (demo / "c" / f"{NAME}.c").is_file()


@pytest.mark.exhaustive
def test_board_example_gives_the_labels_of_predict(demo: Path) -> None:
    (demo / "board.c").write_text(BOARD)
    sources = [EXAMPLES / "board" / "main.c", demo / "c" / f"{NAME}.c", demo / "board.c"]
    run("gcc", *FLAGS, "-I", demo / "c", *sources, "-o", demo / "board", cwd=demo)
    X = np.load(demo / "test.npz")["X"].astype(np.float32)
    labels = run(demo / "board", stdin=X.tobytes(), cwd=demo).decode().split()
    model = pickle.loads((demo / f"{NAME}.pkl").read_bytes())
    assert labels == list(model.predict(X.astype(np.float64)))


@pytest.mark.exhaustive
@pytest.mark.target
def test_board_example_compiles_for_the_board(demo: Path) -> None:
    need("arm-none-eabi-gcc")
    cpu = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"]
    source = EXAMPLES / "board" / "main.c"
    run("arm-none-eabi-gcc", *cpu, *FLAGS, "-I", demo / "c", "-c", source, cwd=demo)
    assert (demo / "main.o").is_file()


@pytest.mark.exhaustive
def test_benchmark_of_exact_mode_prints_a_row(tmp_path: Path) -> None:
    need("gcc")
    printed = run(
        sys.executable, EXAMPLES / "benchmark" / "exact.py", "host", "wine", cwd=tmp_path
    ).decode()
    assert "wine" in printed


@pytest.mark.exhaustive
def test_the_example_of_certified_exits_prints_rows(tmp_path: Path) -> None:
    path = EXAMPLES / "certified" / "sets.py"
    printed = run(sys.executable, path, "breast_cancer", "--cache", tmp_path, cwd=tmp_path).decode()
    rows = [line.split() for line in printed.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["breast_cancer", by] for by in ("samples", "generated")]
    assert all(int(row[7]) == 0 for row in rows)


@pytest.mark.exhaustive
def test_the_example_of_unequal_costs_saves_some(tmp_path: Path) -> None:
    need("gcc")
    printed = run(sys.executable, EXAMPLES / "costs" / "costs.py", cwd=tmp_path).decode()
    rows = [line.split() for line in printed.splitlines()[1:3]]
    (as_it_is, with_threshold) = ([int(word) for word in row[1:]] for row in rows)
    assert with_threshold[0] < as_it_is[0]  # missed
    assert with_threshold[2] < as_it_is[2]  # cost
    assert "largest difference from scikit-learn's probabilities" in printed


@pytest.mark.exhaustive
def test_the_example_of_regressions_prints_rows(tmp_path: Path) -> None:
    need("gcc")
    path = EXAMPLES / "regression" / "sets.py"
    words = [sys.executable, path, "diabetes", "--target", "host"]
    row = run(*words, cwd=tmp_path).decode().splitlines()[1].split()
    assert row[0] == "diabetes"
    assert float(row[5]) <= float(row[6])  # the largest error and the largest bound
    printed = run(*words, "--tolerances", "0.1", cwd=tmp_path).decode().splitlines()[1]
    assert "taylor_polynomial" in printed
    assert float(printed.split()[4]) > 1.0


def test_the_example_of_many_classes_prints_rows(tmp_path: Path) -> None:
    need("gcc")
    data_file("glass")
    words = [sys.executable, EXAMPLES / "classes" / "sets.py", "glass", "--target", "host"]
    row = run(*words, cwd=tmp_path).decode().splitlines()[2].strip("| ").split(" | ")
    assert row[0] == "glass" and float(row[5]) <= float(row[4]) == 15
    assert row[-2:] == ["0", "0"]  # labels unlike those of predict


@pytest.mark.exhaustive
@pytest.mark.target
def test_the_example_of_integer_formats_prints_rows(tmp_path: Path) -> None:
    for tool in ("gcc", "arm-none-eabi-gcc", "qemu-system-arm"):
        need(tool)
    path = EXAMPLES / "integers" / "formats.py"
    few = ["--only", "digits", "--format", "int8", "--queries", "2"]
    printed = run(sys.executable, path, *few, cwd=tmp_path).decode()
    rows = [line.split() for line in printed.replace("plain C", "plain").splitlines()[2:5]]
    assert [row[:2] for row in rows] == [["digits", name] for name in ("plain", "dense", "int8*")]
    assert [row[9] for row in rows] == ["0", "0", "0"]


NSV = {
    "tables.py": "Table 3, ours",
    "figures.py": "figure_1 and figure_3",
    "reach.py": "pooled",
    "sets.py": "satimage",
}


@pytest.mark.parametrize("script", NSV)
def test_quick_form_of_the_nsv_example_runs(script: str, tmp_path: Path) -> None:
    for name in ("mnist", "satimage"):
        data_file(name)
    path = EXAMPLES / "nsv" / script
    printed = run(sys.executable, path, "--quick", "--cache", tmp_path, cwd=tmp_path).decode()
    assert NSV[script] in printed


@pytest.mark.exhaustive
def test_quick_form_of_the_nsv_promises_keeps_its_results(tmp_path: Path) -> None:
    need("gcc")
    data_file("mnist")
    path, results = EXAMPLES / "nsv" / "promises.py", tmp_path / "kept" / "results.jsonl"
    words = [sys.executable, path, "--quick", "--cache", tmp_path, "--results", results]
    printed = run(*words, cwd=tmp_path).decode()
    assert "guaranteed m/k mean" in printed and "expected   m/k mean" in printed
    row = json.loads(results.read_text())
    assert row["digits"] == [0, 1]
    assert [row[control]["mismatches"] for control in ("guaranteed", "expected")] == [0, 0]
    assert run(*words, cwd=tmp_path).decode() == printed
    assert len(results.read_text().splitlines()) == 1


@pytest.mark.exhaustive
@pytest.mark.target
def test_the_example_of_two_models_makes_one_image(tmp_path: Path) -> None:
    for tool in ("gcc", "arm-none-eabi-gcc", "qemu-system-arm", "cmake", "make"):
        need(tool)
    printed = run(sys.executable, EXAMPLES / "two_models" / "build.py", tmp_path, cwd=tmp_path)
    sizes = {
        words[0]: int(words[1])
        for line in printed.decode().splitlines()
        if len(words := line.split()) == 3 and words[1].isdigit()
    }
    assert sizes[".slow_memory"] > 4000  # the tables of wine
    assert sizes[".rodata"] > 2000  # those of iris, and the names of both


def test_the_example_of_all_boards_trains_its_machine(tmp_path: Path) -> None:
    data_file("satimage")
    run(sys.executable, EXAMPLES / "boards" / "satimage.py", tmp_path, cwd=tmp_path)
    assert np.load(tmp_path / "test.npz")["y"].shape == (2000,)
