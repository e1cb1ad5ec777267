"""What other generators' C takes, beside kmcompile's: instructions, flash, RAM, stack and labels.

    make bench
    build/bench/venv/bin/python examples/benchmark/peers/bench.py build/bench --models bc

Every peer writes its C for the same fitted machine; it is built with the same compilers and
asked the same queries. On the host callgrind counts instructions, and nanoseconds are taken in
turns; on the boards the instructions of a call are counted in QEMU. Flash and RAM are what the
image has more than one whose function does nothing. Wrong labels are those that scikit-learn's
`predict` does not give, over all test samples on the host, and over the counted ones on a board.
A peer that cannot generate or build is a row that says why. Results are kept as lines of JSON:
what is there is not measured again. The tables and the plot are written beside them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import subprocess
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from bench_build import (
    NotBuiltError,
    board_image,
    empty_image,
    host_files,
    is_here,
    write_header,
)
from bench_models import MODELS, Model, names_here
from bench_table import write_tables
from peer import NotGeneratedError, Place

from kmcompile.errors import KmcompileError
from kmcompile.machine_code import elf
from kmcompile.run.qemu import QemuRunner
from kmcompile.target import load_target

PEERS = (
    "kmcompile",
    "kmcompile_exact",
    "kmcompile_auto",
    "m2cgen",
    "micromlgen",
    "sklearn_porter",
    "sklearn2c",
    "embml",
    "embml_q",
    "cmsis_dsp",
    "libsvm",
    "plain",
    "plain_fast",
)
PLACES = ("host", "cortex-m7", "cortex-m4", "cortex-m0")
N_COUNTED = 20
N_CALLGRIND = 50
ROUNDS = 9
TIMEOUT_S = 1800.0

Row = dict[str, Any]


def folder_of(bench: Path, *names: str) -> Path:
    """Return an empty folder for one build."""
    folder = bench.joinpath("work", *names)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def measure(bench: Path, model: Model, name: str, target: str) -> Row:
    """Return the row of a peer at a place, or why there is none."""
    folder = folder_of(bench, model.name, f"{name}-{target}")
    write_header(model, folder)
    place = Place(target, bench / "sources")
    row = {"model": model.name, "peer": name, "target": target, **sizes_of(model)}
    try:
        written = import_module(f"peer_{name}").write(model.svc, folder, place)
    except Exception as error:  # whatever the generator raises
        return row | {"reason": _reason(error), "generated": False}
    try:
        if target == "host":
            return row | on_host(model, host_files(written, folder))
        artifact = board_image(written, model, load_target(target), folder)
        return row | on_board(bench, model, artifact)
    except Exception as error:
        return row | {"reason": _reason(error)}


def _reason(error: Exception) -> str:
    if isinstance(error, NotGeneratedError | NotBuiltError | KmcompileError):
        return str(error).splitlines()[0]
    return f"{type(error).__name__}: {str(error).splitlines()[:1]}"


def sizes_of(model: Model) -> Row:
    """Return what the machine is."""
    return {
        "vectors": len(model.svc.support_vectors_),
        "features": model.X.shape[1],
        "classes": len(model.svc.classes_),
    }


def some(model: Model, n: int) -> np.ndarray:
    """Return the numbers of n test samples from all over the set."""
    return np.linspace(0, len(model.X) - 1, min(n, len(model.X)), dtype=int)


def on_host(model: Model, files: tuple[Path, Path]) -> Row:
    """Return wrong labels over all test samples, and callgrind's instructions of some."""
    library, program = files
    labels = answers(library, model.X)
    return {
        "instructions": callgrind(program, model.X[some(model, N_CALLGRIND)]),
        "wrong": int((labels != model.expected).sum()),
        "asked": len(labels),
        "flash": None,
        "ram": None,
        "stack": None,
        "library": str(library),
    }


def callgrind(program: Path, X: np.ndarray) -> float | None:
    """Return the mean instructions of a query; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    queries = program.with_name("queries.bin")
    X.tofile(queries)
    words = ["valgrind", "--tool=callgrind", "--toggle-collect=peer_classify"]
    words += ["--callgrind-out-file=/dev/null", str(program), str(queries), str(len(X))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) / len(X) if found else None


def answers(library: Path, X: np.ndarray) -> np.ndarray:
    """Return the labels of a library of the host."""
    records = np.empty(len(X), dtype=np.uint32)
    batch(library)(len(X), X.ctypes.data, records.ctypes.data)
    return records


def batch(library: Path) -> Any:
    """Return the function of a library that answers many queries."""
    function = ctypes.CDLL(str(library)).peer_harness_batch
    function.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    return function


def on_board(bench: Path, model: Model, artifact: Any) -> Row:
    """Return instructions, memory and wrong labels of some test samples on a board."""
    target = artifact.toolchain
    rows = some(model, N_COUNTED)
    X = np.ascontiguousarray(model.X[rows])
    folder = folder_of(bench, model.name, f"empty-{target.name}")
    write_header(model, folder)
    runs, sizes = [], []
    for image in (artifact, empty_image(model, target, folder)):
        with image:
            runs.append(QemuRunner(TIMEOUT_S).run(image, X.view(np.uint32), True))
            sizes.append(elf.sizes(image.path))
    run, empty = runs
    if run.instructions is None:
        raise NotBuiltError(f"not counted: {run.no_instructions_reason}")
    return {
        "instructions": float(run.instructions.mean()),
        "largest": int(run.instructions.max()),
        "wrong": int((run.records[:, 0] != model.expected[rows]).sum()),
        "asked": len(rows),
        "flash": sizes[0].flash_bytes - sizes[1].flash_bytes,
        "ram": sizes[0].ram_bytes - sizes[1].ram_bytes,
        "stack": run.painted_stack_bytes - empty.painted_stack_bytes,
    }


def time_in_turns(rows: list[Row], model: Model) -> dict[str, float]:
    """Return the nanoseconds of a query of each peer's library: medians of rounds in turns."""
    libraries = {row["peer"]: Path(row["library"]) for row in rows if row.get("library")}
    functions = {name: batch(path) for name, path in libraries.items() if path.is_file()}
    X = np.ascontiguousarray(model.X[some(model, 100)])
    records = np.empty(len(X), dtype=np.uint32)
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            started = time.perf_counter_ns()
            function(len(X), X.ctypes.data, records.ctypes.data)
            spent[name].append((time.perf_counter_ns() - started) / len(X))
    return {name: float(np.median(taken)) for name, taken in spent.items()}


def kept(path: Path) -> list[Row]:
    """Return the rows that are measured already."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def not_generated(rows: list[Row], model: str, peer: str, target: str) -> Row | None:
    """Return the row of a board whose C could not be generated for the host: it takes minutes."""
    for row in rows:
        if (row["model"], row["peer"], row["target"]) == (model, peer, "host"):
            return None if row.get("generated", True) else row | {"target": target}
    return None


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="what setup.sh made")
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=names_here())
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=PLACES)
    arguments = parser.parse_args()
    bench, results = arguments.folder.resolve(), arguments.folder / "rows.jsonl"
    done = {(row["model"], row["peer"], row["target"]) for row in kept(results)}
    for model_name in arguments.models:
        model = MODELS[model_name]()
        for target in arguments.places:
            for name in arguments.peers if is_here(target, bench) else ():
                if (model_name, name, target) in done:
                    continue
                row = not_generated(kept(results), model_name, name, target)
                row = row or measure(bench, model, name, target)
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        of_host = [r for r in kept(results) if (r["model"], r["target"]) == (model_name, "host")]
        times = bench / f"times-{model_name}.json"
        times.write_text(json.dumps(time_in_turns(of_host, model)))
    print(write_tables(bench, kept(results)))


if __name__ == "__main__":
    main()
