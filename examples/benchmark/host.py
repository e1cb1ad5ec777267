"""Compare the emitted exact C on the host with the plain loop under -O3 -ffast-math.

Both are built by the same compiler with the same -march and timed in turns on the same queries.
Run from anywhere: python examples/benchmark/host.py. Models: breast cancer (30 features),
digits 8 against 3 with synthetic neighbours (64) and, where the data sets are, MNIST 8 against 3
(784).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile.emit.literals import float32_literal

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("KMCOMPILE_DATA", HERE.parents[2] / "shared" / "data"))
MARCHES = ("x86-64", "x86-64-v3", "native")


def breast_cancer() -> tuple[SVC, np.ndarray]:
    """Return a machine of about 100 vectors of 30 features and its test samples."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return SVC().fit(X[:398], y[:398]), X[398:]


def digits() -> tuple[SVC, np.ndarray]:
    """Return a machine of several hundred vectors of 64 features: even against odd digits."""
    X, y = load_digits(return_X_y=True)
    return SVC(gamma=0.02, C=10).fit(X[:1257] / 16, y[:1257] % 2), X[1257:] / 16


def mnist() -> tuple[SVC, np.ndarray]:
    """Return 8 against 3, the first 4,000 training digits of the two, 784 features."""
    with np.load(DATA / "mnist.npz") as data:
        train, test = np.isin(data["y_train"], (3, 8)), np.isin(data["y_test"], (3, 8))
        X, y = data["X_train"][train][:4000] / 255.0, data["y_train"][train][:4000]
        return SVC(gamma=0.02, C=10).fit(X, y), data["X_test"][test][:200] / 255.0


def write_plain(model: SVC, folder: Path) -> None:
    """Write the tables of the plain loop."""

    def rows(values: np.ndarray) -> str:
        return ", ".join(float32_literal(v) for v in values.astype(np.float32))

    vectors = ",\n".join("{" + rows(v) + "}" for v in model.support_vectors_)
    (folder / "plain_tables.h").write_text(
        f"#define N_FEATURES {model.support_vectors_.shape[1]}\n"
        f"#define N_VECTORS {len(model.support_vectors_)}\n"
        f"#define GAMMA {float32_literal(np.float32(model._gamma))}\n"
        f"#define INTERCEPT {float32_literal(np.float32(model.intercept_[0]))}\n"
        f"static const float vectors[N_VECTORS][N_FEATURES] = {{{vectors}}};\n"
        f"static const float coefficients[N_VECTORS] = {{{rows(model.dual_coef_[0])}}};\n"
    )


def measure(compiler: str, march: str, folder: Path, queries: np.ndarray) -> tuple[float, float]:
    """Return the nanoseconds of a query: the emitted C's and the plain loop's medians."""
    common = [compiler, "-O3", f"-march={march}", f"-I{folder}"]
    exact = [*common, "-std=c99", "-ffp-contract=off", "-c", str(folder / "model.c")]
    fast = [*common, "-ffast-math", "-c", str(HERE / "plain.c")]
    subprocess.run([*exact, "-o", str(folder / "model.o")], check=True)
    subprocess.run([*fast, "-o", str(folder / "plain.o")], check=True)
    program = folder / "timing"
    objects = [str(folder / "model.o"), str(folder / "plain.o")]
    link = [compiler, "-O2", f"-I{folder}", str(HERE / "timing.c"), *objects, "-lm"]
    subprocess.run([*link, "-o", str(program)], check=True)
    (folder / "queries.bin").write_bytes(queries.astype(np.float32).tobytes())
    size = (folder / "model.c").stat().st_size
    repeat = max(1, 20_000_000 // (size * len(queries) // 10))
    command = [str(program), str(folder / "queries.bin"), str(len(queries)), str(repeat)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ours, plain = (float(word) for word in printed.split())
    return ours, plain


def main() -> None:
    """Print one row for each model, compiler and -march."""
    makers = [breast_cancer, digits] + ([mnist] if (DATA / "mnist.npz").is_file() else [])
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    print("model          vectors features compiler march      ours/ns  plain/ns  ours/plain")
    for make in makers:
        model, queries = make()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "out"
            kmcompile.compile_model(
                model, name="model", target="host", out=folder, mode="exact", verify="none"
            )
            work = Path(scratch) / "work"
            shutil.copytree(folder, work)
            write_plain(model, work)
            for compiler in compilers:
                for march in MARCHES:
                    ours, plain = measure(compiler, march, work, queries)
                    print(
                        f"{make.__name__:14s} {len(model.support_vectors_):7d} "
                        f"{queries.shape[1]:8d} {compiler:8s} {march:9s} {ours:8.0f} {plain:9.0f} "
                        f"{ours / plain:11.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    sys.exit(main())
