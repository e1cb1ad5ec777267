"""Print one hash for each program of the tests: what must not change when code only moves.

    .venv/bin/python tests/emitted_hashes.py [WORD ...] > before

A line is the SHA-256 of all files that a program determines (C, harness, recipe, loop bounds,
program.npz) or that a compilation writes (report.json, report.html and queries.npz too), and what
was compiled. With words, only the programs that have one of them in their name are made.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import kmcompile
from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    images,
    input_tolerances,
    integer_exits,
    long_replays,
    many_classes,
    monitors,
    pairs,
    polynomials,
    ratios,
    regressions,
    replays,
    routed,
    sparse_digits,
    stage_pairs,
    stepped,
    watched,
)
from kit.steps import InSteps
from kmcompile.resources import targets_dir

Files = Mapping[str, bytes]

ON_HOST = (
    *catalogue.every_combination(),
    *catalogue.SPECIAL,
    *catalogue.FEW_VECTORS,
    *cascades.EVERY,
    *coded.REPLAYED,
    *calibrated.EVERY,
    *regressions.MORE,
    *additive.MORE,
    *pairs.MORE,
    *polynomials.MORE,
    *coded_polynomials.MORE,
    *replays.SOME,
    *replays.SPARSE,
    *sparse_digits.CASES,
    *stage_pairs.EVERY,
    many_classes.ManyClasses(),
    many_classes.ManyClasses(replays=True),
)
ON_BOARDS = (
    *catalogue.CORE,
    *cascades.CORE,
    *certified.EVERY,
    *ratios.CORE,
    *coded.CORE,
    *regressions.CORE,
    *pairs.CORE,
    *polynomials.CORE,
    *coded_polynomials.CORE,
    *replays.CORE,
    *integer_exits.CORE,
    *additive.CORE,
    *routed.CORE,
    *routed.VOTES,
    *images.CORE,
    *input_tolerances.CORE,
    *long_replays.QUICK,
    *monitors.CORE,
    *watched.CORE,
    *watched.DOUBLED,
    *(InSteps(case) for case in stepped.QUICK),
)
BOARDS = ("host", "cortex-m7", "avr")


def digest(files: Files) -> str:
    """Return the SHA-256 of files and their names."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name} {len(files[name])}\n".encode())
        whole.update(files[name])
    return whole.hexdigest()[:32]


def programs() -> Iterator[tuple[str, Callable[[], Files]]]:
    """Yield the name of each program of the tests, and what makes its files."""
    for case in ON_HOST:
        yield f"host {case}", lambda case=case: case.emit("host").files
    for target in BOARDS:
        for case in ON_BOARDS:
            yield f"{target} {case}", lambda case=case, target=target: case.emit(target).files
    for path in sorted(targets_dir().glob("*.toml")):
        case, target = catalogue.CORE[1], path.stem
        yield f"{target} {case}", lambda case=case, target=target: case.emit(target).files


def compilations() -> Iterator[tuple[str, Callable[[], Files]]]:
    """Yield the name of each compilation, in every mode, and what makes its output folder."""
    cancer, digits = load_breast_cancer(return_X_y=True), load_digits(return_X_y=True)
    iris, diabetes = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
    wide, narrow = SVC(gamma=0.01, C=10), SVC(gamma=0.1, C=1)
    poly = SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.02)
    nystroem = make_pipeline(
        Nystroem(gamma=0.02, n_components=30, random_state=0), LinearSVC(random_state=0)
    )
    asked: list[tuple[Any, tuple[np.ndarray, np.ndarray], dict[str, Any]]] = [
        (wide, cancer, {"mode": "exact"}),
        (poly, iris, {"mode": "exact", "target": "cortex-m7"}),
        (wide, cancer, {"mode": "certified"}),
        (wide, iris, {"mode": "certified", "target": "cortex-m4"}),
        (wide, cancer, {"mode": "statistical", "risk": "auto"}),
        (wide, cancer, {"mode": "statistical", "risk": 0.05, "target": "cortex-m7"}),
        (narrow, iris, {"mode": "statistical", "thresholds": "simple"}),
        (wide, cancer, {"mode": "statistical", "risk": 0.1, "risk_control": "expected"}),
        (wide, cancer, {"mode": "exact", "format": "int16", "target": "avr"}),
        (wide, cancer, {"mode": "certified", "format": "auto", "target": "leon3"}),
        (wide, cancer, {"mode": "exact", "format": "int8", "package": "cfs", "target": "leon3"}),
        (wide, digits, {"mode": "certified", "format": "auto"}),
        (SVR(C=50.0), diabetes, {"mode": "certified", "tolerance": 20.0}),
        (SVR(C=50.0), diabetes, {"mode": "exact", "target": "cortex-m7"}),
        (nystroem, digits, {"mode": "exact"}),
    ]
    for model, (X, y), options in asked:
        words = " ".join(f"{key}={value}" for key, value in options.items())
        name = f"compiled {model} of {X.shape[1]} features {words}"

        def compile_it(
            model: Any = model, X: Any = X, y: Any = y, options: dict[str, Any] = options
        ) -> Files:
            return compiled(model, X, y, options)

        yield " ".join(name.split()), compile_it


def compiled(model: Any, X: np.ndarray, y: np.ndarray, options: dict[str, Any]) -> Files:
    """Return the files of the output folder; half of the samples train, the others calibrate."""
    X, y = X[:600], y[:600]
    fitted = make_pipeline(StandardScaler(), model).fit(X[::2], y[::2])
    with TemporaryDirectory() as folder:
        out = Path(folder, "out")
        asked = {"verify": "none", "name": "model", "out": out, **options}
        if options["mode"] != "exact":
            asked["data"] = X[1::2]
        kmcompile.compile_model(fitted, **asked)
        return {
            path.relative_to(out).as_posix(): path.read_bytes()
            for path in out.rglob("*")
            if path.is_file()
        }


def main(words: list[str]) -> None:
    """Print the lines."""
    warnings.simplefilter("ignore")
    for name, make in (*programs(), *compilations()):
        if words and not any(word in name for word in words):
            continue
        try:
            line = digest(make())
        except kmcompile.KmcompileError as error:
            line = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(line, name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
